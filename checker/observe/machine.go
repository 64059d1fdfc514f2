package observe

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/model/classic"
)

// ErrCapacity says that an event needs more members or symbols than the model has room for.
var ErrCapacity = errors.New("capacity of the model exceeded: too many members, pending ids or different protocol lists")

// Machine is the specification as a coordinator: one branch a group, and a choice wherever the specification leaves one. Its member ids
// are the client id and a running number.
type Machine struct {
	world   *World
	choose  func(n int) int
	now     time.Time
	groups  map[string]*Branch // those that exist, and those that the log has
	minted  int
	failing bool
	effects checker.Effects
	armed   map[timerKey]arming
	armings int
	serving classic.Serving
	epoch   int32 // the latest leader epoch heard of
	watch   func(*Step)
	cited   []classic.RuleID
}

var (
	_ checker.Broker   = (*Machine)(nil)
	_ checker.Replayer = (*Machine)(nil)
	_ checker.Jumper   = (*Machine)(nil)
)

type timerKey struct {
	group  string
	kind   classic.TimerKind
	member string
}

// arming orders the timers of one instant: a coordinator notices first what was armed first.
type arming struct {
	deadline int64
	order    int
}

// NewMachine returns a coordinator without groups at the beginning of time. choose returns a number in [0, n) and is asked only where
// there is a choice; nil always takes the first.
func NewMachine(w *World, choose func(n int) int) *Machine {
	if choose == nil {
		choose = func(int) int { return 0 }
	}
	return &Machine{world: w, choose: choose, now: time.Unix(0, 0).UTC(), groups: map[string]*Branch{}, armed: map[timerKey]arming{}}
}

// Now is the virtual time.
func (m *Machine) Now() time.Time { return m.now }

// Request is Do, with a request that the specification does not cover dropped.
func (m *Machine) Request(r checker.Request) {
	if err := m.Do(r); err != nil {
		m.effects.Dropped = append(m.effects.Dropped, r.Ticket)
	}
}

// Do takes up a request, or says why the specification cannot answer it.
func (m *Machine) Do(r checker.Request) error {
	fails := m.fails()
	if find, ok := r.Message.(*kmsg.FindCoordinatorRequest); ok {
		m.effects.Answers = append(m.effects.Answers, checker.Answer{Ticket: r.Ticket, Message: m.coordinator(find, r.Version)})
		m.tellFind(find, r.Version, r.Ticket)
		return nil
	}
	parts := SplitByGroup(r.Message)
	_, list := r.Message.(*kmsg.ListGroupsRequest)
	loading := m.serving == classic.Loading
	partly := loading && m.world.breaks(classic.LoadingList) // what is loaded is listed: nothing yet
	switch {
	case list && !partly:
		for _, g := range m.names() {
			parts = append(parts, Part{g, r.Message})
		}
	case !list && len(parts) == 0 && !overGroups(r.Message):
		return notModelled("%s", kmsg.NameForKey(r.Message.Key()))
	}
	var own []kmsg.Response
	if list && loading && !partly { // loading.list, also where no group has been heard of
		resp := kmsg.NewPtrListGroupsResponse()
		resp.ErrorCode = classic.CodeCoordinatorLoadInProgress
		own = append(own, resp)
	}
	answered := list || len(parts) == 0
	for _, p := range parts {
		m.minted++
		id := idPrefix(r) + "-" + strconv.Itoa(m.minted)
		before := m.branch(p.Group)
		o, err := m.pick(func(yield func(Outcome) bool) error {
			return m.world.Apply(before, Request{
				Ticket: r.Ticket, Message: p.Message, Version: r.Version, ClientID: r.ClientID, Minted: id, WriteFails: fails, Verified: r.Verified,
			}, At(m.now), yield)
		})
		if err != nil {
			return err
		}
		if !o.Branch.Has(id) {
			m.minted--
		}
		m.tellRequest(before, o, r.Ticket)
		for i, a := range o.Answers {
			if a.Ticket == r.Ticket {
				own, answered = append(own, a.Message), true
				o.Answers = append(o.Answers[:i:i], o.Answers[i+1:]...)
				break
			}
		}
		m.take(o)
	}
	if answered {
		m.effects.Answers = append(m.effects.Answers, checker.Answer{Ticket: r.Ticket, Message: JoinByGroup(r.Message, r.Version, own)})
	}
	return nil
}

// idPrefix begins the id that a request is given: a static member's has its instance id.
func idPrefix(r checker.Request) string {
	if join, ok := r.Message.(*kmsg.JoinGroupRequest); ok && r.Version >= 5 && join.InstanceID != nil {
		return *join.InstanceID
	}
	return r.ClientID
}

// coordinator answers FindCoordinator.
func (m *Machine) coordinator(find *kmsg.FindCoordinatorRequest, version int16) kmsg.Response {
	node := int32(0)
	if m.world.breaks(classic.FindCoordinatorGroup) {
		node = -1
	}
	if len(find.CoordinatorKeys) > 1 && m.world.breaks(classic.FindCoordinatorBatch) {
		one := *find
		one.CoordinatorKeys = find.CoordinatorKeys[:1]
		find = &one
	}
	return Coordinator(find, version, node, "127.0.0.1", 9092)
}

// fails says whether the writes of what comes now are to fail.
func (m *Machine) fails() bool {
	fails := m.failing
	m.failing = false
	return fails
}

// overGroups says whether a request names groups in a list, which may be empty.
func overGroups(req kmsg.Request) bool {
	switch req.(type) {
	case *kmsg.DescribeGroupsRequest, *kmsg.DeleteGroupsRequest:
		return true
	}
	return false
}

// pick collects the outcomes of an event and chooses one of those that differ.
func (m *Machine) pick(event func(yield func(Outcome) bool) error) (Outcome, error) {
	var all []Outcome
	overflow := false
	err := event(func(o Outcome) bool {
		overflow = overflow || o.Overflow
		for _, known := range all {
			if known.Branch.Equal(o.Branch) {
				return true
			}
		}
		all = append(all, o)
		return true
	})
	switch {
	case err != nil:
		return Outcome{}, err
	case overflow:
		return Outcome{}, ErrCapacity
	case len(all) == 1:
		return all[0], nil
	}
	return all[m.choose(len(all))], nil
}

func (m *Machine) take(o Outcome) {
	b := o.Branch
	m.cited = append(m.cited, o.Rules...)
	for _, a := range o.Answers {
		m.effects.Answers = append(m.effects.Answers, checker.Answer{Ticket: a.Ticket, Message: a.Message})
	}
	m.effects.Dropped = append(m.effects.Dropped, o.Dropped...)
	for _, r := range o.Records {
		m.effects.Records = append(m.effects.Records, checker.Record{Group: b.group, Kind: r.Kind})
	}
	if b.state.Phase == classic.Absent && b.log == nil {
		delete(m.groups, b.group)
	} else {
		m.groups[b.group] = b
	}
	for _, t := range b.Timers() {
		key := timerKey{b.group, t.Kind, t.Member}
		if was, ok := m.armed[key]; !ok || was.deadline != t.Window.Latest {
			m.armings++
			m.armed[key] = arming{t.Window.Latest, m.armings}
		}
	}
}

func (m *Machine) branch(group string) *Branch {
	if b, ok := m.groups[group]; ok {
		return b
	}
	return m.world.NewBranch(group).Served(m.serving)
}

func (m *Machine) names() []string {
	names := make([]string, 0, len(m.groups))
	for g := range m.groups {
		names = append(names, g)
	}
	sort.Strings(names)
	return names
}

// Timers are the armed timers of all groups, soonest first, and of one instant the longest armed first.
func (m *Machine) Timers() []checker.Timer {
	type timer struct {
		checker.Timer
		order int
	}
	var ts []timer
	for _, g := range m.names() {
		for _, t := range m.groups[g].Timers() {
			ts = append(ts, timer{
				checker.Timer{Group: g, Kind: t.Kind, Member: t.Member, Deadline: time.Unix(0, t.Window.Latest).UTC()},
				m.armed[timerKey{g, t.Kind, t.Member}].order,
			})
		}
	}
	sort.SliceStable(ts, func(i, j int) bool {
		if !ts[i].Deadline.Equal(ts[j].Deadline) {
			return ts[i].Deadline.Before(ts[j].Deadline)
		}
		return ts[i].order < ts[j].order
	})
	all := make([]checker.Timer, len(ts))
	for i := range ts {
		all[i] = ts[i].Timer
	}
	return all
}

// Fire moves the clock to the timer's deadline and fires it.
func (m *Machine) Fire(t checker.Timer) {
	if t.Deadline.After(m.now) {
		m.now = t.Deadline
	}
	fails := m.fails()
	b := m.branch(t.Group)
	for _, own := range b.Timers() {
		if own.Kind != t.Kind || own.Member != t.Member {
			continue
		}
		own.WriteFails = fails
		delete(m.armed, timerKey{t.Group, t.Kind, t.Member})
		o, err := m.pick(func(yield func(Outcome) bool) error {
			m.world.Fire(b, own, At(m.now), yield)
			return nil
		})
		if err != nil {
			panic(fmt.Sprintf("observe: timer %v of group %s: %v", t.Kind, t.Group, err)) // no timer adds a member
		}
		m.tell(b, o)
		m.take(o)
		return
	}
	panic(fmt.Sprintf("observe: timer %v %q of group %s is not armed", t.Kind, t.Member, t.Group))
}

// Advance moves the clock.
func (m *Machine) Advance(d time.Duration) { m.now = m.now.Add(d) }

// Jump moves the clock, also past deadlines.
func (m *Machine) Jump(d time.Duration) { m.now = m.now.Add(d) }

// FailWrites makes the writes of the next Request or Fire fail.
func (m *Machine) FailWrites(fail bool) { m.failing = fail }

// Cited are the rules that have decided what happened since it was last called, in the order of their ids.
func (m *Machine) Cited() []classic.RuleID {
	rules := m.cited
	m.cited = nil
	slices.Sort(rules)
	return slices.Compact(rules)
}

// Drain returns what has come out since the last Drain.
func (m *Machine) Drain() checker.Effects {
	e := m.effects
	m.effects = checker.Effects{}
	return e
}

// Coordinator is the answer to FindCoordinator where one node serves every group (find-coordinator.group, find-coordinator.batch).
func Coordinator(req *kmsg.FindCoordinatorRequest, version int16, node int32, host string, port int32) kmsg.Response {
	m := kmsg.NewPtrFindCoordinatorResponse()
	m.SetVersion(version)
	if version < 4 {
		m.NodeID, m.Host, m.Port = node, host, port
		return m
	}
	for _, key := range req.CoordinatorKeys {
		c := kmsg.NewFindCoordinatorResponseCoordinator()
		c.Key, c.NodeID, c.Host, c.Port = key, node, host, port
		m.Coordinators = append(m.Coordinators, c)
	}
	return m
}
