package conformance

import (
	"context"
	"slices"
	"sort"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// cleanUp drops the scenario's connections, lets its members leave and deletes its groups. It returns the groups that are still
// there, or may be. It works on a context of its own, so that an interrupted run leaves nothing behind either.
func (r *run) cleanUp() []string {
	const limit = 3 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), 2*limit+4*r.caps.InitialDelay)
	defer cancel()
	r.ctx = ctx
	for _, a := range r.order {
		a.close()
	}
	r.open = nil
	defer r.probe.close()
	var names []string
	for real := range r.names.groups {
		if real != "" {
			names = append(names, real)
		}
	}
	if len(names) == 0 || !r.sent || r.caps.Fleeting {
		return nil
	}
	r.abortAll()
	sort.Strings(names)
	for end := r.clock.Now().Add(limit + 2*r.caps.InitialDelay); ctx.Err() == nil && r.clock.Now().Before(end); {
		if _, err := r.probe.idle(ctx, r.tg); err != nil {
			break // nobody is there any more
		}
		if r.health.deaf("delete") {
			return names
		}
		r.leaveAll(names)
		if names = r.deleteAll(names); len(names) == 0 {
			return nil
		}
		if r.clock.Sleep(ctx, max(100*time.Millisecond, r.caps.Settle)) != nil {
			break
		}
	}
	return names
}

// leaveAll lets every member leave, one request each: a version that knows no batches must do. Those that were ever named are tried
// first, which also drops ids that were only handed out; then those that DescribeGroups lists, because a member whose first JoinGroup was
// not answered was never named.
func (r *run) leaveAll(groups []string) {
	for _, g := range groups {
		r.leaveNamed(g)
		msg := kmsg.NewPtrDescribeGroupsRequest()
		msg.Groups = []string{g}
		resp, _ := r.private("describe", msg).(*kmsg.DescribeGroupsResponse)
		if resp == nil || len(resp.Groups) != 1 {
			continue
		}
		for _, m := range resp.Groups[0].Members {
			r.removeMember(g, m.MemberID)
		}
	}
}

func (r *run) leaveNamed(g string) {
	for _, a := range r.order {
		if !slices.ContainsFunc(a.groups, func(name string) bool { return r.group(name) == g }) {
			continue
		}
		for _, id := range a.ids {
			r.removeMember(g, id)
		}
	}
}

func (r *run) removeMember(group, id string) {
	msg := kmsg.NewPtrLeaveGroupRequest()
	msg.Group, msg.MemberID = group, id
	m := kmsg.NewLeaveGroupRequestMember()
	m.MemberID = id
	msg.Members = append(msg.Members, m)
	r.private("leave", msg)
}

// deleteAll returns the groups that are not known to be gone.
func (r *run) deleteAll(groups []string) []string {
	msg := kmsg.NewPtrDeleteGroupsRequest()
	msg.Groups = groups
	resp, ok := r.private("delete", msg).(*kmsg.DeleteGroupsResponse)
	if !ok {
		return groups
	}
	var left []string
	for _, g := range resp.Groups {
		if g.ErrorCode != 0 && errName(g.ErrorCode) != "GROUP_ID_NOT_FOUND" {
			left = append(left, g.Group)
		}
	}
	return left
}

// private sends a request of the runner's own and returns its answer, or nil.
func (r *run) private(verb string, msg kmsg.Request) kmsg.Response {
	version, err := pick(r.caps, verb, -1)
	if err != nil || r.health.deaf(verb) {
		return nil
	}
	c, err := r.probe.idle(r.ctx, r.tg)
	if err != nil {
		return nil
	}
	c.last = c.Send(msg, version)
	if !r.clock.Await(r.ctx, c.last, time.Second+r.patience/5) {
		if r.ctx.Err() == nil {
			r.health.missed(verb, c.last.Sent, r.clock.Now())
		}
		return nil
	}
	r.health.answered(verb)
	resp, err := c.last.Answer()
	if err != nil {
		return nil
	}
	return resp
}
