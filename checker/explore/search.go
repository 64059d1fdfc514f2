package explore

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultMaxStates bounds a search that says nothing else. A state takes less than 40 bytes, and 24 more while it is in
// the frontier.
const DefaultMaxStates = 20_000_000

// Options say how to search.
type Options struct {
	Workers   int // 0 is one
	MaxStates int // the search gives up when it has reached more, at most 2^31; 0 is DefaultMaxStates

	// StopAtViolation ends the search with the level in which the first property broke. Otherwise it goes on to closure, and
	// reports the shortest trace for each property.
	StopAtViolation bool

	// MaxMemory is how many bytes the whole process may take, about; the search gives up before it takes more. 0 is no limit.
	MaxMemory uint64

	// From is a search that was left, to be taken up where it was: the report is as if it had never stopped.
	From *Rest

	// Level, if set, is called before each level, while no worker is at work: what the machines have collected belongs to the levels before.
	Level func()

	// Progress, if set, is called after each level and about every half second, from one goroutine at a time.
	Progress func(Progress)
}

// Progress is where a search stands.
type Progress struct {
	Name        string
	States      int64
	Transitions int64
	Depth       int
	Frontier    int           // states that are reached and not expanded
	Memory      uint64        // bytes that the process takes
	Elapsed     time.Duration // of the whole search, also where it was left for a while
}

// StatesPerSecond is the average speed so far.
func (p Progress) StatesPerSecond() float64 { return rate(p.States, p.Elapsed) }

// TransitionsPerSecond is the average speed so far.
func (p Progress) TransitionsPerSecond() float64 { return rate(p.Transitions, p.Elapsed) }

func rate(n int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// search is one run.
type search struct {
	ctx     context.Context
	name    string
	opts    Options
	started time.Time
	table   *table

	states, transitions atomic.Int64
	next                atomic.Int64 // the next state of the level that no worker has taken
	base                atomic.Int64 // states when the level began
	stop                atomic.Bool
	level               int32
	frontier            int // states that are reached and not expanded
	workers             []*worker
	mark                mark        // where the level under way began
	midway              bool        // it was left in the middle of a level
	full                atomic.Bool // there is no more memory for it
}

// worker is one goroutine's share of a search.
type worker struct {
	machine Machine
	worst   map[string]sighting
	recent  recent
	x       Expansion
	err     error
}

// sighting is where a property was seen broken, at best.
type sighting struct {
	level   int32 // steps up to and including the broken one
	at      Key
	finding Finding
}

func (a sighting) prefer(b sighting) bool {
	switch {
	case a.level != b.level:
		return a.level < b.level
	case a.at != b.at:
		return a.at.Less(b.at)
	}
	return a.finding.Edge < b.finding.Edge
}

// Run searches the system that newMachine describes, which is called once for each worker. It ends when nothing new is left, when
// a bound of the options or the context stops it, or, if asked, at the first violation; the report says which.
func Run(ctx context.Context, name string, newMachine func() Machine, opts Options) Report {
	if opts.Workers < 1 {
		opts.Workers = 1
	}
	if opts.MaxStates < 1 {
		opts.MaxStates = DefaultMaxStates
	}
	opts.MaxStates = min(opts.MaxStates, mostStates)
	s := &search{ctx: ctx, name: name, opts: opts, started: time.Now(), table: new(table)}
	for range opts.Workers {
		s.workers = append(s.workers, &worker{machine: newMachine(), worst: map[string]sighting{}})
	}
	initial := s.workers[0].machine.Initial()
	for _, w := range s.workers {
		w.recent.fill(initial)
	}
	if opts.From != nil {
		s.takeUp(opts.From)
	} else {
		s.table.reach(initial, noParent, 0)
		s.table.advance()
		s.states.Store(1)
		s.base.Store(1)
	}
	defer s.guard()()
	s.frontier = len(s.table.frontier)
	for s.begin(); s.frontier > 0 && !s.stop.Load(); s.begin() {
		s.expandLevel()
	}
	return s.report()
}

// expandLevel turns the frontier into the next one.
func (s *search) expandLevel() {
	s.next.Store(0)
	done := make(chan struct{})
	var ticking sync.WaitGroup
	if s.opts.Progress != nil {
		ticking.Go(func() { s.tick(done) })
	}
	var working sync.WaitGroup
	for _, w := range s.workers {
		working.Go(func() { s.work(w) })
	}
	working.Wait()
	close(done)
	ticking.Wait()
	if taken := int(s.next.Load()); taken < s.frontier {
		s.frontier += s.table.waiting() - taken
		s.midway = true
	} else {
		s.table.advance()
		s.frontier = len(s.table.frontier)
		s.level++
	}
	s.base.Store(s.states.Load())
	s.next.Store(0)
	for _, w := range s.workers {
		if s.opts.StopAtViolation && len(w.worst) > 0 {
			s.stop.Store(true)
		}
	}
	if s.opts.Progress != nil {
		s.opts.Progress(s.progress())
	}
}

func (s *search) tick(done <-chan struct{}) {
	ticker := time.NewTicker(500 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			s.opts.Progress(s.progress())
		}
	}
}

func (s *search) progress() Progress {
	return Progress{
		Name: s.name, States: s.states.Load(), Transitions: s.transitions.Load(), Depth: int(s.level),
		Frontier: s.open(), Memory: memoryUsed(), Elapsed: time.Since(s.started),
	}
}

// batch is how many states a worker takes at a time, at most.
const batch = 64

// take takes some states of the frontier: fewer towards the end of a level, so that no worker waits long for another.
func (s *search) take() (from, to int) {
	for {
		next := s.next.Load()
		from = int(next)
		left := len(s.table.frontier) - from
		if left <= 0 {
			return from, from
		}
		to = from + max(1, min(batch, left/(8*len(s.workers))))
		if s.next.CompareAndSwap(next, int64(to)) {
			return from, to
		}
	}
}

func (s *search) work(w *worker) {
	for !s.stop.Load() {
		from, to := s.take()
		if from == to {
			return
		}
		for at := from; at < to; at++ {
			s.expand(w, uint32(at))
		}
		if s.ctx.Err() != nil || w.err != nil || s.states.Load() > int64(s.opts.MaxStates) {
			s.stop.Store(true)
		}
	}
}

// expand expands a state of the frontier.
func (s *search) expand(w *worker, at uint32) {
	k := s.table.frontier[at].key
	w.x.reset()
	w.machine.Expand(k, &w.x)
	if w.x.Err != nil {
		w.err = w.x.Err
	}
	s.transitions.Add(int64(len(w.x.Next)))
	fresh := 0
	for i, next := range w.x.Next {
		if next != k && !w.recent.has(next) && s.table.reach(next, at, int32(i)) {
			fresh++
		}
	}
	s.states.Add(int64(fresh))
	for _, f := range w.x.Findings {
		seen := sighting{level: s.level, at: k, finding: f}
		if f.Edge != OfState {
			seen.level++
		}
		if old, ok := w.worst[f.Property]; !ok || seen.prefer(old) {
			w.worst[f.Property] = seen
		}
	}
}
