// Package observe joins the relative model of model/classic to concrete requests and answers. It is the one place that translates:
// member ids to slots, generation numbers to "current" or "other", protocol lists and assignments to symbols, and the model's
// transitions back to answers of the request's version, byte for byte as far as the specification determines them.
//
// A Branch is one explanation of one group: the model's state together with all that the model leaves out. Branches are values: a
// method never changes its receiver, so that a judge may keep as many of them as there are explanations.
package observe

import (
	"errors"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/model/classic"
)

// Window is when something happened or will: at some instant from Earliest to Latest, both included, in nanoseconds on the target's
// clock. Where time is virtual, windows have no width.
type Window struct{ Earliest, Latest int64 }

// At is the window without width.
func At(t time.Time) Window {
	n := t.UnixNano()
	return Window{n, n}
}

// Exact says whether the window has no width.
func (w Window) Exact() bool { return w.Earliest == w.Latest }

func (w Window) hull(o Window) Window {
	return Window{min(w.Earliest, o.Earliest), max(w.Latest, o.Latest)}
}

// after is the window of something that ends d after w, rounded outward to the tick.
func (w Window) after(d, tick time.Duration) Window {
	e, l := w.Earliest+int64(d), w.Latest+int64(d)
	if t := int64(tick); t > 0 {
		e -= mod(e, t)
		if r := mod(l, t); r > 0 {
			l += t - r
		}
	}
	return Window{e, l}
}

func mod(a, t int64) int64 { return (a%t + t) % t }

// Config is what the model leaves to its driver. Zero durations and sizes mean Kafka's defaults.
type Config struct {
	Profile classic.Profile
	Broken  []classic.RuleID // rules that are broken on purpose, in the model or here

	MinSession, MaxSession time.Duration // group.min/max.session.timeout.ms; default 6 s and 30 min
	NewMemberTimeout       time.Duration // default 5 min
	MaxMetadata            int           // offset.metadata.max.bytes, in UTF-16 code units; default 4096

	InitialDelay time.Duration // group.initial.rebalance.delay.ms; default none
	MaxSize      int           // group.max.size; default no limit
	EmptyJoin    bool          // see classic.Config

	// OffsetsRetention is offsets.retention.minutes. By default offsets do not expire, and nothing of their age is kept.
	OffsetsRetention time.Duration

	// Topics says which partitions exist; nil means that all do.
	Topics func(topic string, partition int32) bool

	// TopicName and TopicID translate between topics and their ids, for the request versions that name topics by id (commit.topic-id).
	// Without TopicName those versions are not modelled.
	TopicName func(id [16]byte) (name string, ok bool)
	TopicID   func(name string) (id [16]byte, ok bool)

	// KeepLog lets branches keep what the group's log says, for Loaded. Not together with SlowWrites: a log has a write before it ends.
	KeepLog bool

	// Tick is what the target's timers are rounded to: windows are rounded outward to it. 0 is exact.
	Tick time.Duration

	// EarlyAnswers: a JoinGroup that makes its group may be answered before the record of the group is written, so that DescribeGroups and ListGroups of a
	// coordinator that shows what is written do not show it yet (describe.unseen). It is for the judge to say for how long: see Unwritten.
	EarlyAnswers bool

	// MayLose says whether a crash may lose what is written within the window, unless somebody is answered only after it (see Branch.Surviving). Nil: what is
	// written is in the log at once.
	MayLose func(at Window) bool

	// SlowWrites leaves the leader's assignment in flight after its SyncGroup until FinishWrite; otherwise the write ends with the
	// request.
	SlowWrites bool
}

func (c Config) withDefaults() Config {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&c.MinSession, 6*time.Second)
	def(&c.MaxSession, 30*time.Minute)
	def(&c.NewMemberTimeout, 5*time.Minute)
	if c.MaxMetadata == 0 {
		c.MaxMetadata = 4096
	}
	if c.TopicID == nil {
		c.TopicID = func(string) ([16]byte, bool) { return [16]byte{}, false }
	}
	return c
}

// Request is a request over one group (see SplitByGroup) as its coordinator gets it.
type Request struct {
	Ticket   checker.Ticket
	Message  kmsg.Request
	Version  int16
	ClientID string

	// Minted is the member id that the request is known, from its answer, to have been given. Without it an id that is minted
	// becomes a ghost, which is bound to a concrete id at first sight.
	Minted string

	// WriteFails makes the writes of this request fail.
	WriteFails bool

	// Slow leaves the leader's assignment in flight after its SyncGroup until FinishWrite, as Config.SlowWrites does for all, and what an OffsetCommit stores until
	// Land; of a commit no outcome is yielded then that writes nothing.
	Slow bool

	// Unwaited: the request is known never to have been answered, or to have been refused while what it writes was being written, so that a crash may lose that also where its answer
	// would wait for it.
	Unwaited bool

	// Hangs: what the request writes may take its time, also by contract (see Raced, Removed, Joins).
	Hangs bool

	// Raced: another JoinGroup of the same static member was on its way at the same time, so that it may have come while what this one
	// writes was being written.
	Raced bool

	// Removed: a LeaveGroup of the same static member was on its way at the same time, and may have come then.
	Removed bool

	// Joins is the generation that the answer to a JoinGroup is known to bring; 0 where that is not known. A replacement that brings the next one may have
	// waited for its record until that was made.
	Joins int32

	// Verified is the error by which the transaction coordinator refuses a TxnOffsetCommit; 0 where it knows the group for a part of
	// the producer's transaction (txn-commit.verified).
	Verified int16
}

// Answer is what a branch predicts for one request.
type Answer struct {
	Ticket  checker.Ticket
	Message kmsg.Response
	Parked  bool // the request had been parked before this event
}

// Outcome is one thing that may come of an event.
type Outcome struct {
	Branch  *Branch
	Answers []Answer
	Dropped []checker.Ticket // parked requests that will never be answered
	Rules   []classic.RuleID // the rules that decided it
	Records []classic.Record // in the order of the log

	// Overflow: the event needs more slots or symbols than there are. Nothing else is meaningful, and no verdict can be given.
	Overflow bool
}

// Then is the outcome of two events, one after the other at the same instant.
func (o Outcome) Then(next Outcome) Outcome {
	next.Answers = append(slices.Clone(o.Answers), next.Answers...)
	next.Dropped = append(slices.Clone(o.Dropped), next.Dropped...)
	next.Rules = append(slices.Clone(o.Rules), next.Rules...)
	next.Records = append(slices.Clone(o.Records), next.Records...)
	next.Overflow = next.Overflow || o.Overflow
	return next
}

// ErrNotModelled is wrapped by the errors of Apply: the request uses something that the model does not know yet, so a judge is
// inconclusive about all that follows on its group.
var ErrNotModelled = errors.New("not modelled")
