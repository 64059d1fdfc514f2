package observe

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/model/classic"
)

// branches are the explanations of what has happened to one group.
type branches struct {
	t   *testing.T
	w   *World
	all []*Branch
}

// answers applies a request to all explanations and returns what it may be answered, sorted. Those go on that match the one that is kept.
func (b *branches) answers(req kmsg.Request, show func(kmsg.Response) string, kept string) []string {
	b.t.Helper()
	var shown []string
	var next []*Branch
	for _, one := range b.all {
		err := b.w.Apply(one, Request{Ticket: 1, Message: req, Version: 3}, At(time.Unix(0, 0)), func(o Outcome) bool {
			text := show(o.Answers[0].Message)
			shown = append(shown, text)
			if text == kept {
				next = append(next, o.Branch)
			}
			return true
		})
		if err != nil {
			b.t.Fatal(err)
		}
	}
	b.all = next
	slices.Sort(shown)
	return slices.Compact(shown)
}

func described(resp kmsg.Response) string { return resp.(*kmsg.DescribeGroupsResponse).Groups[0].State }

func committed(resp kmsg.Response) string {
	if resp.(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0].ErrorCode == 0 {
		return "stored"
	}
	return "refused"
}

func describing() kmsg.Request {
	r := kmsg.NewPtrDescribeGroupsRequest()
	r.Groups = []string{group}
	return r
}

// A commit of which nothing is stored makes a group, or does not; and where it does the group may not be seen until something is written.
func TestNothingStored(t *testing.T) {
	for _, c := range []struct {
		profile classic.Profile
		want    []string
	}{
		{classic.Java, []string{"Dead", "Empty"}},
		{classic.Scala, []string{"Empty"}},
		{classic.Reference, []string{"Dead"}},
	} {
		t.Run(c.profile.Name, func(t *testing.T) {
			w := NewWorld(Config{Profile: c.profile})
			b := &branches{t: t, w: w, all: []*Branch{w.NewBranch(group)}}
			tooLarge := commit("", -1, "t", 0, 5, strings.Repeat("x", 5000))
			b.answers(tooLarge, committed, "refused")
			if got := b.answers(describing(), described, c.want[0]); !slices.Equal(got, c.want) {
				t.Errorf("after a commit of nothing: %v, want %v", got, c.want)
			}
			if got := b.answers(describing(), described, c.want[len(c.want)-1]); !slices.Equal(got, c.want) {
				t.Errorf("a second time: %v, want %v", got, c.want)
			}
			if got := b.answers(describing(), described, c.want[len(c.want)-1]); !slices.Equal(got, c.want[len(c.want)-1:]) {
				t.Errorf("once it was seen: %v", got)
			}
			b.answers(commit("", -1, "t", 0, 5, ""), committed, "stored")
			if got := b.answers(describing(), described, "Empty"); !slices.Equal(got, []string{"Empty"}) {
				t.Errorf("after a commit: %v", got)
			}
		})
	}
}

// What Kafka forgets of a topic that is deleted while it loads, the contract makes up for once it serves.
func TestTopicDeletedWhileLoading(t *testing.T) {
	for _, c := range []struct {
		profile classic.Profile
		want    int
	}{
		{classic.Java, 1}, {classic.Scala, 1}, {classic.Reference, 0},
	} {
		t.Run(c.profile.Name, func(t *testing.T) {
			b := newBench(t, Config{Profile: c.profile, KeepLog: true})
			b.send("A", commit("", -1, "t", 0, 5, ""), 8)
			b.send("A", commit("", -1, "u", 0, 5, ""), 8)
			b.m.Load(1)
			b.m.DeleteTopics("t")
			b.m.Loaded()
			of := b.m.groups[group].offsets
			if got := slices.ContainsFunc(of, func(o offset) bool { return o.topic == "t" }); got != (c.want == 1) || len(of) != 1+c.want {
				t.Errorf("%v", of)
			}
			b.m.Load(2)
			b.m.Loaded()
			if n := len(b.m.groups[group].offsets); n != 1+c.want {
				t.Errorf("after the next load there are %d", n)
			}
		})
	}
}
