package observe

import (
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/model/classic"
)

// call is a request in the model's terms, with what the model leaves out of it.
type call struct {
	request Request
	event   classic.Event
	id      string // the member id that it carries

	// of a JoinGroup
	session, rebalance time.Duration

	// of a SyncGroup: the branch's assignment table with the request's assignments in it
	assigns   []string
	strangers bool // it names ids that are no members, or one twice

	instance *string // of a JoinGroup

	// of an OffsetCommit or TxnOffsetCommit: its partitions, and the offsets that are stored if the group accepts them
	entries []entry
	put     []offset
	twice   bool // it names a partition twice
	slow    bool // see slow.go

	// of an OffsetFetch: what is asked for
	asked    []fetchTopic
	askedAll bool

	// of an OffsetDelete: its partitions. gone are those whose offsets go, also where topics are deleted or offsets expire
	deletes []entry
	gone    func(partition) bool

	producer int64 // of a TxnOffsetCommit, and of the marker that ends a transaction
}

// entry is a partition of a request.
type entry struct {
	topic string
	id    [16]byte // where the request names topics by id
	at    int32
	code  int16 // the error that it gets whatever the group says; 0 if none
	size  bool  // the error is only for those that the group accepts: too much metadata
}

type partition struct {
	topic string
	index int32
}

func notModelled(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrNotModelled, fmt.Sprintf(format, args...))
}

// translate reads a request against a branch.
func (w *World) translate(b *Branch, r Request, c *call) (*call, error) {
	*c = call{request: r, entries: c.entries[:0], put: c.put[:0], deletes: c.deletes[:0]}
	if r.WriteFails {
		c.event.Write = classic.WriteFailed
	}
	c.event.Slow = r.Slow
	if c.slow = r.Slow && r.Message.Key() == int16(kmsg.OffsetCommit); c.slow {
		c.event.Write = classic.WriteFailed // until it lands
	}
	var err error
	switch m := r.Message.(type) {
	case *kmsg.JoinGroupRequest:
		err = w.translateJoin(b, c, m)
	case *kmsg.SyncGroupRequest:
		err = w.translateSync(b, c, m)
	case *kmsg.HeartbeatRequest:
		c.event.Kind, c.event.BadGroup = classic.Heartbeat, m.Group == ""
		c.event.Gen = b.gen(m.Generation)
		c.event.Ref, c.id = b.ref(m.MemberID), m.MemberID
		c.event.Instance = b.instance(m.InstanceID, r.Version >= 3)
	case *kmsg.LeaveGroupRequest:
		err = w.translateLeave(b, c, m)
	case *kmsg.OffsetCommitRequest:
		err = w.translateCommit(b, c, m)
	case *kmsg.TxnOffsetCommitRequest:
		err = w.translateTxnCommit(b, c, m)
	case *kmsg.OffsetFetchRequest:
		err = w.translateFetch(c, m)
	case *kmsg.OffsetDeleteRequest:
		err = w.translateDelete(b, c, m)
	case *kmsg.DescribeGroupsRequest:
		c.event.Kind = classic.DescribeGroups
		err = oneGroup(len(m.Groups))
	case *kmsg.ListGroupsRequest:
		c.event.Kind = classic.ListGroups
	case *kmsg.DeleteGroupsRequest:
		c.event.Kind = classic.DeleteGroups
		err = oneGroup(len(m.Groups))
	default:
		err = notModelled("%s", kmsg.NameForKey(r.Message.Key()))
	}
	return c, err
}

func (b *Branch) ref(id string) classic.Ref {
	if id == "" {
		return classic.Ref{Kind: classic.NoID}
	}
	if s := b.slot(id); s >= 0 {
		return classic.Ref{Kind: classic.KnownID, Slot: s}
	}
	return classic.Ref{Kind: classic.UnknownID}
}

func (b *Branch) gen(n int32) classic.Gen {
	switch {
	case n < 0:
		return classic.NoGen
	case n == b.generation:
		return classic.CurrentGen
	default:
		return classic.OtherGen
	}
}

// instance is a request's group.instance.id, where its version has one.
func (b *Branch) instance(id *string, has bool) classic.Instance {
	if id == nil || !has {
		return classic.Instance{}
	}
	for i := range b.used() {
		if s := &b.state.Slots[i]; s.Kind == classic.Member && s.Static && b.holders[i].instance == *id {
			return classic.Instance{Kind: classic.KnownInstance, Slot: int8(i)}
		}
	}
	return classic.Instance{Kind: classic.UnknownInstance}
}

func oneGroup(n int) error {
	if n != 1 {
		return fmt.Errorf("a request over %d groups must be split by group before it is applied to a branch", n)
	}
	return nil
}

func (w *World) translateJoin(b *Branch, c *call, m *kmsg.JoinGroupRequest) error {
	e := &c.event
	e.Kind, e.BadGroup = classic.JoinGroup, m.Group == ""
	e.Ref, c.id = b.ref(m.MemberID), m.MemberID
	c.session = time.Duration(m.SessionTimeoutMillis) * time.Millisecond
	c.rebalance = time.Duration(m.RebalanceTimeoutMillis) * time.Millisecond
	if c.request.Version == 0 && !w.breaks(classic.JoinZeroVersion) {
		c.rebalance = c.session // version 0 has no rebalance timeout
	}
	e.BadSession = c.session < w.config.MinSession || c.session > w.config.MaxSession // join.session.bounds
	e.NeedsID = c.request.Version >= 4                                                // join.new.member-id-required
	e.Skips = c.request.Version >= 9                                                  // static.replaced.leader
	e.Instance, c.instance = b.instance(m.InstanceID, c.request.Version >= 5), m.InstanceID
	for i, p := range m.Protocols {
		if slices.ContainsFunc(m.Protocols[:i], func(q kmsg.JoinGroupRequestProtocol) bool { return q.Name == p.Name }) {
			return notModelled("a protocol list that names %q twice", p.Name)
		}
	}
	var err error
	if m.ProtocolType != "" {
		if e.Type, err = w.typeSymbol(m.ProtocolType); err != nil {
			return err
		}
	}
	e.List, err = w.listSymbol(m.Protocols)
	return err
}

func (w *World) translateSync(b *Branch, c *call, m *kmsg.SyncGroupRequest) (err error) {
	e := &c.event
	e.Kind, e.BadGroup = classic.SyncGroup, m.Group == ""
	e.Ref, c.id = b.ref(m.MemberID), m.MemberID
	e.Gen = b.gen(m.Generation)
	e.Instance = b.instance(m.InstanceID, c.request.Version >= 3)
	if c.request.Version >= 5 {
		e.NoProtocol = m.ProtocolType == nil || m.Protocol == nil
		if m.ProtocolType != nil {
			if e.Type, err = w.typeSymbol(*m.ProtocolType); err != nil {
				return err
			}
		}
		if m.Protocol != nil {
			if e.Protocol, err = w.nameSymbol(*m.Protocol); err != nil {
				return err
			}
		}
	}
	held := b.heldAssigns()
	c.assigns = b.assigns
	last := [classic.MaxSlots]int{} // by slot: 1 + the entry that counts
	for i, a := range m.GroupAssignment {
		s := b.slot(a.MemberID)
		member := s >= 0 && b.state.Slots[s].Kind == classic.Member
		c.strangers = c.strangers || !member || last[s] > 0
		if member {
			last[s] = i + 1 // sync.leader.strangers: of two entries for one id the last counts
		}
	}
	for s, i := range last {
		if i == 0 {
			continue
		}
		if e.Assign[s], err = b.assign(&c.assigns, &held, m.GroupAssignment[i-1].MemberAssignment); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) translateLeave(b *Branch, c *call, m *kmsg.LeaveGroupRequest) error {
	e := &c.event
	e.Kind, e.BadGroup = classic.LeaveGroup, m.Group == ""
	if c.request.Version < 3 {
		e.OldLeave, c.id = true, m.MemberID
		e.Leaves = []classic.Ref{b.ref(m.MemberID)}
		e.Ref = e.Leaves[0]
		return nil
	}
	for _, l := range m.Members {
		e.Leaves = append(e.Leaves, b.ref(l.MemberID))
		e.Instances = append(e.Instances, b.instance(l.InstanceID, true))
	}
	return nil
}
