package retell

import (
	"time"

	c "github.com/muster-kafka/muster/model/classic"
)

// advance lets time pass until a timer has fired, and no other: members whose session would end before are heard of in time.
func (l *Teller) advance(until time.Duration, fires func(slot int) bool, join, sync bool) {
	end := until + margin
	if until-l.now > patience {
		l.fail("it takes longer than any client asks for")
		return
	}
	for l.err == nil {
		first, renew := time.Duration(-1), []int{}
		for i := range l.state.Slots {
			if l.state.Slots[i].Timed && !fires(i) && l.until[i] < end+margin {
				if first < 0 || l.until[i] < first {
					first = l.until[i]
				}
				renew = append(renew, i)
			}
		}
		if l.state.JoinTimer && !join && l.joinEnd < end+margin || l.state.SyncTimer && !sync && l.syncEnd < end+margin {
			l.fail("another timer fires first")
		}
		if len(renew) == 0 {
			break
		}
		beat := min(first, until) - margin
		if beat <= l.now {
			l.fail("no time to renew a session")
			return
		}
		l.say("advance %s", Duration(beat-l.now))
		l.now = beat
		for _, i := range renew {
			if l.state.Slots[i].Kind != c.Member || l.state.Slots[i].New && l.state.Slots[i].Joining {
				l.fail("a pending id cannot be renewed")
				return
			}
			e := &c.Event{Kind: c.Heartbeat, Ref: c.Ref{Kind: c.KnownID, Slot: int8(i)}}
			if l.instance[l.who[i]] != "" {
				e.Instance = c.Instance{Kind: c.KnownInstance, Slot: int8(i)}
			}
			l.plain("heartbeat", e, l.genOf(e, true))
			l.until[i] = l.now + l.session[l.who[i]]
		}
	}
	l.say("advance %s", Duration(end-l.now))
	l.now = end
}

// Lengths are the session and rebalance timeouts to try, of one client after the other.
func Lengths(timed bool) [][]time.Duration {
	if !timed {
		return [][]time.Duration{nil}
	}
	const clients = 3
	var all [][]time.Duration
	for bits := range 1 << (2 * clients) {
		var times []time.Duration
		for i := range 2 * clients {
			d := Long
			if bits>>i&1 == 1 {
				d = short
			}
			times = append(times, d)
		}
		all = append(all, times)
	}
	return all
}
