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

	Rules map[string]int `json:"rules"` // that had a part in explaining an answer, by how many groups
	Moves map[string]int `json:"moves"` // of a group's state, such as "Empty to Stable", by how many groups
	Wide  []WideGroup    `json:"wide"`  // those with the most calls at a time, the widest first
	Open  []OpenGroup    `json:"open"`  // of those that could not be decided, the first few

	Together   int   `json:"together"`    // groups whose clients, left alone in the end, got together
	TogetherMS int64 `json:"together_ms"` // the longest that this took
	Apart      int   `json:"apart"`       // groups whose clients did not
	NotSeen    int   `json:"not_seen"`    // groups of which that could not be told

	Consumers *ConsumerCounts `json:"consumers,omitempty"` // real ones; nil where none were at work
}

// WideGroup is a group whose calls overlap.
type WideGroup struct {
	Seed    uint64  `json:"seed"` // of its history
	Group   string  `json:"group"`
	Calls   int     `json:"calls"`
	Overlap int     `json:"overlap"` // operations that were open at a time; a JoinGroup is two
	TookS   float64 `json:"took_s"`  // seconds that judging took
	Result  string  `json:"result"`  // legal, illegal, unknown
}

// OpenGroup is a group that could not be decided.
type OpenGroup struct {
	Seed  uint64 `json:"seed"`
	Group string `json:"group"`
	Why   string `json:"why"`
	File  string `json:"file"` // its history; empty where it was not kept
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
	row("left alone", fmt.Sprintf("%s got together, the slowest in %.1f s", count(c.Together, "group", "groups"), float64(c.TogetherMS)/1000), c.alone())
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

// alone is what came of the groups whose clients were left alone in the end.
func (c *CampaignCounts) alone() string {
	result := "holds"
	switch {
	case c.Apart > 0:
		result = fmt.Sprintf("%d did not", c.Apart)
	case c.Together == 0:
		result = "not seen"
	}
	if c.NotSeen > 0 {
		result += fmt.Sprintf(" (%d without time to see)", c.NotSeen)
	}
	return result
}
