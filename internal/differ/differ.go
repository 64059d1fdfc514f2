// Package differ looks for differences between two group coordinators that nobody has thought of: it draws request sequences at random,
// plays each on both, and where their texts part it makes the sequence small, makes sure that the difference stays, sorts it into a class
// and says whether it is known. No specification is asked for the verdict, so that what the specification does not know is found as well.
package differ

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
)

// Options say what to compare and how.
type Options struct {
	A, B target.Target

	Seed      uint64
	Budget    time.Duration // for drawing and for looking at what was found together
	Sequences int           // at most so many; 0 is no bound
	Parallel  int           // sequences at a time at most, on networks; 64 if 0

	// NewScout makes a coordinator in this process that the generator plays with, and Scout is one on virtual time whose answers say how long
	// to wait for those of the targets.
	NewScout func(seed uint64) checker.Machine
	Scout    target.Target

	// Model opens the specification of a release with its profile adjusted and rules broken; see explain.go. Nil: nothing is explained.
	Model ModelOpener

	// Known are differences of a target that are written down.
	Known *conformance.Register

	Step  func(Counts) // is told how far it has come, now and then; may be nil
	Found func(Class)  // is told of each difference that has been made small and sure; may be nil
}

// Counts are what a run did.
type Counts struct {
	Sequences int `json:"sequences"` // played on both sides
	Requests  int `json:"requests"`  // lines of these
	Unsayable int `json:"unsayable"` // drawn, but no scenario
	Stopped   int `json:"stopped"`   // a command could not be done, because of what the targets had answered
	Choices   int `json:"choices"`   // ended at a free choice: each side had another one
	Unsteady  int `json:"unsteady"`  // differed and did not when played again
	Differed  int `json:"differed"`
	Deaths    int `json:"deaths"` // a target's process ended
	Lost      int `json:"lost"`   // at work when it did, and not played on
	Plays     int `json:"plays"`  // on both sides together, with those for making small and sure
	Parallel  int `json:"parallel"`
}

// Report is what a run found.
type Report struct {
	A, B     string
	Seed     uint64
	Counts   Counts
	Classes  []*Class
	Unsteady []Unsteady
	Open     []Class // differences that there was no time to make sure of
	Leftover []string
	Remarks  []string
	Took     time.Duration
	Drawing  time.Duration // for so long sequences were drawn
}

// Unsteady is a difference that did not show again.
type Unsteady struct {
	Sequence   Sequence
	Difference Difference
}

var errUnsayable = errors.New("not a scenario")

// Run compares. It returns early, with what it has, if the context ends; an error says that a target could not be asked any more.
func Run(ctx context.Context, o Options) (Report, error) {
	began := time.Now()
	r := &run{
		o: o, a: newSide(o.A), b: newSide(o.B), scout: newSide(o.Scout), began: began,
		asks: common(o.A.Capabilities(), o.B.Capabilities()), rand: rand.New(rand.NewPCG(o.Seed, 1)), sights: map[string]*sight{},
		bench: make(chan struct{}, 24), desk: make(chan struct{}, 8), backDesk: make(chan struct{}, 4),
	}
	r.virtual = r.a.caps.Virtual && r.b.caps.Virtual
	if r.virtual {
		r.pace = newPace(1, 1)
	} else {
		most := o.Parallel
		if most <= 0 {
			most = 64
		}
		for _, s := range []*side{r.a, r.b} {
			if s.caps.MaxGroups > 0 {
				most = min(most, max(1, s.caps.MaxGroups/3))
			}
		}
		r.pace = newPace(min(24, most), most)
	}
	// What was found needs time as well: the last fifth is for that alone.
	drawing, stop := context.WithTimeout(ctx, o.Budget*4/5)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, o.Budget)
	defer cancel()
	r.stop = cancel
	var wg sync.WaitGroup
	for n := 0; (o.Sequences == 0 || n < o.Sequences) && r.failure() == nil; n++ {
		if !r.pace.enter(drawing) || r.failure() != nil {
			break
		}
		seed := r.rand.Uint64N(1 << 48)
		wg.Go(func() {
			answer := r.one(ctx, seed)
			r.pace.leave(answer)
		})
	}
	drew := time.Since(began)
	wg.Wait()
	r.exams.Wait()
	rep := r.report()
	rep.Took, rep.Drawing = time.Since(began), drew
	err := r.failure()
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = nil
	}
	return rep, err
}

// run is one run.
type run struct {
	o           Options
	a, b, scout *side
	asks        asks
	virtual     bool
	pace        *pace
	nameless    sync.Mutex // the empty group id is everybody's
	rand        *rand.Rand
	began       time.Time
	deadly      []string           // shapes of lines that end a target
	stop        context.CancelFunc // ends what is at work
	exams       sync.WaitGroup
	desk        chan struct{} // bounds how many differences are looked at at a time
	backDesk    chan struct{} // of those that are explained as they are
	bench       chan struct{} // bounds how many plays make sequences small at a time

	mu       sync.Mutex
	counts   Counts
	classes  []*Class
	sights   map[string]*sight // by signature
	unsteady []Unsteady
	open     []Class
	err      error
}

func (r *run) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// fail notes that a target cannot be asked, and ends the run: the others that are at work would only wait for it.
func (r *run) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
	r.stop()
}

// one draws a sequence, plays it and looks at what differs. It returns how long a request took that is answered at once.
func (r *run) one(ctx context.Context, seed uint64) time.Duration {
	seq := r.spared(draw(r.asks, r.o.NewScout, seed))
	if seq.namesNobody() && !r.virtual {
		r.nameless.Lock()
		defer r.nameless.Unlock()
	}
	a, b, err := r.both(ctx, seq, nil, 0)
	switch {
	case errors.Is(err, errUnsayable):
		r.count(func(c *Counts) { c.Unsayable++ })
		return 0
	case r.buried(ctx, err):
		return 0
	case err != nil:
		r.fail(ctx, err)
		return 0
	}
	r.count(func(c *Counts) {
		c.Sequences++
		c.Requests += min(len(a.texts), len(b.texts))
		if a.ended != "" || b.ended != "" {
			c.Stopped++
		}
	})
	r.consider(ctx, seq, a, b)
	return max(a.answer, b.answer)
}

// buried looks into the death of a target, if the error tells of one.
func (r *run) buried(ctx context.Context, err error) bool {
	var death *deathError
	if !errors.As(err, &death) {
		return false
	}
	for _, s := range []*side{r.a, r.b} {
		if err := r.inquest(ctx, s); err != nil {
			r.fail(ctx, err)
		}
	}
	return true
}

func (r *run) count(f func(*Counts)) {
	r.mu.Lock()
	f(&r.counts)
	c := r.counts
	r.mu.Unlock()
	if r.o.Step != nil {
		c.Parallel = r.pace.now()
		r.o.Step(c)
	}
}

// both plays the sequence on both sides. What the second side is thought to give is what the first one gave; for the first one it is
// the given texts, or what the scout gives.
func (r *run) both(ctx context.Context, seq Sequence, promised [][]string, stretch float64) (a, b outcome, err error) {
	stretch = seq.calm(stretch)
	first, second := r.a, r.b
	_, specified := r.a.player.Target().(conformance.Chooser)
	if specified { // it can only be asked about the texts of another
		first, second = r.b, r.a
	}
	if promised == nil && !first.caps.Virtual {
		hint, err := r.scout.play(ctx, seq, nil, true, 0)
		if err != nil {
			return a, b, err
		}
		promised = hint.texts
	}
	_, free := first.player.Target().(conformance.Chooser)
	if free {
		promised = nil
	}
	one, err := first.play(ctx, seq, promised, true, stretch)
	if err != nil {
		return a, b, err
	}
	other, err := second.play(ctx, seq, one.texts, false, stretch)
	if specified {
		return other, one, err
	}
	return one, other, err
}

func (r *run) report() Report {
	r.counts.Plays = r.a.plays + r.b.plays
	r.counts.Parallel = r.pace.now()
	rep := Report{A: r.a.name(), B: r.b.name(), Seed: r.o.Seed, Counts: r.counts, Classes: r.classes, Unsteady: r.unsteady, Open: r.open}
	if offered := unlike(r.a, r.b); offered != "" {
		rep.Remarks = append(rep.Remarks, offered)
	}
	for _, s := range []*side{r.a, r.b} {
		rep.Leftover = append(rep.Leftover, s.leftover...)
		rep.Remarks = append(rep.Remarks, s.player.Remarks()...)
	}
	for _, c := range rep.Classes {
		c.Met = r.sights[c.Signature].met
	}
	slices.SortStableFunc(rep.Classes, func(x, y *Class) int {
		if x.Known != y.Known {
			if x.Known == "" {
				return -1
			} else if y.Known == "" {
				return 1
			}
		}
		return cmp.Or(y.Met-x.Met, strings.Compare(x.Signature+x.Rule, y.Signature+y.Rule))
	})
	return rep
}
