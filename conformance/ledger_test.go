package conformance

import (
	"strings"
	"testing"
	"time"

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
			t.Errorf("%s: %v, want %d", name, lost, c.lost)
		}
	}
}

const committing = `
join A range=x
join A
sync A
----
A: MEMBER_ID_REQUIRED
A: NONE gen=1 leader=A protocol=range members=[A:x]
A: NONE ""

commit A t/0=5
fetch A t/0
----
A: t/0:NONE
A: NONE t/0=5
`

// TestLostNowAndThen holds that a commit which was acknowledged and is not there is a failure though it is there when the scenario is run again: no
// delay takes it. A fetch that is refused proves nothing, and what is done to a broker of a profile may take commits.
func TestLostNowAndThen(t *testing.T) {
	const coordinatorNotAvailable, unstableOffsetCommit = 15, 88
	for name, c := range map[string]struct {
		profile string
		keeps   func(try int) bool
		whole   int16 // errors of the first fetch
		partial int16
		status  Status
		tries   int
	}{
		"always there":       {"", func(int) bool { return true }, 0, 0, Pass, 1},
		"lost once":          {"", func(n int) bool { return n > 1 }, 0, 0, Fail, 2},
		"refused, then lost": {"", func(n int) bool { return n != 2 }, coordinatorNotAvailable, 0, Fail, 2},
		"lost always":        {"", func(int) bool { return false }, 0, 0, Fail, 2},
		"refused once":       {"", func(int) bool { return true }, coordinatorNotAvailable, 0, Pass, 2},
		"unstable once":      {"", func(int) bool { return true }, 0, unstableOffsetCommit, Pass, 2},
		"lost to a profile":  {RetentionProfile, func(n int) bool { return n > 1 }, 0, 0, Pass, 2},
	} {
		t.Run(name, func(t *testing.T) {
			h, n, kept := sole(func(*exchange) time.Duration { return 0 }), 0, false
			serve := h.special
			h.special = func(f *fake, x *exchange) bool {
				switch req := x.req.(type) {
				case *kmsg.OffsetCommitRequest:
					n++
					kept = c.keeps(n)
					f.answer(x, acknowledging(req), 0)
				case *kmsg.OffsetFetchRequest:
					whole, partial := c.whole, c.partial
					if n > 1 {
						whole, partial = 0, 0
					}
					f.answer(x, offsetOf(req, kept, whole, partial), 0)
				default:
					return serve(f, x)
				}
				return true
			}
			f := newFake(h.serve)
			sc := scenario(t, committing)
			f.caps.Profile, sc.File.Profile = c.profile, c.profile
			rep, err := Suite{Scenarios: []*Scenario{sc}, OutDir: t.TempDir()}.Run(t.Context(), f, nil)
			if err != nil {
				t.Fatal(err)
			}
			res := rep.Results[0]
			if res.Status != c.status || n != c.tries {
				t.Fatalf("%s %s after %d tries, want %s after %d: %v", res.Status, res.Reason, n, c.status, c.tries, res.Failures())
			}
			if res.Status != Fail {
				return
			}
			last := res.Failures()[len(res.Failures())-1]
			if last.Class != "contract" || last.Rules[0] != "fetch.committed" || !strings.Contains(last.Note, "t/0=5 was answered NONE and a fetch shows none") {
				t.Errorf("%v: %s", last.Rules, last.Note)
			}
			if now := c.keeps(3); now && (res.Unsteady != nil || !strings.Contains(last.Note, "It did not show in each of 2 tries")) {
				t.Errorf("%v, unsteady %v", res.Failures(), res.Unsteady)
			}
		})
	}
}

// acknowledging is the answer to a commit that all is well.
func acknowledging(req *kmsg.OffsetCommitRequest) *kmsg.OffsetCommitResponse {
	resp := kmsg.NewPtrOffsetCommitResponse()
	for _, topic := range req.Topics {
		to := kmsg.OffsetCommitResponseTopic{Topic: topic.Topic}
		for _, p := range topic.Partitions {
			to.Partitions = append(to.Partitions, kmsg.OffsetCommitResponseTopicPartition{Partition: p.Partition})
		}
		resp.Topics = append(resp.Topics, to)
	}
	return resp
}

// offsetOf is the answer to a fetch of one partition, where 5 was committed.
func offsetOf(req *kmsg.OffsetFetchRequest, there bool, whole, partial int16) *kmsg.OffsetFetchResponse {
	resp, empty := kmsg.NewPtrOffsetFetchResponse(), ""
	group := kmsg.OffsetFetchResponseGroup{Group: req.Group, ErrorCode: whole}
	p := kmsg.OffsetFetchResponseGroupTopicPartition{Offset: -1, LeaderEpoch: -1, Metadata: &empty, ErrorCode: partial}
	if there && whole+partial == 0 {
		p.Offset = 5
	}
	if whole == 0 {
		group.Topics = []kmsg.OffsetFetchResponseGroupTopic{{Topic: "topic-1", Partitions: []kmsg.OffsetFetchResponseGroupTopicPartition{p}}}
	}
	resp.Groups = append(resp.Groups, group)
	return resp
}
