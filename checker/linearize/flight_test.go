package linearize

import (
	"testing"
)

// led is what is written after A has joined alone by 3 ms, whatever the coordinator, and what the judge has to say of it.
type led struct {
	name  string
	write func(b *book)
	want  Result
}

func whereALeads(t *testing.T, all []led) {
	t.Helper()
	for _, test := range all {
		for _, profile := range []string{"4.3.1", "3.9.2", "reference"} {
			t.Run(test.name+", "+profile, func(t *testing.T) {
				b := newBook(profile)
				b.join("a", 0, 1, "", refusedJoin(79, "A"))
				b.join("a", 2, 3, "A", joined(1, "A", "A", "A"))
				test.write(b)
				b.verdict(t, test.want)
			})
		}
	}
}

// TestSessionEndsWhileItAssigns: A leads, and joined by 3 ms: its session ends by 110 ms, or 160 where its timer is late. It assigns from 80 ms on, and is answered at 300 ms: for a
// coordinator the leader waits until the assignment is written, so that it stays a member, and its session starts anew then.
func TestSessionEndsWhileItAssigns(t *testing.T) {
	whereALeads(t, []led{
		{"it stays", func(b *book) {
			b.sync("a", 80, 300, "A", 1, []string{"A"}, 0, "A")
			b.heartbeat("a", 380, 381, "A", 1, 0)
		}, Legal},
		{"it had gone before", func(b *book) { b.sync("a", 170, 300, "A", 1, []string{"A"}, 25, "") }, Legal},
		{"it had gone before, and assigns", func(b *book) { b.sync("a", 170, 300, "A", 1, []string{"A"}, 0, "A") }, Illegal},
		{"its session does not start anew for ever", func(b *book) {
			b.sync("a", 80, 300, "A", 1, []string{"A"}, 0, "A")
			b.heartbeat("a", 480, 481, "A", 1, 0)
		}, Illegal},
		{"the group is seen while it waits", func(b *book) {
			b.sync("a", 80, 300, "A", 1, []string{"A"}, 0, "A")
			b.heartbeat("c", 200, 201, "A", 1, 0)
			b.heartbeat("a", 380, 381, "A", 1, 0)
		}, Legal},
		{"a rebalance overtakes it", func(b *book) {
			b.sync("a", 80, 300, "A", 1, []string{"A"}, 27, "")
			b.join("c", 240, 241, "", refusedJoin(79, "C"))
			b.join("c", 250, 320, "C", joined(2, "A", "C"))
			b.join("a", 310, 320, "A", joined(2, "A", "A", "A", "C"))
		}, Legal},
		{"no rebalance overtakes it", func(b *book) {
			b.sync("a", 80, 300, "A", 1, []string{"A"}, 27, "")
			b.heartbeat("a", 310, 311, "A", 1, 0)
		}, Illegal},
		{"another has what it assigns only then", func(b *book) {
			b.sync("a", 80, 300, "A", 1, []string{"A"}, 0, "A")
			b.fetch("c", 170, 171, -1)
			b.commit("a", 175, 176, "A", 1, 5, 27)
			b.heartbeat("a", 390, 391, "A", 1, 0)
		}, Legal},
		{"it is never answered", func(b *book) {
			b.sync("a", 80, 300, "A", 1, []string{"A"}, 0, "A")
			lost(b.last())
		}, Illegal},
		{"it is never answered, and its session may end when it is taken up", func(b *book) {
			b.sync("a", 120, 500, "A", 1, []string{"A"}, 0, "A")
			lost(b.last())
			b.heartbeat("c", 124, 125, "A", 1, 0)
		}, Illegal},
		{"it is killed meanwhile", func(b *book) {
			b.sync("a", 80, 200, "A", 1, []string{"A"}, 0, "A")
			eaten(b.last())
			b.restart(190, 200, 400)
			b.sync("a", 410, 411, "A", 1, []string{"A"}, 0, "A")
		}, Legal},
		{"it is killed meanwhile, and another was assigned", func(b *book) {
			b.sync("a", 80, 200, "A", 1, []string{"A"}, 0, "A")
			eaten(b.last())
			b.restart(190, 200, 400)
			b.sync("a", 410, 411, "A", 1, []string{"A"}, 0, "B")
		}, Illegal},
	})
}

// TestOvertaken: A leads and joined by 3 ms. Its SyncGroup is answered REBALANCE_IN_PROGRESS, and C has joined meanwhile: the assignment may have been written or not, as a coordinator
// shows that is killed before another is written.
func TestOvertaken(t *testing.T) {
	overtaken := func(b *book) {
		b.sync("a", 10, 30, "A", 1, []string{"A"}, 27, "")
		b.join("c", 12, 13, "", refusedJoin(79, "C"))
		b.join("c", 14, 40, "C", joined(2, "A", "C"))
		b.join("a", 32, 40, "A", joined(2, "A", "A", "A", "C"))
		b.restart(50, 60, 70)
	}
	whereALeads(t, []led{
		{"it was written", func(b *book) {
			overtaken(b)
			b.heartbeat("a", 80, 81, "A", 1, 0)
			b.sync("a", 82, 83, "A", 1, nil, 0, "A")
		}, Legal},
		{"it was not written", func(b *book) {
			overtaken(b)
			b.heartbeat("a", 80, 81, "A", 1, 25)
		}, Legal},
		{"what was overtaken counts for nothing else", func(b *book) {
			overtaken(b)
			b.heartbeat("a", 80, 81, "A", 2, 0)
		}, Illegal},
		{"another was written", func(b *book) {
			overtaken(b)
			b.sync("a", 82, 83, "A", 1, nil, 0, "B")
		}, Illegal},
		{"nothing was on its way that could overtake it", func(b *book) {
			b.sync("a", 10, 11, "A", 1, []string{"A"}, 27, "")
			b.join("c", 12, 13, "", refusedJoin(79, "C"))
		}, Illegal},
		{"nobody joins in its time, and it was not written", func(b *book) {
			b.sync("a", 10, 11, "A", 1, []string{"A"}, 0, "A")
			b.join("c", 12, 13, "", refusedJoin(79, "C"))
			b.restart(50, 60, 70)
			b.heartbeat("a", 80, 81, "A", 1, 25)
		}, Illegal},
	})
}

// TestSupersededAssignment: A leads, assigns, and does so again while that is being written. Its first SyncGroup is told REBALANCE_IN_PROGRESS by contract, and never anything by Kafka;
// what it has assigned is still being written, as A sees by a JoinGroup that begins no rebalance. Once both have been written, it would.
func TestSupersededAssignment(t *testing.T) {
	for _, profile := range []string{"4.3.1", "3.9.2", "reference"} {
		for name, of := range map[string]struct {
			until, asks int
			want        Result
		}{"while it is written": {60, 25, Legal}, "after": {30, 40, Illegal}} {
			t.Run(name+", "+profile, func(t *testing.T) {
				b := newBook(profile)
				b.join("a", 0, 1, "", refusedJoin(79, "A"))
				b.join("a", 2, 3, "A", joined(1, "A", "A", "A"))
				b.sync("a", 10, 20, "A", 1, []string{"A"}, 27, "")
				if profile != "reference" {
					lost(b.last())
				}
				b.sync("a", 15, of.until, "A", 1, []string{"A"}, 0, "A")
				b.join("a", of.asks, of.asks+1, "A", joined(1, "A", "A", "A"))
				b.verdict(t, of.want)
			})
		}
	}
}

// TestSupersededBySomethingLate: A's first SyncGroup is given up at 12 ms and arrives only when its second one waits, which it supersedes. What it assigns is being written until a
// rebalance overtakes it.
func TestSupersededBySomethingLate(t *testing.T) {
	for late, want := range map[bool]Result{true: Legal, false: Illegal} {
		b := newBook("reference")
		b.join("a", 0, 1, "", refusedJoin(79, "A"))
		b.join("a", 2, 3, "A", joined(1, "A", "A", "A"))
		if late {
			b.sync("a", 10, 12, "A", 1, []string{"A"}, 0, "A")
			lost(b.last())
		}
		b.sync("a", 15, 32, "A", 1, []string{"A"}, 27, "")
		b.join("c", 33, 34, "", refusedJoin(79, "C"))
		b.join("c", 35, 40, "C", joined(2, "A", "C"))
		b.join("a", 36, 40, "A", joined(2, "A", "A", "A", "C"))
		b.verdict(t, want)
	}
}
