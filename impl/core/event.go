package core

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Event is what happens to the coordinator: a Request, TimerDue, Appended, TopicsDeleted, Marker, Cleanup, or one of LoadBegin, Replay,
// LoadEnd and Unload.
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

	// Verified is what the coordinator of transactions says of a TxnOffsetCommit: None where the group is part of the producer's open
	// transaction, else the error code for why the request has to be refused (§2.9.1). Other requests do not have it.
	Verified int16
}

// TimerDue says that the deadline of an armed timer has come. One that has been cancelled or armed anew since is ignored.
type TimerDue struct {
	Timer TimerID
	Seq   uint64 // of the Arm that set it
}

// Appended ends an Append: Code is None when its records are durable, else Kafka's error code for why they are not.
// Appends must be ended in the order in which they were put out.
//
// RequestTimedOut is not the end: the records are in the log, but not durable yet (§4.3, verified items 3, 4 and 13). Who waits is told
// so, and the effect stays to come: Appended may follow again, with RequestTimedOut for those who have come to wait since, with None
// when the records are durable after all. What is said of a later Append, either way, goes for all that are late before it.
type Appended struct {
	ID   AppendID
	Code int16
}

// TopicsDeleted says that topics are gone: their offsets are forgotten in every group (§3.5).
type TopicsDeleted struct{ Topics []string }

// Marker ends a producer's transaction: the offsets that it has pending in any group are committed or dropped (§2.9.2). It is ended by
// a Marked effect. Kafka's log refuses one of an earlier epoch than the last that it has seen of the producer; whoever calls must not send one.
type Marker struct {
	Producer Producer
	Commit   bool
}

// Cleanup looks for offsets and groups that have expired (§3.5), as the CleanupTimer does.
type Cleanup struct{}

// LoadBegin says that the coordinator takes over, and that its log is being read: until LoadEnd, requests are answered so. What it still
// has is given up first, as by Unload. An Epoch, if not 0, that is older than one seen before makes the event void (§4.4-10).
type LoadBegin struct{ Epoch int32 }

// Replay is what has been read of the log, in its order. Between LoadBegin and LoadEnd only.
type Replay struct{ Records []Record }

// LoadEnd ends loading. One that has Failed leaves a coordinator that does not serve (§5.1 DF33).
type LoadEnd struct{ Failed bool }

// Unload says that the coordinator has lost its groups to another one (§4.6). Writes that are open need not be ended any more.
type Unload struct{ Epoch int32 }

func (Request) event()       {}
func (TimerDue) event()      {}
func (Appended) event()      {}
func (TopicsDeleted) event() {}
func (Marker) event()        {}
func (Cleanup) event()       {}
func (LoadBegin) event()     {}
func (Replay) event()        {}
func (LoadEnd) event()       {}
func (Unload) event()        {}

// Effect is what the caller has to do: an Answer, Reject, Append, Marked, Arm or Cancel. Effects are carried out in order.
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
	Group   string // "" for a marker, which concerns all groups
	Records []Record
}

// Marked ends a Marker: Code is None where it has been written, else the caller has to send it again to whoever coordinates by then.
type Marked struct {
	Marker Marker
	Code   int16
}

// RecordKind says what a record of __consumer_offsets says.
type RecordKind uint8

// The kinds of records.
const (
	GroupRecord RecordKind = iota
	GroupTombstone
	OffsetRecord
	OffsetTombstone
	CommitMarker // of a producer's transaction
	AbortMarker
)

// Producer is a producer's identity in its transactions.
type Producer struct {
	ID    int64
	Epoch int16
}

// Record is a record of __consumer_offsets; impl/record has its bytes.
type Record struct {
	Kind      RecordKind
	Group     string
	Topic     string // of offset records
	Partition int32
	Metadata  *kmsg.GroupMetadataValue // of a GroupRecord
	Offset    *kmsg.OffsetCommitValue  // of an OffsetRecord
	Producer  *Producer                // of a marker, and of an OffsetRecord that is part of a transaction
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
	CleanupTimer // of no group
)

func (k TimerKind) String() string {
	return [...]string{"session", "new-member", "pending-member", "join", "sync", "cleanup"}[k]
}

// TimerID is a timer's name and owner. Member is empty for the timers of the group, Group for that of the coordinator.
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
func (Marked) effect() {}
func (Arm) effect()    {}
func (Cancel) effect() {}
