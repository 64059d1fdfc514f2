package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ledger is what the coordinator has acknowledged: a commit that was answered NONE must be what a later fetch shows. Expected text says so as
// long as it holds; after a difference in it the ledger does.
type ledger map[ledgerKey]string

type ledgerKey struct {
	group, topic string
	number       int32
}

// sent notes that the outcome of a commit is open until it is answered.
func (l ledger) sent(msg *kmsg.OffsetCommitRequest) {
	for _, t := range msg.Topics {
		for _, p := range t.Partitions {
			delete(l, ledgerKey{msg.Group, t.Topic, p.Partition})
		}
	}
}

func (l ledger) answered(msg *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse) {
	if msg.RetentionTimeMillis >= 0 {
		return // it is to be forgotten
	}
	for _, t := range msg.Topics {
		for _, p := range t.Partitions {
			if !acknowledged(resp, t.Topic, p.Partition) {
				continue
			}
			l[ledgerKey{msg.Group, t.Topic, p.Partition}] = fetched{offset: p.Offset, metadata: p.Metadata}.noted().String()
		}
	}
}

func acknowledged(resp *kmsg.OffsetCommitResponse, topic string, number int32) bool {
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if t.Topic == topic && p.Partition == number {
				return p.ErrorCode == 0
			}
		}
	}
	return false
}

// forget notes that a group may be gone.
func (l ledger) forget(group string) {
	for k := range l {
		if k.group == group {
			delete(l, k)
		}
	}
}

// loss is an acknowledged commit that a fetch should have shown and did not.
type loss struct {
	text string
	sure bool // the fetch was answered without an error, and shows something else, or nothing: however late anything came, it is lost
}

// lost says which acknowledged commits a fetch should have shown and did not.
func (r *run) lost(group string, asked func(topic string, number int32) bool, shown []fetched, code int16) []loss {
	var out []loss
	for k, want := range r.acked {
		if k.group != group || !asked(k.topic, k.number) {
			continue
		}
		got, sure := "none", code == 0
		if code != 0 {
			got = errName(code)
		}
		for _, f := range shown {
			if f.topic == k.topic && f.number == k.number {
				got, sure = f.noted().String(), sure && f.code == 0
			}
		}
		if got != want {
			out = append(out, loss{fmt.Sprintf("the commit %s/%d=%s was answered NONE and a fetch shows %s", r.topicName(k.topic), k.number, brief(want), brief(got)), sure})
		}
	}
	slices.SortFunc(out, func(a, b loss) int { return strings.Compare(a.text, b.text) })
	return out
}

// noted has no metadata where it has null: Kafka stores the empty string, and who stores null has lost nothing.
func (f fetched) noted() fetched {
	if f.metadata == nil {
		empty := ""
		f.metadata = &empty
	}
	return f
}

// brief cuts long metadata.
func brief(s string) string {
	if len(s) > 40 {
		return fmt.Sprintf("%s... (%d letters)", s[:32], len(s))
	}
	return s
}
