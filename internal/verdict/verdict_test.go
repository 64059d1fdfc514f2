package verdict

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/muster-kafka/muster/internal/golden"
)

const (
	contractRule = "join.new.rebalances"
	compatRule   = "join.stable.follower-repeats"
	quirkRule    = "join.parked.superseded"
)

// embedded is a whole run on the default target in which one rule of each class is broken.
func embedded() *Verdict {
	v := New("0.1.0", "impl", "Kafka 4.3.1", 42)
	v.Scenarios = &ScenarioCounts{}
	v.Rules = &RuleCounts{Total: 97, Covered: 5, Uncovered: []string{"sync.write.fails", "list.groups"}}
	v.Exploration = &ExplorationCounts{States: 1000, Transitions: 5000, Complete: true, Runs: []ExplorationRun{{Name: "3 members", States: 1000, Transitions: 5000, Depth: 12, Complete: true, DurationS: 0.5}}}
	v.Random = &RandomCounts{Sequences: 20, Steps: 600}
	v.Linearizability = &LinearizabilityCounts{Histories: 2, Operations: 480}
	v.Case(Case{Judge: Scenarios, Name: "join-new-member", Took: 20 * time.Millisecond})
	v.Case(Case{Judge: Scenarios, Name: "join-follower-repeats", Took: 10 * time.Millisecond})
	v.Case(Case{Judge: Scenarios, Name: "sync-parks", Took: 5 * time.Millisecond})
	v.Case(Case{Judge: Scenarios, Name: "delay-first-join", Skipped: "needs an initial rebalance delay"})
	v.Case(Case{Judge: Exploration, Name: "specification", Took: time.Second})
	v.Case(Case{Judge: Random, Name: "lock-step", Took: 2 * time.Second})
	v.Case(Case{Judge: Linearizability, Name: "history-42", Took: 3 * time.Second})
	v.Find(Finding{Judge: Scenarios, Rule: contractRule, Scenario: "join-new-member", Text: "join B\n----\n- B: parked\n+ B: NONE gen=1", Replay: "muster run join-new-member --target impl"})
	v.Find(Finding{Judge: Scenarios, Rule: compatRule, Scenario: "join-follower-repeats", Replay: "muster run join-follower-repeats --target impl"})
	v.Find(Finding{Judge: Scenarios, Rule: quirkRule, Scenario: "sync-parks"})
	for _, j := range v.judges() {
		v.Finish(j)
	}
	return v
}

// wavers is a scenario that failed at first.
var wavers = Finding{Judge: Scenarios, Rule: quirkRule, Scenario: "sync-parks", Text: "- A: parked\n+ A: NONE", Replay: "muster run sync-parks --target 127.0.0.1:9092"}

// foreign is a run on a target where only scenarios are judged.
func foreign() *Verdict {
	v := New("0.1.0", "127.0.0.1:9092", "Kafka 4.3.1", 1)
	v.Scenarios = &ScenarioCounts{}
	v.Rules = &RuleCounts{Total: 97, Covered: 1, Uncovered: []string{}}
	v.Case(Case{Judge: Scenarios, Name: "sync-parks", Took: time.Second})
	v.Wavered(wavers, false)
	v.Finish(Scenarios)
	return v
}

// fake is a run on a target whose differences are registered, most of whose rules were not put to the test.
func fake() *Verdict {
	v := New("0.1.0", "kfake", "Kafka 4.3.1", 1)
	v.Own()
	v.Scenarios, v.Rules = &ScenarioCounts{}, &RuleCounts{Total: 97, Covered: 3}
	for i := range 94 {
		v.Rules.Uncovered = append(v.Rules.Uncovered, fmt.Sprintf("rule.%d", i))
	}
	for _, f := range []Finding{
		{Rule: contractRule, Scenario: "join-new-member", Kind: "simplification"},
		{Rule: compatRule, Scenario: "join-follower-repeats", Kind: KindBug, Text: "join B\n----\n- B: NONE\n+ B: parked\n"},
		{Rule: quirkRule, Scenario: "sync-parks", Kind: "simplification"},
	} {
		f.Judge, f.Registered, f.Note = Scenarios, true, "A note."
		v.Case(Case{Judge: Scenarios, Name: f.Scenario})
		v.Find(f)
	}
	v.Case(Case{Judge: Scenarios, Name: "session-expires"})
	v.Wavered(Finding{Judge: Scenarios, Scenario: "session-expires", Text: "- A: NONE\n+ A: parked\n"}, false)
	v.Finish(Scenarios)
	return v
}

func closed(v *Verdict, strict bool, known *KnownList) *Verdict {
	v.Close(strict, known, 12345*time.Millisecond)
	return v
}

// explored is a run of muster explore, of whose runs one holds, one is broken and vacuous, and one was left.
func explored() *Verdict {
	v := New("0.1.0", "the specification", "its properties", 0)
	v.Alone()
	v.Exploration = &ExplorationCounts{States: 600, Transitions: 9000, Runs: []ExplorationRun{
		{Name: "core, 3 members", States: 100, Transitions: 2000, Depth: 9, Complete: true, DurationS: 1.25},
		{Name: "offsets", States: 200, Transitions: 3000, Depth: 8, Complete: true, Broken: 1, Missing: 2, Surprise: true, DurationS: 2},
		{Name: "core, 5 members", States: 300, Transitions: 4000, Depth: 7, Frontier: 50, Reason: "--until 1s is over", DurationS: 1},
	}}
	v.Find(Finding{Judge: Exploration, Rule: contractRule, Scenario: "offsets", Text: "broken: a new member starts a rebalance, in 2 steps\n", Replay: "muster explore --run offsets"})
	v.CannotTell("core, 5 members: not complete: 300 states, frontier 50")
	v.Finish(Exploration)
	return v
}

func TestGoldens(t *testing.T) {
	for name, v := range map[string]*Verdict{"embedded": closed(embedded(), false, nil), "foreign": closed(foreign(), false, nil), "fake": closed(fake(), false, nil), "explored": closed(explored(), false, nil)} {
		for ext, write := range map[string]func(*Verdict, *bytes.Buffer) error{
			".json": func(v *Verdict, b *bytes.Buffer) error { return v.WriteJSON(b) },
			".xml":  func(v *Verdict, b *bytes.Buffer) error { return v.WriteJUnit(b) },
			".txt":  func(v *Verdict, b *bytes.Buffer) error { return v.WriteTable(b) },
		} {
			var b bytes.Buffer
			if err := write(v, &b); err != nil {
				t.Fatal(err)
			}
			golden.Testdata(t, name+ext, b.String())
		}
	}
}

// The fields that docs/verdict.md promises; programs read them.
func TestJSONFields(t *testing.T) {
	promised := map[string][]string{
		"": {
			"format", "muster", "target", "compared_with", "verdict", "seed", "duration_s", "scenarios", "rules", "exploration", "random", "linearizability",
			"failures", "differences", "known", "skipped", "unjudged", "unsteady", "reasons", "warnings",
		},
		"scenarios":       {"run", "passed", "failed", "skipped", "unjudged"},
		"rules":           {"total", "covered", "uncovered"},
		"exploration":     {"states", "transitions", "complete", "runs"},
		"random":          {"sequences", "steps"},
		"linearizability": {"histories", "operations", "illegal", "unknown"},
		"failures":        {"judge", "rule", "class", "scenario", "replay", "sentence", "suffers", "text", "registered", "unsteady", "kind", "note", "releases"},
		"skipped":         {"scenario", "reason"},
	}
	var b bytes.Buffer
	if err := closed(embedded(), false, nil).WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var whole map[string]any
	if err := json.Unmarshal(b.Bytes(), &whole); err != nil {
		t.Fatal(err)
	}
	for section, want := range promised {
		object := whole
		switch value := whole[section].(type) {
		case map[string]any:
			object = value
		case []any:
			object = value[0].(map[string]any)
		}
		var got []string
		for name := range object {
			got = append(got, name)
		}
		sort.Strings(got)
		sort.Strings(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("section %q:\n%s", section, diff)
		}
	}

	b.Reset()
	if err := closed(foreign(), false, nil).WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"exploration": null`, `"random": null`, `"linearizability": null`, `"failures": []`, `"differences": []`, `"known": []`, `"skipped": []`, `"format": 1`, `"verdict": "inconclusive"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}

func TestResult(t *testing.T) {
	broken := func(rule string) func(*Verdict) {
		return func(v *Verdict) { v.Find(Finding{Judge: Scenarios, Rule: rule, Scenario: "sync-parks"}) }
	}
	for name, c := range map[string]struct {
		change func(*Verdict)
		strict bool
		want   Result
	}{
		"nothing found":                  {func(*Verdict) {}, false, Pass},
		"contract":                       {broken(contractRule), false, Fail},
		"compat":                         {broken(compatRule), false, Pass},
		"compat, strict":                 {broken(compatRule), true, Fail},
		"quirk":                          {broken(quirkRule), false, Pass},
		"quirk, strict":                  {broken(quirkRule), true, Pass},
		"no rule":                        {broken(""), false, Fail},
		"a rule that nobody knows":       {broken("no.such.rule"), false, Fail},
		"the target died":                {func(v *Verdict) { v.TargetFailed("gone") }, false, Unavailable},
		"the target died after a fault":  {func(v *Verdict) { broken(contractRule)(v); v.TargetFailed("gone") }, false, Fail},
		"something could not be decided": {func(v *Verdict) { v.CannotTell("too busy") }, false, Inconclusive},
		"a fault and a doubt":            {func(v *Verdict) { broken(contractRule)(v); v.CannotTell("too busy") }, false, Fail},
		"nothing ran":                    {func(v *Verdict) { v.cases = nil }, false, Inconclusive},
		"no judge":                       {func(v *Verdict) { v.Scenarios = nil }, false, Inconclusive},
		"a judge did not finish":         {func(v *Verdict) { v.Random = &RandomCounts{Sequences: 1, Steps: 1} }, false, Inconclusive},
		"exploration not complete":       {func(v *Verdict) { v.Exploration = &ExplorationCounts{States: 1}; v.Finish(Exploration) }, false, Inconclusive},
		"a history not decided":          {func(v *Verdict) { v.Linearizability = &LinearizabilityCounts{Unknown: 1}; v.Finish(Linearizability) }, false, Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			v := foreign()
			v.wavered = nil // TestUnsteady
			c.change(v)
			if got := closed(v, c.strict, nil).Result; got != c.want {
				t.Errorf("verdict %s, want %s; reasons %q", got, c.want, v.Reasons)
			}
			if open := v.Result == Inconclusive || v.Result == Unavailable; open && len(v.Reasons) == 0 {
				t.Error("no reason is given")
			}
		})
	}
}

func TestExitCodes(t *testing.T) {
	for result, want := range map[Result]int{Pass: 0, Fail: 1, Inconclusive: 2, Unavailable: 3, "": 2} {
		if got := result.ExitCode(); got != want {
			t.Errorf("%q exits %d, want %d", result, got, want)
		}
	}
}

func TestKnown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "known.txt")
	var b bytes.Buffer
	if err := closed(embedded(), true, nil).WriteKnown(&b); err != nil {
		t.Fatal(err)
	}
	// One failure of another scenario that did not run, and one that is gone.
	b.WriteString("scenarios sync.preparing delay-first-join\nscenarios sync.preparing sync-parks # gone\n")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	known, err := ReadKnown(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := closed(embedded(), true, known)
	if v.Result != Pass || len(v.Failures) != 0 || len(v.Known) != 2 {
		t.Errorf("all failures are known, yet: %s, %d failures, %d known", v.Result, len(v.Failures), len(v.Known))
	}
	if len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0], "sync-parks\" is gone") || !strings.Contains(v.Warnings[0], path) {
		t.Errorf("warnings %q, want one of the failure that is gone", v.Warnings)
	}

	// A finding that the list does not hold still fails.
	w := embedded()
	w.Find(Finding{Judge: Scenarios, Rule: contractRule, Scenario: "sync-parks"})
	if closed(w, true, known); w.Result != Fail || len(w.Failures) != 1 {
		t.Errorf("an unknown failure gives %s with %d failures", w.Result, len(w.Failures))
	}
}

// TestKnownByChance holds a list against what is drawn anew in each run: judge and rule alone say whether it is known, what was not met this time need not be gone and stays on a list that is written, and what
// was found and not told may be anything.
func TestKnownByChance(t *testing.T) {
	list := filepath.Join(t.TempDir(), "known.txt")
	if err := os.WriteFile(list, []byte("linearizability "+contractRule+" *\nlinearizability - *\nownership ownership.once *\nscenarios sync.preparing sync-parks\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	known, err := ReadKnown(list, nil)
	if err != nil {
		t.Fatal(err)
	}
	run := func(seed uint64, untold int) *Verdict {
		v := New("0.1.0", "h:1", "", seed)
		v.Find(Finding{Judge: Linearizability, Rule: contractRule, Scenario: fmt.Sprintf("muster-out/history-%d.jsonl", seed), Stranger: true})
		v.Linearizability = &LinearizabilityCounts{}
		v.NotTold(untold)
		v.Case(Case{Judge: Scenarios, Name: "sync-parks"})
		for _, j := range []Judge{Scenarios, Linearizability, Ownership} {
			v.Finish(j)
		}
		v.Close(false, known, time.Second)
		return v
	}
	for seed := range uint64(3) {
		v := run(seed, 0)
		if v.Result != Pass || len(v.Known) != 1 {
			t.Errorf("seed %d: %s, known %v", seed, v.Result, v.Known)
		}
		all := strings.Join(v.Warnings, "\n")
		if strings.Count(all, "is gone; take it off") != 1 || !strings.Contains(all, `"linearizability - *" was not met this time`) || !strings.Contains(all, `"ownership ownership.once *" was not met this time`) {
			t.Errorf("warnings %q", v.Warnings)
		}
		var b bytes.Buffer
		if err := v.WriteKnown(&b); err != nil {
			t.Fatal(err)
		}
		if got, want := b.String(), "linearizability "+contractRule+" *\nlinearizability - *\nownership ownership.once *\n"; !sameLines(got, want) {
			t.Errorf("written:\n%swant\n%s", got, want)
		}
	}
	if v := run(7, 3); v.Result != Inconclusive || !strings.Contains(strings.Join(v.Reasons, "\n"), "3 groups") {
		t.Errorf("with groups that are illegal and not told: %s, %q", v.Result, v.Reasons)
	}
}

// sameLines says whether two lists hold the same, comments aside.
func sameLines(a, b string) bool {
	lines := func(s string) []string {
		all := slices.DeleteFunc(strings.Split(strings.TrimSpace(s), "\n"), func(l string) bool { return strings.HasPrefix(l, "#") })
		slices.Sort(all)
		return all
	}
	return slices.Equal(lines(a), lines(b))
}

func TestKnownRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "known.txt")
	if err := os.WriteFile(path, []byte("# fine\n\nscenarios join.new.rebalances\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadKnown(path, nil); err == nil || !strings.Contains(err.Error(), "known.txt:3:") {
		t.Errorf("error %v, want one that names line 3", err)
	}
	if _, err := ReadKnown(path+".none", nil); err == nil || !strings.Contains(err.Error(), "--write-known") {
		t.Errorf("error %v, want one that says how to make a list", err)
	}
}

// Where the reference coordinator and the specification part, one of them is wrong: no class excuses that.
func TestJudgesOfTheReferenceAlwaysFail(t *testing.T) {
	for _, j := range []Judge{Random, Linearizability, Exploration} {
		for _, rule := range []string{compatRule, quirkRule, ""} {
			v := New("0.1.0", "impl", "", 1)
			v.Find(Finding{Judge: j, Rule: rule})
			if closed(v, false, nil); v.Result != Fail || len(v.Differences) != 0 {
				t.Errorf("%s, rule %q: %s, %d differences", j, rule, v.Result, len(v.Differences))
			}
		}
	}
}

func TestJUnitCounts(t *testing.T) {
	v := embedded()
	v.Find(Finding{Judge: Linearizability, Scenario: "muster-out/history-7.txt", Text: "illegal"})
	v.CannotTell("too busy")
	var b bytes.Buffer
	if err := closed(v, false, nil).WriteJUnit(&b); err != nil {
		t.Fatal(err)
	}
	var read junit.Testsuites
	if err := xml.Unmarshal(b.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	// Seven named cases, one for the history, one for the doubt.
	if got := [4]int{read.Tests, read.Failures, read.Errors, read.Skipped}; got != [4]int{9, 2, 1, 1} {
		t.Errorf("tests, failures, errors, skipped are %v", got)
	}
}

// A name that does not exist would look like a failure that is gone.
func TestKnownRefusesNames(t *testing.T) {
	for line, want := range map[string]string{
		"scenario join.new.rebalances sync-parks":   `no judge is called "scenario"`,
		"scenarios join.new.rebalance sync-parks":   `no rule is called "join.new.rebalance"`,
		"scenarios join.new.rebalances sync-park":   `no scenario is called "sync-park"`,
		"scenarios join.new.rebalances sync-parks":  "",
		"scenarios join.new.rebalances *":           "",
		"linearizability - *":                       "",
		"random no.such.rule *":                     `no rule is called "no.such.rule"`,
		"exploration join.new.rebalances no-such-s": `no scenario is called`,
	} {
		path := filepath.Join(t.TempDir(), "known.txt")
		if err := os.WriteFile(path, []byte("# fine\n"+line+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := ReadKnown(path, []string{"sync-parks"})
		if want == "" {
			if err != nil {
				t.Errorf("%q: %v", line, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "known.txt:2:") {
			t.Errorf("%q: error %v, want line 2 and %s", line, err, want)
		}
	}
}

func TestCover(t *testing.T) {
	v := foreign()
	v.Cover([]string{"a", "b", "c"}, []string{"b", "not.a.rule"})
	if v.Rules.Total != 3 || v.Rules.Covered != 1 || strings.Join(v.Rules.Uncovered, " ") != "a c" {
		t.Errorf("rules %+v", *v.Rules)
	}
	var b bytes.Buffer
	if err := closed(v, false, nil).WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "rules not put to the test: a, c") || strings.Contains(b.String(), "seed") {
		t.Errorf("want the rules that were not put to the test, and no seed, as nothing was random:\n%s", b.String())
	}
}

// The time of a suite is that of its judge, not the sum of cases that ran side by side.
func TestJUnitWallTime(t *testing.T) {
	v := foreign()
	v.Took(Scenarios, 250*time.Millisecond)
	var b bytes.Buffer
	if err := closed(v, false, nil).WriteJUnit(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `name="scenarios"`) || !strings.Contains(b.String(), `time="0.250"`) {
		t.Errorf("no suite of 0.250 s:\n%s", b.String())
	}
}

// What fails now and then is a failure of a target that was started for the run, and of any with --strict; but not where our own machine
// stood still: that is a warning. Of a stranger it leaves the verdict open, unless it is on the list of what is known; and it is said what to do.
func TestUnsteady(t *testing.T) {
	for _, c := range []struct {
		name                        string
		own, strict, stalled, known bool
		want                        Result
	}{
		{"a stranger", false, false, false, false, Inconclusive},
		{"a stranger, strictly", false, true, false, false, Fail},
		{"a stranger on a machine that stood still", false, false, true, false, Pass},
		{"a stranger of whom it is known", false, false, false, true, Pass},
		{"our own", true, false, false, false, Fail},
		{"our own on a machine that stood still", true, true, true, false, Pass},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := New("0.1.0", "some", "Kafka 4.3.1", 1)
			v.Scenarios = &ScenarioCounts{}
			v.Case(Case{Judge: Scenarios, Name: "sync-parks"})
			if c.own {
				v.Own()
			}
			v.Wavered(wavers, c.stalled)
			v.Finish(Scenarios)
			var known *KnownList
			if c.known {
				known = &KnownList{entries: []knownEntry{{judge: string(Scenarios), rule: wavers.Rule, scenario: wavers.Scenario}}}
			}
			closed(v, c.strict, known)
			if v.Result != c.want || len(v.Unsteady) != 1 || v.Unsteady[0].Counts != (c.want == Fail) || v.Scenarios.Failed != len(v.Failures) ||
				(len(v.Warnings) == 0) != (c.want != Pass) || (len(v.Reasons) == 0) != (c.want != Inconclusive) {
				t.Fatalf("%s, %+v, %v, %v, %v", v.Result, v.Unsteady, v.Failures, v.Warnings, v.Reasons)
			}
			said := strings.Join(append(v.Warnings, v.Reasons...), "")
			if strings.Contains(said, "is gone") {
				t.Error("what wavers is not gone: " + said)
			}
			if c.want == Fail {
				said = v.Failures[0].paragraph()
			}
			for _, want := range []string{"failed", "passed when it was run again", "muster run sync-parks", "+ A: NONE"} {
				if !strings.Contains(said, want) {
					t.Errorf("%q does not say %q", said, want)
				}
			}
		})
	}
}

// What scenarios that end in any order hand in is told in the order of their names.
func TestOrder(t *testing.T) {
	v := New("0.1.0", "some", "Kafka 4.3.1", 1)
	v.Scenarios, v.Random = &ScenarioCounts{}, &RandomCounts{}
	v.Find(Finding{Judge: Random, Scenario: "walk-1.txt"})
	for _, name := range []string{"c", "a", "b"} {
		v.Case(Case{Judge: Scenarios, Name: name, Skipped: "slow"})
		v.Find(Finding{Judge: Scenarios, Scenario: name})
		v.Find(Finding{Judge: Scenarios, Scenario: name, Text: "second"})
	}
	closed(v, false, nil)
	var got []string
	for _, f := range v.Failures {
		got = append(got, f.Scenario+f.Text)
	}
	for _, s := range v.Skipped {
		got = append(got, s.Scenario)
	}
	if want := "a asecond b bsecond c csecond walk-1.txt a b c"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// TestUnjudged holds that a scenario which could not be judged is not told as one that the target cannot be asked.
func TestUnjudged(t *testing.T) {
	v := New("0", "a", "b", 1)
	v.Scenarios = &ScenarioCounts{}
	v.Case(Case{Judge: Scenarios, Name: "good"})
	v.Case(Case{Judge: Scenarios, Name: "open", Unjudged: "the machine was busy"})
	v.CannotTell("scenario open could not be judged: the machine was busy")
	v.Finish(Scenarios)
	v.Close(false, nil, time.Second)
	table := tableOf(t, v)
	for _, want := range []string{"1 run, 0 skipped, 1 not judged", "could not be judged, the machine was busy: open", "; 1 scenario run, 0 skipped, 1 not judged"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if strings.Contains(table, "\nskipped,") || v.Result != Inconclusive {
		t.Errorf("%s\n%s", v.Result, table)
	}
}
