package linearize

import (
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/model/classic"
)

// The coordinator of Kafka up to 3.9 (unless it is the Java one) handles the requests of a group on many threads, which lock the group for each
// step, not for each request. What other threads can do between two steps is no single step of the specification. Campaigns on 3.9.2 saw
// such things, and under its profiles they are explained:
//
//   - A request that has looked its group up before the group was removed finds it dead, and is answered COORDINATOR_NOT_AVAILABLE.
//   - A look at such a group shows it Dead, still with its protocol type; a list without states just has it.
//   - A group that a JoinGroup has just made is there, Empty, before the JoinGroup has gone on.
//   - A session that has ended removes its member although the member has come back meanwhile and its timer was started again.
//   - A pending id that has expired is removed although its JoinGroup has come meanwhile and made it a member: its JoinGroup is never answered.
//     Where that has been answered already, the member is gone all the same, and no rebalance begins.
//   - An OffsetDelete that has found the group Empty does not remove it where a JoinGroup has come before it looks again: it takes the group's lock twice.

// IsScala says whether a profile is one of those releases.
func IsScala(profile string) bool {
	major, err := strconv.Atoi(strings.SplitN(profile, ".", 2)[0])
	return profile == classic.Scala.Name || err == nil && major < 4 && !strings.HasSuffix(profile, "java")
}

// scala notes what of the calls of a partition such a coordinator may have answered between two steps.
func (p *partition) scala() {
	var joins, removals []*call
	for _, c := range p.calls {
		switch kmsg.Key(c.message.Key()) {
		case kmsg.JoinGroup:
			joins = append(joins, c)
		case kmsg.DeleteGroups, kmsg.OffsetDelete:
			if c.actual == nil || slices.Contains(allCodes(c.actual), 0) { // one that was refused has removed nothing
				removals = append(removals, c)
			}
		}
	}
	for _, c := range p.calls {
		if c.actual == nil {
			continue
		}
		c.spares = deletesOffsets(c.actual) && slices.ContainsFunc(joins, c.overlap)
		if slices.Contains(codes(c.actual), kerr.CoordinatorNotAvailable.Code) && slices.ContainsFunc(removals, c.overlap) {
			c.outcome, c.actual = history.Lost, nil
			continue
		}
		removed := slices.ContainsFunc(removals, c.overlap)
		if removed {
			c.actual = buried(c.actual)
		}
		c.early = seesEmpty(c.actual) && slices.ContainsFunc(joins, c.overlap) || removed && listsStateless(c.actual)
	}
}

// deletesOffsets says whether the answer is that of an OffsetDelete in which nothing was refused.
func deletesOffsets(resp kmsg.Response) bool {
	r, ok := resp.(*kmsg.OffsetDeleteResponse)
	return ok && r.ErrorCode == 0 && !slices.ContainsFunc(r.Topics, func(t kmsg.OffsetDeleteResponseTopic) bool {
		return slices.ContainsFunc(t.Partitions, func(p kmsg.OffsetDeleteResponseTopicPartition) bool { return p.ErrorCode != 0 })
	})
}

// buried is a look at a group with one that is dead, but not removed yet, taken for one that there is not.
func buried(resp kmsg.Response) kmsg.Response {
	switch r := resp.(type) {
	case *kmsg.DescribeGroupsResponse:
		if len(r.Groups) == 1 && r.Groups[0].State == dead && len(r.Groups[0].Members) == 0 {
			none := *r
			none.Groups = slices.Clone(r.Groups)
			none.Groups[0].ProtocolType = ""
			return &none
		}
	case *kmsg.ListGroupsResponse:
		if len(r.Groups) == 1 && r.Groups[0].GroupState == dead {
			none := *r
			none.Groups = nil
			return &none
		}
	}
	return resp
}

// listsStateless says whether a list has the group, in a version that does not tell its state: so it may be dead.
func listsStateless(resp kmsg.Response) bool {
	list, ok := resp.(*kmsg.ListGroupsResponse)
	return ok && len(list.Groups) == 1 && list.Version < 4
}

// seesEmpty says whether a look at the group shows it Empty.
func seesEmpty(resp kmsg.Response) bool {
	switch r := resp.(type) {
	case *kmsg.DescribeGroupsResponse:
		return len(r.Groups) == 1 && r.Groups[0].State == classic.Empty.String() && len(r.Groups[0].Members) == 0
	case *kmsg.ListGroupsResponse:
		return len(r.Groups) == 1 && (r.Groups[0].GroupState == "" || r.Groups[0].GroupState == classic.Empty.String())
	}
	return false
}

// dead is the state of a group that is on its way out, and what DescribeGroups calls one that there is not.
const dead = "Dead"

// seesNone says whether a look at the group shows that there is none.
func seesNone(resp kmsg.Response) bool {
	switch r := resp.(type) {
	case *kmsg.DescribeGroupsResponse:
		return len(r.Groups) == 1 && r.Groups[0].State == dead
	case *kmsg.ListGroupsResponse:
		return len(r.Groups) == 0
	}
	return false
}

// late is a session that had ended when its timer was started again: until then it may still remove its member.
type late struct {
	member  string
	pending bool // it was not the session of a member, but how long its id was pending
	until   int64
}

// buries says whether an outcome of a late session is one that Kafka can have: the member is gone. A pending id that has expired takes the member
// with it that it has become, and nobody answers the JoinGroup of that; so much is only seen until that would be answered.
func (l late) buries(o *observe.Outcome, calls map[checker.Ticket]*call) bool {
	if o.Branch.Has(l.member) {
		return false
	}
	if !l.pending {
		return true
	}
	for i, a := range o.Answers {
		join, ok := calls[a.Ticket].message.(*kmsg.JoinGroupRequest)
		if ok && join.MemberID == l.member {
			o.Answers = slices.Delete(slices.Clone(o.Answers), i, i+1)
			o.Dropped = append(slices.Clone(o.Dropped), a.Ticket)
			return true
		}
	}
	return false
}

// vanishes is the explanation after an id, pending no longer but a member, has been removed by its former timer: no rebalance begins. Not ok if that cannot be.
func (j *judge) vanishes(e *explanation, l late, at observe.Window) (after explanation, ok bool) {
	if phase := e.branch.Phase(); !l.pending || phase != classic.CompletingRebalance && phase != classic.Stable {
		return after, false
	}
	left := e.branch.Without(l.member)
	if left == nil {
		return after, false
	}
	after = *e
	after.branch, after.now = left, max(e.now, at.Earliest)
	after.late = slices.DeleteFunc(slices.Clone(e.late), func(o late) bool { return o.member == l.member })
	return after, true
}

// lateAfter are the sessions that may still remove their members after what has happened within at.
func (j *judge) lateAfter(e, after *explanation, last int64) []late {
	if !j.scala {
		return nil
	}
	kept := slices.DeleteFunc(slices.Clone(e.late), func(l late) bool { return l.until < after.now || !after.branch.Has(l.member) })
	for _, was := range e.timers {
		if was.Kind != classic.SessionTimer || was.Window.Earliest > last || !after.branch.Has(was.Member) {
			continue
		}
		for _, is := range after.branch.Timers() {
			if is.Kind == classic.SessionTimer && is.Member == was.Member && is.Window != was.Window {
				kept = withLate(kept, late{was.Member, e.branch.Pending(was.Slot), j.partition.slack.after(last)})
			}
		}
	}
	return kept
}

// compareLate orders late sessions, whatever their ends.
func compareLate(a, b late) int {
	switch c := strings.Compare(a.member, b.member); {
	case c != 0 || a.pending == b.pending:
		return c
	case a.pending:
		return -1
	}
	return 1
}

// withLate adds one; of one member's sessions the latest counts.
func withLate(all []late, l late) []late {
	i, found := slices.BinarySearchFunc(all, l, compareLate)
	if !found {
		return slices.Insert(slices.Clone(all), i, l)
	}
	all = slices.Clone(all)
	all[i].until = max(all[i].until, l.until)
	return all
}
