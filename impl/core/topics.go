package core

import "slices"

// topicsDeleted forgets the offsets of topics that are gone, in every group, once that is durable (§3.5).
func (c *Coordinator) topicsDeleted(ev TopicsDeleted) {
	for _, id := range sortedKeys(c.groups) {
		g := c.groups[id]
		var gone []partition
		var records []Record
		for _, p := range g.knownPartitions() {
			if slices.Contains(ev.Topics, p.topic) {
				gone = append(gone, p)
				records = append(records, g.offsetTombstone(p))
			}
		}
		if len(gone) > 0 {
			c.append(g, records, &forgetting{g, gone})
		}
	}
}

// forgetting is the tombstones of offsets on their way to the log.
type forgetting struct {
	group *group
	gone  []partition
}

func (w *forgetting) ended(c *Coordinator, _ AppendID, code int16) {
	if code != None {
		c.settings.Report(&WriteError{w.group.id, code})
		return
	}
	for _, p := range w.gone {
		delete(w.group.offsets, p)
	}
}
