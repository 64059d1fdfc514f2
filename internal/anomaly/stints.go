package anomaly

import (
	"slices"
	"time"
)

// stint is a membership: from the first generation (or look) that has a member's id to the first that has it no more.
type stint struct {
	member Member
	from   time.Time // zero: it was there at the beginning of what is known
	to     time.Time
}

// short reports whether the membership is known from its beginning to its end, and was lost early.
func (s stint) short(limit time.Duration) bool {
	return !s.from.IsZero() && s.to.Sub(s.from) <= limit
}

// who is what stays of a member from one id to the next: a coordinator hands out a new id each time a client comes back.
type who struct{ instance, client, host string }

func (m Member) who() who {
	if m.Instance != "" {
		return who{instance: m.Instance}
	}
	return who{client: m.Client, host: m.Host}
}

// Name is what people know a member by.
func (m Member) Name() string {
	switch {
	case m.Instance != "":
		return "instance " + m.Instance
	case m.Client != "" && m.Host != "":
		return m.Client + " at " + m.Host
	case m.Client != "":
		return m.Client
	}
	return m.ID
}

// chain is a client that came back under a new id each time it had lost the one before.
type chain struct {
	stints []stint
}

func (c chain) last() stint { return c.stints[len(c.stints)-1] }

// typical is the median length.
func (c chain) typical() time.Duration {
	lengths := make([]time.Duration, len(c.stints))
	for i, s := range c.stints {
		lengths[i] = s.to.Sub(s.from)
	}
	slices.Sort(lengths)
	return lengths[len(lengths)/2]
}

// chains links memberships that were lost early, each to the one that the same client had before. Many clients may share one name: the
// one that arrives is taken to be the one that left last. So a rolling restart, where everybody leaves once, gives no chain, and a
// second one soon after gives chains of one.
func chains(ended []stint, arrivals []time.Time, limit time.Duration) []chain {
	type event struct {
		at      time.Time
		arrives bool
		stint   int // of a departure and of a known arrival; -1: still there
	}
	var events []event
	for i, s := range ended {
		if !s.from.IsZero() {
			events = append(events, event{s.from, true, i})
		}
		events = append(events, event{s.to, false, i})
	}
	for _, at := range arrivals {
		events = append(events, event{at, true, -1})
	}
	// At one time departures come first: the client that comes back is the one that has just been lost.
	slices.SortStableFunc(events, func(a, b event) int {
		if c := a.at.Compare(b.at); c != 0 {
			return c
		}
		if a.arrives == b.arrives {
			return 0
		}
		if b.arrives {
			return -1
		}
		return 1
	})
	before := make([]chain, len(ended)) // what the membership continues
	var left []chain
	var out []chain
	for _, e := range events {
		switch {
		case e.arrives:
			var c chain
			if n := len(left); n > 0 {
				c, left = left[n-1], left[:n-1]
			}
			if e.stint >= 0 {
				before[e.stint] = c
			}
		default:
			var c chain
			if s := ended[e.stint]; s.short(limit) {
				c.stints = append(slices.Clone(before[e.stint].stints), s)
				out = append(out, c)
			}
			left = append(left, c)
		}
	}
	return out
}

// longest is the client among those of one name that was lost most often in a row.
func longest(all []chain) (chain, bool) {
	var best chain
	for _, c := range all {
		if len(c.stints) >= len(best.stints) {
			best = c
		}
	}
	return best, len(best.stints) > 0
}

// memberships are those that the recorded generations tell of: the ended ones, and when those began that last.
func memberships(generations []Generation) (ended []stint, lasting []stint) {
	type open struct {
		member Member
		from   time.Time
	}
	var present []open
	for i, g := range generations {
		var still []open
		for _, o := range present {
			if slices.ContainsFunc(g.Members, func(m Member) bool { return m.ID == o.member.ID }) {
				still = append(still, o)
			} else {
				ended = append(ended, stint{o.member, o.from, g.At})
			}
		}
		for _, m := range g.Members {
			if slices.ContainsFunc(still, func(o open) bool { return o.member.ID == m.ID }) {
				continue
			}
			o := open{member: m}
			if i > 0 {
				o.from = g.At
			}
			still = append(still, o)
		}
		present = still
	}
	for _, o := range present {
		lasting = append(lasting, stint{member: o.member, from: o.from})
	}
	return ended, lasting
}
