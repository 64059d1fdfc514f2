package conformance_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
)

// bent is a right coordinator in virtual time whose requests and answers are changed on the way.
type bent struct {
	target.Target
	ask    func(kmsg.Request) kmsg.Request
	answer func(asked kmsg.Request, resp kmsg.Response)
}

func (b *bent) Dial(ctx context.Context, client string) (target.Conn, error) {
	c, err := b.Target.Dial(ctx, client)
	return &bentConn{c, b}, err
}

type bentConn struct {
	target.Conn
	b *bent
}

func (c *bentConn) Send(req kmsg.Request, version int16) *target.Call {
	call := c.Conn.Send(c.b.ask(req), version)
	if call.Ended() { // what is not answered at once passes unchanged
		if resp, err := call.Answer(); err == nil {
			c.b.answer(req, resp)
		}
	}
	return call
}

// commits lets the coordinator take long metadata: what it does with the partition then is keep's business.
func commits(t *testing.T, keep func(*kmsg.OffsetCommitRequestTopicPartition) bool) *bent {
	return &bent{opened(t, "impl"), func(req kmsg.Request) kmsg.Request {
		commit, ok := req.(*kmsg.OffsetCommitRequest)
		if !ok {
			return req
		}
		again := *commit
		again.Topics = nil
		for _, topic := range commit.Topics {
			topic.Partitions = slices.Clone(topic.Partitions)
			topic.Partitions = slices.DeleteFunc(topic.Partitions, func(p kmsg.OffsetCommitRequestTopicPartition) bool {
				return p.Metadata != nil && len(*p.Metadata) > 4096 && !keep(&p)
			})
			again.Topics = append(again.Topics, topic)
		}
		return &again
	}, func(asked kmsg.Request, resp kmsg.Response) {
		answer, ok := resp.(*kmsg.OffsetCommitResponse)
		if !ok {
			return
		}
		answer.Topics = nil
		for _, topic := range asked.(*kmsg.OffsetCommitRequest).Topics {
			to := kmsg.OffsetCommitResponseTopic{Topic: topic.Topic}
			for _, p := range topic.Partitions {
				to.Partitions = append(to.Partitions, kmsg.OffsetCommitResponseTopicPartition{Partition: p.Partition})
			}
			answer.Topics = append(answer.Topics, to)
		}
	}}
}

// leaves lets the coordinator see the first member of a batch only; the others are answered NONE, or not at all.
func leaves(t *testing.T, told bool) *bent {
	return &bent{opened(t, "impl"), func(req kmsg.Request) kmsg.Request {
		leave, ok := req.(*kmsg.LeaveGroupRequest)
		if !ok || len(leave.Members) < 2 {
			return req
		}
		again := *leave
		again.Members = again.Members[:1]
		return &again
	}, func(asked kmsg.Request, resp kmsg.Response) {
		answer, ok := resp.(*kmsg.LeaveGroupResponse)
		if !ok || !told {
			return
		}
		for _, m := range asked.(*kmsg.LeaveGroupRequest).Members[len(answer.Members):] {
			answer.Members = append(answer.Members, kmsg.LeaveGroupResponseMember{MemberID: m.MemberID})
		}
	}}
}

// TestBrokenAfterADifference holds that a difference in a compat rule hides no broken contract after it, and makes none up.
func TestBrokenAfterADifference(t *testing.T) {
	whole, err := conformance.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	only := func(name string) []*conformance.Scenario {
		return slices.DeleteFunc(slices.Clone(whole), func(s *conformance.Scenario) bool { return s.Name != name })
	}
	for _, c := range []struct {
		name, scenario string
		tg             target.Target
		first          string
		later          string // rule and a word of the note
	}{
		{
			"long metadata is not stored", "commit-metadata", commits(t, func(*kmsg.OffsetCommitRequestTopicPartition) bool { return false }),
			"commit.metadata.too-large", "fetch.committed t/1=7:xxx",
		},
		{
			"long metadata is cut", "commit-metadata", commits(t, func(p *kmsg.OffsetCommitRequestTopicPartition) bool {
				short := (*p.Metadata)[:4096]
				p.Metadata = &short
				return true
			}),
			"commit.metadata.too-large", "fetch.committed",
		},
		{"the rest of a batch is dropped", "leave-batch", leaves(t, false), "leave.batch", "leave.member after a difference at line"},
		{"the rest of a batch is said to be gone", "leave-batch", leaves(t, true), "leave.batch", "leave.member after a difference at line"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rep, err := conformance.Suite{Scenarios: only(c.scenario), OutDir: t.TempDir()}.Run(t.Context(), c.tg, nil)
			if err != nil {
				t.Fatal(err)
			}
			res := rep.Results[0]
			if res.Status != conformance.Fail || res.Failure.Rules[0] != c.first || res.Failure.Class != "compat" {
				t.Fatalf("%s %s: %v", res.Status, res.Reason, res.Failure)
			}
			rule, word, _ := strings.Cut(c.later, " ")
			if len(res.Later) != 1 || res.Later[0].Rules[0] != rule || res.Later[0].Class != "contract" || !strings.Contains(res.Later[0].Note, word) {
				t.Fatalf("later: %v", res.Later)
			}
			if res.Later[0].Artefact == res.Failure.Artefact || len(rep.Failures()) != 2 {
				t.Errorf("%q %q, %d failures", res.Later[0].Artefact, res.Failure.Artefact, len(rep.Failures()))
			}
		})
	}
}

// TestHarmlessDifference holds that the follow-on differences of a coordinator that takes long metadata and stores it are none.
func TestHarmlessDifference(t *testing.T) {
	tg := opened(t, "kfake")
	all, err := conformance.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	one := slices.DeleteFunc(all, func(s *conformance.Scenario) bool { return s.Name != "commit-metadata" })
	rep, err := conformance.Suite{Scenarios: one, Hasty: true, OutDir: t.TempDir()}.Run(t.Context(), tg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res := rep.Results[0]; res.Failure == nil || len(res.Later) != 0 || res.Blocks != len(one[0].File.Blocks) {
		t.Errorf("%s after %d blocks: %v", res.Status, res.Blocks, res.Failures())
	}
}

const expiring = `# Long metadata is refused, and time takes what is there.
# rule: commit.metadata.too-large
# profile: retention

form A range=x
----
form: Stable gen=1 leader=A protocol=range members=[A]

commit A t/0=5
----
A: t/0:NONE

commit A t/1=7:x*4097
----
A: t/1:OFFSET_METADATA_TOO_LARGE

leave A
fetch - t/0
----
A: NONE [A:NONE]
-: NONE t/0=5

advance 2m
fetch - t/0
----
-: NONE t/0=none
`

// TestExpiredAfterADifference holds that what time may take is not asked for any more: an acknowledged offset that has expired is not lost.
func TestExpiredAfterADifference(t *testing.T) {
	file := filepath.Join(t.TempDir(), "expiring.txt")
	if err := os.WriteFile(file, []byte(expiring), 0o644); err != nil {
		t.Fatal(err)
	}
	scenarios, err := conformance.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	tg := commits(t, func(*kmsg.OffsetCommitRequestTopicPartition) bool { return false })
	tg.Target = opened(t, "impl/retention")
	rep, err := conformance.Suite{Scenarios: scenarios, OutDir: t.TempDir()}.Run(t.Context(), tg, nil)
	if err != nil {
		t.Fatal(err)
	}
	res := rep.Results[0]
	if res.Failure == nil || res.Failure.Class != "compat" || res.Blocks != len(scenarios[0].File.Blocks) {
		t.Fatalf("%s %s after %d blocks: %v", res.Status, res.Reason, res.Blocks, res.Failure)
	}
	if len(res.Later) > 0 {
		t.Errorf("later: %v", res.Later)
	}
}
