// Package joint explores a coordinator in this process together with the specification, to closure. A joint state is what the coordinator
// has in memory and the set of all states of the specification that explain what it has done so far. In every joint state everything is
// tried that can happen; each answer, record, timer and generation has to be what at least one member of the set predicts. The set becoming
// empty is the violation.
//
// The coordinator is not asked what it believes in: its memory only tells joint states apart. Ids are renamed, generations and times are
// relative, and members that differ in nothing but their names are one, so that the space is finite. A joint state is known by a hash of
// 128 bits.
package joint

import (
	"time"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/model/classic"
)

// Group is the group that everything is about.
const Group = "g"

// Bench makes coordinators for one worker of a search.
type Bench interface {
	// New is a coordinator that serves, without any group.
	New() Coordinator

	// Copy is a coordinator that is as the other one, which another bench may have made, and goes its own way. over is one that is of no
	// use any more, or nil.
	Copy(of, over Coordinator) (Coordinator, error)

	// View fills in what tells the coordinator's state from others. Another bench may have made it.
	View(of Coordinator, v *View)
}

// Hooks are what a bench's coordinators ask.
type Hooks struct {
	Choose func(n int) int // one of n, where the choice is free
	Mint   func() string   // a member id that is not in use
	Report func(error)     // of what should not have happened inside
}

// Settings are those of the coordinators of a search.
type Settings struct{ InitialDelay time.Duration }

// Coordinator is a coordinator with its timers and its log, which the search drives. Time is of no account: any timer may fire at any
// moment, and the clock follows.
type Coordinator interface {
	Request(r checker.Request)
	Fire(t Timer)
	Unload()
	BeginLoad()

	// Loaded ends a load: the log says what the records say.
	Loaded(log []Record)

	// Writes says how the writes end that what comes next puts out. Those behind one that is open wait for it.
	Writes(w Writes)

	// EndWrite ends the oldest write that is open. A write fails for too few replicas, here and where Writes says so: answers are compared with what
	// that is mapped to.
	EndWrite(failed bool)

	// Open says whether a write is.
	Open() bool

	// Drain adds what has come out since the last Drain.
	Drain(e *Effects)

	// Timers are those armed; the list belongs to the coordinator.
	Timers() []Timer
}

// Writes is how writes end.
type Writes uint8

// How.
const (
	Succeed Writes = iota
	Fail
	Hold // the leader's assignment stays open
)

// Effects are what came out of a step.
type Effects struct {
	Answers []checker.Answer
	Dropped []checker.Ticket
	Records []Record
	Armed   []Armed
}

// Reset empties them.
func (e *Effects) Reset() {
	e.Answers, e.Dropped, e.Records, e.Armed = e.Answers[:0], e.Dropped[:0], e.Records[:0], e.Armed[:0]
}

// Timer is a timer of the group; Member is for classic.SessionTimer.
type Timer struct {
	Kind   classic.TimerKind
	Member string
}

// Armed is a timer that has been armed, and for how long.
type Armed struct {
	Timer
	After time.Duration
}

// Record is a write. What a GroupRecord says is in the rest; Raw is for the coordinator, if it comes to Loaded.
type Record struct {
	Kind       classic.RecordKind
	Generation int32
	Type       string
	Protocol   string
	Leader     string
	Members    []Member
	Raw        any
}

// Member is a member as a record has it.
type Member struct {
	ID, Instance string
	Metadata     []byte
	Assignment   []byte
}

// View is a coordinator's memory in a form that can be compared.
type View struct {
	Group      uint64 // of all that belongs to no member, but for what follows
	Generation int32
	Rows       []Row // members and pending ids, in any order
}

// Row is a member or a pending id. Bits are of all but what follows.
type Row struct {
	ID, Instance string
	Bits         uint64
	Join, Sync   checker.Ticket // what it has parked, or 0
}
