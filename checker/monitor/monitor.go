// Package monitor judges a coordinator by what anybody can see of it: requests, answers, descriptions, and which timers are armed. It does
// not know what the specification would do; each monitor is one sentence that has to hold on every way, with the rule that it stands for.
package monitor

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/model/classic"
)

// Broken is a monitor that has seen what must not be.
type Broken struct {
	Monitor string
	Rule    classic.RuleID
	What    string
}

// Monitor is one of them, with the rule that it stands for.
type Monitor struct {
	Name string
	Rule classic.RuleID
}

// The monitors.
var (
	OneLeader   = Monitor{"one generation has one leader, and nobody else is shown its members", classic.JoinReplyFollower}
	LeaderBytes = Monitor{"members get the bytes that their leader has made for them", classic.SyncLeaderAssigns}
	Grows       = Monitor{"generations grow", classic.JoinCompleteGeneration}
	NoOlder     = Monitor{"nobody acts in a generation after a newer one has been told", classic.GenerationFence}
	OneOwner    = Monitor{"an instance id has one owner", classic.StaticFenced}
	Legal       = Monitor{"a group goes from state to state as the table says", classic.JoinEmptyRebalances}
	TimerOwner  = Monitor{"no timer runs without an owner", classic.SessionExpires}
	OwnerTimer  = Monitor{"no owner is without its timer", classic.SessionRenewedByCompletion}
	Waits       = Monitor{"a request waits only for a group that has not got so far", classic.JoinCompleteAll}
	Replays     = Monitor{"the log, read again, gives the group", classic.LoadState}
	NothingLost = Monitor{"nothing acknowledged is lost", classic.FetchCommitted}
	NotBack     = Monitor{"no offset goes back", classic.CommitWriteFails}
	DeadIsFinal = Monitor{"what is dead stays dead", classic.DeleteEmpty}
)

// All are all of them.
func All() []Monitor {
	return []Monitor{
		OneLeader, LeaderBytes, Grows, NoOlder, OneOwner, Legal, TimerOwner, OwnerTimer, Waits, Replays, NothingLost, NotBack, DeadIsFinal,
	}
}

// Answer is an answer with the request that it is for.
type Answer struct {
	Request  kmsg.Request
	Version  int16
	Response kmsg.Response
}

// Step is what has happened to a group in one step, as far as it shows.
type Step struct {
	Sent    kmsg.Request // the request that the step was about, if there is one
	Answers []Answer     // in the order in which they came
	Look    Look         // at the group after it

	// Restarted says that the coordinator has given its groups up meanwhile, whether or not it serves them again.
	Restarted bool

	// Torn says that the coordinator crashed while it wrote what was sent: it may be in the log.
	Torn bool

	// Landed says that what was sent is in the log now. It may have been sent before, and nobody need have been told.
	Landed bool

	// Replayed is what the log gives, read again now; nil where nobody has looked, or where a write has failed before.
	Replayed *Look

	// Loosens says that offsets may have gone, or come, by other ways than plain commits.
	Loosens bool
}

// Look is what a group looks like.
type Look struct {
	Served       bool // the broker says something of it
	Hidden       bool // nobody can look now: what was seen last still counts
	Described    kmsg.DescribeGroupsResponseGroup
	Timers       []checker.Timer
	Joins, Syncs int // requests that wait, of those that somebody still waits for

	Offsets []kmsg.OffsetFetchResponseGroupTopic // where Replayed is looked at
}

// Watch watches one group.
type Watch struct {
	state    string
	newest   int32 // generation that has been told
	leaders  map[int32]string
	made     map[int32]map[string]string // by generation and member: what its leader has made
	torn     map[int32]map[string]bool   // by generation: what may have been made besides, "member=bytes"
	instance map[string]string           // of member ids
	owner    map[string]string           // of instance ids
	ids      map[string]bool             // that have been told
	pending  map[string]bool
	fresh    map[string]bool // of pending: handed out in this step
	dead     map[string]bool
	acked    map[partition]int64

	found []Broken
}

type partition struct {
	topic string
	index int32
}

// New watches a group that does not exist yet.
func New() *Watch {
	w := &Watch{
		instance: map[string]string{}, dead: map[string]bool{}, acked: map[partition]int64{}, state: dead, pending: map[string]bool{}, fresh: map[string]bool{},
		made: map[int32]map[string]string{}, torn: map[int32]map[string]bool{},
	}
	w.forget()
	return w
}

const (
	dead       = "Dead"
	empty      = "Empty"
	preparing  = "PreparingRebalance"
	completing = "CompletingRebalance"
	stable     = "Stable"
)

// forget is what a restart may undo, and the end of a group does.
func (w *Watch) forget() {
	w.newest, w.leaders, w.owner = 0, map[int32]string{}, map[string]string{}
	w.ids = map[string]bool{}
}

func (w *Watch) breaks(m Monitor, format string, args ...any) {
	w.found = append(w.found, Broken{m.Name, m.Rule, fmt.Sprintf(format, args...)})
}

// Step takes a step in, and returns which monitors it breaks.
func (w *Watch) Step(s *Step) []Broken {
	w.found = nil
	clear(w.fresh)
	if s.Restarted {
		w.forget()
		w.dead, w.pending = map[string]bool{}, map[string]bool{}
	}
	if s.Loosens {
		clear(w.acked)
	}
	w.learns(s)
	w.proposes(s)
	for i := range s.Answers {
		w.answered(&s.Answers[i], s.Look.Served)
	}
	w.look(s)
	return w.found
}

// who is a member under whatever id: a static one by its instance.
func (w *Watch) who(id string) string {
	if in := w.instance[id]; in != "" {
		return "@" + in
	}
	return id
}

// learns takes in who is which instance, before anything is judged by it: answers of one step come in any order.
func (w *Watch) learns(s *Step) {
	for i := range s.Answers {
		a := &s.Answers[i]
		m, ok := a.Response.(*kmsg.JoinGroupResponse)
		r, _ := a.Request.(*kmsg.JoinGroupRequest)
		if !ok || r == nil || m.ErrorCode != 0 {
			continue
		}
		if in := from(5, a.Version, r.InstanceID); in != "" {
			w.instance[m.MemberID], w.owner[in] = in, m.MemberID
		}
		for _, o := range m.Members {
			if in := from(5, a.Version, o.InstanceID); in != "" {
				w.instance[o.MemberID] = in
			}
		}
	}
}

// proposes notes what a leader makes of a generation, if it is heard: its own answer, which may come last, says so. What it sends to a group that
// is Stable is not looked at.
func (w *Watch) proposes(s *Step) {
	if r, ok := s.Sent.(*kmsg.SyncGroupRequest); ok && s.Torn {
		if w.torn[r.Generation] == nil {
			w.torn[r.Generation] = map[string]bool{}
		}
		for _, a := range r.GroupAssignment {
			w.torn[r.Generation][w.who(a.MemberID)+"="+string(a.MemberAssignment)] = true
		}
	} else if ok && s.Landed && w.made[r.Generation] == nil {
		w.made[r.Generation] = w.assigns(r)
	}
	for i := range s.Answers {
		m, ok := s.Answers[i].Response.(*kmsg.SyncGroupResponse)
		r, _ := s.Answers[i].Request.(*kmsg.SyncGroupRequest)
		if !ok || r == nil || m.ErrorCode != 0 || w.state != completing || w.made[r.Generation] != nil || w.leaders[r.Generation] != w.who(r.MemberID) {
			continue
		}
		w.made[r.Generation] = w.assigns(r)
	}
}

func (w *Watch) assigns(r *kmsg.SyncGroupRequest) map[string]string {
	made := map[string]string{}
	for _, a := range r.GroupAssignment {
		made[w.who(a.MemberID)] = string(a.MemberAssignment)
	}
	return made
}

func (w *Watch) answered(a *Answer, served bool) {
	switch m := a.Response.(type) {
	case *kmsg.JoinGroupResponse:
		w.joined(m)
	case *kmsg.SyncGroupResponse:
		if r, ok := a.Request.(*kmsg.SyncGroupRequest); ok && m.ErrorCode == 0 {
			w.acts(r.MemberID, r.Generation, from(3, a.Version, r.InstanceID))
			if has, want := string(m.MemberAssignment), w.made[r.Generation][w.who(r.MemberID)]; has != want && !w.torn[r.Generation][w.who(r.MemberID)+"="+has] {
				w.breaks(LeaderBytes, "the leader of generation %d made %q for %s, which got %q", r.Generation, want, r.MemberID, has)
			}
		}
	case *kmsg.HeartbeatResponse:
		if r, ok := a.Request.(*kmsg.HeartbeatRequest); ok && m.ErrorCode == 0 && served {
			w.acts(r.MemberID, r.Generation, from(3, a.Version, r.InstanceID))
		}
	case *kmsg.OffsetCommitResponse:
		if r, ok := a.Request.(*kmsg.OffsetCommitRequest); ok {
			w.committed(r, a.Version, m)
		}
	case *kmsg.OffsetFetchResponse:
		w.fetched(m)
	}
}

func from(min, version int16, instance *string) string {
	if instance == nil || version < min {
		return ""
	}
	return *instance
}

// acts: a request of a member has succeeded.
func (w *Watch) acts(id string, generation int32, instance string) {
	if generation >= 0 && generation < w.newest {
		w.breaks(NoOlder, "%s acted in generation %d after %d had been told", id, generation, w.newest)
	}
	if owner := w.owner[instance]; instance != "" && owner != "" && owner != id {
		w.breaks(OneOwner, "%s acted as %q, which is %s's", id, instance, owner)
	}
	if w.dead[id] {
		w.breaks(DeadIsFinal, "%s acted in a group that has ended", id)
	}
}

func (w *Watch) joined(m *kmsg.JoinGroupResponse) {
	if m.ErrorCode == classic.CodeMemberIDRequired {
		w.pending[m.MemberID], w.fresh[m.MemberID] = true, true
		return
	}
	if m.ErrorCode != 0 {
		return
	}
	w.ids[m.MemberID] = true
	if m.Generation < w.newest {
		w.breaks(Grows, "generation %d was told after %d", m.Generation, w.newest)
	}
	w.newest = max(w.newest, m.Generation)
	leader := w.who(m.LeaderID)
	if known, ok := w.leaders[m.Generation]; ok && known != leader {
		w.breaks(OneLeader, "of generation %d %s is the leader, and %s is", m.Generation, known, leader)
	} else if !ok {
		w.leaders[m.Generation] = leader
	}
	if len(m.Members) > 0 && leader != w.who(m.MemberID) {
		w.breaks(OneLeader, "%s is shown the members of generation %d, which %s leads", m.MemberID, m.Generation, leader)
	}
}

func (w *Watch) committed(r *kmsg.OffsetCommitRequest, version int16, m *kmsg.OffsetCommitResponse) {
	done := false
	for i, t := range m.Topics {
		for j, p := range t.Partitions {
			if p.ErrorCode != 0 || i >= len(r.Topics) || j >= len(r.Topics[i].Partitions) {
				continue
			}
			done = true
			w.acked[partition{t.Topic, p.Partition}] = r.Topics[i].Partitions[j].Offset
		}
	}
	if done && r.MemberID != "" && r.Generation >= 0 && w.state != empty {
		w.acts(r.MemberID, r.Generation, from(7, version, r.InstanceID))
	}
}

func (w *Watch) fetched(m *kmsg.OffsetFetchResponse) {
	see := func(topic string, index int32, at int64, code int16) {
		acked, ok := w.acked[partition{topic, index}]
		switch {
		case !ok || code != 0:
		case at < 0:
			w.breaks(NothingLost, "%d of %s/%d was acknowledged, and nothing is there", acked, topic, index)
		case at < acked:
			w.breaks(NotBack, "%d of %s/%d was acknowledged, and %d is there", acked, topic, index, at)
		}
	}
	if m.ErrorCode == 0 {
		for _, t := range m.Topics {
			for _, p := range t.Partitions {
				see(t.Topic, p.Partition, p.Offset, p.ErrorCode)
			}
		}
	}
	for _, g := range m.Groups {
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				if g.ErrorCode == 0 {
					see(t.Topic, p.Partition, p.Offset, p.ErrorCode)
				}
			}
		}
	}
}

// moves are the states that a step may lead to from each state: one join at most completes on the way.
var moves = map[string][]string{
	dead:       {dead, empty, preparing, completing},
	empty:      {empty, preparing, completing, dead},
	preparing:  {preparing, completing, empty},
	completing: {completing, stable, preparing, empty},
	stable:     {stable, preparing, completing, empty},
}

func (w *Watch) look(s *Step) {
	l := &s.Look
	if l.Hidden {
		return
	}
	if !l.Served {
		w.state = ""
		return
	}
	d := &l.Described
	if to, known := moves[w.state]; known && !s.Restarted && !slices.Contains(to, d.State) {
		w.breaks(Legal, "%s became %s in one step", w.state, d.State)
	}
	if d.State == dead && w.state != dead {
		for id := range w.ids {
			w.dead[id] = true
		}
		w.forget()
		clear(w.acked)
		w.made, w.pending = map[int32]map[string]string{}, map[string]bool{}
	}
	w.state = d.State
	w.members(l)
	w.timers(l)
	if l.Joins > 0 && d.State != preparing {
		w.breaks(Waits, "%d JoinGroups wait in a group that is %s", l.Joins, d.State)
	}
	if l.Syncs > 0 && d.State != completing {
		w.breaks(Waits, "%d SyncGroups wait in a group that is %s", l.Syncs, d.State)
	}
	if r := s.Replayed; r != nil && (d.State == stable || d.State == empty) {
		w.replayed(l, r)
	}
}

func (w *Watch) members(l *Look) {
	seen := map[string]string{}
	for i := range l.Described.Members {
		m := &l.Described.Members[i]
		w.ids[m.MemberID] = true
		delete(w.pending, m.MemberID)
		if w.dead[m.MemberID] {
			w.breaks(DeadIsFinal, "%s is a member again, of a group that has ended", m.MemberID)
		}
		if m.InstanceID == nil {
			continue
		}
		if other, twice := seen[*m.InstanceID]; twice {
			w.breaks(OneOwner, "%q is %s's and %s's", *m.InstanceID, other, m.MemberID)
		}
		seen[*m.InstanceID] = m.MemberID
		w.instance[m.MemberID], w.owner[*m.InstanceID] = *m.InstanceID, m.MemberID
	}
}

func (w *Watch) timers(l *Look) {
	d := &l.Described
	sessions := map[string]bool{}
	join, sync := false, false
	for _, t := range l.Timers {
		switch t.Kind {
		case classic.GroupJoinTimer:
			join = true
		case classic.GroupSyncTimer:
			sync = true
		case classic.SessionTimer:
			sessions[t.Member] = true
			is := slices.ContainsFunc(d.Members, func(m kmsg.DescribeGroupsResponseGroupMember) bool { return m.MemberID == t.Member })
			if !is && !w.pending[t.Member] {
				w.breaks(TimerOwner, "a timer of %q runs, which is no member, nor does it hold an id that it has not used", t.Member)
			}
		}
	}
	if join != (d.State == preparing) || sync && d.State != completing && d.State != stable {
		m := TimerOwner
		if !join && d.State == preparing {
			m = OwnerTimer
		}
		w.breaks(m, "the join timer is set: %v, the sync timer is set: %v, in a group that is %s", join, sync, d.State)
	}
	for id := range w.fresh {
		if !sessions[id] && d.State != dead { // unless the group's creation could not be written
			w.breaks(OwnerTimer, "%q has been handed out, and no timer will take it back", id)
		}
	}
	if d.State == completing && !sync && l.Syncs < len(d.Members) {
		w.breaks(OwnerTimer, "the sync timer is not set, and of %d members %d have sent their SyncGroup", len(d.Members), l.Syncs)
	}
	without := 0
	for i := range d.Members {
		if !sessions[d.Members[i].MemberID] {
			without++
		}
	}
	if waiting := l.Joins + l.Syncs; without > waiting {
		w.breaks(OwnerTimer, "%d members have no timer, and %d requests wait", without, waiting)
	}
}

func (w *Watch) replayed(l, r *Look) {
	a, b := &l.Described, &r.Described
	if a.State == empty && b.State == dead && a.ProtocolType == "" && len(l.Offsets) == 0 {
		return // a group of which nothing is left but that memory has it
	}
	if a.State != b.State || a.ProtocolType != b.ProtocolType || a.Protocol != b.Protocol || len(a.Members) != len(b.Members) {
		w.breaks(Replays, "the group is %s %s with %d members, its log says %s %s with %d", a.State, a.Protocol, len(a.Members), b.State, b.Protocol, len(b.Members))
		return
	}
	for i := range a.Members {
		m := &a.Members[i]
		j := slices.IndexFunc(b.Members, func(o kmsg.DescribeGroupsResponseGroupMember) bool { return o.MemberID == m.MemberID })
		if j < 0 || string(b.Members[j].MemberAssignment) != string(m.MemberAssignment) || string(b.Members[j].ProtocolMetadata) != string(m.ProtocolMetadata) {
			w.breaks(Replays, "the log does not say of %s what the group does", m.MemberID)
		}
	}
	if x, y := offsets(l.Offsets), offsets(r.Offsets); x != y {
		w.breaks(Replays, "the group has the offsets %s, its log says %s", x, y)
	}
}

// offsets are offsets as text, in order.
func offsets(topics []kmsg.OffsetFetchResponseGroupTopic) string {
	var all []string
	for _, t := range topics {
		for _, p := range t.Partitions {
			all = append(all, fmt.Sprintf("%s/%d=%d", t.Topic, p.Partition, p.Offset))
		}
	}
	slices.Sort(all)
	return fmt.Sprint(all)
}
