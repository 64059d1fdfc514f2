package observe

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/model/classic"
)

// only applies a request that has one outcome.
func only(t *testing.T, w *World, b *Branch, r Request) Outcome {
	t.Helper()
	all := outcomes(t, w, b, r)
	if len(all) != 1 {
		t.Fatalf("%T: %d outcomes", r.Message, len(all))
	}
	return all[0]
}

func outcomes(t *testing.T, w *World, b *Branch, r Request) (all []Outcome) {
	t.Helper()
	err := w.Apply(b, r, Window{}, func(o Outcome) bool {
		all = append(all, o)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A JoinGroup v3 whose answer is lost leaves a member whose id nobody knows.
func ghostly(t *testing.T) (*World, *Branch) {
	w := NewWorld(Config{Profile: classic.Java})
	b := only(t, w, w.NewBranch(group), Request{Ticket: 1, Message: join("", "range"), Version: 3, ClientID: "lost"}).Branch
	if len(b.Ghosts()) != 1 {
		t.Fatalf("ghosts: %q", b.Ghosts())
	}
	return w, b
}

func TestGhostIsBoundByARequest(t *testing.T) {
	w, b := ghostly(t)
	all := outcomes(t, w, b, Request{Ticket: 2, Message: heartbeat("lost-7", 1), Version: 4})
	codes := map[int16]*Branch{}
	for _, o := range all {
		codes[o.Answers[0].Message.(*kmsg.HeartbeatResponse).ErrorCode] = o.Branch
	}
	if len(all) != 2 || codes[25] == nil || codes[0] == nil {
		t.Fatalf("outcomes: %+v", all)
	}
	if codes[25].Has("lost-7") || !codes[0].Has("lost-7") || len(codes[0].Ghosts()) != 0 {
		t.Fatalf("bound: %v; not bound: %v", codes[0], codes[25])
	}
	// An id that is known from elsewhere is no ghost's.
	w.Know("known")
	if all := outcomes(t, w, b, Request{Ticket: 2, Message: heartbeat("known", 1), Version: 4}); len(all) != 1 {
		t.Fatalf("known id: %d outcomes", len(all))
	}
}

func TestGhostIsBoundByAnAnswer(t *testing.T) {
	w, b := ghostly(t)
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{group}
	o := only(t, w, b, Request{Ticket: 2, Message: req, Version: 5})
	predicted := o.Answers[0].Message
	actual := *predicted.(*kmsg.DescribeGroupsResponse)
	g := actual.Groups[0]
	g.Members = append([]kmsg.DescribeGroupsResponseGroupMember(nil), g.Members...)
	g.Members[0].MemberID = "lost-9"
	actual.Groups = []kmsg.DescribeGroupsResponseGroup{g}
	if err := Match(predicted, &actual); err != nil {
		t.Fatalf("another name: %v", err)
	}
	found := 0
	MatchGhosts(predicted, &actual, func(names Binding, err error) bool {
		if err == nil && o.Branch.Bind(names).Has("lost-9") {
			found++
		}
		return true
	})
	if found != 1 {
		t.Fatalf("%d bindings", found)
	}
	g.Members[0].ClientID = "another"
	if Match(predicted, &actual) == nil {
		t.Fatal("a ghost matches a member with another client id")
	}
	g.Members = g.Members[:0]
	actual.Groups[0] = g
	if Match(predicted, &actual) == nil {
		t.Fatal("a ghost matches nobody")
	}
}

func TestInjections(t *testing.T) {
	for _, c := range []struct {
		ghosts, ids int
		total       bool
		want        int
	}{{0, 3, true, 1}, {1, 2, true, 2}, {2, 3, true, 6}, {2, 1, true, 0}, {1, 2, false, 3}, {2, 2, false, 7}} {
		var ghosts, ids []string
		for i := range c.ghosts {
			ghosts = append(ghosts, ghost(checker.Ticket(i)))
		}
		for i := range c.ids {
			ids = append(ids, string(rune('a'+i)))
		}
		n := 0
		injections(ghosts, ids, c.total, func(Binding) bool { n++; return true })
		if n != c.want {
			t.Errorf("%+v: %d", c, n)
		}
	}
}
