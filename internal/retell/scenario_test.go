package retell

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/targets/model"
	"github.com/muster-kafka/muster/internal/golden"
	"github.com/muster-kafka/muster/model/classic"
)

// judged is how a scenario ends on the specification, with rules broken.
func judged(t *testing.T, text []byte, profile string, broken ...classic.RuleID) conformance.Result {
	t.Helper()
	sc, err := conformance.Parse("found.txt", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	tg, err := model.New(model.Options{Profile: profile, Broken: broken}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rep, err := conformance.Suite{Scenarios: []*conformance.Scenario{sc}, OutDir: t.TempDir()}.Run(context.Background(), tg, nil)
	if err != nil {
		t.Fatal(err)
	}
	return rep.Results[0]
}

// The shortest trace to a broken rule becomes a scenario that passes where the rule holds and fails where it is broken. The table says for each
// rule that exploration can break whether its trace does, and if not why.
func TestBrokenRulesBecomeScenarios(t *testing.T) {
	var table strings.Builder
	told := 0
	for i := range classic.Rules() {
		rule := classic.RuleID(i)
		if ok, _ := classic.Breakable(rule); !ok {
			continue
		}
		g := explore.Group{
			Name: rule.String(), Profile: classic.Java, Members: 2, Lists: []string{"ab", "b"}, WriteFailures: true, Offsets: true,
			Static: rule >= classic.StaticJoins && rule <= classic.LeaveInstance, Broken: []classic.RuleID{rule},
		}
		rep := explore.Run(context.Background(), g.Name, g.Machine, explore.Options{Workers: 2, StopAtViolation: true})
		if len(rep.Violations) == 0 {
			continue // the group has nothing that it is about
		}
		text, err := Trace{g, rep.Violations[0]}.Scenario(t.Context())
		if errors.Is(err, ErrUntimed) {
			fmt.Fprintf(&table, "%-36s %v\n", rule, err)
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", rule, err)
			continue
		}
		told++
		fmt.Fprintf(&table, "%-36s scenario\n", rule)
		profile := ""
		if strings.Contains(string(text), "# profile: faults") {
			profile = "faults"
		}
		if res := judged(t, text, profile); res.Status != conformance.Pass {
			t.Errorf("%v: where the rule holds the scenario ends with %s %s\n%s", rule, res.Status, res.Reason, text)
		}
		if res := judged(t, text, profile, rule); res.Status != conformance.Fail {
			t.Errorf("%v: where the rule is broken the scenario ends with %s %s\n%s", rule, res.Status, res.Reason, text)
		}
		switch rule {
		case classic.JoinCompleteTimeout, classic.SyncAborted, classic.SyncWriteFails:
			golden.Testdata(t, rule.String()+".txt", string(text))
		}
	}
	golden.Testdata(t, "broken.txt", table.String())
	t.Logf("%d scenarios", told)
	if told < 50 {
		t.Errorf("only %d scenarios", told)
	}
}
