package linearize

import (
	"context"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/observe"
)

// divided is a history by group. What is judged is made for one group at a time: a call over all groups is one in each, so that all of it at once
// would be the calls times the groups.
type divided struct {
	history *history.History
	limits  Limits
	slack   slack
	end     int64
	by      map[string][]share
	every   []share // over all groups
}

// share is what a call has to do with a group.
type share struct {
	record  *history.Call
	message kmsg.Request
	says    func(group string) kmsg.Response // nil without an answer
}

// divide sorts the calls of a history by group.
func divide(ctx context.Context, h *history.History, limits Limits) (*divided, error) {
	d := &divided{history: h, limits: limits, slack: newSlack(h.Header.Lateness(), h.Faults), end: h.End() + 1, by: map[string][]share{}}
	for i := range h.Calls {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		rec := &h.Calls[i]
		req, err := rec.DecodeRequest()
		if err != nil {
			return nil, err
		}
		if rec.Outcome == history.NotSent {
			continue
		}
		one := share{record: rec, message: req}
		if rec.Outcome == history.Answered {
			resp, err := rec.DecodeResponse()
			if err != nil {
				return nil, err
			}
			one.says = observe.ByGroup(resp)
		}
		if _, all := req.(*kmsg.ListGroupsRequest); all {
			d.every = append(d.every, one)
			continue
		}
		for _, part := range observe.SplitByGroup(req) {
			one.message = part.Message
			d.by[part.Group] = append(d.by[part.Group], one)
		}
	}
	if len(d.every) > 0 {
		for _, g := range h.Header.Groups { // they are about each, also where nothing else is
			if _, known := d.by[g]; !known {
				d.by[g] = nil
			}
		}
	}
	d.limits.Operations = min(limits.Operations, max(fewOperations, limits.all/max(1, len(d.by))))
	return d, nil
}

// fewOperations of a group are judged in any case, however many groups there are.
const fewOperations = 100

// groups are those that calls are about, in order.
func (d *divided) groups() []string { return slices.Sorted(maps.Keys(d.by)) }

// partition is what concerns one group: the first calls, as many as can be judged.
func (d *divided) partition(group string) *partition {
	p := &partition{group: group, slack: d.slack, cleanup: int64(d.history.Header.Cleanup), calls: map[checker.Ticket]*call{}}
	p.restart(d.history.Faults)
	p.appends(d.history.Faults)
	own := d.by[group]
	if slices.Contains(d.history.Header.Groups, group) {
		own = merged(own, d.every)
	}
	p.made = len(own)
	if most := d.limits.Operations; len(own) > most {
		p.left, own = len(own)-most, own[:most]
	}
	for _, s := range own {
		rec := s.record
		c := &call{
			ticket: checker.Ticket(rec.ID), id: rec.ID, client: rec.Client, message: s.message, version: rec.Version,
			outcome: rec.Outcome, from: rec.Call, to: rec.Return, taken: d.slack.after(rec.Call),
		}
		if s.says != nil {
			c.actual = s.says(group)
		}
		if c.actual != nil && p.whileDown(c) && notServed(c.actual) {
			c.outcome, c.actual = history.Lost, nil // it may have had an effect before
		}
		c.hangs = len(within(p.hangs, observe.Window{Earliest: c.from, Latest: c.to})) > 0
		p.calls[c.ticket] = c
	}
	p.races()
	if !d.limits.blind {
		p.evidence()
	}
	if IsScala(d.history.Header.Profile) {
		p.scala()
	}
	for _, ticket := range slices.Sorted(maps.Keys(p.calls)) {
		c := p.calls[ticket]
		c.minted = mintedBy(c)
		p.add(c, d.end)
	}
	p.overtakes()
	p.cap(d.limits.Operations)
	return p
}

// merged are two lists of calls as one, in the order of their ids.
func merged(a, b []share) []share {
	all := append(slices.Clone(a), b...)
	slices.SortStableFunc(all, func(x, y share) int { return int(x.record.ID - y.record.ID) })
	return all
}

// partsOf splits a request by group; one that is over every group asks each of them.
func partsOf(req kmsg.Request, groups []string) []observe.Part {
	if _, all := req.(*kmsg.ListGroupsRequest); !all {
		return observe.SplitByGroup(req)
	}
	parts := make([]observe.Part, len(groups))
	for i, g := range groups {
		parts[i] = observe.Part{Group: g, Message: req}
	}
	return parts
}
