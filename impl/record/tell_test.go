package record_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/sim"
)

// tell is what a coordinator answers of groups: members, and offsets as they are and, where that is different, as they are asked for by who wants
// them stable. Of a group of which nothing is left, such as one that a transaction had made that was aborted, it says no more: Kafka 4 knows
// it until the next cleanup or, after a load, until its records have been compacted away.
func tell(groups []string, ask func(kmsg.Request) kmsg.Response) string {
	var out strings.Builder
	for _, g := range groups {
		describe := kmsg.NewPtrDescribeGroupsRequest()
		describe.Groups = []string{g}
		d := ask(describe).(*kmsg.DescribeGroupsResponse).Groups[0]
		offsets, stable := fetched(g, false, ask), fetched(g, true, ask)
		if d.ErrorCode == 0 && d.ProtocolType == "" && len(d.Members) == 0 && offsets+stable == "" {
			fmt.Fprintf(&out, "%s: nothing\n", g)
			continue
		}
		fmt.Fprintf(&out, "%s: error %d, %s, protocol %q %q\n", g, d.ErrorCode, d.State, d.ProtocolType, d.Protocol)
		slices.SortFunc(d.Members, func(a, b kmsg.DescribeGroupsResponseGroupMember) int { return cmp.Compare(a.MemberID, b.MemberID) })
		for _, m := range d.Members {
			instance := "none"
			if m.InstanceID != nil {
				instance = *m.InstanceID
			}
			fmt.Fprintf(&out, "  member %s, instance %s, client %s %s, metadata %x, assignment %q\n", m.MemberID, instance, m.ClientID, m.ClientHost, m.ProtocolMetadata, m.MemberAssignment)
		}
		out.WriteString(offsets)
		if stable != offsets {
			out.WriteString("  stable:\n" + stable)
		}
	}
	return out.String()
}

func fetched(group string, stable bool, ask func(kmsg.Request) kmsg.Response) string {
	var out strings.Builder
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group, req.RequireStable = group, stable
	req.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: "t", Partitions: []int32{0, 1, 2}}}
	for _, p := range ask(req).(*kmsg.OffsetFetchResponse).Topics[0].Partitions {
		if p.Offset >= 0 || p.ErrorCode != 0 {
			note := ""
			if p.Metadata != nil {
				note = *p.Metadata
			}
			fmt.Fprintf(&out, "  t/%d: %d, epoch %d, %q, error %d\n", p.Partition, p.Offset, p.LeaderEpoch, note, p.ErrorCode)
		}
	}
	return out.String()
}

// ours is a coordinator that has loaded records.
func ours(t *testing.T, records []core.Record) func(kmsg.Request) kmsg.Response {
	t.Helper()
	s := sim.New(1, core.Settings{})
	s.BeginLoad()
	s.Step(core.Replay{Records: records})
	s.Step(core.LoadEnd{})
	ticket := core.Ticket(0)
	return func(req kmsg.Request) kmsg.Response {
		ticket++
		version := int16(5) // of DescribeGroups
		if _, ok := req.(*kmsg.OffsetFetchRequest); ok {
			version = 7
		}
		s.Step(core.Request{Ticket: ticket, Message: req, Version: version})
		return s.Drain().Answers[0].Message
	}
}
