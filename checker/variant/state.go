package variant

import "github.com/muster-kafka/muster/checker/explore"

// clients is how many processes there are. With two each property can break that breaks with more: a leader and a follower, one who
// leaves and one who stays, an old member and a new one.
const clients = 2

// MaxGeneration bounds the generation where a Setting does not say otherwise.
const MaxGeneration = 4

// Phase is a state of section A.
type Phase uint8

const (
	Empty Phase = iota
	Preparing
	Completing
	Stable
	Dead
)

func (p Phase) String() string {
	return [...]string{"Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead"}[p]
}

// nobody is no client.
const nobody int8 = -1

// state is the group, its two clients, and what the properties have to remember of the past.
type state struct {
	phase      Phase
	generation int8
	leader     int8
	joinTimer  bool
	offsets    offsets
	saved      snapshot // with CompletedOnly; otherwise the snapshot is always what the group is
	clients    [clients]client

	highest int8 // the last generation of the group's life that a join completed, or that Empty took
	former  int8 // who led before the rebalance under way
	initial bool // the rebalance under way started in Empty
}

// client is a process that wants to consume, and what the group knows of it.
type client struct {
	member bool
	owes   debt
	timer  bool // its session timer runs

	waits waiting
	dead  bool // it sends nothing any more, while the group still has it
	held  int8 // the generation that it believes in; 0 is none
	stale bool // that generation is of an earlier life of the group
}

// debt is what the group awaits of a member.
type debt uint8

const (
	owesNothing debt = iota
	owesJoin
	owesSync
)

// waiting is what a client waits for.
type waiting uint8

const (
	forNothing waiting = iota
	forJoin
	forSync
	forRetry // its JoinGroup was lost with the coordinator, and it will send it again
)

// offsets is what is committed.
type offsets uint8

const (
	noOffsets offsets = iota
	ownOffsets
	foreignOffsets // of a group of this name that has been deleted
)

// snapshot is what a restart finds of a group that saves nothing but completed generations.
type snapshot struct {
	generation int8
	leader     int8
	members    [clients]bool
}

func initial() state { return state{leader: nobody, former: nobody, saved: snapshot{leader: nobody}} }

func (s *state) members() (n int) {
	for i := range s.clients {
		if s.clients[i].member {
			n++
		}
	}
	return n
}

// joined says whether a member counts as one that has joined.
func (s *state) joined(c int8) bool { return s.clients[c].member && s.clients[c].owes != owesJoin }

func (s *state) allJoined() bool {
	for i := range s.clients {
		if s.clients[i].member && s.clients[i].owes == owesJoin {
			return false
		}
	}
	return s.members() > 0
}

// key is the fingerprint of a state, from which unpack gets it back.
func (s *state) key() (k explore.Key) {
	w := packer{word: &k[0]}
	w.put(uint64(s.phase), 3)
	w.put(uint64(s.generation), 3)
	w.put(uint64(s.leader+1), 2)
	w.put(bit(s.joinTimer), 1)
	w.put(uint64(s.offsets), 2)
	w.put(uint64(s.highest), 3)
	w.put(uint64(s.former+1), 2)
	w.put(bit(s.initial), 1)
	w.put(uint64(s.saved.generation), 3)
	w.put(uint64(s.saved.leader+1), 2)
	for _, in := range s.saved.members {
		w.put(bit(in), 1)
	}
	w = packer{word: &k[1]}
	for i := range s.clients {
		c := &s.clients[i]
		w.put(bit(c.member), 1)
		w.put(uint64(c.owes), 2)
		w.put(bit(c.timer), 1)
		w.put(uint64(c.waits), 2)
		w.put(bit(c.dead), 1)
		w.put(uint64(c.held), 3)
		w.put(bit(c.stale), 1)
	}
	return k
}

func unpack(k explore.Key) (s state) {
	w := packer{word: &k[0]}
	s.phase = Phase(w.get(3))
	s.generation = int8(w.get(3))
	s.leader = int8(w.get(2)) - 1
	s.joinTimer = w.get(1) == 1
	s.offsets = offsets(w.get(2))
	s.highest = int8(w.get(3))
	s.former = int8(w.get(2)) - 1
	s.initial = w.get(1) == 1
	s.saved.generation = int8(w.get(3))
	s.saved.leader = int8(w.get(2)) - 1
	for i := range s.saved.members {
		s.saved.members[i] = w.get(1) == 1
	}
	w = packer{word: &k[1]}
	for i := range s.clients {
		s.clients[i] = client{
			member: w.get(1) == 1, owes: debt(w.get(2)), timer: w.get(1) == 1, waits: waiting(w.get(2)), dead: w.get(1) == 1,
			held: int8(w.get(3)), stale: w.get(1) == 1,
		}
	}
	return s
}

// packer writes or reads fields of a word one after the other.
type packer struct {
	word *uint64
	at   uint
}

func (w *packer) put(value uint64, bits uint) {
	*w.word |= value << w.at
	w.at += bits
}

func (w *packer) get(bits uint) uint64 {
	value := *w.word >> w.at & (1<<bits - 1)
	w.at += bits
	return value
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
