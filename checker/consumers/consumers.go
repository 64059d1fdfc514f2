// Package consumers puts a group of real consumers (franz-go's kgo) to work on a coordinator, does to them what happens to consumers, and
// records both what they were told of their partitions (package ownership) and all that they said to the coordinator (package history).
//
// They fetch nothing: all topics are paused, since what is judged is who owns them. They commit offsets that no other has committed.
package consumers

import (
	"context"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/ownership"
)

// Trigger is something that happens to a group and makes it rebalance, or should.
type Trigger string

// The triggers.
const (
	Join       Trigger = "member-joins"
	Leave      Trigger = "member-leaves"
	Crash      Trigger = "member-crashes"      // a client is killed and has left nothing
	Session    Trigger = "session-missed"      // a client stands still for longer than its session, and goes on
	Poll       Trigger = "poll-missed"         // a client works for longer than its rebalance timeout when it should join again, and goes on
	Absence    Trigger = "rebalance-missed"    // a static member stands still through a rebalance, and goes on within its session
	Return     Trigger = "static-returns"      // a static member is killed and comes back under its instance id within its session
	Subscribe  Trigger = "subscription-change" // a member subscribes to another topic as well, or to one less
	Match      Trigger = "topic-matches"       // a topic is created that a member's pattern matches
	Partitions Trigger = "partitions-added"
	Switch     Trigger = "eager-to-cooperative" // all members are replaced by others, in two rounds, until the group rebalances cooperatively
)

// Triggers are all that there are.
func Triggers() []Trigger {
	return []Trigger{Join, Leave, Crash, Session, Poll, Absence, Return, Subscribe, Match, Partitions, Switch}
}

// Network is how consumers reach the target.
type Network struct {
	Addr string
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	SASL sasl.Mechanism // may be nil

	// Pace, if there is one, is waited for before each request.
	Pace func(context.Context) error
}

// Topics can be changed for the group's sake. A Plan without one leaves out what needs it.
type Topics interface {
	Create(ctx context.Context, topic string, partitions int32) error
	Grow(ctx context.Context, topic string, partitions int32) error // to so many
	Delete(ctx context.Context, topics ...string) error
}

// Plan says what to do. All of it is needed but for what may be nil.
type Plan struct {
	Seed    uint64
	Kind    int    // how the group balances: range, round-robin, sticky, cooperative, from eager to cooperative, and again from the beginning
	Name    string // begins the names of clients
	Target  string // for people
	Group   string // which must not exist
	Network Network

	Topics Topics // may be nil
	Prefix string // of the topics that are created
	// Fixed is a topic that exists, with its number of partitions, for a Plan without Topics.
	Fixed      string
	FixedCount int32

	Static bool // some members have an instance id

	Session   time.Duration
	Rebalance time.Duration // less than Session, so that a static member can miss a rebalance and still be one
	Heartbeat time.Duration
	Delay     time.Duration // group.initial.rebalance.delay.ms
	Duration  time.Duration // after which nothing more is done to the group

	// Enter waits while the target cannot be spoken to, as it is killed on purpose, and counts its lives. It may be nil.
	Enter func(context.Context) (int64, error)
}

// Impossible says which triggers cannot happen under the plan, and why.
func (p *Plan) Impossible() map[Trigger]string {
	not := map[Trigger]string{}
	if !p.Static {
		not[Absence], not[Return] = "it has no static members", "it has no static members"
	}
	if p.Topics == nil {
		const why = "Muster creates no topics there and changes none, beside the one of the run"
		not[Subscribe], not[Match], not[Partitions] = why, why, why
	}
	return not
}

// Result is what came of a plan.
type Result struct {
	Log      *ownership.Log
	History  *history.History // without the settings of the target in its header
	Happened map[Trigger]int
	Held     time.Duration // the longest that a request waited for its turn: members may have been taken for dead for that
}
