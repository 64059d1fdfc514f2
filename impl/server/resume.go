package server

import (
	"cmp"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

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

// owed are the ends of those that nobody can end any more: who coordinated them has forgotten them with the process.
func (x pendingTxns) owed(known func(core.Producer, []string) bool) (abort []core.Marker) {
	for _, p := range slices.SortedFunc(maps.Keys(x), func(a, b core.Producer) int { return cmp.Compare(a.ID, b.ID) }) {
		if known == nil || !known(p, slices.Sorted(maps.Keys(x[p]))) {
			abort = append(abort, core.Marker{Producer: p})
		}
	}
	return abort
}

// resume takes up a transaction that was open when the process ended, if kfake has kept its producer: it is over when that one says so, by
// repeating its EndTxn or by a new InitProducerId, or when its timeout is over.
func (c *Cluster) resume(p core.Producer, groups []string) bool {
	for node := range c.nodes {
		req := kmsg.NewPtrListTransactionsRequest()
		req.ProducerIDFilters = []int64{p.ID}
		resp, err := c.backing.ask(int32(node), req)
		if err != nil {
			return false
		}
		for _, t := range resp.(*kmsg.ListTransactionsResponse).TransactionStates {
			if t.ProducerID != p.ID {
				continue
			}
			for _, g := range groups {
				c.enlist(t.TransactionalID, p, g)
			}
			return true
		}
	}
	return false
}
