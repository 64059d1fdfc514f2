package clients

import (
	"math/bits"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/model/classic"
)

// layout is how states are packed: how many there may be of each thing, and the bits of the fields that are not the same in every run.
type layout struct {
	room, clients           int
	static, log, late       bool
	picks                   bool // clients have chosen their lists
	list, protocol, gen, at int
}

// layout is that of a run's states.
func (r Run) layout() layout {
	lexicon := r.lexicon()
	l := layout{
		room: r.room(), clients: r.Clients, static: r.Clients == 0 || r.Static > 0, log: r.Crash == Log, late: r.Late,
		list: bits.Len(uint(len(lexicon.Lists) - 1)), gen: 2,
	}
	for _, one := range lexicon.Lists {
		for _, name := range one.Names {
			l.protocol = max(l.protocol, bits.Len(uint(name)))
		}
	}
	l.at = bits.Len(uint(l.room))
	if l.log {
		l.gen, l.at = 3, bits.Len(uint(2*l.room))
	}
	return l
}

// healing is the layout of the states in which clients heal: there is room for what each client may leave behind, and no log.
func (l layout) healing() layout {
	l.room += l.clients
	l.log, l.picks, l.at = false, true, bits.Len(uint(l.room))
	return l
}

// total is how many bits a state takes.
func (l layout) total() int {
	b := &bitStream{}
	w := newWorld()
	l.put(b, &w)
	return b.at
}

const (
	keyBits  = 128
	wideBits = 192
)

// wide is a packed state: of a run's own ones, the first two words are all.
type wide [wideBits / 64]uint64

func (k wide) key() explore.Key { return explore.Key{k[0], k[1]} }

// bitStream writes numbers into a key and reads them again.
type bitStream struct {
	k    wide
	at   int
	over bool // something did not fit
}

func (b *bitStream) put(v uint64, n int) {
	if v>>n != 0 || b.at+n > wideBits {
		b.over = true
	} else {
		word, off := b.at/64, b.at%64
		b.k[word] |= v << off
		if off+n > 64 {
			b.k[word+1] |= v >> (64 - off)
		}
	}
	b.at += n
}

func (b *bitStream) get(n int) uint64 {
	word, off := b.at/64, b.at%64
	v := b.k[word] >> off
	if off+n > 64 {
		v |= b.k[word+1] << (64 - off)
	}
	b.at += n
	return v & (1<<n - 1)
}

func (b *bitStream) flag(v bool) { b.put(bit(v), 1) }
func (b *bitStream) is() bool    { return b.get(1) == 1 }

// pack packs a canonical world. It fails where something is larger than the layout allows.
func (l *layout) pack(w *world) (wide, bool) {
	b := &bitStream{}
	l.put(b, w)
	return b.k, !b.over
}

func (l *layout) put(b *bitStream, w *world) {
	g := &w.group
	b.put(uint64(g.Phase), 3)
	for _, on := range [...]bool{g.FirstGen, g.Writing, g.JoinTimer, g.SyncTimer, g.StaleSync, g.Type != 0} {
		b.flag(on)
	}
	b.put(uint64(g.Protocol), l.protocol)
	for i := range g.Slots {
		if i < l.room {
			l.putSlot(b, &g.Slots[i])
		} else if g.Slots[i].Kind != classic.Free {
			b.over = true
		}
	}
	if l.log {
		l.putLog(b, w)
	}
	for i := range l.clients {
		l.putClient(b, &w.clients[i])
	}
}

func (l *layout) putSlot(b *bitStream, s *classic.Slot) {
	b.put(uint64(s.Kind), 2)
	for _, on := range [...]bool{s.Leader, s.Joining, s.Syncing, s.New, s.Timed, s.OwesSync, s.Given != 0, s.Proposed != 0} {
		b.flag(on)
	}
	if l.static {
		b.flag(s.Static)
	}
	b.put(uint64(s.List), l.list)
}

// logPhases are the phases of a record.
var logPhases = [...]classic.Phase{classic.Absent, classic.Empty, classic.Stable}

func (l *layout) putLog(b *bitStream, w *world) {
	phase := uint64(0)
	for i, p := range logPhases {
		if w.log.Phase == p {
			phase = uint64(i)
		}
	}
	b.put(phase, 2)
	b.put(uint64(w.ahead), 2)
	b.flag(w.log.FirstGen)
	b.flag(w.log.Type != 0)
	b.put(uint64(w.log.Protocol), l.protocol)
	for i := range l.room {
		s := &w.log.Slots[i]
		b.flag(s.Kind == classic.Member)
		b.flag(s.Leader)
		b.flag(s.Given != 0)
		if l.static {
			b.flag(s.Static)
			b.flag(w.fresh[i])
		}
		b.put(uint64(s.List), l.list)
		b.put(uint64(w.same[i]+1), bits.Len(uint(l.room)))
	}
}

func (l *layout) putClient(b *bitStream, c *client) {
	b.put(uint64(c.holds), 2)
	b.put(uint64(c.gen), l.gen)
	b.flag(c.synced)
	b.put(uint64(c.waits), 2)
	if l.log {
		b.flag(c.leads)
		b.flag(c.lost)
	}
	if l.static {
		b.flag(c.static)
	}
	if l.late {
		b.put(uint64(c.transit), l.gen)
	}
	if l.picks {
		b.put(uint64(c.list), l.list)
	}
	at := uint64(c.at + 1)
	if c.at >= inLog {
		at = uint64(c.at-inLog) + uint64(l.room) + 1
	}
	b.put(at, l.at)
}

// unpack returns the canonical world that was packed.
func (l *layout) unpack(k wide) world {
	b := &bitStream{k: k}
	w := newWorld()
	g := &w.group
	g.Phase = classic.Phase(b.get(3))
	for _, on := range [...]*bool{&g.FirstGen, &g.Writing, &g.JoinTimer, &g.SyncTimer, &g.StaleSync} {
		*on = b.is()
	}
	g.Type = uint8(b.get(1)) * groupType
	g.Protocol = uint8(b.get(l.protocol))
	for i := range l.room {
		l.getSlot(b, &g.Slots[i])
	}
	if l.log {
		l.getLog(b, &w)
	}
	for i := range l.clients {
		l.getClient(b, &w.clients[i])
	}
	return w
}

func (l *layout) getSlot(b *bitStream, s *classic.Slot) {
	s.Kind = classic.Kind(b.get(2))
	for _, on := range [...]*bool{&s.Leader, &s.Joining, &s.Syncing, &s.New, &s.Timed, &s.OwesSync} {
		*on = b.is()
	}
	s.Given, s.Proposed = uint8(b.get(1))*given, uint8(b.get(1))*given
	s.Static = l.static && b.is()
	s.List = uint8(b.get(l.list))
}

func (l *layout) getLog(b *bitStream, w *world) {
	w.log.Phase = logPhases[b.get(2)]
	w.ahead = uint8(b.get(2))
	w.log.FirstGen = b.is()
	w.log.Type = uint8(b.get(1)) * groupType
	w.log.Protocol = uint8(b.get(l.protocol))
	for i := range l.room {
		s := &w.log.Slots[i]
		if b.is() {
			s.Kind = classic.Member
		}
		s.Leader = b.is()
		s.Given = uint8(b.get(1)) * given
		if l.static {
			s.Static, w.fresh[i] = b.is(), b.is()
		}
		s.List = uint8(b.get(l.list))
		w.same[i] = int8(b.get(bits.Len(uint(l.room)))) - 1
	}
}

func (l *layout) getClient(b *bitStream, c *client) {
	c.is = true
	c.holds = held(b.get(2))
	c.gen = gen(b.get(l.gen))
	c.synced = b.is()
	c.waits = wait(b.get(2))
	c.leads = l.log && b.is()
	c.lost = l.log && b.is()
	c.static = l.static && b.is()
	if l.late {
		c.transit = gen(b.get(l.gen))
	}
	c.at = int8(b.get(l.at)) - 1
	if int(c.at) >= l.room {
		c.at += inLog - int8(l.room)
	}
}
