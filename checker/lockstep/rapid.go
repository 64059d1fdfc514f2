package lockstep

import (
	"flag"
	"fmt"
	"hash/fnv"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/monitor"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/model/classic"
)

// Options say how long Rapid looks, and for what.
type Options struct {
	Seed   uint64 // the same seed, checks and steps give the same run; 0 is 1
	Checks int    // sequences; default 100
	Steps  int    // events a sequence, on average; default 50. It has up to twice as many
	World  observe.Config
	Setup  gen.Setup

	// Heal ends each sequence with healing: clients that do what clients do must all get together in a Stable group, and when they have
	// fallen silent the group must become Empty.
	Heal bool

	// Foreign begins each sequence with a log that others have written (gen.Generator.Foreign), which the machine loads: it has to be a checker.Heir.
	Foreign bool

	// Watch are the monitors that look on at every step.
	Watch []monitor.Monitor

	// Blind judges nothing but these two, so that World need not fit the machine.
	Blind bool

	// AsFound leaves a violation as it was found, where all that counts is that there is one: shrinking takes up to some thousand sequences.
	AsFound bool

	// Digest asks for Report.Digest, for which everything has to be put into words: that makes the run slower, and nothing else.
	Digest bool
}

// Report is what Rapid has done and found.
type Report struct {
	Sequences int
	Steps     int
	Branches  int
	Rules     map[classic.RuleID]int64
	Violation *Violation // with the shortest trace found

	// How long clients have taken at most to get together, and groups to become Empty, in virtual time.
	Healed, Emptied time.Duration

	// Capacity counts the sequences that ended early because the model had no room for them.
	Capacity int

	// Digest is a hash of all that was asked and answered, in the words of traces: runs that are the same have the same.
	Digest uint64

	// Err says what went wrong with the tester itself: then there is no verdict.
	Err error
}

// rapid keeps its settings in flags, so that there can be one run at a time.
var running sync.Mutex

// Rapid walks machines in lock-step, each in a sequence of its own, until one leaves the specification, and shrinks what it did to a short
// trace. newMachine must give machines that do the same for the same steps. Rapid works in tests and in plain binaries alike.
func Rapid(newMachine func() checker.Machine, o Options) (r Report) {
	running.Lock()
	defer running.Unlock()
	if o.Seed == 0 {
		o.Seed = 1
	}
	if o.Checks == 0 {
		o.Checks = 100
	}
	if o.Steps == 0 {
		o.Steps = 50
	}
	restore := settings(map[string]string{
		"rapid.seed": strconv.FormatUint(o.Seed, 10), "rapid.checks": strconv.Itoa(o.Checks),
		"rapid.nofailfile": "true", "rapid.failfile": "", "rapid.shrinktime": "0s", // we shrink
	})
	defer restore()

	world := observe.NewWorld(o.World)
	r.Rules = map[classic.RuleID]int64{}
	digest := fnv.New64a()
	var small *shrinker
	src := &recorder{}
	tb := &quietTB{}
	tb.run(func() {
		rapid.Check(tb, func(t *rapid.T) {
			src.reset(drawSeed(t))
			steps := 1 + src.rand.IntN(2*o.Steps)
			w := newWalk(newMachine(), world.Again(), o.World.MaxSize, o.Setup, src).judging(o)
			if o.Digest {
				w.inWords()
			}
			first := small == nil
			defer func() {
				if !first {
					return // a replay, or an attempt to shrink
				}
				r.Sequences++
				for _, block := range w.trace {
					_, _ = digest.Write([]byte(block))
				}
				r.Steps += w.stats.Steps
				r.Branches = max(r.Branches, w.stats.Branches)
				for id, n := range w.stats.Rules {
					r.Rules[id] += n
				}
				if w.stats.Inconclusive != "" {
					r.Capacity++
				}
				r.Healed, r.Emptied = max(r.Healed, w.stats.Healed), max(r.Emptied, w.stats.Emptied)
			}()
			if v := w.run(steps, o.Heal); v != nil {
				small = &shrinker{newMachine: newMachine, options: o, world: world, best: src.made(), found: v}
				src = &recorder{}
				t.Fatalf("differs from the specification: %s", v.key())
			}
		})
	})
	r.Digest = digest.Sum64()
	if small != nil {
		small.shrink()
		r.Violation = small.found
	}
	if tb.failed && (small == nil || tb.flaky()) {
		r.Err = fmt.Errorf("rapid: %s", strings.Join(tb.lines, "\n"))
	}
	return r
}

// judging is the walk with what is to be judged.
func (w *walk) judging(o Options) *walk {
	defer func() {
		if o.Foreign {
			w.inherits()
		}
	}()
	if w.blind = o.Blind; len(o.Watch) > 0 {
		w.watcher = &watcher{groups: map[string]*monitor.Watch{}, behind: map[string]bool{}}
		for _, m := range o.Watch {
			w.watcher.names = append(w.watcher.names, m.Name)
		}
	}
	return w
}

// settings sets flags of rapid and returns what restores them.
func settings(values map[string]string) (restore func()) {
	testing.Init() // rapid asks testing.Short, also where there is no test
	if !flag.Parsed() {
		_ = flag.CommandLine.Parse(nil)
	}
	old := map[string]string{}
	for name, v := range values {
		old[name] = flag.Lookup(name).Value.String()
		if err := flag.Set(name, v); err != nil {
			panic(fmt.Sprintf("lockstep: rapid does not know its flag %s: %v", name, err))
		}
	}
	return func() {
		for name, v := range old {
			_ = flag.Set(name, v)
		}
	}
}

// drawSeed draws what all choices of a sequence are made from. That rapid makes only this one, and not each of them, makes sequences much cheaper;
// it does not shrink them anyway. The seed is put together from single bits, since rapid prefers small numbers in large ranges.
func drawSeed(t *rapid.T) (seed uint64) {
	for _, bit := range seedBits.Draw(t, "seed") {
		if seed <<= 1; bit {
			seed++
		}
	}
	return seed
}

var seedBits = rapid.SliceOfN(rapid.Bool(), 48, 48)

// quietTB is a rapid.TB that keeps what it is told.
type quietTB struct {
	lines  []string
	failed bool
}

// run runs f until it ends or fails: FailNow ends the goroutine that calls it.
func (q *quietTB) run(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				q.failed = true
				q.lines = append(q.lines, fmt.Sprint(p))
			}
		}()
		f()
	}()
	<-done
}

// flaky says whether the same choices did not lead to the same failure.
func (q *quietTB) flaky() bool {
	for _, l := range q.lines {
		if strings.Contains(l, "flaky test") {
			return true
		}
	}
	return false
}

func (q *quietTB) Helper()                           {}
func (q *quietTB) Name() string                      { return "lockstep" }
func (q *quietTB) Logf(string, ...any)               {}
func (q *quietTB) Log(...any)                        {}
func (q *quietTB) Skipf(format string, args ...any)  { q.Errorf(format, args...); runtime.Goexit() }
func (q *quietTB) Skip(args ...any)                  { q.Error(args...); runtime.Goexit() }
func (q *quietTB) SkipNow()                          { runtime.Goexit() }
func (q *quietTB) Errorf(format string, args ...any) { q.Error(fmt.Sprintf(format, args...)) }
func (q *quietTB) Fatalf(format string, args ...any) { q.Fatal(fmt.Sprintf(format, args...)) }
func (q *quietTB) Fail()                             { q.failed = true }
func (q *quietTB) Failed() bool                      { return q.failed }

func (q *quietTB) Error(args ...any) {
	q.failed = true
	q.lines = append(q.lines, fmt.Sprint(args...))
}

func (q *quietTB) Fatal(args ...any) {
	q.Error(args...)
	q.FailNow()
}

func (q *quietTB) FailNow() {
	q.failed = true
	runtime.Goexit()
}
