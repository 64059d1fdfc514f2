package lockstep

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/model/classic"
)

// The trace is scenario text: a block for each event, with what came of it.

// open begins the block of an event.
func (w *walk) open(command string) {
	if w.events++; !w.told {
		return
	}
	for _, note := range w.notes {
		command = "# " + note + "\n" + command
	}
	w.notes = nil
	w.trace = append(w.trace, command+"\n----\n")
}

// passes begins the block of time that passes.
func (w *walk) passes(d time.Duration) {
	if !w.told {
		w.open("")
		return
	}
	w.open("advance " + d.String())
}

// say adds an answer to the block.
func (w *walk) say(ticket checker.Ticket, resp kmsg.Response) {
	if !w.told {
		return
	}
	w.trace[len(w.trace)-1] += w.answer(ticket, resp) + "\n"
}

// note is a comment for the next block.
func (w *walk) note(c *gen.Client, text string) {
	if w.told {
		w.notes = append(w.notes, c.Name+" "+text)
	}
}

// name says whose request it is, and what.
func (w *walk) name(ticket checker.Ticket) string {
	s := w.sent.of(ticket)
	if s == nil {
		return fmt.Sprintf("request %d", ticket)
	}
	api := kmsg.NameForKey(s.event.Request.Key())
	if s.event.Client == nil {
		return api
	}
	return s.event.Client.Name + "'s " + api
}

func (w *walk) api(ticket checker.Ticket) string {
	if s := w.sent.of(ticket); s != nil {
		return kmsg.NameForKey(s.event.Request.Key())
	}
	return ""
}

func (w *walk) requests(tickets []checker.Ticket) string {
	names := make([]string, len(tickets))
	for i, t := range tickets {
		names[i] = w.name(t)
	}
	return list(names)
}

// answer is an answer on one line.
func (w *walk) answer(ticket checker.Ticket, resp kmsg.Response) string {
	who := "-"
	if s := w.sent.of(ticket); s != nil && s.event.Client != nil {
		who = s.event.Client.Name
	}
	return who + ": " + w.show(resp)
}

func (w *walk) show(resp kmsg.Response) string {
	switch m := resp.(type) {
	case *kmsg.JoinGroupResponse:
		return w.showJoin(m)
	case *kmsg.SyncGroupResponse:
		if m.ErrorCode == 0 {
			return "NONE " + bytes(m.MemberAssignment)
		}
		return checker.ErrorName(m.ErrorCode)
	case *kmsg.HeartbeatResponse:
		return checker.ErrorName(m.ErrorCode)
	case *kmsg.LeaveGroupResponse:
		parts := []string{checker.ErrorName(m.ErrorCode)}
		for _, one := range m.Members {
			parts = append(parts, w.member(one.MemberID, one.InstanceID)+":"+checker.ErrorName(one.ErrorCode))
		}
		return strings.Join(parts, " ")
	case *kmsg.OffsetCommitResponse:
		var parts []string
		for _, t := range m.Topics {
			for _, p := range t.Partitions {
				parts = append(parts, fmt.Sprintf("%s/%d:%s", t.Topic, p.Partition, checker.ErrorName(p.ErrorCode)))
			}
		}
		return list(parts)
	case *kmsg.TxnOffsetCommitResponse:
		var parts []string
		for _, t := range m.Topics {
			for _, p := range t.Partitions {
				parts = append(parts, fmt.Sprintf("%s/%d:%s", t.Topic, p.Partition, checker.ErrorName(p.ErrorCode)))
			}
		}
		return list(parts)
	case *kmsg.OffsetDeleteResponse:
		parts := []string{checker.ErrorName(m.ErrorCode)}
		for _, t := range m.Topics {
			for _, p := range t.Partitions {
				parts = append(parts, fmt.Sprintf("%s/%d:%s", t.Topic, p.Partition, checker.ErrorName(p.ErrorCode)))
			}
		}
		return strings.Join(parts, " ")
	case *kmsg.OffsetFetchResponse:
		return showFetch(m)
	case *kmsg.DescribeGroupsResponse:
		return w.showDescribe(m)
	case *kmsg.ListGroupsResponse:
		var parts []string
		for _, g := range m.Groups {
			parts = append(parts, strings.TrimSpace(g.Group+" "+g.GroupState+" "+g.ProtocolType))
		}
		if m.ErrorCode != 0 {
			parts = append(parts, checker.ErrorName(m.ErrorCode))
		}
		sort.Strings(parts)
		return list(parts)
	case *kmsg.FindCoordinatorResponse:
		if len(m.Coordinators) > 0 {
			return checker.ErrorName(m.Coordinators[0].ErrorCode)
		}
		return checker.ErrorName(m.ErrorCode)
	case *kmsg.DeleteGroupsResponse:
		var parts []string
		for _, g := range m.Groups {
			parts = append(parts, g.Group+":"+checker.ErrorName(g.ErrorCode))
		}
		return list(parts)
	}
	return fmt.Sprintf("%+v", resp)
}

func (w *walk) showJoin(m *kmsg.JoinGroupResponse) string {
	if m.ErrorCode != 0 && m.Generation < 0 {
		return checker.ErrorName(m.ErrorCode)
	}
	protocol := "null"
	if m.Protocol != nil {
		protocol = *m.Protocol
	}
	s := fmt.Sprintf("%s gen=%d leader=%s protocol=%s", checker.ErrorName(m.ErrorCode), m.Generation, w.gen.Who(m.LeaderID), protocol)
	if len(m.Members) == 0 {
		return s
	}
	members := make([]string, len(m.Members))
	for i, one := range m.Members {
		members[i] = w.member(one.MemberID, one.InstanceID) + ":" + bytes(one.ProtocolMetadata)
	}
	sort.Strings(members)
	s += " members=[" + strings.Join(members, " ") + "]"
	if m.SkipAssignment {
		s += " skip-assignment"
	}
	return s
}

// member is a member with its instance id.
func (w *walk) member(id string, instance *string) string {
	if instance == nil {
		return w.gen.Who(id)
	}
	return w.gen.Who(id) + "@" + *instance
}

func (w *walk) showDescribe(m *kmsg.DescribeGroupsResponse) string {
	var parts []string
	for _, g := range m.Groups {
		s := strings.TrimSpace(fmt.Sprintf("%s %s %s %s", checker.ErrorName(g.ErrorCode), g.State, g.ProtocolType, g.Protocol))
		var members []string
		for _, one := range g.Members {
			members = append(members, fmt.Sprintf("%s:%s->%s", w.member(one.MemberID, one.InstanceID), bytes(one.ProtocolMetadata), bytes(one.MemberAssignment)))
		}
		sort.Strings(members)
		parts = append(parts, s+" ["+strings.Join(members, " ")+"]")
	}
	return list(parts)
}

func showFetch(m *kmsg.OffsetFetchResponse) string {
	var parts []string
	add := func(topic string, p int32, at int64, metadata *string, err int16) {
		s := fmt.Sprintf("%s/%d=%d", topic, p, at)
		if metadata != nil && *metadata != "" {
			s += ":" + *metadata
		}
		if err != 0 {
			s += " " + checker.ErrorName(err)
		}
		parts = append(parts, s)
	}
	for _, t := range m.Topics {
		for _, p := range t.Partitions {
			add(t.Topic, p.Partition, p.Offset, p.Metadata, p.ErrorCode)
		}
	}
	if m.ErrorCode != 0 {
		parts = append(parts, checker.ErrorName(m.ErrorCode))
	}
	for _, g := range m.Groups {
		if g.ErrorCode != 0 {
			parts = append(parts, checker.ErrorName(g.ErrorCode))
		}
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				add(t.Topic, p.Partition, p.Offset, p.Metadata, p.ErrorCode)
			}
		}
	}
	sort.Strings(parts)
	return list(parts)
}

// timers are armed timers with the time of the run at which they are due.
func (w *walk) timers(ts []timer) string {
	names := make([]string, len(ts))
	for i, t := range ts {
		names[i] = [...]string{"session of " + w.gen.Who(t.member), "join", "sync"}[t.kind]
		names[i] += " at " + time.Duration(t.deadline-w.start.UnixNano()).String()
	}
	return list(names)
}

func recordNames(kinds []classic.RecordKind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = [...]string{"group", "group tombstone", "offsets", "offset tombstones", "transactional offsets", "offset tombstones"}[k]
	}
	return list(names)
}

func list(parts []string) string {
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// bytes are shown as they are where that is text, else quoted: a subscription would upset a terminal.
func bytes(b []byte) string {
	for _, c := range b {
		if c <= ' ' || c > '~' {
			return strconv.Quote(string(b))
		}
	}
	if len(b) == 0 {
		return `""`
	}
	return string(b)
}
