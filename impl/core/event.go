package core

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Event is what happens to the coordinator: a Request, TimerDue, Appended or TopicsDeleted.
type Event interface{ event() }

// Ticket names a request until it is answered. The caller chooses tickets and uses none twice.
type Ticket uint64

// Request is a request as a connection delivers it.
type Request struct {
	Ticket     Ticket
	Message    kmsg.Request
	Version    int16 // of the request and its answer; the message's own version is ignored
	ClientID   string
	ClientHost string // as Kafka shows it: "/127.0.0.1"
}

// TimerDue says that the deadline of an armed timer has come. One that has been cancelled or armed anew since is ignored.
type TimerDue struct {
	Timer TimerID
	Seq   uint64 // of the Arm that set it
}

// Appended ends an Append: Code is None when its records are durable, else Kafka's error code for why they are not.
// Appends must be ended in the order in which they were put out.
type Appended struct {
	ID   AppendID
	Code int16
}

// TopicsDeleted says that topics are gone: their offsets are forgotten in every group (§3.5).
type TopicsDeleted struct{ Topics []string }

func (Request) event()       {}
func (TimerDue) event()      {}
func (Appended) event()      {}
func (TopicsDeleted) event() {}

// Effect is what the caller has to do: an Answer, Reject, Append, Arm or Cancel. Effects are carried out in order.
type Effect interface{ effect() }

// Answer ends a request.
type Answer struct {
	Ticket  Ticket
	Message kmsg.Response
}

// Reject ends a request that has no answer, because its API is not one of a group coordinator: close the connection.
type Reject struct {
	Ticket Ticket
	Reason string
}

// AppendID names a write until it is ended by Appended.
type AppendID uint64

// Append writes records to the log, all or none.
type Append struct {
	ID      AppendID
	Group   string
	Records []Record
}

// RecordKind says what a record of __consumer_offsets says.
type RecordKind uint8

// The kinds of records.
const (
	GroupRecord RecordKind = iota
	GroupTombstone
	OffsetRecord
	OffsetTombstone
)

// Record is a record of __consumer_offsets; impl/record has its bytes.
type Record struct {
	Kind      RecordKind
	Group     string
	Topic     string // of offset records
	Partition int32
	Metadata  *kmsg.GroupMetadataValue // of a GroupRecord
	Offset    *kmsg.OffsetCommitValue  // of an OffsetRecord
}

// TimerKind names a timer.
type TimerKind uint8

// The timers. A member has one at a time: PendingTimer while its id is only handed out, NewMemberTimer until its first join is
// complete, then SessionTimer.
const (
	SessionTimer TimerKind = iota
	NewMemberTimer
	PendingTimer
	JoinTimer
	SyncTimer
)

func (k TimerKind) String() string {
	return [...]string{"session", "new-member", "pending-member", "join", "sync"}[k]
}

// TimerID is a timer's name and owner. Member is empty for the timers of the group.
type TimerID struct {
	Group  string
	Kind   TimerKind
	Member string
}

// Arm sets a timer, in place of one with the same id. One whose deadline is now is due as soon as all writes put out so far have
// ended: the initial rebalance delay is a timer even where it is 0.
type Arm struct {
	Timer    TimerID
	Seq      uint64
	After    time.Duration
	Deadline time.Time
}

// Cancel takes a timer back.
type Cancel struct{ Timer TimerID }

func (Answer) effect() {}
func (Reject) effect() {}
func (Append) effect() {}
func (Arm) effect()    {}
func (Cancel) effect() {}
