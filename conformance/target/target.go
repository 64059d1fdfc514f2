// Package target says what a judge needs of a group coordinator: connections that carry one request at a time, and a clock.
// It is all that a stranger implements; it knows nothing of scenarios, models or judges.
package target

import (
	"context"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Target is a group coordinator under judgement, seen as a client sees it.
//
// Real brokers, fakes and HOST:PORT are spoken to over sockets; in-process coordinators run on virtual time, where nothing
// happens unless a request is sent or the clock is moved.
type Target interface {
	// Name is how a person names the target on the command line: "impl", "kafka:4.3.1", "127.0.0.1:9092".
	Name() string

	// Capabilities are fixed once the target has been opened (a foreign address has been probed by then).
	Capabilities() Capabilities

	// Dial opens a connection of its own. The client id is sent with each request; a coordinator builds member ids from it.
	Dial(ctx context.Context, clientID string) (Conn, error)

	// Clock is the time that the target's timers run on.
	Clock() Clock

	// Close ends the target and all its connections, and removes what the run created on it.
	Close() error
}

// Conn is one connection. Kafka serves the requests of a connection one at a time, so a parked request holds all that come after
// it: judges use a connection for each request that may be outstanding.
type Conn interface {
	// Send sends one request at exactly the given version and does not wait. The request's own version is ignored.
	Send(req kmsg.Request, version int16) *Call

	// Close drops the connection. Calls that have no answer yet end with ErrClosed; the coordinator only sees a disconnect.
	Close() error
}

// Clock is the time of a target, wall time or virtual.
type Clock interface {
	Now() time.Time

	// Sleep lets d pass: a networked target waits; a virtual one fires its due timers, in order, and returns at once.
	Sleep(ctx context.Context, d time.Duration) error

	// Await waits until the call has ended, at most d of the target's time, and says whether it has. Virtual time is not moved:
	// a virtual target has done at once all that it would do at this instant.
	Await(ctx context.Context, c *Call, d time.Duration) bool
}

// Capabilities tell a judge what it may ask of a target and how long things take there.
type Capabilities struct {
	// Release is the Kafka release that the target is judged as ("4.3.1"); empty for a stranger.
	Release string

	// Profile names the broker settings, "default" for those of the harness's own brokers (see docs/scenarios.md).
	Profile string

	// Virtual is true where time is virtual: every duration passes exactly and at once.
	Virtual bool

	// Scale multiplies the durations that a scenario's clients choose; 1 in virtual time.
	Scale float64

	// Settle is how long a networked target must stay silent before a request counts as parked.
	Settle time.Duration

	// Slack is how late a timer of the target may be noticed, measured or assumed.
	Slack time.Duration

	// Features are what the target has of what not every target has: see the constants below.
	Features []Feature

	// Restart ends the coordinator as a crash would and starts it again on what it had stored, at the same address; it returns
	// when the coordinator serves again. All connections are gone then. Nil where that cannot be done.
	Restart func(context.Context) error

	// Inject makes Faults happen to the coordinator, those that are listed. Nil where none can: the target is not the harness's own.
	Inject Inject
	Faults []Fault

	// MinSession and MaxSession bound session timeouts (group.min/max.session.timeout.ms).
	MinSession, MaxSession time.Duration

	// InitialDelay is group.initial.rebalance.delay.ms: how long the first rebalance of an Empty group waits.
	InitialDelay time.Duration

	// Cleanup is offsets.retention.check.interval.ms, of a target that is not the harness's own: how often it removes groups that are Empty and have no offsets,
	// whoever's they are. 0 is never, or too rarely to matter.
	Cleanup time.Duration

	// Versions are the request versions that the target offers, by API key.
	Versions map[int16]VersionRange

	// Newest are the newest versions that the target can be spoken to in, where it offers later ones that it cannot read itself. What is
	// sent without a version of its own is not newer; a judge that asks for a version may ask for any that is offered.
	Newest map[int16]int16

	// Coarse is how late the target notices a timer by its own design, where that is more than Slack can cover: judges scale what lets time
	// pass so that it does not matter. 0 for a coordinator that has a timer for each of its deadlines.
	Coarse time.Duration

	// LeaderLast says that a round of SyncGroup ends with the leader's, and that the target then refuses members that come later. Whoever
	// only wants a Stable group lets the leader come last.
	LeaderLast bool

	// Fleeting says that a group goes with the connections to it, so that there is nothing to remove.
	Fleeting bool

	// Prefix begins every group and topic name that the run creates on the target.
	Prefix string

	// Place makes the name of a group, which begins with Prefix, one whose coordinator is the one under judgement: it may append to it.
	// Nil where every name is. Judges call Named.
	Place func(ctx context.Context, group string) (string, error)

	// MaxGroups is how many groups of ours may exist on the target at a time; 0 is no limit.
	MaxGroups int

	// Topics are the topics that exist on the target for the run, by the name that scenarios use ("t"), with the name they
	// have there. Each has at least two partitions.
	Topics map[string]string
}

// Feature is a part of the protocol that a target may lack as a whole, so that judges need not ask.
type Feature string

// The features. Request versions are no features: Versions tells them.
const (
	Static       Feature = "static"        // static members: group.instance.id
	Transactions Feature = "txn"           // InitProducerId, AddOffsetsToTxn, TxnOffsetCommit, EndTxn, and the markers that follow
	OffsetDelete Feature = "offset-delete" // the OffsetDelete request
	Operations   Feature = "operations"    // DescribeGroups tells what the client may do with a group
	Corners      Feature = "corners"       // what no client does: a partition that a request names twice, blanks in a filter
)

// Features are all that there are.
func Features() []Feature { return []Feature{Static, Transactions, OffsetDelete, Operations, Corners} }

// Has reports whether the target has the feature.
func (c Capabilities) Has(f Feature) bool { return slices.Contains(c.Features, f) }

// Named is the name that a group is to have on the target: the one given, which begins with Prefix, as Place makes it. A request over several
// groups has one answer only if one broker coordinates them all, so a run in a cluster keeps to one.
func (c Capabilities) Named(ctx context.Context, group string) (string, error) {
	if c.Place == nil {
		return group, nil
	}
	return c.Place(ctx, group)
}

// VersionRange is the range of versions that a target offers for an API, both ends included.
type VersionRange struct{ Min, Max int16 }

// Has reports whether v is in the range.
func (r VersionRange) Has(v int16) bool { return r.Min <= v && v <= r.Max }

// As is a target that is judged as a release of Kafka, whatever it says of itself.
type As struct {
	Target
	Release string
}

func (a As) Capabilities() Capabilities {
	caps := a.Target.Capabilities()
	caps.Release = a.Release
	return caps
}

// Stranger is a target that does not say which release it is, as a plain address does not.
type Stranger struct{ Target }

func (s Stranger) Capabilities() Capabilities {
	caps := s.Target.Capabilities()
	caps.Release = ""
	return caps
}
