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
	Steps  int    // events a sequence, on average; default 50
	World  observe.Config
	Setup  gen.Setup

	// Heal ends each sequence with healing: clients that do what clients do must all get together in a Stable group, and when they have
	// fallen silent the group must become Empty.
	Heal bool

	// Watch are the monitors that look on at every step.
	Watch []monitor.Monitor

	// Blind judges nothing but these two, so that World need not fit the machine.
	Blind bool
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

	// Digest is a hash of all that was asked and answered: runs that are the same have the same.
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
		"rapid.seed": strconv.FormatUint(o.Seed, 10), "rapid.checks": strconv.Itoa(o.Checks), "rapid.steps": strconv.Itoa(o.Steps),
		"rapid.nofailfile": "true", "rapid.failfile": "", "rapid.shrinktime": "0s", // we shrink
	})
	defer restore()

	r.Rules = map[classic.RuleID]int64{}
	digest := fnv.New64a()
	var small *shrinker
	tb := &quietTB{}
	tb.run(func() {
		rapid.Check(tb, func(t *rapid.T) {
			draws := &drawn{t: t}
			src := &recorder{src: draws}
			w := newWalk(newMachine(), o.World, o.Setup, src).judging(o)
			differs := func(t *rapid.T, v *Violation) {
				if v != nil {
					small = &shrinker{newMachine: newMachine, options: o, best: src.made, found: v}
					t.Fatalf("differs from the specification: %s", v.key())
				}
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
			t.Repeat(map[string]func(*rapid.T){"event": func(t *rapid.T) {
				if w.stats.Inconclusive != "" {
					return
				}
				draws.t = t
				differs(t, w.event())
			}})
			if draws.t = t; o.Heal && w.stats.Inconclusive == "" {
				differs(t, w.heal())
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

// drawn makes choices by rapid. Numbers are put together from small ones, since rapid prefers small numbers in large ranges.
type drawn struct{ t *rapid.T }

const digit = 4

var digits = rapid.IntRange(0, digit-1)

func (d *drawn) Intn(n int, label string) int {
	v := 0
	for most := 1; most < n; most *= digit {
		v = v*digit + digits.Draw(d.t, label)
	}
	return v % n
}

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
