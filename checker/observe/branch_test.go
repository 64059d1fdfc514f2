package observe

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/model/classic"
)

// walk takes one branch through a random request sequence, each request in the window that at gives, and calls visit with every branch.
func walk(t *testing.T, seed uint64, steps int, at func(step int) Window, visit func(b *Branch)) {
	r := rand.New(rand.NewPCG(seed, 1))
	w := NewWorld(Config{Profile: classic.Java})
	b := w.NewBranch(group)
	ids := []string{"", "nobody"}
	minted := 0
	for step := range steps {
		var outcomes []Outcome
		keep := func(o Outcome) bool {
			if !o.Overflow {
				outcomes = append(outcomes, o)
			}
			return true
		}
		id, gen := ids[r.IntN(len(ids))], b.Generation()-int32(r.IntN(3)/2)
		var req kmsg.Request
		version := int16(5)
		switch r.IntN(7) {
		case 0, 1, 2:
			j := join(id, [][]string{{"range"}, {"range", "sticky"}, {"sticky", "range"}}[r.IntN(3)]...)
			j.SessionTimeoutMillis = int32(6000 + r.IntN(3)*1000)
			j.RebalanceTimeoutMillis = int32(r.IntN(3) * 10_000)
			req, version = j, int16(3+r.IntN(6))
		case 3:
			req = sync5(id, gen, "range", ids[r.IntN(len(ids))], "x", ids[r.IntN(len(ids))], "y")
		case 4:
			req = heartbeat(id, gen)
		case 5:
			req = commit(id, gen, "t", int32(r.IntN(2)), int64(step), "")
		default:
			if ts := b.Timers(); len(ts) > 0 {
				w.Fire(b, ts[r.IntN(len(ts))], at(step), keep)
			}
		}
		if req != nil {
			minted++
			fresh := "m-" + time.Duration(minted).String()
			err := w.Apply(b, Request{
				Ticket: checker.Ticket(step + 1), Message: req, Version: version, ClientID: "c", Minted: fresh, WriteFails: r.IntN(20) == 0,
			}, at(step), keep)
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(outcomes) == 0 {
			continue
		}
		b = outcomes[r.IntN(len(outcomes))].Branch
		ids = append([]string{"", "nobody"}, b.Ids()...)
		visit(b)
	}
}

func TestExactTimesGiveWindowsWithoutWidth(t *testing.T) {
	seen := map[classic.Phase]int{}
	for seed := range uint64(40) {
		walk(t, seed, 150, func(step int) Window { return Window{int64(step), int64(step)} }, func(b *Branch) {
			seen[b.state.Phase]++
			for _, timer := range b.Timers() {
				if !timer.Window.Exact() || timer.Window.Latest == 0 {
					t.Fatalf("seed %d: timer %+v of %v", seed, timer, b)
				}
			}
		})
	}
	for _, p := range []classic.Phase{classic.Empty, classic.PreparingRebalance, classic.CompletingRebalance, classic.Stable} {
		if seen[p] < 20 {
			t.Errorf("phase %v was seen %d times only", p, seen[p])
		}
	}
}

// The same walk with exact and with wide times must differ in windows only, and the wide ones must contain the exact ones.
func TestWindowsContainTheExactTimes(t *testing.T) {
	for seed := range uint64(20) {
		var exact []*Branch
		walk(t, seed, 100, func(step int) Window { return Window{int64(step) * 10, int64(step) * 10} }, func(b *Branch) { exact = append(exact, b) })
		i := 0
		walk(t, seed, 100, func(step int) Window { return Window{int64(step)*10 - 3, int64(step)*10 + 4} }, func(b *Branch) {
			e := exact[i]
			i++
			if b.Hash() != e.Hash() {
				t.Fatalf("seed %d: widths change more than windows:\n%v\n%v", seed, e, b)
			}
			merged, ok := Hull(e, b)
			if !ok || !merged.Equal(b) {
				t.Fatalf("seed %d: %v does not contain %v", seed, b, e)
			}
			if again, ok := Hull(b, e); !ok || !again.Equal(b) {
				t.Fatalf("seed %d: the hull of %v and %v depends on their order: %v", seed, e, b, again)
			}
			for _, timer := range b.Timers() {
				if timer.Window.Latest-timer.Window.Earliest != 7 {
					t.Fatalf("seed %d: %+v", seed, timer)
				}
			}
			if len(b.Timers()) > 0 && b.Equal(e) {
				t.Fatalf("seed %d: Equal does not look at windows", seed)
			}
		})
	}
}

// Where an id stands does not matter, nor do the symbols of assignments.
func TestEqualDoesNotDependOnSlots(t *testing.T) {
	moved := 0
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		walk(t, seed, 100, func(step int) Window { return Window{int64(step), int64(step)} }, func(b *Branch) {
			p := *b
			for i, j := range r.Perm(classic.MaxSlots) {
				p.state.Slots[i], p.holders[i] = b.state.Slots[j], b.holders[j]
			}
			if p.state != b.state {
				moved++
			}
			if !p.Equal(b) || !b.Equal(&p) || p.Hash() != b.Hash() {
				t.Fatalf("seed %d:\n%v\n%v", seed, b, &p)
			}
			for i := range p.holders {
				if p.state.Slots[i].Kind == classic.Member {
					p.state.Slots[i].OwesSync = !p.state.Slots[i].OwesSync
					if p.Equal(b) || p.Hash() == b.Hash() {
						t.Fatalf("seed %d: different branches are equal:\n%v\n%v", seed, b, &p)
					}
					break
				}
			}
		})
	}
	if moved < 100 {
		t.Fatalf("only %d branches were changed by moving slots", moved)
	}
}

func TestWindowsAreRoundedOutward(t *testing.T) {
	for _, c := range []struct {
		at, want Window
		tick     time.Duration
	}{
		{Window{5, 17}, Window{15, 27}, 0},
		{Window{5, 17}, Window{12, 28}, 4},
		{Window{6, 18}, Window{16, 28}, 4},
		{Window{-15, -13}, Window{-8, 0}, 4},
	} {
		if got := c.at.after(10, c.tick); got != c.want {
			t.Errorf("%v after 10, tick %d: %v, want %v", c.at, c.tick, got, c.want)
		}
	}
}

func TestMethodsDoNotChangeTheirReceiver(t *testing.T) {
	for seed := range uint64(10) {
		type kept struct {
			b    *Branch
			hash uint64
			text string
		}
		var all []kept
		walk(t, seed, 100, func(step int) Window { return Window{int64(step), int64(step)} }, func(b *Branch) {
			all = append(all, kept{b, b.Hash(), b.String()})
		})
		for _, k := range all {
			if k.b.Hash() != k.hash || k.b.String() != k.text {
				t.Fatalf("seed %d: %s became %v", seed, k.text, k.b)
			}
		}
	}
}

// A branch that is used again has nothing of what it was: a judge that recycles branches would otherwise see ghosts of other groups.
func TestRecycledBranchesAreEmptied(t *testing.T) {
	full := &Branch{}
	for i := range full.holders {
		full.state.Slots[i].Kind = classic.Member
		full.holders[i].id = "somebody"
	}
	full.Recycle()
	small := &Branch{}
	small.state.Slots[0].Kind, small.holders[0].id = classic.Member, "A"
	for range 3 { // the pool may or may not give it back
		n := small.next()
		if n.holders != small.holders || n.state != small.state {
			t.Fatalf("a copy differs: %+v", n.holders)
		}
		n.Recycle()
	}
}
