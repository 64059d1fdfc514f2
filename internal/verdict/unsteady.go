package verdict

import "strings"

// Unsteady is a scenario that failed at first, and passed when it was run again with more time for everything.
type Unsteady struct {
	Scenario string `json:"scenario"`
	Text     string `json:"text"` // what came at first
}

// Wavered notes a scenario that failed at first and passed when it was run again; text is what came at first. It may be the machine that was
// busy, so it does not count, but whoever reads the verdict has to know.
func (v *Verdict) Wavered(scenario, text string) {
	v.Unsteady = append(v.Unsteady, Unsteady{Scenario: scenario, Text: text})
	v.Warn("scenario %s failed at first and passed when it was run again with more time: the machine is busy, or the target not steady; at first:\n%s", scenario, differing(text))
}

// differing are the lines of a text in which expected and got differ, all of it where none is marked so.
func differing(text string) string {
	var marked []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "+ ") {
			marked = append(marked, line)
		}
	}
	if len(marked) == 0 {
		return text
	}
	return strings.Join(marked, "")
}
