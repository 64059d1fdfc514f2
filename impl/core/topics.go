package core

import "slices"

// topicsDeleted forgets the offsets of topics that are gone, committed and pending, in every group, once that is durable (offsets.topic-deleted).
func (c *Coordinator) topicsDeleted(topics []string) {
	if c.status == loading {
		c.lostFor = append(c.lostFor, topics...)
	}
	if c.status != serving {
		return
	}
	for _, id := range sortedKeys(c.groups) {
		g := c.groups[id]
		var gone []partition
		for _, p := range g.knownPartitions() {
			if slices.Contains(topics, p.topic) {
				gone = append(gone, p)
			}
		}
		c.forget(g, gone)
	}
}

// forget deletes offsets, once that is durable; 0 where there are none.
func (c *Coordinator) forget(g *group, gone []partition) AppendID {
	if len(gone) == 0 {
		return 0
	}
	records := make([]Record, 0, len(gone))
	for _, p := range gone {
		records = append(records, g.offsetTombstone(p))
	}
	return c.append(g, records, &forgetting{g, gone})
}

// forgetting is the tombstones of offsets on their way to the log.
type forgetting struct {
	group *group
	gone  []partition
}

func (w *forgetting) ended(c *Coordinator, id AppendID, code int16) {
	switch code {
	case RequestTimedOut:
	case None:
		w.settled(c, id, true)
	default:
		c.settings.Report(&WriteError{w.group.id, code})
	}
}

func (w *forgetting) settled(_ *Coordinator, _ AppendID, written bool) {
	if !written {
		return
	}
	for _, p := range w.gone {
		delete(w.group.offsets, p)
		for _, offsets := range w.group.unstable {
			delete(offsets, p)
		}
	}
	w.group.forgetStable()
}
