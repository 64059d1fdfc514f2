package bugs

import (
	"context"
	"go/format"
	"slices"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/model/classic"
)

// Every bug of the bank still applies to the source, yields Go that parses, and names a rule that exists. An edit that the source has
// moved away from is a fault here, not a bug that nobody plants any more.
func TestBankApplies(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("the bank is empty")
	}
	root, err := Root(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if bug, err := Find(neverAnswered); err != nil || !bug.MustBeCaughtBy("lockstep") || !bug.MustBeCaughtBy("linearize") {
		t.Errorf("the JoinGroup that is never answered has to be caught by both judges: %v", err)
	}
	files, err := Compose(root, all)
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range files {
		if _, err := format.Source(text); err != nil {
			t.Errorf("%s with its bugs is not Go: %v", file, err)
		}
	}
	scenarios, err := conformance.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	for _, bug := range all {
		if _, ok := classic.FindRule(bug.Rule); !ok {
			t.Errorf("bug %s breaks %q, which is not a rule", bug.ID, bug.Rule)
		}
		for _, judge := range strings.Split(bug.CaughtBy, ", ") {
			if _, ok := judgeOf(judge); !ok {
				t.Errorf("bug %s is to be caught by %q, which is not a judge", bug.ID, judge)
			}
		}
		if !slices.ContainsFunc(scenarios, func(s *conformance.Scenario) bool { return bug.Written == "" || s.Name == bug.Written }) {
			t.Errorf("bug %s says that scenario %q was written for it, which does not exist", bug.ID, bug.Written)
		}
		for _, edit := range bug.Edits {
			if !strings.HasPrefix(edit.File, "impl/") {
				t.Errorf("bug %s edits %s: bugs are planted in impl alone", bug.ID, edit.File)
			}
		}
	}
}
