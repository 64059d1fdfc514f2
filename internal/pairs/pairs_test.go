package pairs

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/model"
	"github.com/muster-kafka/muster/internal/differ"
	"github.com/muster-kafka/muster/model/classic"
)

func load(t *testing.T) ([]Pair, []*conformance.Scenario) {
	t.Helper()
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	scenarios, err := conformance.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	return all, scenarios
}

// TestPageIsCurrent holds that docs/pairs.md was made from the pairs and the scenarios that there are.
func TestPageIsCurrent(t *testing.T) {
	all, scenarios := load(t)
	text, err := os.ReadFile("../../docs/pairs.md")
	if err != nil {
		t.Fatalf("%v: make pairs writes it", err)
	}
	if got, want := DigestIn(string(text)), DigestOf(all, scenarios); got != want {
		t.Errorf("docs/pairs.md was made from other inputs (%s, now %s): make pairs runs the pairs again", got, want)
	}
	for _, p := range all {
		if !strings.Contains(string(text), "### "+p.Name+"\n") {
			t.Errorf("docs/pairs.md says nothing of %s", p.Name)
		}
	}
}

// TestDigest holds that a change of a pair, or of its scenario, is one of the digest.
func TestDigest(t *testing.T) {
	all, scenarios := load(t)
	before := DigestOf(all, scenarios)
	all[0].Bad = "2.5.1"
	if DigestOf(all, scenarios) == before {
		t.Error("another release makes no difference")
	}
	all, scenarios = load(t)
	i := slices.IndexFunc(scenarios, func(s *conformance.Scenario) bool { return s.Name == all[0].Scenario })
	scenarios[i].File.Header = append(scenarios[i].File.Header, "# one line more")
	if DigestOf(all, scenarios) == before {
		t.Error("another scenario makes no difference")
	}
}

// unmodelled are the pairs whose difference the specification does not have, with the reason.
var unmodelled = map[string]string{
	"old-leader-static": "that a JoinGroup is never answered since the answer cannot be written",
}

// TestTellApart holds on the specification of the releases what make pairs holds on brokers: each scenario tells its pair apart, and one release from itself
// it does not.
func TestTellApart(t *testing.T) {
	all, scenarios := load(t)
	open := func(release string, s *conformance.Scenario) target.Target {
		tg, err := model.New(model.Options{Name: "model:" + release, Profile: s.File.Profile}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return tg
	}
	for _, p := range all {
		s := scenarios[slices.IndexFunc(scenarios, func(s *conformance.Scenario) bool { return s.Name == p.Scenario })]
		got, err := TellApart(t.Context(), p, s, open(p.Bad, s), open(p.Good, s))
		if err != nil {
			t.Fatal(err)
		}
		if _, not := unmodelled[p.Name]; got.Told == not {
			t.Errorf("%s: told apart %v: %s", p.Name, got.Told, got.Reason)
		}
		if got.Told && got.Lacks == "" && (got.Block == 0 || len(got.Lines) == 0) {
			t.Errorf("%s: by what: %+v", p.Name, got)
		}
		if s.File.Profile == conformance.FaultsProfile {
			continue // what has happened to the specification's broker stays when it is judged as another
		}
		same := p
		same.Bad = p.Good
		if got, err := TellApart(t.Context(), same, s, open(p.Good, s), open(p.Good, s)); err != nil || got.Told {
			t.Errorf("%s: kafka:%s is told apart from itself: %+v %v", p.Name, p.Good, got, err)
		}
	}
}

// TestNotToldApart holds that a release which does not give its own text is no proof of the fault: it has another one, or the scenario cries wolf.
func TestNotToldApart(t *testing.T) {
	all, scenarios := load(t)
	p := all[slices.IndexFunc(all, func(p Pair) bool { return p.Name == "heartbeat-completing" })]
	s := scenarios[slices.IndexFunc(scenarios, func(s *conformance.Scenario) bool { return s.Name == p.Scenario })]
	open := func(release string, broken ...classic.RuleID) target.Target {
		tg, err := model.New(model.Options{Name: "model:" + release, Broken: broken}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return tg
	}
	for want, pair := range map[string][2]target.Target{
		"a false alarm: kafka:2.6.1":         {open("2.6.0"), open("2.6.1", classic.JoinCompleteGeneration)},
		"kafka:2.6.0 does not give the text": {open("2.6.0", classic.JoinCompleteGeneration), open("2.6.1")},
	} {
		got, err := TellApart(t.Context(), p, s, pair[0], pair[1])
		if err != nil || got.Told || !strings.Contains(got.Reason, want) {
			t.Errorf("%+v %v, want %q", got, err, want)
		}
	}
}

// TestPage holds what a page says of what was found, and of what was not.
func TestPage(t *testing.T) {
	all := []Pair{
		{Name: "one", Bad: "1.0", Good: "1.1", Issue: "KAFKA-1", Rules: []string{"a.b"}, Scenario: "s", What: "It is wrong."},
		{Name: "two", Bad: "2.0", Good: "2.1", Issue: "a/b#3", Offers: "JoinGroup", Scenario: "r", What: "It is old."},
	}
	seen := map[string]Seen{
		"one": {Apart: Apart{Told: true, Block: 3, Lines: []string{"- A: NONE", "+ A: parked"}}, Alone: &Alone{Seed: 5, Budget: 3e11, Found: true, After: 4e9, Lines: []string{"join A"}, A: "A: parked", B: "A: NONE"}},
		"two": {Apart: Apart{Reason: "no | yes"}, Alone: &Alone{Seed: 5, Budget: 3e11, After: 3e11}},
	}
	page := Page(all, seen, "d1")
	for _, want := range []string{
		"Of 2 pairs 1 are told apart by their scenarios, 1 by muster diff alone", "| one | 1.1 | 1.0 | [KAFKA-1](https://issues.apache.org/jira/browse/KAFKA-1) | `a.b` | `s` | 2 in block 3 | 4 s | 1 lines | 5 |",
		"| two | 2.1 | 2.0 | [a/b#3](https://github.com/a/b/pull/3) | versions of JoinGroup | `r` | not told apart: no \\| yes | not in 5m | - | 5 |",
		"muster diff kafka:1.0 kafka:1.1 --budget 5m --seed 5", "    - A: NONE\n    + A: parked\n", "    join A\n    kafka:1.0: A: parked\n    kafka:1.1: A: NONE\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if DigestIn(page) != "d1" {
		t.Errorf("digest %q", DigestIn(page))
	}
}

// TestRecognised holds that a class counts as a pair's where it is put down to the pair's rule, and not otherwise.
func TestRecognised(t *testing.T) {
	p := Pair{Issue: "KAFKA-1", Rules: []string{"a.b"}}
	for rule, want := range map[string]bool{"a.b": true, "a.c": false, "": false} {
		if got := p.is(&differ.Class{Rule: rule, Known: "defect of rule a.c (KAFKA-1)"}); got != want {
			t.Errorf("%q: %v", rule, got)
		}
	}
	for known, want := range map[string]bool{"variations of a.c, or a.b": true, "": false} {
		if got := p.is(&differ.Class{Rule: "a.c", Rules: []string{"a.c", "a.b"}, Known: known}); got != want {
			t.Errorf("one of several rules, explained by %q: %v", known, got)
		}
	}
}
