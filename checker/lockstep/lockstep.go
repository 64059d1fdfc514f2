// Package lockstep walks an in-process coordinator step by step together with the specification. The specification's side is the set of
// all branches that explain the coordinator so far; after every step each answer, each request given up, each write and each armed timer
// must be what at least one of them predicts. The set becoming empty is the violation.
package lockstep

import (
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/model/classic"
)

// Violation says where a coordinator left the specification.
type Violation struct {
	// What differs: "answer", "no answer", "dropped", "records", "timers", "effects" (on a group that the step was not about, or twice),
	// "panic", "convergence" where clients that heal have not got together, or the name of a monitor. It is the same for the same fault, so that shrinking can hold on to it.
	What string

	API      string // of the answer that differs
	Step     int
	Group    string
	Rules    []classic.RuleID // the rules that decided the nearest prediction, the most telling first: contract before compat before quirk
	Expected string           // the nearest prediction
	Got      string
	Others   int // predictions besides the nearest

	Trace []string // the run as scenario text, the violating step last

	events int // of the trace, or that it would have
}

// key is the same for what is taken for the same fault.
func (v *Violation) key() string { return v.What + " " + v.API }

// Error is the violation on one line.
func (v *Violation) Error() string {
	return fmt.Sprintf("step %d, group %s: %s: expected %s, got %s (%s)", v.Step, v.Group, v.What, v.Expected, v.Got, ruleNames(v.Rules))
}

// String is the violation with its trace.
func (v *Violation) String() string {
	var s strings.Builder
	for _, t := range v.Trace {
		s.WriteString(t)
		s.WriteString("\n")
	}
	fmt.Fprintf(&s, "%s of group %s differs from the specification\n", v.What, v.Group)
	fmt.Fprintf(&s, "expected  %s\n", v.Expected)
	fmt.Fprintf(&s, "got       %s\n", v.Got)
	for _, id := range v.Rules {
		r := id.Rule()
		fmt.Fprintf(&s, "rule      %s (%s): %s\n", r.ID, r.Class, r.Sentence)
	}
	if v.Others > 0 {
		fmt.Fprintf(&s, "and %d more ways to go on that the specification allows, none of which this is\n", v.Others)
	}
	return s.String()
}

func ruleNames(ids []classic.RuleID) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id.String()
	}
	return strings.Join(names, " ")
}

// Stats count what a run did.
type Stats struct {
	Steps    int // requests and timers
	Requests int
	Fired    int
	Branches int                      // the most that explained one group at a time
	Rules    map[classic.RuleID]int64 // how often each rule decided a step that was as predicted

	// How long clients have taken at most to get together, and groups to become Empty, where runs end with healing.
	Healed, Emptied time.Duration

	// Inconclusive says why the run ended before its last step without a violation; empty if it did not.
	Inconclusive string
}

// Run walks the machine for the given number of events drawn from the source. The machine must be new. The world's configuration must be
// the machine's own; setup says what may be asked of it. Where that has things done to the broker, the machine must be a checker.Broker.
func Run(m checker.Machine, config observe.Config, setup gen.Setup, src gen.Source, steps int) (*Violation, Stats) {
	w := newWalk(m, observe.NewWorld(config), config.MaxSize, setup, src).inWords()
	v := w.run(steps, false)
	return v, w.stats
}

// run makes up to so many events, and then heals if it is to.
func (w *walk) run(events int, heals bool) *Violation {
	for range events {
		if v := w.event(); v != nil || w.stats.Inconclusive != "" {
			return v
		}
	}
	if !heals {
		return nil
	}
	return w.heal()
}

// walk is one run.
type walk struct {
	machine  checker.Machine
	world    *observe.World
	src      gen.Source
	gen      *gen.Generator
	sets     map[string][]*observe.Branch
	tickets  checker.Ticket
	sent     requests        // without an answer
	armed    []checker.Timer // the machine's, after its last step
	stats    Stats
	told     bool     // in the trace
	trace    []string // scenario text, a block for the head and for each event
	events   int      // blocks of events, also where there is no text
	start    time.Time
	serving  classic.Serving
	epoch    int32 // the latest leader epoch that the machine has heard of
	maxSize  int
	logError int16    // with which writes fail, if they do
	marked   []int16  // what became of markers in the last step
	blind    bool     // nothing is judged but healing, and what monitors see
	watcher  *watcher // where monitors look on
	network  bool     // answers get lost, or come late
	late     []lateAnswer
	notes    []string                         // comments for the next block of the trace
	answered func(*gen.Client, kmsg.Response) // where clients heal: hears of every answer
	log      *inherited                       // where there is one
	damaged  bool                             // it cannot be read
	scratch  scratch
	verdict  *judgement
}

// sent is a request on its way.
type sent struct {
	ticket checker.Ticket
	event  gen.Event
	group  string // where it may be parked

	abandoned bool // the client has given it up
}

// requests are on their way, in the order in which they were sent. There are never many. Beyond its end is room for more.
type requests []*sent

// add makes room for a request.
func (r *requests) add() *sent {
	n := len(*r)
	if n < cap(*r) {
		if *r = (*r)[:n+1]; (*r)[n] != nil {
			*(*r)[n] = sent{}
			return (*r)[n]
		}
		*r = (*r)[:n]
	}
	*r = append(*r, new(sent))
	return (*r)[n]
}

// of is the request with the ticket, or nil.
func (r requests) of(t checker.Ticket) *sent {
	for i := len(r) - 1; i >= 0; i-- {
		if r[i].ticket == t {
			return r[i]
		}
	}
	return nil
}

// group is where a request may be parked; "" where there is no such request.
func (r requests) group(t checker.Ticket) string {
	if s := r.of(t); s != nil {
		return s.group
	}
	return ""
}

// end drops a request.
func (r *requests) end(t checker.Ticket) {
	all := *r
	for i, s := range all {
		if s.ticket == t {
			copy(all[i:], all[i+1:])
			all[len(all)-1] = s
			*r = all[:len(all)-1]
			return
		}
	}
}

func newWalk(m checker.Machine, world *observe.World, maxSize int, setup gen.Setup, src gen.Source) *walk {
	w := &walk{
		machine: m, world: world.Transient(), src: src, gen: gen.New(setup, src),
		sets:  map[string][]*observe.Branch{},
		stats: Stats{Rules: map[classic.RuleID]int64{}}, start: m.Now(), armed: m.Timers(), maxSize: maxSize, network: setup.Network,
	}
	w.verdict = newJudgement(w)
	for _, g := range w.gen.Groups() {
		w.set(g)
	}
	w.gen.Mute()
	return w
}

// inWords has the walk tell what it does in words. It does nothing else then, so that a walk that has failed can be made again and told.
func (w *walk) inWords() *walk {
	w.told, w.trace = true, append(w.trace, gen.Head()+"\n----\n")
	w.gen.Tell()
	return w
}

// event draws and makes one event.
func (w *walk) event() *Violation {
	if e, ok := w.src.(interface{ event() }); ok {
		e.event()
	}
	if v := w.loads(); v != nil || w.stats.Inconclusive != "" {
		return v
	}
	w.deliver()
	until := w.until()
	e := w.gen.Next(until)
	if k, ok := w.src.(*keeper); ok {
		k.keep(w.gen.Keep(e))
	}
	return w.makes(e, until)
}

// until is how long it is until the next timer is due, negative where none is armed.
func (w *walk) until() time.Duration {
	if len(w.armed) == 0 {
		return -1
	}
	return max(0, w.armed[0].Deadline.Sub(w.machine.Now()))
}

// makes makes one event; time that passes may fire several timers.
func (w *walk) makes(e gen.Event, until time.Duration) *Violation {
	w.logError = tooFewReplicas
	w.open(e.Line)
	switch {
	case e.Act != gen.NoAct:
		if v := w.act(e); v != nil || w.stats.Inconclusive != "" {
			return v
		}
		w.machine.FailWrites(false)
		return w.fireDue(w.machine.Now(), false)
	case e.Request != nil:
		w.fails(e)
		if v := w.request(e); v != nil {
			return v
		}
		w.machine.FailWrites(false)
		return w.fireDue(w.machine.Now(), false)
	case e.Jump:
		w.machine.(checker.Jumper).Jump(e.By)
		return nil
	case e.Fire:
		return w.fireDue(w.machine.Now().Add(until), e.FailWrites)
	default:
		w.machine.Advance(e.By)
		return nil
	}
}

// fireDue fires every timer that is due by then, those of one instant in any order.
func (w *walk) fireDue(by time.Time, fails bool) *Violation {
	for w.stats.Inconclusive == "" {
		ts := w.armed
		ties := 0
		for ties < len(ts) && ts[ties].Deadline.Equal(ts[0].Deadline) && !ts[0].Deadline.After(by) {
			ties++
		}
		if ties == 0 {
			return nil
		}
		pick := 0
		if ties > 1 {
			pick = w.src.Intn(ties, "which timer")
		}
		w.machine.FailWrites(fails)
		if v := w.fire(ts[pick], fails); v != nil {
			return v
		}
		w.machine.FailWrites(false)
	}
	return nil
}
