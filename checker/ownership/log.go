// Package ownership judges who owned which partitions of a group, by what its consumers saw and were told: a log of events, from anybody. It
// knows nothing of the protocol's states and timers; it holds what the protocol is there for. Nothing is owned twice in one generation,
// nothing stays without an owner once the group is at rest, and whoever has slept through a rebalance can do no harm.
//
// A claim is a generation, a member and a partition. It begins when the member's consumer is told of it, goes on in a later generation where
// the consumer keeps the partition, and ends when the consumer gives it up (revoked), hears that it is gone (lost), or dies; for the group
// it ends with the last accepted heartbeat plus the session timeout. A claim that is still held when another member has one of a later
// generation is that of a zombie: no violation, unless it can still commit.
package ownership

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Format names the text form. A reader refuses others.
const Format = "muster-ownership/1"

// Partition is a topic and the number of a partition: "orders/3".
type Partition string

// PartitionOf is a partition of a topic.
func PartitionOf(topic string, number int32) Partition {
	return Partition(topic + "/" + strconv.Itoa(int(number)))
}

// split is the topic and the number of a partition that PartitionOf has made.
func (p Partition) split() (topic string, number int32, ok bool) {
	at := strings.LastIndexByte(string(p), '/')
	if at < 0 {
		return "", 0, false
	}
	n, err := strconv.ParseInt(string(p[at+1:]), 10, 32)
	topic = string(p[:at])
	return topic, int32(n), err == nil && n >= 0 && PartitionOf(topic, int32(n)) == p
}

// Partitions are the partitions that a client names by topic, sorted.
func Partitions(byTopic map[string][]int32) []Partition {
	all := []Partition{}
	for topic, numbers := range byTopic {
		for _, n := range numbers {
			all = append(all, PartitionOf(topic, n))
		}
	}
	slices.Sort(all)
	return all
}

// Header says what a log is about. Durations are nanoseconds, on the clock of the events.
type Header struct {
	Format  string `json:"format"`
	Target  string `json:"target"`
	Seed    uint64 `json:"seed"`
	Started string `json:"started,omitempty"` // wall time of instant 0, for people
	Group   string `json:"group"`             // nobody else's members are in it

	// Session is the session timeout of all members.
	Session time.Duration `json:"session_ns"`
	// Calm is for how long no member of a group may have joined, been assigned or given anything up, so that the group is at rest.
	Calm time.Duration `json:"calm_ns"`
}

// Kind is what an event tells.
type Kind string

// The kinds of events. Those of calls have Began, when the request was sent; At is then when its answer had come.
const (
	Started  Kind = "started"  // the consumer begins
	Leaving  Kind = "leaving"  // the consumer begins to end
	Closed   Kind = "closed"   // the consumer has ended as it should
	Crashed  Kind = "crashed"  // the consumer was killed, and has told nobody
	Stalled  Kind = "stalled"  // the consumer stands still from here on: nothing leaves it, nothing reaches it
	Resumed  Kind = "resumed"  // it goes on
	Topic    Kind = "topic"    // the topic has Count partitions
	Note     Kind = "note"     // what was done to the group otherwise, for people
	Restart  Kind = "restart"  // the target was killed at Began and served again at At
	Quiet    Kind = "quiet"    // nothing was done to the group since Began; Patient says that it has had all the time it may need to come to rest
	Joined   Kind = "joined"   // JoinGroup was answered without an error
	Planned  Kind = "planned"  // the leader's SyncGroup is about to be sent
	Synced   Kind = "synced"   // SyncGroup was answered without an error
	Beat     Kind = "beat"     // Heartbeat was answered without an error
	Commit   Kind = "commit"   // OffsetCommit was answered without an error for Partitions
	Left     Kind = "left"     // LeaveGroup was answered without an error for Member
	Assigned Kind = "assigned" // the consumer was told to own Partitions, beside those that it has kept
	Revoked  Kind = "revoked"  // the consumer has given Partitions up
	Lost     Kind = "lost"     // the consumer was told that Partitions, all that it had, are gone
)

var kinds = []Kind{
	Started, Leaving, Closed, Crashed, Stalled, Resumed, Topic, Note, Restart, Quiet, Joined, Planned, Synced, Beat, Commit, Left, Assigned, Revoked, Lost,
}

// Event is one thing that happened. Which fields it has depends on its kind.
type Event struct {
	Kind  Kind  `json:"event"`
	At    int64 `json:"at"` // nanoseconds since the start, on one monotonic clock
	Began int64 `json:"began,omitempty"`

	Client     string      `json:"client,omitempty"` // the consumer, a name that no other has or had
	Member     string      `json:"member,omitempty"`
	Instance   string      `json:"instance,omitempty"` // of Joined: the instance id of a static member
	Generation int32       `json:"generation,omitempty"`
	Partitions []Partition `json:"partitions,omitempty"`

	Protocol    string      `json:"protocol,omitempty"`    // of Joined: the one that was chosen
	Cooperative bool        `json:"cooperative,omitempty"` // of Joined: under it members keep what they own through a rebalance
	Leader      string      `json:"leader,omitempty"`      // of Joined: the member id
	Members     []string    `json:"members,omitempty"`     // of Joined: the list that the leader got
	Topics      []string    `json:"topics,omitempty"`      // of Joined: what the member subscribed to in its request
	Owned       []Partition `json:"owned,omitempty"`       // of Joined: what it said in its request to own

	Plan map[string][]Partition `json:"plan,omitempty"` // of Planned: by member

	Topic   string `json:"topic,omitempty"`
	Count   int32  `json:"count,omitempty"`
	Patient bool   `json:"patient,omitempty"`
	What    string `json:"what,omitempty"` // for people
}

// Log is what was seen of one group from before its first member on.
type Log struct {
	Header Header
	Events []Event // by At
}

// Sort puts the events into the order of time. Of one instant they keep the order that they have.
func (l *Log) Sort() {
	slices.SortStableFunc(l.Events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
}

// mostPartitions that a topic can be said to have. Kafka's own limit is on all that a cluster has: some two million.
const mostPartitions = 2_000_000

// check says what is wrong with an event, so that nothing is judged by it.
func (e *Event) check() error {
	switch {
	case !slices.Contains(kinds, e.Kind):
		return fmt.Errorf("there is no event %q", e.Kind)
	case e.At < 0 || e.Began < 0:
		return fmt.Errorf("%s: an instant before the start", e.Kind)
	case e.Began > e.At:
		return fmt.Errorf("%s: it ends at %d, before it begins at %d", e.Kind, e.At, e.Began)
	case slices.Contains([]Kind{Started, Leaving, Closed, Crashed, Joined, Planned, Synced, Assigned, Revoked, Lost}, e.Kind) && e.Client == "":
		return fmt.Errorf("%s: whose? client is missing", e.Kind)
	case slices.Contains([]Kind{Joined, Planned, Synced, Assigned, Commit, Left}, e.Kind) && e.Member == "":
		return fmt.Errorf("%s: member is missing", e.Kind)
	case e.Kind == Topic && (e.Topic == "" || e.Count < 1):
		return fmt.Errorf("topic: want a name and a count of partitions, 1 or more")
	case e.Kind == Topic && e.Count > mostPartitions:
		return fmt.Errorf("topic: %s has %d partitions, more than %d, which no topic of Kafka has", e.Topic, e.Count, mostPartitions)
	}
	return nil
}
