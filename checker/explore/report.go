package explore

import (
	"context"
	"fmt"
	"io"
	"sort"
	"strings"
	"time"

	"github.com/muster-kafka/muster/model/classic"
)

// Report is how a search ended.
type Report struct {
	Name        string
	States      int64
	Transitions int64
	Depth       int // steps to the states that are farthest from the initial one
	Complete    bool
	Frontier    int    // states that were reached but not expanded, if it is not complete
	Reason      string // why it is not complete
	Violations  []Violation
	Elapsed     time.Duration
	Rest        *Rest // from where it can be taken up again, if it is not complete
}

// Violation is a property that something reachable breaks, with a shortest way there.
type Violation struct {
	Property string
	Rule     string // the rule that the property stands for, or ""
	Trace    []Step
}

// Step is one step of a trace, in words.
type Step struct {
	Event   string   // what happens
	Answers []string // what is answered, to whom
	State   string   // what the group is like then

	// Did is the same for whoever wants to do it: for a Group what happened, and which of its outcomes came; nil for what only tells more.
	Did *Happening
}

// Happening is an event of a trace, in the canonical state that the steps before lead to, and which of its outcomes came.
type Happening struct {
	Event   classic.Event
	Outcome int
}

func (s *search) report() Report {
	r := Report{
		Name: s.name, States: s.states.Load(), Transitions: s.transitions.Load(), Depth: int(s.level) - 1,
		Frontier: s.frontier, Complete: s.frontier == 0,
	}
	if !r.Complete {
		r.Depth, r.Reason = int(s.level), s.reason()
	}
	for _, w := range s.workers {
		if w.err != nil {
			r.Complete = false
		}
	}
	if s.frontier > 0 {
		r.Rest = &Rest{s.mark, s.table}
	}
	for property, seen := range s.worst() {
		edges := s.table.path(seen.at)
		if seen.finding.Edge != OfState {
			edges = append(edges, seen.finding.Edge)
		}
		r.Violations = append(r.Violations, Violation{
			Property: property, Rule: seen.finding.Rule, Trace: s.workers[0].machine.Narrate(edges, seen.finding),
		})
	}
	sort.Slice(r.Violations, func(i, j int) bool {
		a, b := r.Violations[i], r.Violations[j]
		if len(a.Trace) != len(b.Trace) {
			return len(a.Trace) < len(b.Trace)
		}
		return a.Property < b.Property
	})
	r.Elapsed = time.Since(s.started)
	return r
}

func (s *search) reason() string {
	for _, w := range s.workers {
		if w.err != nil {
			return w.err.Error()
		}
	}
	switch {
	case s.ctx.Err() != nil:
		return context.Cause(s.ctx).Error()
	case s.full.Load():
		return fmt.Sprintf("more than %d MiB of memory; raise the limit or choose a smaller run", s.opts.MaxMemory>>20)
	case s.states.Load() > int64(s.opts.MaxStates):
		return fmt.Sprintf("more than %d states; raise the limit or choose a smaller alphabet", s.opts.MaxStates)
	}
	return "stopped at the first violation"
}

// Ok says whether everything was searched and nothing found broken.
func (r Report) Ok() bool { return r.Complete && len(r.Violations) == 0 }

// String is the report in one line.
func (r Report) String() string {
	end := "complete"
	if !r.Complete {
		end = fmt.Sprintf("not complete: %d states, frontier %d (%s)", r.States, r.Frontier, r.Reason)
	}
	return fmt.Sprintf("%s: %d states, %d transitions, depth %d, %s, %d violations, %v (%.0f states/s, %.0f transitions/s)",
		r.Name, r.States, r.Transitions, r.Depth, end, len(r.Violations), r.Elapsed.Round(time.Millisecond),
		rate(r.States, r.Elapsed), rate(r.Transitions, r.Elapsed))
}

// Print writes the report with all traces.
func (r Report) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintln(&b, r.String())
	for _, v := range r.Violations {
		fmt.Fprintln(&b)
		b.WriteString(v.String())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// String is the violation with its trace.
func (v Violation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "broken: %s", v.Property)
	if v.Rule != "" {
		fmt.Fprintf(&b, " (rule %s)", v.Rule)
	}
	fmt.Fprintf(&b, ", in %d steps\n", len(v.Trace))
	for i, step := range v.Trace {
		fmt.Fprintf(&b, "%3d. %s\n", i+1, step.Event)
		for _, answer := range step.Answers {
			fmt.Fprintf(&b, "       -> %s\n", answer)
		}
		fmt.Fprintf(&b, "       %s\n", step.State)
	}
	return b.String()
}
