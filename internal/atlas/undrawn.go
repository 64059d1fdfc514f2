package atlas

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/muster-kafka/muster/conformance"
)

// undrawnText names the scenarios that have not been run on the old releases yet, a line each: new ones may wait there, so that they can be
// added before anybody has explained what differs. The page counts them; whoever takes one off runs make atlas and explains it.
//
//go:embed undrawn.txt
var undrawnText string

// Undrawn are the names of the scenarios that the atlas leaves out so far.
func Undrawn() []string {
	var names []string
	for line := range strings.Lines(undrawnText) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			names = append(names, line)
		}
	}
	return names
}

// Drawn are the scenarios that the atlas shows, with what is registered of kfake for them.
func Drawn(scenarios []*conformance.Scenario, kfake *conformance.Register) ([]*conformance.Scenario, *conformance.Register) {
	undrawn := Undrawn()
	var drawn []*conformance.Scenario
	for _, sc := range scenarios {
		if !slices.Contains(undrawn, sc.Name) {
			drawn = append(drawn, sc)
		}
	}
	known := *kfake
	known.Entries = slices.DeleteFunc(slices.Clone(kfake.Entries), func(e conformance.Entry) bool { return slices.Contains(undrawn, e.Scenario) })
	return drawn, &known
}
