package joint

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/model/classic"
)

// message makes the request of an event.
func (m *machine) message(s *state, e *event) {
	m.req = request{ticket: s.tickets, id: m.memberID(s, e.Ref)}
	m.instance = m.instanceID(s, e.Instance, e.Kind == classic.JoinGroup && e.Ref.Kind == classic.NoID)
	group := Group
	if e.BadGroup {
		group = ""
	}
	switch e.Kind {
	case classic.JoinGroup:
		m.join(e, group)
	case classic.SyncGroup:
		m.sync(s, e, group)
	case classic.Heartbeat:
		r := kmsg.NewPtrHeartbeatRequest()
		r.Group, r.Generation, r.MemberID, r.InstanceID = group, s.asked(e.Gen), m.req.id, m.instancePtr()
		m.wire, m.req.version = r, 4
	case classic.LeaveGroup:
		m.leaving(s, e, group)
	case classic.OffsetCommit:
		r := kmsg.NewPtrOffsetCommitRequest()
		r.Group, r.Generation, r.MemberID, r.InstanceID = group, s.asked(e.Gen), m.req.id, m.instancePtr()
		r.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Offset: int64(s.tickets), Metadata: kmsg.StringPtr("")}}}}
		m.wire, m.req.version = r, e.CommitVersion
	case classic.DescribeGroups:
		r := kmsg.NewPtrDescribeGroupsRequest()
		r.Groups = []string{group}
		m.wire, m.req.version = r, 5
	case classic.ListGroups:
		m.wire, m.req.version = kmsg.NewPtrListGroupsRequest(), 4
	case classic.DeleteGroups:
		r := kmsg.NewPtrDeleteGroupsRequest()
		r.Groups = []string{group}
		m.wire, m.req.version = r, 2
	}
}

// asked is the generation that a request carries.
func (s *state) asked(g classic.Gen) int32 {
	now := s.models[0].generation
	switch {
	case g == classic.NoGen:
		return -1
	case g == classic.CurrentGen:
		return now
	case now > 0:
		return now - 1
	}
	return now + 1
}

const (
	nobody   = "nobody"
	nowhere  = "i-nobody"
	instance = "i"
)

func (m *machine) memberID(s *state, r classic.Ref) string {
	switch r.Kind {
	case classic.KnownID:
		return s.rows[r.Slot].id
	case classic.UnknownID:
		return nobody
	}
	return ""
}

// instanceID is the instance id of a request; a member that joins anew gets one that nobody has.
func (m *machine) instanceID(s *state, in classic.Instance, fresh bool) string {
	switch {
	case in.Kind == classic.NoInstance:
		return ""
	case in.Kind == classic.KnownInstance:
		return s.rows[in.Slot].instance
	case !fresh:
		return nowhere
	}
	for n := 0; ; n++ {
		name := fmt.Sprint(instance, n)
		free := true
		for i := range s.rows {
			free = free && s.rows[i].instance != name
		}
		if free {
			return name
		}
	}
}

func (m *machine) instancePtr() *string {
	if m.instance == "" {
		return nil
	}
	name := m.instance
	return &name
}

func (m *machine) join(e *event, group string) {
	r := kmsg.NewPtrJoinGroupRequest()
	r.Group, r.MemberID, r.InstanceID, r.ProtocolType = group, m.req.id, m.instancePtr(), types[e.Type]
	r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = int32(session.Milliseconds()), int32(rebalance.Milliseconds())
	if e.BadSession {
		r.SessionTimeoutMillis = 1
	}
	for _, name := range m.lexicon.Lists[e.List].Names {
		r.Protocols = append(r.Protocols, kmsg.JoinGroupRequestProtocol{Name: protocolName(name), Metadata: metadata})
	}
	m.wire = r
	switch {
	case e.Skips:
		m.req.version = 9
	case e.NeedsID:
		m.req.version = 8
	default:
		m.req.version = 3
	}
}

func (m *machine) sync(s *state, e *event, group string) {
	r := kmsg.NewPtrSyncGroupRequest()
	r.Group, r.Generation, r.MemberID, r.InstanceID = group, s.asked(e.Gen), m.req.id, m.instancePtr()
	for i := range s.rows {
		if e.Assign[i] != 0 {
			r.GroupAssignment = append(r.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: s.rows[i].id, MemberAssignment: assignment(e.Assign[i])})
		}
	}
	m.wire, m.req.version = r, 3
	if e.NoProtocol {
		m.req.version = 5
	} else if e.Type != 0 {
		m.req.version = 5
		r.ProtocolType, r.Protocol = kmsg.StringPtr(types[e.Type]), kmsg.StringPtr(protocolName(e.Protocol))
	}
}

func (m *machine) leaving(s *state, e *event, group string) {
	r := kmsg.NewPtrLeaveGroupRequest()
	r.Group = group
	m.wire, m.req.version = r, 4
	if e.OldLeave {
		r.MemberID, m.req.version = m.memberID(s, e.Leaves[0]), 1
		m.req.id = r.MemberID
		return
	}
	for i, ref := range e.Leaves {
		l := kmsg.NewLeaveGroupRequestMember()
		l.MemberID = m.memberID(s, ref)
		if i < len(e.Instances) {
			m.instance = m.instanceID(s, e.Instances[i], false)
			l.InstanceID = m.instancePtr()
		}
		r.Members = append(r.Members, l)
	}
	m.instance = ""
}

// translate is the event as an explanation has to take it.
func (m *machine) translate(x *explanation) classic.Event {
	e, s := m.e.Event, m.from
	if e.Kind.Request() {
		e.Ref = x.ref(e.Ref)
		e.Instance = s.instance(x, m.instance)
		if e.Kind == classic.LeaveGroup {
			m.translateLeaves(x, &e)
		}
		switch e.Kind {
		case classic.SyncGroup, classic.Heartbeat, classic.OffsetCommit:
			switch asked := s.asked(e.Gen); {
			case asked < 0:
				e.Gen = classic.NoGen
			case asked == x.generation:
				e.Gen = classic.CurrentGen
			default:
				e.Gen = classic.OtherGen
			}
		}
		for i := range e.Assign {
			if e.Assign[i] != 0 && x.state.Slots[i].Kind != classic.Member {
				e.Assign[i] = 0
			}
		}
	}
	switch e.Kind {
	case classic.JoinTimer:
		e.Rest = x.rest > 0
	case classic.Loaded:
		if m.e.crash {
			m.record = classic.Durable(&x.state, m.alone)
			e.Record = &m.record
		}
	}
	return e
}

func (m *machine) translateLeaves(x *explanation, e *classic.Event) {
	r, ok := m.wire.(*kmsg.LeaveGroupRequest)
	if !ok || m.e.OldLeave {
		e.Leaves = append(m.own[:0], x.ref(e.Leaves[0]))
		m.own = e.Leaves
		return
	}
	m.own, m.ownInstances = m.own[:0], m.ownInstances[:0]
	for i, ref := range e.Leaves {
		m.own = append(m.own, x.ref(ref))
		name := ""
		if in := r.Members[i].InstanceID; in != nil {
			name = *in
		}
		m.ownInstances = append(m.ownInstances, m.from.instance(x, name))
	}
	e.Leaves, e.Instances = m.own, m.ownInstances
}

// alone is the list that has only the given protocol of another list.
func (m *machine) alone(_, protocol uint8) uint8 {
	for i, l := range m.lexicon.Lists {
		if len(l.Names) == 1 && l.Names[0] == protocol {
			return uint8(i)
		}
	}
	return 0
}
