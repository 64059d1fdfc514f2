package lockstep

import (
	"fmt"
	"strings"
)

// Scenario is the run as a scenario file that stands on its own: what happened, without what was answered, which is to be recorded from a
// coordinator that is right (docs/scenarios.md). What scenario text has no words for is left as comments, and the head says so.
func (v *Violation) Scenario() string {
	var blocks []string
	byHand := false
	for _, block := range v.Trace {
		commands, _, _ := strings.Cut(block, "----\n")
		blocks = append(blocks, commands+"----\n")
		for _, line := range strings.Split(commands, "\n") {
			byHand = byHand || strings.HasPrefix(line, "#")
		}
	}
	var s strings.Builder
	fmt.Fprintf(&s, "# Found by the random judge: %s of group %s.\n", v.What, v.Group)
	fmt.Fprintf(&s, "# expected  %s\n# got       %s\n", oneLine(v.Expected), oneLine(v.Got))
	if byHand {
		s.WriteString("# What stands in comments below has to be brought about by other means.\n")
	}
	if len(v.Rules) > 0 {
		fmt.Fprintf(&s, "# rule: %s\n", v.Rules[0])
	}
	return s.String() + "\n" + strings.Join(blocks, "\n")
}

func oneLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
