package server

import (
	"cmp"
	"maps"
	"slices"

	"github.com/muster-kafka/muster/impl/core"
)

// pendingTxns are the transactions that are open in a log, and the groups that are part of them, by producer.
type pendingTxns map[core.Producer]map[string]struct{}

// take takes up a record of the log.
func (x pendingTxns) take(r core.Record) {
	switch {
	case r.Kind == core.CommitMarker || r.Kind == core.AbortMarker:
		maps.DeleteFunc(x, func(p core.Producer, _ map[string]struct{}) bool { return p.ID == r.Producer.ID })
	case r.Producer != nil:
		if x[*r.Producer] == nil {
			x[*r.Producer] = map[string]struct{}{}
		}
		x[*r.Producer][r.Group] = struct{}{}
	}
}

// owed are the ends of those that nobody can end any more: as fate says, or aborted, since who coordinated them has forgotten them with the process.
func (x pendingTxns) owed(fate func(core.Producer, []string) (open, commit bool)) (ends []core.Marker) {
	for _, p := range slices.SortedFunc(maps.Keys(x), func(a, b core.Producer) int { return cmp.Compare(a.ID, b.ID) }) {
		open, commit := false, false
		if fate != nil {
			open, commit = fate(p, slices.Sorted(maps.Keys(x[p])))
		}
		if !open {
			ends = append(ends, core.Marker{Producer: p, Commit: commit})
		}
	}
	return ends
}

// fate takes up a transaction that was open in the groups when the process ended, if its producer can still end it: it is over when that one says so, by repeating its EndTxn or
// by a new InitProducerId, or when its timeout is over. One whose producer has another epoch by now has ended with the records that it had, or is aborted.
func (c *Cluster) fate(p core.Producer, groups []string) (open, commit bool) {
	t, known := c.producers[p.ID]
	if !known {
		return false, false
	}
	is, err := c.backing.describe(t)
	if err != nil {
		return false, false // closing
	}
	if is.ProducerEpoch != p.Epoch {
		return false, c.ended[p]
	}
	for _, g := range groups {
		if code := c.join(t.name, p, g); code != core.None { // kfake forgets a transaction without records
			return false, false
		}
	}
	return true, false
}
