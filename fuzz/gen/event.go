package gen

import (
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Event is one step of a run: a request, or time that passes.
type Event struct {
	// Line is the event as a line of scenario text, with a comment before it where the text cannot say it all.
	Line string

	// Client sends the request; it is nobody's where Client is nil.
	Client   *Client
	ClientID string
	Request  kmsg.Request // nil: time passes
	Version  int16

	// FailWrites makes the writes of the event fail. WriteError is what the log says then; 0 is that there are too few replicas.
	FailWrites bool
	WriteError int16

	// TooLong: a string of the request is longer than the protocol allows, so that nobody can read it. Unoffered: its version is one that no coordinator
	// offers.
	TooLong, Unoffered bool

	// Torn crashes the coordinator while it writes what the request asks for; Kept says whether that is in the log.
	Torn, Kept bool

	// Fire lets time pass until the next timer is due, and fires all that are due then; otherwise By passes, short of that.
	Fire bool
	By   time.Duration

	// Jump moves the clock by By, which may be past the deadlines of timers: they fire late, and what comes next may come before them.
	Jump bool

	// Act is what the event does to the broker; nothing where it is a request or time that passes.
	Act      Act
	Producer *Producer // of a transaction
	Commit   bool      // EndTxn: commit, not abort
	Unmarked bool      // EndTxn: the marker cannot be written, or nobody serves who would take it
	Topics   []string  // DeleteTopics
	Epoch    int32     // Unload, Load, Restart: the leader epoch, which may be an old one

	// Verified is how the transaction coordinator refuses the TxnOffsetCommit; 0 where it does not.
	Verified int16
}

// Stranger is the member id that scenarios call "stranger": one that no coordinator hands out.
const Stranger = "stranger-00000000-0000-0000-0000-000000000000"

// Who is what scenario text calls a member id.
func (g *Generator) Who(id string) string {
	switch id {
	case "":
		return "none"
	case Stranger:
		return "stranger"
	}
	for _, c := range g.clients {
		all := c.known().Ids
		for i, known := range all {
			switch {
			case known != id:
			case i == len(all)-1:
				return c.Name
			default:
				return fmt.Sprintf("%s'%d", c.Name, i+1)
			}
		}
	}
	return "unseen"
}

// Mute makes events come without their lines, which is faster, and Tell ends that; neither changes anything else. A generator tells unless it has
// been muted. Lines are right only where all of them are told.
func (g *Generator) Mute() { g.mute = true }

// Tell makes events come with their lines again.
func (g *Generator) Tell() { g.mute = false }

// line is a formatted line, unless nobody wants it.
func (g *Generator) line(format string, args ...any) string {
	if g.mute {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// send puts an event's request on its way.
func (g *Generator) send(e *Event) {
	c := e.Client
	if !g.mute {
		e.Line = g.text(c, e.Request, e.Version)
	}
	if c == nil {
		return
	}
	if join, ok := e.Request.(*kmsg.JoinGroupRequest); ok {
		c.hasJoined, c.lastGroup, c.lastInstance = true, join.Group, join.InstanceID
	}
	c.Sent(e.Request)
}

// line collects a line of scenario text.
type line struct{ strings.Builder }

func (l *line) add(format string, args ...any) {
	if l.Len() > 0 {
		l.WriteByte(' ')
	}
	fmt.Fprintf(&l.Builder, format, args...)
}

// text prints a request of a client (nil: of nobody) in the grammar of docs/scenarios.md. It must be called before the client learns of
// the request's answer, since arguments that the client's own knowledge gives are left out.
func (g *Generator) text(c *Client, req kmsg.Request, version int16) string {
	l := &line{}
	name, own, gen := "-", "", int32(-1)
	if c != nil {
		name, own, gen = c.Name, c.known().ID(), c.known().Generation
	}
	static := func(instance *string) { g.staticText(l, c, instance) }
	member := func(id, own string) {
		if id != own {
			l.add("member=%s", g.Who(id))
		}
	}
	generation := func(n int32) {
		switch {
		case n == gen:
		case n < 0:
			l.add("gen=none")
		default:
			l.add("gen=%d", n)
		}
	}
	switch m := req.(type) {
	case *kmsg.JoinGroupRequest:
		g.joinText(l, c, m)
	case *kmsg.SyncGroupRequest:
		l.add("sync %s", name)
		for _, a := range m.GroupAssignment {
			l.add("%s=%s", g.Who(a.MemberID), a.MemberAssignment)
		}
		generation(m.Generation)
		member(m.MemberID, own)
		static(m.InstanceID)
		typ := c.Type
		if c.known().Generation < 0 {
			typ = "" // the runner takes the type of the actor's last generation
		}
		nullable(l, "type", m.ProtocolType, typ)
		nullable(l, "protocol", m.Protocol, c.known().Protocol)
		if c.known().Syncs > 0 {
			l.add("-again")
		}
	case *kmsg.HeartbeatRequest:
		l.add("heartbeat %s", name)
		generation(m.Generation)
		member(m.MemberID, own)
		static(m.InstanceID)
	case *kmsg.LeaveGroupRequest:
		if c != nil && len(m.Members) == 1 {
			l.add("leave %s", name)
			member(m.Members[0].MemberID, own)
			static(m.Members[0].InstanceID)
			break
		}
		l.add("leave-batch")
		for _, one := range m.Members {
			if one.InstanceID == nil {
				l.add("%s", g.Who(one.MemberID))
			} else {
				l.add("%s@%s", g.Who(one.MemberID), word(*one.InstanceID))
			}
		}
	case *kmsg.OffsetCommitRequest:
		l.add("commit %s", name)
		commitText(l, m)
		generation(m.Generation)
		member(m.MemberID, own)
		static(m.InstanceID)
		if m.RetentionTimeMillis >= 0 {
			l.add("retention=%v", time.Duration(m.RetentionTimeMillis)*time.Millisecond)
		}
	case *kmsg.TxnOffsetCommitRequest:
		g.txnText(l, c, m)
		l.add("v=%d", version)
		return l.String()
	case *kmsg.OffsetDeleteRequest:
		l.add("offset-delete")
		for _, t := range m.Topics {
			for _, p := range t.Partitions {
				l.add("%s/%d", t.Topic, p.Partition)
			}
		}
		g.groupText(l, nil, m.Group)
		l.add("v=%d", version)
		return l.String()
	case *kmsg.OffsetFetchRequest:
		l.add("fetch %s", name)
		if len(m.Topics) == 0 {
			l.add("-all")
		}
		for _, t := range m.Topics {
			for _, p := range t.Partitions {
				l.add("%s/%d", t.Topic, p)
			}
		}
		if m.RequireStable {
			l.add("-stable")
		}
	case *kmsg.DescribeGroupsRequest:
		l.add("describe")
		g.groupText(l, nil, m.Groups[0])
		l.add("v=%d", version)
		return l.String()
	case *kmsg.ListGroupsRequest:
		l.add("list")
		filters(l, "states", m.StatesFilter)
		filters(l, "types", m.TypesFilter)
		l.add("v=%d", version)
		return l.String()
	case *kmsg.FindCoordinatorRequest:
		l.add("find-coordinator %s v=%d", g.shown[m.CoordinatorKey], version)
		return l.String()
	case *kmsg.DeleteGroupsRequest:
		l.add("delete")
		for _, group := range m.Groups {
			l.add("%s", g.shown[group])
		}
		l.add("v=%d", version)
		return l.String()
	}
	if group, ok := groupOf(req); ok {
		g.groupText(l, c, group)
	}
	l.add("v=%d", version)
	return l.String()
}

func (g *Generator) joinText(l *line, c *Client, m *kmsg.JoinGroupRequest) {
	l.add("join %s", c.Name)
	for _, p := range m.Protocols {
		l.add("%s=%s", p.Name, g.metadata(p.Metadata))
	}
	if len(m.Protocols) == 0 {
		l.add("-empty")
	}
	switch session := time.Duration(m.SessionTimeoutMillis) * time.Millisecond; {
	case session < g.setup.MinSession:
		l.add("session=below-min")
	case session > g.setup.MaxSession:
		l.add("session=above-max")
	default:
		l.add("session=%v", session)
	}
	l.add("rebalance=%v", time.Duration(m.RebalanceTimeoutMillis)*time.Millisecond)
	switch m.ProtocolType {
	case "consumer":
	case "":
		l.add("type=none")
	default:
		l.add("type=%s", m.ProtocolType)
	}
	if m.MemberID != c.known().JoinID {
		l.add("member=%s", g.Who(m.MemberID))
	}
	g.staticText(l, c, m.InstanceID)
	if c.known().Joins > 0 {
		l.add("-again")
	}
}

func commitText(l *line, m *kmsg.OffsetCommitRequest) {
	for _, t := range m.Topics {
		for _, p := range t.Partitions {
			l.add("%s/%d=%d%s", t.Topic, p.Partition, p.Offset, note(*p.Metadata))
		}
	}
}

// note is an offset's metadata as text.
func note(s string) string {
	switch {
	case len(s) > 20:
		return fmt.Sprintf(":%c*%d", s[0], len(s))
	case s != "":
		return ":" + s
	}
	return ""
}

// nullable prints a text that differs from the one that the runner would take.
func nullable(l *line, key string, value *string, own string) {
	switch {
	case value == nil:
		l.add("%s=none", key)
	case *value != own:
		l.add("%s=%s", key, *value)
	}
}

func filters(l *line, key string, names []string) {
	if len(names) > 0 {
		l.add("%s=%s", key, strings.Join(names, ","))
	}
}

// groupText names the group where it is not the one that the runner would take: that of the actor's last JoinGroup, or the scenario's own.
func (g *Generator) groupText(l *line, c *Client, group string) {
	own := g.groups[0]
	if c != nil && c.hasJoined {
		own = c.lastGroup
	}
	if group != own {
		l.add("group=%s", g.shown[group])
	}
}

func groupOf(req kmsg.Request) (string, bool) {
	switch m := req.(type) {
	case *kmsg.JoinGroupRequest:
		return m.Group, true
	case *kmsg.SyncGroupRequest:
		return m.Group, true
	case *kmsg.HeartbeatRequest:
		return m.Group, true
	case *kmsg.LeaveGroupRequest:
		return m.Group, true
	case *kmsg.OffsetCommitRequest:
		return m.Group, true
	case *kmsg.OffsetFetchRequest:
		return m.Group, true
	}
	return "", false
}
