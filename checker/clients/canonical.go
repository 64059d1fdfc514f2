package clients

import "github.com/muster-kafka/muster/model/classic"

// being is one member, or id, or client: all that there is of it, in memory, in the log and with the client. The order of beings means
// nothing, so that sorting them gives one state for all permutations.
type being struct {
	slot, log, client int8 // where it is in each; -1 where it is not
	key               uint64
}

// permutation says where the slots, the slots of the log and the clients of a canonical world were before.
type permutation struct {
	slots   [classic.MaxSlots]int8
	logs    [maxRoom]int8
	clients [maxClients]int8
}

// canonical returns the world with its beings in order.
func canonical(w world) (world, permutation) {
	var all [classic.MaxSlots + maxRoom + maxClients]being
	n := beings(&w, &all)
	for i := 1; i < n; i++ {
		for j := i; j > 0 && all[j].key > all[j-1].key; j-- {
			all[j], all[j-1] = all[j-1], all[j]
		}
	}
	c, p := newWorld(), permutation{}
	c.group, c.log, c.ahead = w.group, w.log, w.ahead
	c.group.Slots, c.log.Slots = [classic.MaxSlots]classic.Slot{}, [classic.MaxSlots]classic.Slot{}
	for i := range p.slots {
		p.slots[i] = -1
	}
	slots, logs, clients := int8(0), int8(0), int8(0)
	for _, b := range all[:n] {
		if b.slot >= 0 {
			c.group.Slots[slots], p.slots[slots] = w.group.Slots[b.slot], b.slot
		}
		if b.log >= 0 {
			c.log.Slots[logs], c.fresh[logs], p.logs[logs] = w.log.Slots[b.log], w.fresh[b.log], b.log
			if b.slot >= 0 {
				c.same[logs] = slots
			}
		}
		if b.client >= 0 {
			c.clients[clients], p.clients[clients] = w.clients[b.client], b.client
			at := &c.clients[clients].at
			switch {
			case b.slot >= 0:
				*at = slots
			case b.log >= 0:
				*at = logs + inLog
			default:
				*at = nowhere
			}
			clients++
		}
		if b.slot >= 0 {
			slots++
		}
		if b.log >= 0 {
			logs++
		}
	}
	return c, p
}

// beings collects them.
func beings(w *world, all *[classic.MaxSlots + maxRoom + maxClients]being) (n int) {
	var bySlot [classic.MaxSlots]int8
	var byLog [maxRoom]int8
	for i := range w.group.Slots {
		if w.group.Slots[i].Kind != classic.Free {
			all[n] = being{slot: int8(i), log: -1, client: -1, key: slotKey(&w.group.Slots[i]) << 33}
			bySlot[i] = int8(n)
			n++
		}
	}
	for i := range byLog {
		if w.log.Slots[i].Kind == classic.Free {
			continue
		}
		at := n
		if w.same[i] >= 0 {
			at = int(bySlot[w.same[i]])
		} else {
			all[n] = being{slot: -1, client: -1}
			n++
		}
		all[at].log, byLog[i] = int8(i), int8(at)
		all[at].key |= (slotKey(&w.log.Slots[i])<<1 | bit(w.fresh[i])) << 21
	}
	for i := range w.clients {
		c := &w.clients[i]
		if !c.is {
			continue
		}
		at := n
		switch {
		case c.inMemory():
			at = int(bySlot[c.at])
		case c.at >= inLog:
			at = int(byLog[c.at-inLog])
		default:
			all[n] = being{slot: -1, log: -1}
			n++
		}
		all[at].client = int8(i)
		all[at].key |= 1<<20 | clientKey(c)
	}
	return n
}

// slotKey is a slot in 17 bits. That of a member in the log has nothing in its middle.
func slotKey(s *classic.Slot) uint64 {
	return uint64(s.Kind)<<15 | bit(s.Leader)<<14 | bit(s.Joining)<<13 | bit(s.Syncing)<<12 | bit(s.New)<<11 | bit(s.Timed)<<10 | bit(s.OwesSync)<<9 |
		bit(s.Static)<<8 | uint64(s.List)<<2 | uint64(s.Given)<<1 | uint64(s.Proposed)
}

// clientKey is what a client knows in 20 bits.
func clientKey(c *client) uint64 {
	return uint64(c.list)<<14 | bit(c.lost)<<13 | bit(c.static)<<12 | uint64(c.holds)<<10 | uint64(c.gen)<<7 | bit(c.synced)<<6 | bit(c.leads)<<5 | uint64(c.waits)<<3 | uint64(c.transit)
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
