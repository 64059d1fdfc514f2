// Package checker holds what the judges share. The judges themselves are its subpackages.
package checker

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/model/classic"
)

// Machine is an in-process coordinator that a judge drives step by step: deterministic, on virtual time, one step at a time. It is
// the second face of a coordinator; all that a stranger needs is target.Target.
type Machine interface {
	// Now is the virtual time.
	Now() time.Time

	// Request hands the coordinator one request. Its answer, and those of parked requests that it releases, come out of Drain.
	// Writes end at once, well or badly as the next FailWrites says.
	Request(r Request)

	// Timers are the armed timers of all groups, soonest first.
	Timers() []Timer

	// Fire moves the clock to the timer's deadline, if that is later than now, and fires it. No armed timer may be due before it.
	Fire(t Timer)

	// Advance moves the clock by d, short of the next deadline.
	Advance(d time.Duration)

	// FailWrites makes the writes of the next Request or Fire fail, for too few replicas.
	FailWrites(bool)

	// Drain returns what has come out since the last Drain, in order.
	Drain() Effects
}

// Ticket identifies one request over its life, however long it is parked.
type Ticket uint64

// Questions are the tickets, from this one on, of what judges ask for themselves, of which clients know nothing.
const Questions Ticket = 1 << 60

// Request is a request as a connection delivers it.
type Request struct {
	Ticket   Ticket
	Message  kmsg.Request
	Version  int16
	ClientID string

	// Verified is the error by which the transaction coordinator refuses a TxnOffsetCommit; 0 where the group is part of the producer's
	// open transaction.
	Verified int16
}

// Broker is a Machine of which a judge also drives what a broker does to its group coordinator. What comes out of each of these is in the
// next Drain; writes that they need fail as FailWrites says.
type Broker interface {
	Machine

	// EndTxn writes the marker that ends a producer's transaction.
	EndTxn(producer int64, epoch int16, commit bool)

	// DeleteTopics says that topics are gone.
	DeleteTopics(topics ...string)

	// Cleanup is one round of the periodic look for what has expired.
	Cleanup()

	// Unload gives up all groups; Load begins to read them from the log, and Loaded ends that. An epoch that is older than one seen
	// before makes the call void; one that is void or comes in the wrong order does nothing.
	Unload(epoch int32)
	Load(epoch int32)
	Loaded()
}

// Jumper is a Machine whose clock may jump.
type Jumper interface {
	Machine

	// Jump moves the clock by d, also past deadlines. Fire fires what is due then, late.
	Jump(d time.Duration)
}

// Tearer is a Broker that may crash in the middle of a write.
type Tearer interface {
	Broker

	// Tear makes the coordinator crash while what the next Request writes is on its way, and load what is in the log: with that, where it is
	// kept, or without. Whoever waits is dropped with all that the Request would have answered. One that writes nothing crashes nothing.
	Tear(kept bool)

	// Torn says whether the last Request has ended so.
	Torn() bool
}

// Refuser is a Machine whose log may refuse writes for other reasons than that there are too few replicas.
type Refuser interface {
	Machine

	// RefuseWrites is FailWrites(true), with what the log says: an error code of Kafka's.
	RefuseWrites(code int16)
}

// Replayer is a Machine that can tell what its log says.
type Replayer interface {
	Machine

	// Replay is a new coordinator that has read the log as it is now. Nothing of it is this one's.
	Replay() (Machine, error)
}

// Heir is a Broker that takes over a log which others have written.
type Heir interface {
	Broker

	// Inherit makes the log what the machine's own records follow: Load reads all of it. The machine must be new.
	Inherit(log []gen.Logged)
}

// Effects is what a step put out.
type Effects struct {
	Answers []Answer
	Dropped []Ticket // requests that the coordinator has given up without an answer
	Records []Record
	Marked  []int16 // what became of the markers of transactions: error codes, of a Broker that tells
}

// Answer ends a request.
type Answer struct {
	Ticket  Ticket
	Message kmsg.Response
}

// Record is a write to __consumer_offsets, named by what it says of which group.
type Record struct {
	Group string
	Kind  classic.RecordKind
}

// Timer is an armed timer of a group.
type Timer struct {
	Group    string
	Kind     classic.TimerKind
	Member   string // for SessionTimer
	Deadline time.Time
}
