package linearize

import (
	"testing"

	"github.com/muster-kafka/muster/model/classic"
)

// The class of a failure is the strictest of all rules that were broken, not that of the rule it is filed under.
func TestStrictestClass(t *testing.T) {
	f := &finding{refusals: []refusal{{rules: []classic.RuleID{classic.SyncParkedRemoved}}, {rules: []classic.RuleID{classic.LeavePending, classic.JoinCompleteGeneration}}}}
	if got := f.strictest(classic.Quirk); got != classic.Contract {
		t.Errorf("class %v", got)
	}
	if got := (&finding{}).strictest(classic.Compat); got != classic.Compat {
		t.Errorf("class %v without refusals", got)
	}
}
