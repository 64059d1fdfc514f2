package conformance

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestLedger holds that a commit counts as lost only where its own group's part of a fetch does not show it, and that null is no other metadata
// than none.
func TestLedger(t *testing.T) {
	note := "x"
	commit := kmsg.NewPtrOffsetCommitRequest()
	commit.Group, commit.RetentionTimeMillis = "g", -1
	answer := kmsg.NewPtrOffsetCommitResponse()
	rt, qt := kmsg.NewOffsetCommitResponseTopic(), kmsg.NewOffsetCommitRequestTopic()
	rt.Topic, qt.Topic = "t", "t"
	for p, m := range []*string{nil, &note} {
		q, r := kmsg.NewOffsetCommitRequestTopicPartition(), kmsg.NewOffsetCommitResponseTopicPartition()
		q.Partition, r.Partition, q.Offset, q.Metadata = int32(p), int32(p), 5, m
		qt.Partitions, rt.Partitions = append(qt.Partitions, q), append(rt.Partitions, r)
	}
	commit.Topics, answer.Topics = append(commit.Topics, qt), append(answer.Topics, rt)

	group := func(name string, offset int64, notes ...*string) kmsg.OffsetFetchResponseGroup {
		g := kmsg.NewOffsetFetchResponseGroup()
		g.Group = name
		topic := kmsg.NewOffsetFetchResponseGroupTopic()
		topic.Topic = "t"
		for i, n := range notes {
			p := kmsg.NewOffsetFetchResponseGroupTopicPartition()
			p.Partition, p.Offset, p.Metadata = int32(i), offset, n
			topic.Partitions = append(topic.Partitions, p)
		}
		g.Topics = append(g.Topics, topic)
		return g
	}
	empty := ""
	for name, c := range map[string]struct {
		groups []kmsg.OffsetFetchResponseGroup
		lost   int
	}{
		"as it was committed":        {[]kmsg.OffsetFetchResponseGroup{group("g", 5, &empty, &note)}, 0},
		"null stays null":            {[]kmsg.OffsetFetchResponseGroup{group("g", 5, nil, &note)}, 0},
		"a note is lost":             {[]kmsg.OffsetFetchResponseGroup{group("g", 5, nil, nil)}, 1},
		"older":                      {[]kmsg.OffsetFetchResponseGroup{group("g", 4, nil, &note)}, 2},
		"another group has others":   {[]kmsg.OffsetFetchResponseGroup{group("g", 5, nil, &note), group("h", 6, nil, nil)}, 0},
		"another group has the same": {[]kmsg.OffsetFetchResponseGroup{group("g", 6, nil, nil), group("h", 5, nil, &note)}, 2},
	} {
		r := &run{acked: ledger{}, names: newNames()}
		r.acked.answered(commit, answer)
		resp := kmsg.NewPtrOffsetFetchResponse()
		resp.Groups = c.groups
		shown, code := partitions(resp, "g")
		if lost := r.lost("g", func(string, int32) bool { return true }, shown, code); len(lost) != c.lost {
			t.Errorf("%s: %q, want %d", name, lost, c.lost)
		}
	}
}
