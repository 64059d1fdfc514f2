// Package findings turns what scenarios found into findings of a verdict.
package findings

import (
	"strings"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/internal/verdict"
)

// Of is a scenario's failure as a finding. The register, which may be nil, lists what Muster's authors know of the target; replay is the command
// that shows the failure again.
func Of(f *conformance.Failure, register *conformance.Register, replay string) verdict.Finding {
	found := verdict.Finding{
		Judge: verdict.Scenarios, Class: f.Class, Scenario: f.Scenario, Suffers: f.Suffers(), Text: noted(f), Replay: replay,
	}
	if len(f.Rules) > 0 {
		found.Rule = f.Rules[0]
	}
	if register != nil {
		var e conformance.Entry
		if e, found.Registered = register.Find(f); found.Registered {
			found.Kind, found.Note, found.Suffers = string(e.Kind), e.Note(), e.Suffers()
			found.Rule, found.Class = e.Rule, e.Class() // whoever looked at it knows better than the scenario, which has its own subject
		}
	}
	return found
}

// noted is the failure's text with what the texts do not say.
func noted(f *conformance.Failure) string {
	remarks := f.Remarks()
	if len(remarks) == 0 {
		return f.Text
	}
	return strings.TrimRight(f.Text, "\n") + "\n\n" + strings.Join(remarks, "\n") + "\n"
}
