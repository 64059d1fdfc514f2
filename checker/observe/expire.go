package observe

import (
	"fmt"
	"slices"
	"time"

	"github.com/muster-kafka/muster/model/classic"
)

// EndTxn yields every outcome of the marker that ends a producer's transaction. A broker that does not serve the group refuses it: the
// transaction coordinator sends it again, until one does.
func (w *World) EndTxn(b *Branch, producer int64, commit bool, at Window, yield func(Outcome) bool) {
	if b.state.Serving != classic.Active {
		yield(Outcome{Branch: b})
		return
	}
	c := &call{producer: producer, event: classic.Event{Kind: classic.TxnMarker, Aborted: !commit}}
	for _, p := range b.pending {
		if p.producer == producer {
			c.event.Taken.Pending = true
		} else {
			c.event.Left.Pending = true
		}
	}
	c.event.Left.Committed = len(b.offsets) > 0
	w.happen(b, c, at, yield)
}

// DeleteTopics yields every outcome of topics being deleted.
func (w *World) DeleteTopics(b *Branch, topics []string, writeFails bool, at Window, yield func(Outcome) bool) {
	if b.state.Serving == classic.Loading && !w.config.Profile.Defects.Has(classic.DefectDeletedLoading) {
		n := *b
		for _, t := range topics {
			n.lost += t + " "
		}
		yield(Outcome{Branch: &n})
		return
	}
	c := &call{event: classic.Event{Kind: classic.TopicsDeleted}}
	c.gone = func(p partition) bool { return slices.Contains(topics, p.topic) }
	c.takes(b)
	c.fails(writeFails)
	w.happen(b, c, at, yield)
}

// ambiguous bounds how many offsets may be just about to expire.
const ambiguous = 6

// Cleanup yields every outcome of one round of the coordinator's periodic cleanup (Config.OffsetsRetention). Where the window leaves open
// whether an offset has expired, there are outcomes for both.
func (w *World) Cleanup(b *Branch, writeFails bool, at Window, yield func(Outcome) bool) error {
	may, must := w.expired(b, at)
	if len(may) > ambiguous {
		return fmt.Errorf("%w: a cleanup at a time at which %d offsets may or may not have expired", ErrNotModelled, len(may))
	}
	more := true
	for bits := range 1 << len(may) {
		gone := map[partition]bool{}
		for _, p := range must {
			gone[p] = true
		}
		for i, p := range may {
			if bits>>i&1 == 1 {
				gone[p] = true
			}
		}
		c := &call{event: classic.Event{Kind: classic.Cleanup}}
		c.gone = func(p partition) bool { return gone[p] }
		c.takes(b)
		c.fails(writeFails)
		if c.event.Taken.Pending { // a cleanup leaves what is pending
			c.event.Taken.Pending, c.event.Left.Pending = false, true
		}
		w.happen(b, c, at, func(o Outcome) bool {
			o.Rules = append(o.Rules, w.citesExpiry(b, c, at)...)
			more = yield(o)
			return more
		})
		if !more {
			return nil
		}
	}
	return nil
}

// citesExpiry are the rules of a cleanup that this package follows.
func (w *World) citesExpiry(b *Branch, c *call, at Window) (rules []classic.RuleID) {
	old := func(o offset) bool {
		if o.explicit {
			return o.expires.Latest <= at.Earliest
		}
		return o.since.Latest+int64(w.config.OffsetsRetention) <= at.Earliest
	}
	if b.state.Phase != classic.Absent && w.expiry(b) == classic.NothingExpires && slices.ContainsFunc(b.offsets, old) {
		rules = append(rules, classic.ExpiryRebalancing)
	}
	if slices.ContainsFunc(b.offsets, func(o offset) bool { return o.explicit && c.gone(o.key()) }) {
		rules = append(rules, classic.ExpiryExplicit)
	}
	if slices.ContainsFunc(b.offsets, func(o offset) bool { return b.unstable(o.key()) }) {
		rules = append(rules, classic.ExpiryPending)
	}
	return rules
}

func (w *World) expiry(b *Branch) classic.Expiry {
	m := w.stepper()
	defer w.models.Put(m)
	return m.model.Expiry(&b.state)
}

// expired are the partitions whose committed offsets may, and those that must have expired.
func (w *World) expired(b *Branch, at Window) (may, must []partition) {
	keep := w.config.OffsetsRetention
	if keep == 0 {
		return nil, nil
	}
	expiry := w.expiry(b)
	if expiry == classic.NothingExpires {
		return nil, nil
	}
	for _, o := range b.offsets {
		if expiry == classic.UnsubscribedCommit {
			// A topic for which there is no symbol left is one that nobody can have subscribed to.
			if s, err := w.topicSymbol(o.topic); err == nil && b.state.Subscribed.Has(s) {
				continue
			}
		}
		// expiry.pending
		if w.config.Profile.ExpirySparesPending != w.breaks(classic.ExpiryPending) && b.unstable(o.key()) {
			continue
		}
		ends := o.since.plus(keep)
		switch {
		case o.explicit && !w.breaks(classic.ExpiryExplicit): // expiry.explicit
			ends = o.expires
		case expiry == classic.SinceEmpty && b.emptySince != sinceUnknown:
			ends = b.emptySince.plus(keep)
		}
		switch {
		case at.Earliest >= ends.Latest:
			must = append(must, o.key())
		case at.Latest >= ends.Earliest:
			may = append(may, o.key())
		}
	}
	return may, must
}

func (w Window) plus(d time.Duration) Window {
	return Window{w.Earliest + int64(d), w.Latest + int64(d)}
}

// takes works out what is taken from a branch and what is left, by what is gone.
func (c *call) takes(b *Branch) {
	c.event.Taken.Committed, c.event.Taken.Pending = b.has(c.gone)
	c.event.Left.Committed, c.event.Left.Pending = b.has(func(p partition) bool { return !c.gone(p) })
}

func (c *call) fails(yes bool) {
	if yes {
		c.event.Write = classic.WriteFailed
	}
}

// happen yields every outcome of something that is no request.
func (w *World) happen(b *Branch, c *call, at Window, yield func(Outcome) bool) {
	w.step(&b.state, &c.event, func(st *stepper, t *classic.Transition) bool { return yield(w.follow(st, b, c, t, at)) })
}
