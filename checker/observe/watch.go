package observe

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/model/classic"
)

// Step is what a Machine did about one event of one group, for whoever counts what has been put to the test.
type Step struct {
	Group         string
	Before, After classic.State
	Rules         []classic.RuleID // those that decided it, this package's own included
	Tickets       []checker.Ticket // whose fate it decided: the request's own, and those of the requests that it answered or dropped
	Request       bool             // the event is a request
	Answered      bool             // the request was answered in this step; of other events: somebody was
	Dropped       bool             // a request that waited will never be answered
	Records       []classic.Record // what it hands to the log
}

// Watch makes the machine tell of every step; nil ends that.
func (m *Machine) Watch(f func(*Step)) { m.watch = f }

// tell tells of a step that is no request's.
func (m *Machine) tell(before *Branch, o Outcome) {
	if m.watch != nil {
		m.watch(&Step{
			Group: o.Branch.group, Before: before.state, After: o.Branch.state, Rules: o.Rules, Tickets: o.concerns(), Answered: len(o.Answers) > 0, Dropped: len(o.Dropped) > 0,
			Records: o.Records,
		})
	}
}

func (m *Machine) tellRequest(before *Branch, o Outcome, t checker.Ticket) {
	if m.watch == nil {
		return
	}
	answered := slices.ContainsFunc(o.Answers, func(a Answer) bool { return a.Ticket == t })
	tickets := o.concerns()
	if !slices.Contains(tickets, t) {
		tickets = append(tickets, t)
	}
	m.watch(&Step{
		Group: o.Branch.group, Before: before.state, After: o.Branch.state, Rules: o.Rules, Tickets: tickets, Request: true, Answered: answered, Dropped: len(o.Dropped) > 0,
		Records: o.Records,
	})
}

// concerns are the requests that the outcome answers or drops.
func (o *Outcome) concerns() []checker.Ticket {
	tickets := slices.Clone(o.Dropped)
	for _, a := range o.Answers {
		tickets = append(tickets, a.Ticket)
	}
	return tickets
}

// tellFind tells of a FindCoordinator, which the groups that it asks for do not notice.
func (m *Machine) tellFind(req *kmsg.FindCoordinatorRequest, version int16, t checker.Ticket) {
	const groupKey = 0
	if m.watch == nil || req.CoordinatorType != groupKey {
		return
	}
	keys, rules := []string{req.CoordinatorKey}, []classic.RuleID{classic.FindCoordinatorGroup}
	if version >= 4 {
		keys, rules = req.CoordinatorKeys, append(rules, classic.FindCoordinatorBatch)
	}
	for _, group := range keys {
		s := m.branch(group).state
		m.watch(&Step{Group: group, Before: s, After: s, Rules: rules, Tickets: []checker.Ticket{t}, Request: true, Answered: true})
	}
}
