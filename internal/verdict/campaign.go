package verdict

import (
	"fmt"
	"slices"
	"strings"
)

// CampaignCounts is what a campaign of concurrent histories did; LinearizabilityCounts is what came of it.
type CampaignCounts struct {
	Groups    int            `json:"groups"`           // whose histories were judged
	Legal     int            `json:"legal"`            // groups that the specification explains
	Illegal   int            `json:"illegal"`          // groups that it does not
	Undecided int            `json:"undecided"`        // groups of which nothing could be told: neither right nor wrong
	Calls     int            `json:"calls"`            // made in all
	Lost      int            `json:"unanswered"`       // of these
	PerSecond float64        `json:"calls_per_second"` // over the whole campaign
	Widest    int            `json:"widest"`           // histories that were made at a time, at most
	Stalled   int            `json:"stalled"`          // histories thrown away, as machine or target stood still for too long
	Left      int            `json:"left"`             // histories that there was no time to judge
	StallMS   float64        `json:"stall_ms"`         // the longest time that nothing came back
	Faults    map[string]int `json:"faults"`           // what was done on purpose, by kind
	Profiles  map[string]int `json:"profiles"`         // legal groups by the profile that explains them

	Consumers *ConsumerCounts `json:"consumers,omitempty"` // real ones; nil where none were at work
}

// campaignRows are the rows of a run that is a campaign and nothing else.
func (v *Verdict) campaignRows(row func(name, howMuch, result string)) {
	c := v.Campaign
	result := v.resultOf(Linearizability)
	if n := c.Illegal; n > 0 {
		result = fmt.Sprintf("%d illegal", n)
	}
	if c.Undecided > 0 {
		result += fmt.Sprintf(", %d not decided", c.Undecided)
	}
	if c.Stalled+c.Left > 0 {
		result += fmt.Sprintf(" (%d thrown away, %d left)", c.Stalled, c.Left)
	}
	row("groups", fmt.Sprintf("%s, at most %d histories at a time", count(c.Groups, "group", "groups"), c.Widest), result)
	row("calls", fmt.Sprintf("%s, %.0f a second", count(c.Calls, "call", "calls"), c.PerSecond), fmt.Sprintf("%d without an answer", c.Lost))
	c.Consumers.rows(row)
	row("faults", byName(c.Faults), "-")
	row("explained as", byName(c.Profiles), "-")
}

// byName are counts as text, the names in order.
func byName(counts map[string]int) string {
	var parts []string
	for name, n := range counts {
		parts = append(parts, fmt.Sprintf("%d %s", n, name))
	}
	if len(parts) == 0 {
		return "none"
	}
	slices.SortFunc(parts, func(a, b string) int {
		_, a, _ = strings.Cut(a, " ")
		_, b, _ = strings.Cut(b, " ")
		return strings.Compare(a, b)
	})
	return strings.Join(parts, ", ")
}
