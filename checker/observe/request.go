package observe

import (
	"fmt"
	"time"
	"unicode/utf16"

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

	// of an OffsetCommit: the offsets that are stored if the group accepts it, and the error of each partition in that case
	put    []offset
	errors map[partition]int16
}

type partition struct {
	topic string
	index int32
}

func notModelled(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrNotModelled, fmt.Sprintf(format, args...))
}

// translate reads a request against a branch.
func (w *World) translate(b *Branch, r Request) (*call, error) {
	c := &call{request: r}
	if r.WriteFails {
		c.event.Write = classic.WriteFailed
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
		err = dynamicOnly(m.InstanceID)
	case *kmsg.LeaveGroupRequest:
		err = w.translateLeave(b, c, m)
	case *kmsg.OffsetCommitRequest:
		err = w.translateCommit(b, c, m)
	case *kmsg.OffsetFetchRequest:
		c.event.Kind = classic.OffsetFetch
		err = checkFetch(m, r.Version)
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

func dynamicOnly(instance *string) error {
	if instance != nil {
		return notModelled("group.instance.id (static membership)")
	}
	return nil
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
	if c.request.Version == 0 {
		c.rebalance = c.session // version 0 has no rebalance timeout
	}
	e.BadSession = c.session < w.config.MinSession || c.session > w.config.MaxSession // join.session.bounds
	e.NeedsID = c.request.Version >= 4                                                // join.new.member-id-required
	seen := map[string]bool{}
	for _, p := range m.Protocols {
		if seen[p.Name] {
			return notModelled("a protocol list that names %q twice", p.Name)
		}
		seen[p.Name] = true
	}
	var err error
	if m.ProtocolType != "" {
		if e.Type, err = w.typeSymbol(m.ProtocolType); err != nil {
			return err
		}
	}
	if e.List, err = w.listSymbol(m.Protocols); err != nil {
		return err
	}
	return dynamicOnly(m.InstanceID)
}

func (w *World) translateSync(b *Branch, c *call, m *kmsg.SyncGroupRequest) (err error) {
	e := &c.event
	e.Kind, e.BadGroup = classic.SyncGroup, m.Group == ""
	e.Ref, c.id = b.ref(m.MemberID), m.MemberID
	e.Gen = b.gen(m.Generation)
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
	return dynamicOnly(m.InstanceID)
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
		if l.InstanceID != nil {
			return dynamicOnly(l.InstanceID)
		}
		e.Leaves = append(e.Leaves, b.ref(l.MemberID))
	}
	return nil
}

func (w *World) translateCommit(b *Branch, c *call, m *kmsg.OffsetCommitRequest) error {
	e := &c.event
	e.Kind, e.CommitVersion = classic.OffsetCommit, c.request.Version
	e.Ref, c.id = b.ref(m.MemberID), m.MemberID
	e.Gen = b.gen(m.Generation)
	switch v := c.request.Version; {
	case v < 1 || v > 9:
		return notModelled("OffsetCommit version %d", v)
	case v >= 2 && v <= 4 && m.RetentionTimeMillis != -1:
		return notModelled("OffsetCommit with a retention time")
	}
	c.errors = map[partition]int16{}
	for _, t := range m.Topics {
		for _, p := range t.Partitions {
			key := partition{t.Topic, p.Partition}
			if _, twice := c.errors[key]; twice {
				return notModelled("OffsetCommit that names %s/%d twice", t.Topic, p.Partition)
			}
			o := offset{topic: t.Topic, partition: p.Partition, at: p.Offset, epoch: -1}
			if c.request.Version >= 6 {
				o.epoch = p.LeaderEpoch
			}
			if p.Metadata != nil {
				o.metadata = *p.Metadata
			}
			switch {
			case !w.exists(key): // commit.topic.unknown
				c.errors[key] = errUnknownTopic
			case utf16Length(o.metadata) > w.config.MaxMetadata: // commit.metadata.too-large
				c.errors[key] = errMetadataTooLarge
			default:
				c.errors[key] = 0
				c.put = append(c.put, o)
			}
		}
	}
	e.TooLarge = len(c.put) == 0
	return dynamicOnly(m.InstanceID)
}

// reachesGroup is false for an OffsetCommit whose partitions are all unknown: it is answered without asking the group.
func (c *call) reachesGroup() bool {
	if c.event.Kind != classic.OffsetCommit {
		return true
	}
	for _, code := range c.errors {
		if code != errUnknownTopic {
			return true
		}
	}
	return false
}

func (w *World) exists(p partition) bool {
	return w.config.Topics == nil || w.config.Topics(p.topic, p.index)
}

func checkFetch(m *kmsg.OffsetFetchRequest, version int16) error {
	if version < 1 || version > 9 {
		return notModelled("OffsetFetch version %d", version)
	}
	if version >= 8 {
		return oneGroup(len(m.Groups))
	}
	return nil
}

func utf16Length(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}
