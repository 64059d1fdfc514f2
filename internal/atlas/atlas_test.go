package atlas

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/model"
	"github.com/muster-kafka/muster/internal/kafka"
)

func inputs(t *testing.T) ([]*conformance.Scenario, []Explanation, *conformance.Register) {
	t.Helper()
	scenarios, err := conformance.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	explained, err := Explanations()
	if err != nil {
		t.Fatal(err)
	}
	known, ok, err := conformance.Registered("kfake")
	if err != nil || !ok {
		t.Fatalf("no register of kfake: %v", err)
	}
	drawn, known := Drawn(scenarios, known)
	if undrawn := Undrawn(); len(drawn)+len(undrawn) != len(scenarios) {
		t.Fatalf("undrawn.txt names %d of %d scenarios and %d are drawn: it names one twice, or one that is not there", len(undrawn), len(scenarios), len(drawn))
	}
	return drawn, explained, known
}

// TestCurrent fails where docs/atlas.md was made from other scenarios, explanations, releases or another register than those here.
func TestCurrent(t *testing.T) {
	scenarios, _, known := inputs(t)
	text, err := os.ReadFile("../../docs/atlas.md")
	if err != nil {
		t.Fatal(err)
	}
	mock, ok, err := conformance.Registered("rdkafka-mock")
	if err != nil || !ok {
		t.Fatalf("no register of rdkafka-mock: %v", err)
	}
	want := Digest(kafka.Releases, scenarios, ExplanationsText(), known, mock)
	if got := DigestIn(string(text)); got != want {
		t.Errorf("docs/atlas.md is of inputs %s, here are %s: run make atlas", got, want)
	}
}

// TestExplained holds texts and explanations against each other, in both directions, without a broker.
func TestExplained(t *testing.T) {
	scenarios, explained, _ := inputs(t)
	for _, fault := range Unexplained(kafka.Releases, scenarios, explained) {
		t.Error(fault)
	}
}

const sample = `# One round more.
name: one-more
releases: <2.6.1
rule: heartbeat.completing
kind: defect
issue: KAFKA-10134
at: sample/2
`

const sampleScenario = `# A sample.
# rule: heartbeat.completing

form A range=x
----
form: Stable gen=1 leader=A protocol=range members=[A]

heartbeat A
----
A: NONE
---- [<2.6.1] it was so
A: REBALANCE_IN_PROGRESS
`

func parseSample(t *testing.T, text string) []*conformance.Scenario {
	t.Helper()
	sc, err := conformance.Parse("sample.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return []*conformance.Scenario{sc}
}

func TestUnexplained(t *testing.T) {
	releases := []string{"2.5.1", "2.6.3", "4.3.1"}
	for name, c := range map[string]struct {
		from, to string // a change of the explanation
		want     string // what is found fault with
	}{
		"all is well":    {},
		"none":           {sample, "", "sample/2 differs on 2.5.1"},
		"too few":        {"<2.6.1", "<2.5", "sample/2 differs on 2.5.1"},
		"too many":       {"<2.6.1", "<2.7", "sample/2 does not differ on 2.6.3"},
		"another block":  {"sample/2", "sample/2, sample/1", "sample/1 differs on no release"},
		"another's name": {"sample/2", "sample/2, other/1", "other/1 differs on no release"},
	} {
		explained, err := parseExplanations([]byte(strings.Replace(sample, c.from, c.to, 1)))
		if err != nil {
			t.Fatal(err)
		}
		got := Unexplained(releases, parseSample(t, sampleScenario), explained)
		if c.want == "" && len(got) > 0 || c.want != "" && !strings.Contains(strings.Join(got, "\n"), c.want) {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"name: one-more\n", "", "no name"},
		{"# One round more.\n", "", "needs prose"},
		{"heartbeat.completing", "no.such.rule", "there is no rule"},
		{"defect", "whim", "is none of"},
		{"sample/2", "sample", "is no place"},
		{"<2.6.1", "old", "not a release condition"},
		{"issue: KAFKA-10134\n", "", "no issue"},
		{"kind: defect", "kind: version", "neither places nor a rule"},
		{"at: sample/2\n", "", "has places"},
		{"at:", "where:", "no field"},
		{sample, sample + "\n" + sample, "two called one-more"},
	} {
		if _, err := parseExplanations([]byte(strings.Replace(sample, c.from, c.to, 1))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: error %v, want %q", c.to, c.from, err, c.want)
		}
	}
}

// TestRun runs a scenario on specifications in place of brokers.
func TestRun(t *testing.T) {
	releases := []string{"3.1.2", "4.3.1"}
	run := func(text string) (*Run, []*conformance.Scenario, int) {
		scenarios, opens := parseSample(t, text), 0
		o := Options{
			Releases: releases, Scenarios: scenarios, Brokers: 1, OutDir: t.TempDir(), Say: t.Logf,
			Open: func(_ context.Context, release, _ string) (target.Target, error) {
				opens++
				return model.New(model.Options{Name: "model:" + release}, nil)
			},
		}
		r, err := o.Do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		o.Reuse = r
		if _, err := o.Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		return r, scenarios, opens
	}
	faults := func(text string, explained ...Explanation) string {
		r, scenarios, _ := run(text)
		return strings.Join(append(r.Judge(releases, scenarios, explained), r.Idle(explained)...), "\n")
	}
	r, scenarios, opens := run(sampleScenario)
	if got := r.Judge(releases, scenarios, nil); len(got) > 0 || opens != len(releases) {
		t.Errorf("found %q, opened %d targets for two runs, the second of which had nothing to do", got, opens)
	}
	if got := r.Judge(append(releases, "4.4.0"), scenarios, nil); !slices.Equal(got, []string{"sample was not run on 4.4.0"}) {
		t.Errorf("a release that was not run: %q", got)
	}
	if got := faults(strings.Replace(sampleScenario, "A: NONE", "A: ILLEGAL_GENERATION", 1)); strings.Count(got, "answers otherwise than its text says") != 2 {
		t.Errorf("a wrong text: %q", got)
	}
	skipped := strings.Replace(sampleScenario, "heartbeat A", "join A v=9\nheartbeat A", 1)
	skipped = strings.Replace(skipped, "A: NONE", "A: parked\nA: REBALANCE_IN_PROGRESS", 1)
	version := Explanation{Name: "v9", Kind: Version, API: "JoinGroup", Version: 9}
	all, err := parseExplanations([]byte("# New.\nname: v9\nreleases: <3.2\nkind: version\napi: JoinGroup 9\nissue: none\n"))
	if err != nil {
		t.Fatal(err)
	}
	version.Releases = all[0].Releases
	if got := faults(skipped); !strings.Contains(got, "sample was not asked of 3.1.2: the target offers JoinGroup 0 to 7, not 9") {
		t.Errorf("an unexplained skip: %q", got)
	}
	for explained, want := range map[string]bool{"JoinGroup": true, "SyncGroup": false} {
		version.API = explained
		if got := faults(skipped, version); (strings.Contains(got, "not asked") == want) || strings.Contains(got, "no release was found") == want {
			t.Errorf("explained by a version of %s: %q", explained, got)
		}
	}
}

// unharmed is a target that no fault can be made to happen to.
type unharmed struct{ target.Target }

func (u unharmed) Capabilities() target.Capabilities {
	caps := u.Target.Capabilities()
	caps.Inject, caps.Faults = nil, nil
	return caps
}

// TestUnaskedFault has a target that no fault can be made to happen to.
func TestUnaskedFault(t *testing.T) {
	all, err := parseExplanations([]byte("# Served on.\nname: resigns\nreleases: <3.2\nkind: fault\nfault: resigns\nissue: none\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		release string
		lacks   conformance.Lack
		want    bool
	}{
		{"3.1.2", conformance.Lack{Fault: target.Resign}, true},
		{"3.2.3", conformance.Lack{Fault: target.Resign}, false},
		{"3.1.2", conformance.Lack{Fault: target.Load}, false},
		{"3.1.2", conformance.Lack{API: "JoinGroup", Version: 9}, false},
		{"3.1.2", conformance.Lack{}, false},
	} {
		if got := all[0].excuses(c.release, c.lacks); got != c.want {
			t.Errorf("%s, %+v: excused %v", c.release, c.lacks, got)
		}
	}
	scenario, err := conformance.Parse("sample.txt", []byte(strings.Replace(strings.Replace(sampleScenario, "\n\n", "\n# profile: faults\n\n", 1), "heartbeat A", "broker resigns\nheartbeat A", 1)))
	if err != nil {
		t.Fatal(err)
	}
	tg, err := model.New(model.Options{Profile: "faults"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rep, err := conformance.Suite{Scenarios: []*conformance.Scenario{scenario}, OutDir: t.TempDir()}.Run(t.Context(), unharmed{tg}, nil)
	if err != nil || !all[0].excuses("3.1.2", rep.Results[0].Lacks) {
		t.Errorf("%+v, %v: not excused", rep.Results, err)
	}
	for _, wrong := range []string{"fault: explodes", "fault: resigns\napi: JoinGroup 9", "api: JoinGroup 9"} {
		if _, err := parseExplanations([]byte("# X.\nname: x\nreleases: <3.2\nkind: fault\n" + wrong + "\nissue: none\n")); err == nil {
			t.Errorf("%q was taken", wrong)
		}
	}
}

func TestPage(t *testing.T) {
	_, _, known := inputs(t)
	releases := []string{"2.5.1", "2.6.3", "4.3.1"}
	explained, err := parseExplanations([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	text := Page{Releases: releases, Scenarios: parseSample(t, sampleScenario), Explained: explained, Run: &Run{}, KFake: known, RDKafka: known, Digest: "abc"}.Text()
	for _, want := range []string{
		"| one-more | `<2.6.1` | One round more. | defect | `heartbeat.completing` | - | [KAFKA-10134](https://issues.apache.org/jira/browse/KAFKA-10134) | sample/2 |",
		"| sample/2 | one-more | a | · | · |",
		"| 2.6 | one-more | - | - | - |",
		fmt.Sprintf("%s/%d", known.Entries[0].Scenario, known.Entries[0].Block),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q:\n%s", want, text)
		}
	}
	if got := DigestIn(text); got != "abc" {
		t.Errorf("its digest reads %q", got)
	}
}
