package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/checker/runs"
	"github.com/muster-kafka/muster/internal/retell"
	"github.com/muster-kafka/muster/internal/verdict"
	"github.com/muster-kafka/muster/model/classic"
)

// exploration is one call of muster explore.
type exploration struct {
	bounds     bounds
	build      string
	checkpoint string // where to leave one; empty is a file for each run
	progress   *progress
	verdict    *verdict.Verdict
	runs       []runs.Run
	left       *runs.Left // where the first run goes on
}

// fits refuses runs that cannot be made to their ends, before anything is begun.
func (e *exploration) fits() error {
	for _, r := range e.runs {
		if err := r.Fits(e.bounds.memory, e.bounds.workers, int64(e.bounds.states)); err != nil {
			return usage("%v", err)
		}
	}
	return nil
}

// timeOver ends a run whose time is over.
type timeOver time.Duration

func (t timeOver) Error() string { return fmt.Sprintf("--until %v is over", time.Duration(t)) }

// make makes the runs one after the other. One that is left ends all.
func (e *exploration) make(ctx context.Context) {
	if e.bounds.time > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeoutCause(ctx, e.bounds.time, timeOver(e.bounds.time))
		defer cancel()
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(int64(e.bounds.memory - e.bounds.memory/16)))
	e.verdict.Exploration.Complete = true
	for i, r := range e.runs {
		var out runs.Outcome
		err := caught(func() error {
			out = r.Explore(ctx, e.options(), e.left)
			return nil
		})
		e.left = nil
		if err != nil {
			e.verdict.CannotTell("%s: %v", r.Name, err)
			e.verdict.Exploration.Complete = false
			return
		}
		e.progress.done()
		e.tell(ctx, out)
		if ctx.Err() != nil {
			for _, other := range e.runs[i+1:] {
				e.verdict.CannotTell("%s: not begun", other.Name)
			}
			break
		}
	}
	e.verdict.Finish(verdict.Exploration)
}

func (e *exploration) options() explore.Options {
	o := explore.Options{
		Workers: e.bounds.workers, MaxStates: e.bounds.states, MaxMemory: e.bounds.memory,
		Progress: func(p explore.Progress) {
			e.progress.step("%s: %d states, %.0f states/s, %.0f transitions/s, depth %d, frontier %d, %s", p.Name, p.States, p.StatesPerSecond(),
				p.TransitionsPerSecond(), p.Depth, p.Frontier, runs.Mebibytes(p.Memory))
		},
	}
	if o.MaxStates == 0 {
		o.MaxStates = math.MaxInt
	}
	return o
}

// tell hands in what a run has come to.
func (e *exploration) tell(ctx context.Context, out runs.Outcome) {
	tellExploration(e.verdict, out, func(v explore.Violation) (string, string) { return e.scenario(ctx, out, v) })
	if out.Complete {
		if _, known := out.Run.Known(); !known && !out.Run.Altered() {
			e.verdict.Warn("%s: nothing is known of its size, nor of what it has to reach: it is compared with nothing", out.Name)
		}
		return
	}
	reason := fmt.Sprintf("%s: not complete: %d states, frontier %d, %d transitions: %s", out.Name, out.States, out.Frontier, out.Transitions, out.Reason)
	if kept, err := e.leave(context.WithoutCancel(ctx), out); err != nil {
		reason += fmt.Sprintf("; where it was left could not be saved: %v", err)
	} else if kept.Path != "" {
		if f := kept.Further; f != nil {
			reason += fmt.Sprintf("; an earlier attempt at this run came further, to %d states, and its checkpoint was kept in place of this one's", f.States)
		}
		reason += "; go on with: muster explore --resume " + quoted(kept.Path)
	}
	if out.Run.Joint != nil {
		reason += "; a joint run has to be made anew"
	}
	e.verdict.CannotTell("%s", reason)
}

var notWords = regexp.MustCompile(`[^A-Za-z0-9.]+`)

// fileName is a name that a run's files have in common.
func fileName(r runs.Run) string {
	return "explore-" + strings.Trim(notWords.ReplaceAllString(r.Name, "-"), "-")
}

// leave saves where a run was left, and says where. What the specification cannot express is not worth going on with.
func (e *exploration) leave(ctx context.Context, out runs.Outcome) (runs.Kept, error) {
	if out.Left == nil {
		return runs.Kept{}, nil
	}
	path := e.checkpoint
	if path == "" {
		if err := os.MkdirAll(outDir, 0o755); err != nil {
			return runs.Kept{}, err
		}
		path = filepath.Join(outDir, fileName(out.Run)+".checkpoint")
	}
	return runs.Keep(ctx, path, e.build, out.Run, out.Left)
}

// scenario does the trace of a violation as a scenario, where that can be: it says in which file it is kept, and how to go on; or, without a
// file, why it is untimed.
func (e *exploration) scenario(ctx context.Context, out runs.Outcome, v explore.Violation) (file, says string) {
	r := out.Run
	if r.Joint != nil {
		if err := out.Untimed[v.Property]; err != nil {
			return "", err.Error()
		}
		file, failed := e.keep(r, v, []byte(out.Scenarios[v.Property]))
		if failed != "" {
			return "", failed
		}
		// What is right there a broker has to say first.
		return file, fmt.Sprintf("muster run --rewrite --target %s %s && muster run --target impl %[2]s", oracle(r), quoted(file))
	}
	if r.Group == nil {
		return "", "untimed: what clients know is not told as a scenario"
	}
	ctx = context.WithoutCancel(ctx)
	trace := retell.Trace{Group: *r.Group, Violation: v}
	text, err := trace.Scenario(ctx)
	if errors.Is(err, retell.ErrUntimed) {
		another, found := trace.Another(ctx)
		if !found {
			return "", err.Error()
		}
		why := err
		if text, err = another.Scenario(ctx); errors.Is(err, retell.ErrUntimed) {
			return "", why.Error()
		}
	}
	if err != nil {
		return "", "untimed: the scenario could not be made: " + err.Error()
	}
	file, failed := e.keep(r, v, text)
	if failed != "" {
		return "", failed
	}
	return file, fmt.Sprintf("muster run %s --target %s", quoted(file), oracle(r))
}

// keep keeps a scenario, and says in which file, or why it could not be.
func (e *exploration) keep(r runs.Run, v explore.Violation, text []byte) (file, failed string) {
	name := fileName(r) + "." + v.Rule
	if v.Rule == "" {
		name = fileName(r) + ".invariant"
	}
	file = filepath.Join(outDir, name+".txt")
	for n := 2; e.taken(file); n++ {
		file = filepath.Join(outDir, fmt.Sprintf("%s.%d.txt", name, n))
	}
	if err := errors.Join(os.MkdirAll(outDir, 0o755), os.WriteFile(file, text, 0o644)); err != nil {
		return "", "untimed: the scenario could not be kept: " + err.Error()
	}
	return file, ""
}

// taken says whether another finding of this call has the file.
func (e *exploration) taken(file string) bool { return e.verdict.Holds(file) }

// oracle is the broker that knows what is right in a scenario of the run.
func oracle(r runs.Run) string {
	if r.Joint != nil {
		return "kafka:4.3.1" // it knows which of the two is right
	}
	switch p := r.Group.Profile; p {
	case classic.Reference:
		return "impl"
	case classic.Java:
		return "kafka:4.3.1"
	case classic.Scala:
		return "kafka:3.9.2"
	default:
		return "kafka:" + p.Name
	}
}
