package shell

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/impl/store"
	"github.com/muster-kafka/muster/internal/cputime"
)

var (
	runs = flag.Int("runs", 20, "how many runs to simulate")
	from = flag.Uint64("from", 1, "the seed of the first one")
	seed = flag.Uint64("seed", 0, "the only seed to simulate")
	out  = flag.String("out", "muster-out", "where failures are saved")
)

// TestMain has one processor do all: goroutines that are awake at a time go on in the order in which they were woken (but for the race detector, which mixes them).
func TestMain(m *testing.M) {
	flag.Parse()
	runtime.GOMAXPROCS(1)
	os.Exit(m.Run())
}

// stop is how long a run may take, which takes some 30 ms.
const stop = 3 * time.Minute

// again is the command for a seed.
func again(seed uint64) string {
	return fmt.Sprintf("go test ./fuzz/shell -run '^TestShell$' -v -args -seed %d", seed)
}

// simulate is a run as a whole. Nothing is collected meanwhile: that would interrupt goroutines anywhere, and have others go on first.
func simulate(t *testing.T, o options) (w *world) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	stuck := time.AfterFunc(stop, func() {
		debug.SetTraceback("all")
		panic(fmt.Sprintf("seed %d has come to a stop: somebody waits where the simulation cannot see it, such as for a lock; see the goroutines below\nagain: %s", o.seed, again(o.seed)))
	})
	defer stuck.Stop()
	synctest.Test(t, func(*testing.T) { w = run(o) })
	return w
}

// TestShell simulates clients, connections, a server and its disk: what the clients are told has to be explained by the specification, whatever is cut, late, torn
// or lost.
func TestShell(t *testing.T) {
	first, many := *from, *runs
	if raceEnabled {
		many = min(many, 5) // each takes ten times as long
	}
	if *seed > 0 {
		first, many = *seed, 1
	}
	all := counts{}
	legal, unknown, calls := 0, 0, 0
	for s := first; s < first+uint64(many); s++ {
		w := simulate(t, draw(s))
		v := judge(t, w)
		calls += len(w.Calls)
		all.add(w.counts)
		switch {
		case v.Result == linearize.Illegal || len(w.broken) > 0:
			t.Errorf("seed %d: %s%s", s, tell(v), fail(t, w))
		case v.Result == linearize.Unknown:
			unknown++
			t.Logf("seed %d: unknown: %s", s, v.Reason)
		default:
			legal++
		}
		if *seed > 0 {
			t.Logf("%s%s", tell(v), fail(t, w))
		}
	}
	t.Logf("%d runs legal, %d unknown, %d calls; %v", legal, unknown, calls, all)
	if *seed > 0 {
		return
	}
	if *runs > 100 && unknown*10 > legal { // of a few it says only how busy the machine is
		t.Errorf("%d of %d runs are not decided", unknown, unknown+legal)
	}
	for _, what := range demanded {
		if all[what] == 0 && many >= 20 {
			t.Errorf("in no run was there a %s", what)
		}
	}
}

func judge(t *testing.T, w *world) linearize.Verdict {
	t.Helper()
	v, err := linearize.Check(t.Context(), w.history(), linearize.Limits{Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func tell(v linearize.Verdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v", v.Result)
	for _, g := range v.Groups {
		fmt.Fprintf(&b, "; %s %v %s", g.Group, g.Result, g.Reason)
	}
	return b.String()
}

// fail saves a run, and says how to look at it.
func fail(t *testing.T, w *world) string {
	t.Helper()
	if err := os.MkdirAll(*out, 0o755); err != nil {
		t.Fatal(err)
	}
	saved := filepath.Join(*out, fmt.Sprintf("shell-%d.jsonl", w.o.seed))
	happened := filepath.Join(*out, fmt.Sprintf("shell-%d.txt", w.o.seed))
	if err := w.history().WriteFile(saved); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(happened, []byte(strings.Join(w.lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	text := ""
	if len(w.broken) > 0 {
		text = "\n  " + strings.Join(w.broken, "\n  ")
	}
	path, err := filepath.Abs(saved)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s\n  what happened: %s\n  again: %s\n  why: muster check %s", text, happened, again(w.o.seed), path)
}

// TestAgain: the same seed gives the same run, bit for bit.
func TestAgain(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector has goroutines go on in an order drawn by chance, on purpose; without it this runs in make test's judges")
	}
	for s := range uint64(50) {
		o := draw(s + 100)
		for try := 1; ; try++ {
			first, second, away := twice(t, o)
			if first.trace.Sum64() == second.trace.Sum64() {
				break
			}
			if away < timeSlice || try == 20 {
				t.Errorf("seed %d: %s", o.seed, apart(first, second))
				break
			}
		}
	}
}

// timeSlice is after what Go interrupts a goroutine that goes on and on, in real time: one that is not given a processor for so long seems to do that. What happens
// next may depend on it.
const timeSlice = 10 * time.Millisecond

// twice simulates a run and again, and says how long there was no processor for it.
func twice(t *testing.T, o options) (first, second *world, away time.Duration) {
	t.Helper()
	began, used := time.Now(), cputime.Used()
	first, second = simulate(t, o), simulate(t, o)
	return first, second, time.Since(began) - (cputime.Used() - used)
}

// apart is where two runs begin to differ.
func apart(a, b *world) string {
	for i := range min(len(a.lines), len(b.lines)) {
		if a.lines[i] != b.lines[i] {
			return fmt.Sprintf("after %d things that are the same:\n- %s\n+ %s", i, a.lines[i], b.lines[i])
		}
	}
	return fmt.Sprintf("%d things happen, and %d", len(a.lines), len(b.lines))
}

// TestPlanted: what is wrong with a disk, or drawn by chance, is noticed.
func TestPlanted(t *testing.T) {
	t.Run("a disk that lies", func(t *testing.T) {
		noticed(t, func(o *options) { o.durability, o.machine, o.crash, o.plant.lies = store.Fsync, true, 200, true })
	})
	t.Run("a machine that loses what only the process was to lose", func(t *testing.T) {
		noticed(t, func(o *options) { o.durability, o.machine, o.crash = store.OS, true, 200 })
	})
	t.Run("chance", func(t *testing.T) {
		if raceEnabled {
			t.Skip("with the race detector two runs are never the same")
		}
		o := draw(1)
		o.plant.chance = true
		if a, b := simulate(t, o), simulate(t, o); a.trace.Sum64() == b.trace.Sum64() {
			t.Error("member ids are drawn by chance, and two runs are the same")
		}
	})
}

func noticed(t *testing.T, change func(*options)) {
	for s := range uint64(20) {
		o := draw(s + 1)
		change(&o)
		if w := simulate(t, o); judge(t, w).Result == linearize.Illegal || len(w.broken) > 0 {
			t.Logf("seed %d", s+1)
			return
		}
	}
	t.Error("nobody notices")
}
