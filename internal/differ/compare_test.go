package differ

import (
	"slices"
	"testing"
	"time"
)

func TestSignature(t *testing.T) {
	for _, c := range []struct {
		line string
		a, b []string
		want string
	}{
		{"heartbeat A", []string{"A: NONE"}, []string{"A: UNKNOWN_MEMBER_ID"}, "heartbeat: NONE | UNKNOWN_MEMBER_ID"},
		{"join B v=3", []string{"B: parked"}, []string{"B: NONE gen=2 leader=B protocol=range members=[B:x]"}, "join: parked | NONE"},
		{"commit A t/0=5", []string{"A: t/0:NONE t/1:NONE"}, []string{"A: t/0:ILLEGAL_GENERATION t/1:NONE"}, "commit: t/n:NONE | t/n:ILLEGAL_GENERATION"},
		{"commit A u/0=5", []string{"A: u/1:NONE"}, []string{"A: u/1:ILLEGAL_GENERATION"}, "commit: t/n:NONE | t/n:ILLEGAL_GENERATION"},
		{"commit - t/0=5 t/0=6", []string{"-: t/0:NONE t/0:NONE"}, []string{"-: t/0:NONE"}, "commit: t/n:NONE | -"},
		{"join A", []string{"A: NONE gen=2 leader=A protocol=x"}, []string{"A: NONE gen=3 leader=A protocol=x"}, "join: gen=n (one value) | gen=n (another)"},
		{"leave A", []string{"A: NONE [A:NONE]", "B(join): NONE gen=2 leader=B protocol=x"}, []string{"A: NONE [A:NONE]"}, "join (of before): NONE | nothing"},
		{"describe", []string{"describe: Stable members=[A:x->A.1 B]"}, []string{"describe: Stable members=[A:x B]"}, "describe: members=X:x->X.n | members=X:x"},
	} {
		if got := difference(c.line, 0, c.a, c.b).Signature; got != c.want {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
	}
}

// Who leads is a choice, as long as only one does.
func TestChoice(t *testing.T) {
	a := []string{"A: NONE gen=2 leader=A protocol=range members=[A:x B:x]", "B(join): NONE gen=2 leader=A protocol=range"}
	b := []string{"A: NONE gen=2 leader=B protocol=range", "B(join): NONE gen=2 leader=B protocol=range members=[A:x B:x]"}
	two := []string{"A: NONE gen=2 leader=A protocol=range members=[A:x B:x]", "B(join): NONE gen=2 leader=B protocol=range members=[A:x B:x]"}
	other := []string{"A: NONE gen=3 leader=B protocol=range", "B(join): NONE gen=3 leader=B protocol=range members=[A:x B:x]"}
	if !difference("join A", 0, a, b).Choice {
		t.Error("another leader is no choice")
	}
	if difference("join A", 0, a, two).Choice {
		t.Error("two leaders are a choice")
	}
	if difference("join A", 0, a, other).Choice {
		t.Error("another generation is a choice")
	}
}

func TestPairs(t *testing.T) {
	got := pairs("NONE nosuch/0:NONE t/0:NONE", "NONE nosuch/0:UNKNOWN_TOPIC_OR_PARTITION t/0:GROUP_SUBSCRIBED_TO_TOPIC")
	want := []string{"t/n :NONE | :GROUP_SUBSCRIBED_TO_TOPIC", "t/n :NONE | :UNKNOWN_TOPIC_OR_PARTITION"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSettled(t *testing.T) {
	for lines, want := range map[[3]string]bool{
		{"txn-begin P group=other", "txn-commit P t/0=5 group=other", ""}:              true,
		{"txn-begin P", "txn-commit P t/0=5 group=other", ""}:                          false,
		{"join A range=x", "txn-commit P t/0=5", ""}:                                   false,
		{"txn-begin P", "txn-end P commit", "txn-commit P t/0=5"}:                      false,
		{"txn-begin P", "txn-commit P t/0=5", "txn-end P commit"}:                      true,
		{"txn-begin P group=other", "txn-begin Q", "txn-commit P t/0=5 as=A gen=none"}: true,
	} {
		if got := (Sequence{Lines: lines[:]}).settled(); got != want {
			t.Errorf("%q: %v", lines, got)
		}
	}
}

// The pace follows how fast the targets answer.
func TestPace(t *testing.T) {
	p := newPace(8, 64)
	step := func(answer time.Duration) int {
		if !p.enter(t.Context()) {
			t.Fatal("no place")
		}
		p.leave(answer)
		return p.now()
	}
	if got := step(time.Millisecond); got != 9 {
		t.Errorf("%d at a time after a quick one", got)
	}
	if got := step(time.Second); got != 6 {
		t.Errorf("%d at a time after a slow one", got)
	}
	for range 20 {
		step(time.Second)
	}
	if got := p.now(); got < 4 || got > 6 {
		t.Errorf("%d at a time after many slow ones", got)
	}
}

func TestListsTwice(t *testing.T) {
	for line, want := range map[string]bool{"join A x=1 x=2": true, "join A x=1 y=2 session=10s": false, "commit A t/0=1 t/0=2": false} {
		if got := (Sequence{Lines: []string{"join A range=x", line}}).listsTwice(); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}
