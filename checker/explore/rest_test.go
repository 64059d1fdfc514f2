package explore

import (
	"bytes"
	"context"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/model/classic"
)

// printed is all that a report says but how long it took.
func printed(t *testing.T, r Report) string {
	t.Helper()
	r.Elapsed = 0
	var b bytes.Buffer
	if err := r.Print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// again writes what is left of a search and reads it.
func again(t *testing.T, r *Rest) *Rest {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	read, err := ReadRest(&b)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// A search that is left, as often as one likes, in the middle of a level or at its end, ends as one that never stopped: the same numbers, the
// same violations by the same traces. What is broken here is seen early and late.
func TestTakenUp(t *testing.T) {
	for _, broken := range [][]classic.RuleID{nil, {classic.SyncAborted, classic.JoinCompleteVote}} {
		g := Group{Name: "rest", Profile: classic.Java, Members: 2, Lists: []string{"ab", "ba", "b"}, AnySubset: true, WriteFailures: true, Broken: broken}
		whole := Run(context.Background(), g.Name, g.Machine, Options{Workers: 2})
		if !whole.Complete || whole.Rest != nil || whole.Ok() == (broken != nil) {
			t.Fatal(whole)
		}
		want := printed(t, whole)
		for _, grow := range []float64{1.5, 3} {
			var rest *Rest
			midway, levels := 0, 0
			for limit := 1.0; ; limit *= grow {
				r := Run(context.Background(), g.Name, g.Machine, Options{Workers: 2, MaxStates: int(limit), From: rest})
				if r.Complete {
					if got := printed(t, r); got != want {
						t.Errorf("broken %v, left several times, it ends with\n%s\nin one go with\n%s", broken, got, want)
					}
					break
				}
				if r.Rest.States() < r.States || r.Rest.Transitions() < r.Transitions {
					midway++
				} else {
					levels++
				}
				rest = again(t, r.Rest)
				if rest.States() != r.Rest.States() || rest.Frontier() != r.Rest.Frontier() || rest.Depth() != r.Rest.Depth() {
					t.Fatalf("%d states, frontier %d come back as %d and %d", r.Rest.States(), r.Rest.Frontier(), rest.States(), rest.Frontier())
				}
			}
			if midway == 0 || levels == 0 {
				t.Errorf("left %d times in the middle of a level and %d times at its end: both should be shown", midway, levels)
			}
		}
	}
}

// Whoever collects more than findings is told where levels begin, and not of a level that is left.
func TestLevelsAreTold(t *testing.T) {
	levels := 0
	opts := Options{Level: func() { levels++ }}
	r := Run(context.Background(), "grid", func() Machine { return grid{size: 10} }, opts)
	if levels != r.Depth+2 { // the initial one, and the one that has nothing in it
		t.Errorf("%d levels told, depth %d", levels, r.Depth)
	}
	levels, opts.MaxStates = 0, 20
	r = Run(context.Background(), "grid", func() Machine { return grid{size: 10} }, opts)
	if r.Rest == nil || levels != r.Rest.Depth()+1 {
		t.Errorf("%d levels told, %+v", levels, r)
	}
}

func TestDamagedRest(t *testing.T) {
	r := Run(context.Background(), "grid", func() Machine { return grid{size: 30} }, Options{MaxStates: 100})
	var b bytes.Buffer
	if err := r.Rest.Write(&b); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	for cut := 0; cut < len(whole); cut += 7 {
		if _, err := ReadRest(bytes.NewReader(whole[:cut])); err == nil {
			t.Fatalf("the first %d of %d bytes are taken for the whole", cut, len(whole))
		}
	}
	lost := bytes.Clone(whole)
	copy(lost[len(lost)-4:], "\xff\xff\xff\xff") // a state of the frontier that is nowhere
	if _, err := ReadRest(bytes.NewReader(lost)); err == nil {
		t.Error("a frontier is taken that is not in the table")
	}
	if _, err := ReadRest(strings.NewReader(strings.Repeat("no search ", 1000))); err == nil {
		t.Error("anything is taken for a search")
	}
}

// A search that would take more memory than it may ends by itself, near what it may.
func TestMemoryLimit(t *testing.T) {
	debug.FreeOSMemory()
	const room = 24 << 20
	limit := memoryUsed() + room
	// It grows without end, a few states at a time.
	r := Run(context.Background(), "grid", func() Machine { return grid{size: 1 << 40} }, Options{Workers: 2, MaxStates: 2 * room / nodeBytes, MaxMemory: limit})
	if r.Complete || !strings.Contains(r.Reason, "MiB of memory") || r.States < room/BytesPerState/2 || r.States > room/nodeBytes || r.Rest == nil {
		t.Errorf("with room for %d MiB: %s", room>>20, r)
	}
	// Without a limit it would take as much again as there is room. What the collector has not given back yet depends on who else wants the processor.
	if used := memoryUsed(); used > limit+room/2 {
		t.Errorf("it may take %d MiB and takes %d", limit>>20, used>>20)
	}
}
