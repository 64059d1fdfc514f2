package verdict

import "fmt"

// ConsumerCounts is what real consumers did in a campaign, and who owned what.
type ConsumerCounts struct {
	Groups      int               `json:"groups"`
	Generations int               `json:"generations"` // in which members had an assignment
	Claims      int               `json:"claims"`      // of a member on a partition in a generation
	Zombies     int               `json:"zombies"`     // claims that were still held when another member had the partition in a later generation
	Rests       int               `json:"rests"`       // times at which a group was at rest and all was owned
	Broken      int               `json:"broken"`      // rules, each once for a group and generation
	Triggers    map[string]int    `json:"triggers"`    // what happened to them, by kind
	Skipped     map[string]string `json:"skipped"`     // what could not, and why
}

// rows are those of a campaign's table.
func (c *ConsumerCounts) rows(row func(name, howMuch, result string)) {
	if c == nil {
		return
	}
	result := "holds"
	switch {
	case c.Broken > 0:
		result = fmt.Sprintf("%d broken", c.Broken)
	case c.Groups == 0:
		result = "not judged"
	}
	row("ownership", fmt.Sprintf("%s of real consumers, %s in %s, %s", count(c.Groups, "group", "groups"), count(c.Claims, "claim", "claims"),
		count(c.Generations, "generation", "generations"), count(c.Zombies, "zombie", "zombies")), result)
	happened, all := 0, 0
	for _, n := range c.Triggers {
		all += n
		if n > 0 {
			happened++
		}
	}
	row("consumers' lot", fmt.Sprintf("%d of %s, %s in all", happened, count(len(c.Triggers), "trigger", "triggers"), count(all, "time", "times")), "-")
}
