package linearize

import (
	"slices"
	"time"

	"github.com/muster-kafka/muster/checker"
)

// assumption is what a search takes for granted. Most histories are explained although a lot is, and much sooner: there is less to try. What is not explained
// is searched again with less taken for granted.
type assumption struct {
	partition *partition
	cleanup   int64 // how often the target removes groups that have nothing; 0: never
	narrower  bool  // only some of what may have been: if nothing explains it, nothing is known
	plain     bool  // nothing came between two steps of a request
}

// assumptions are those under which a group is searched, one after the other. between says whether anything may come between two steps of a request.
func (p *partition) assumptions(between bool) (all []assumption) {
	within := []int64{p.slack.fixed}
	if pace := 2 * p.pace(); pace < p.slack.fixed/2 {
		within = []int64{pace, p.slack.fixed}
	}
	for _, soon := range within {
		if prompt := p.prompt(soon); prompt != nil {
			all = append(all, assumption{partition: prompt, narrower: true})
		}
	}
	all = append(all, assumption{partition: p})
	if between { // much of what a search tries is what seldom happens
		all = slices.Insert(all, 0, assumption{partition: all[0].partition.plain(), narrower: true, plain: true})
	}
	if p.cleanup > 0 {
		all = append(all, assumption{partition: p, cleanup: p.cleanup})
	}
	return all
}

// pace is how long a call takes that nothing holds up: all but one in twenty were answered within that time.
func (p *partition) pace() int64 {
	var took []int64
	for _, c := range p.calls {
		if c.actual != nil && !c.parks() {
			took = append(took, c.to-c.from)
		}
	}
	if len(took) == 0 {
		return p.slack.fixed
	}
	slices.Sort(took)
	return took[(len(took)-1)*19/20]
}

// time is how long a search may take of what is left for the group: a part of it where another one comes after it anyway.
func (a assumption) time(left time.Duration) time.Duration {
	if a.narrower {
		left /= 3
	}
	return max(time.Millisecond, left)
}

// prompt is the partition where each request that was answered late, as it was parked, has been taken up soon, as requests are; nil if that is so in any case.
// A target that was too busy may have taken one up later.
func (p *partition) prompt(within int64) *partition {
	q := *p
	q.slack.fixed = within
	q.operations = make([]*operation, len(p.operations))
	changed := false
	for i, op := range p.operations {
		q.operations[i] = op
		if c := op.call; op.stage == request && c.actual != nil && c.parks() {
			if last := max(op.at.Earliest, q.slack.after(c.from)); last < op.at.Latest {
				sooner := *op
				sooner.at.Latest = last
				q.operations[i], changed = &sooner, true
			}
		}
	}
	q.slack.fixed = p.slack.fixed
	if !changed {
		return nil
	}
	return &q
}

// plain is the partition as it is where a coordinator takes each request in one step, and no timer goes off while one is taken up.
func (p *partition) plain() *partition {
	q := *p
	q.calls = make(map[checker.Ticket]*call, len(p.calls))
	of := make(map[*call]*call, len(p.calls))
	for ticket, c := range p.calls {
		one := *c
		one.early, one.spares, one.raced, one.overtaken, one.removed = false, false, false, false, false
		q.calls[ticket], of[c] = &one, &one
	}
	q.operations = make([]*operation, len(p.operations))
	for i, op := range p.operations {
		q.operations[i] = op
		if c := of[op.call]; c != nil { // else it is a restart
			one := *op
			one.call = c
			q.operations[i] = &one
		}
	}
	return &q
}
