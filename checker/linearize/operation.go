package linearize

import (
	"fmt"
	"sort"

	"github.com/anishathalye/porcupine"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/observe"
)

// stage is which part of a call an operation is. JoinGroup and SyncGroup may be parked, so their effect and their answer are apart:
// dual data structures split such calls in two.
type stage uint8

const (
	// request: the coordinator handles the request. Where the call cannot be parked, its answer is decided here too.
	request stage = iota
	// followUp: the answer of a JoinGroup or SyncGroup must have been decided by now. It has no effect, so it may be placed as late
	// as possible without loss: at the instant of the return.
	followUp
	// silent: no answer has been decided by now, although the client still waits.
	silent
	// restart: the coordinator is killed, and started on what it had stored. It belongs to no call.
	restart
)

func (s stage) String() string { return [...]string{"request", "answer", "silence", "restart"}[s] }

// call is one recorded call as one group sees it: a call over several groups is one to each.
type call struct {
	ticket    checker.Ticket
	id        int64
	client    string
	message   kmsg.Request
	version   int16
	actual    kmsg.Response // nil without an answer
	minted    string        // the member id that the answer says was minted for it
	outcome   history.Outcome
	from, to  int64 // recorded instants
	silentAt  int64 // 0 where silence proves nothing
	early     bool  // it shows the group, although there may have been none: see scala.go
	spares    bool  // an OffsetDelete that may leave an Empty group where it is: see scala.go
	raced     bool  // another request of the same kind and member was open at the same time: see races.go
	overtaken bool  // another request may come while what this one assigns is being written: see flight.go
	hangs     bool  // what it writes may have taken its time: see appends.go
	removed   bool  // a LeaveGroup of its static member was open at the same time: see leaves.go
	unsure    bool  // it may never have reached the coordinator
	proven    bool  // it has had its effect, whatever its end: see evidence.go
	provenBy  int64 // and when at the latest
	taken     int64 // if it has, then by this instant
	gone      int64 // of a restart: when the coordinator was surely dead
}

// parks says whether the model may hold the answer back.
func (c *call) parks() bool {
	key := c.message.Key()
	return key == int16(kmsg.JoinGroup) || key == int16(kmsg.SyncGroup)
}

// joins is the generation that the answer of a JoinGroup brings, 0 for others. One that is parked is answered with the next generation, or with an error:
// known beforehand, it tells at once where a request cannot have its place.
func (c *call) joins() int32 {
	if join, ok := c.actual.(*kmsg.JoinGroupResponse); ok && join.ErrorCode == 0 {
		return join.Generation
	}
	return 0
}

// operation is the input of a step. Its window is kept here because porcupine does not show it to the model.
type operation struct {
	call  *call
	stage stage
	at    observe.Window
}

// last is the last instant at which the operation can take effect, if it does.
func (o *operation) last() int64 {
	if o.stage == restart {
		return o.call.gone
	}
	if o.call.unsure {
		return min(o.at.Latest, o.call.taken)
	}
	return o.at.Latest
}

func (o *operation) String() string {
	if o.stage == restart {
		return o.call.client
	}
	return fmt.Sprintf("%s of call %d (%s by %s)", o.stage, o.call.id, kmsg.NameForKey(o.call.message.Key()), o.call.client)
}

// partition is all that concerns one group. Groups do not touch each other, so each is judged alone.
type partition struct {
	group      string
	calls      map[checker.Ticket]*call
	operations []*operation
	slack      slack
	restarts   []*operation     // by instant
	fails      []observe.Window // when what is written may fail; see appends.go
	hangs      []observe.Window // when it may take its time
	cleanup    int64            // how often the target removes groups that have nothing; 0: never
	closed     int              // calls that the target ended by closing the connection
	made       int              // calls, with those that are not judged
	left       int              // what came too late to be judged
}

// add puts the call's operations into the partition.
func (p *partition) add(c *call, end int64) {
	op := func(s stage, from, to int64) {
		p.operations = append(p.operations, &operation{call: c, stage: s, at: observe.Window{Earliest: from, Latest: to}})
	}
	switch {
	case c.outcome == history.Answered && c.parks():
		op(request, c.from, c.to) // however late it was taken up: it was answered
		op(followUp, c.to, c.to)
	case c.outcome == history.Answered:
		op(request, c.from, c.to)
	case c.outcome == history.GivenUp && p.slack.before(c.to) > c.taken:
		// What was decided shortly before the client closed the connection may have been on its way.
		c.silentAt = p.slack.before(c.to)
		op(request, c.from, c.taken)
		op(silent, c.silentAt, c.silentAt)
	default:
		// Effect unknown: either it was taken up in time, or never. Explanations are kept for both, until an answer tells them apart.
		c.unsure = !c.proven
		if c.proven {
			c.taken = min(c.taken, c.provenBy)
		}
		for _, r := range p.restarts { // a coordinator that is dead takes nothing up
			if c.from <= r.call.gone {
				c.taken = min(c.taken, r.call.gone)
				break
			}
		}
		if c.outcome == history.Open { // by then it had ended, or the record had
			c.taken = min(c.taken, max(c.from, c.to))
		}
		op(request, c.from, max(c.from, min(c.taken, end)))
		if c.outcome == history.Closed && !p.whileDown(c) {
			p.closed++
		}
	}
}

// mintedBy reads from the answer which member id the request was given.
func mintedBy(c *call) string {
	join, ok := c.message.(*kmsg.JoinGroupRequest)
	if !ok || join.MemberID != "" || c.actual == nil {
		return ""
	}
	return c.actual.(*kmsg.JoinGroupResponse).MemberID
}

// cap keeps the first operations of a partition, in the order of their calls, and notes how many it left out. What is kept is what a
// shorter run would have recorded, so a violation in it is one.
func (p *partition) cap(limit int) {
	if len(p.operations) <= limit {
		return
	}
	sort.SliceStable(p.operations, func(i, k int) bool { return p.operations[i].at.Earliest < p.operations[k].at.Earliest })
	p.left += len(p.operations) - limit
	p.operations = p.operations[:limit]
}

// idsIn are the member ids that the answer of a call gave to a member. None of them can be that of an answer which was lost.
func idsIn(c *call) []string {
	if join, ok := c.actual.(*kmsg.JoinGroupResponse); ok && join.MemberID != "" {
		return []string{join.MemberID}
	}
	return nil
}

// porcupine puts the operations into the checker's terms. It orders them by instant alone, so the client is for the eye.
func (p *partition) porcupine() []porcupine.Operation {
	clients := map[string]int{}
	ops := make([]porcupine.Operation, len(p.operations))
	for i, o := range p.operations {
		n, ok := clients[o.call.client]
		if !ok {
			n = len(clients)
			clients[o.call.client] = n
		}
		ops[i] = porcupine.Operation{ClientId: n, Input: o, Call: o.at.Earliest, Output: nil, Return: o.at.Latest}
	}
	return ops
}

// overlap is the largest number of operations that are open at one instant: what the search costs.
func (p *partition) overlap() int {
	type edge struct {
		at    int64
		delta int
	}
	var edges []edge
	for _, o := range p.operations {
		edges = append(edges, edge{o.at.Earliest, 1}, edge{o.at.Latest, -1})
	}
	sort.Slice(edges, func(i, j int) bool {
		if edges[i].at != edges[j].at {
			return edges[i].at < edges[j].at
		}
		return edges[i].delta > edges[j].delta
	})
	open, widest := 0, 0
	for _, e := range edges {
		open += e.delta
		widest = max(widest, open)
	}
	return widest
}
