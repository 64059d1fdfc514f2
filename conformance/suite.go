package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/muster-kafka/muster/conformance/target"
)

// Suite says what to run and how. The zero Suite runs every scenario that comes with Muster.
type Suite struct {
	Scenarios []*Scenario   // nil: those that come with Muster
	Parallel  int           // scenarios at a time on a network, 16 if 0; virtual targets run one at a time
	Slow      bool          // also run what waits for timers that cannot be scaled
	Hasty     bool          // a failure after time has passed counts at once, without a second, slower try
	OutDir    string        // where failures are kept, "muster-out" if empty
	Timeout   time.Duration // of one scenario, beyond the time that it lets pass; a minute if 0
	Budget    time.Duration // of all scenarios; if 0 five minutes, or four times what they are expected to take if that is more

	// What fails a go test (RunSuite). A Report lists every difference, whatever these say.
	Strict bool      // differences in compat rules too: every release answers so and a client may rely on it
	Known  *Register // what it lists is logged and does not fail; LoadRegister reads one, WriteKnown writes one
	Exact  bool      // every difference, quirks too: for those who hold a target to its recordings

	health   *health // of the run
	subjects *subjects
}

// Run judges the target. It returns early, with what it has, if the context ends; the scenarios that were not run are Broken then.
func (s Suite) Run(ctx context.Context, tg target.Target, obs Observer) (Report, error) {
	list := s.Scenarios
	if list == nil {
		var err error
		if list, err = Scenarios(); err != nil {
			return Report{}, err
		}
	}
	rep := Report{Target: tg.Name(), Results: make([]Result, len(list))}
	began := time.Now()
	s.Scenarios, s.health, s.subjects = list, newHealth(), newSubjects()
	var mu sync.Mutex
	notify := func(f func()) {
		if obs != nil {
			mu.Lock()
			defer mu.Unlock()
			f()
		}
	}
	s.run(ctx, tg, func(i int) {
		notify(func() { obs.Started(list[i].Name) })
	}, func(i int, r Result) {
		rep.Results[i] = r
		notify(func() { obs.Done(r) })
	})
	rep.Remarks = s.health.remarks()
	rep.Duration = time.Since(began)
	return rep, nil
}

// run runs all scenarios, several at a time where the target allows it.
func (s Suite) run(ctx context.Context, tg target.Target, started func(int), done func(int, Result)) {
	caps := tg.Capabilities()
	if s.health == nil {
		s.health = newHealth()
	}
	slots := make(chan struct{}, s.parallel(caps))
	ctx, cancel := context.WithTimeoutCause(ctx, s.budget(caps), errOutOfTime)
	defer cancel()
	groups := newBudget(caps.MaxGroups)
	var wg sync.WaitGroup
	for _, i := range s.order(caps) {
		sc := s.Scenarios[i]
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			started(i)
			done(i, s.one(ctx, tg, sc, groups))
		})
	}
	wg.Wait()
}

// parallel is how many scenarios run at a time.
func (s Suite) parallel(caps target.Capabilities) int {
	switch {
	case caps.Virtual, caps.Profile == FaultsProfile:
		return 1
	case s.Parallel > 0:
		return s.Parallel
	}
	return 16
}

// errOutOfTime ends a suite whose budget is used up: a target that answers only now and then must not hold a run for ever.
var errOutOfTime = errors.New("out of time: the scenarios took several times what they are expected to take")

// budget bounds the whole suite.
func (s Suite) budget(caps target.Capabilities) time.Duration {
	if s.Budget > 0 {
		return s.Budget
	}
	const least, times = 5 * time.Minute, 4
	var sum, longest time.Duration
	for _, sc := range s.Scenarios {
		if sc.skip(caps, s.Slow) != nil {
			continue
		}
		d := sc.Estimate(caps)
		sum, longest = sum+d, max(longest, d)
	}
	at := s.parallel(caps)
	if caps.MaxGroups > 0 {
		at = min(at, max(1, caps.MaxGroups/2)) // a few scenarios have two groups
	}
	return max(least, times*max(sum/time.Duration(at), longest))
}

// order begins with the scenarios that let most time pass, so that they do not come last alone.
func (s Suite) order(caps target.Capabilities) []int {
	order := make([]int, len(s.Scenarios))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(s.Scenarios[b].Estimate(caps), s.Scenarios[a].Estimate(caps))
	})
	return order
}

// budget bounds how many groups exist at a time.
type budget struct {
	sem *semaphore.Weighted
	max int64
}

func newBudget(limit int) *budget {
	if limit <= 0 {
		return nil
	}
	return &budget{semaphore.NewWeighted(int64(limit)), int64(limit)}
}

func (b *budget) take(ctx context.Context, n int) (func(), error) {
	if b == nil {
		return func() {}, nil
	}
	if int64(n) > b.max {
		return nil, tooManyGroups(n, b.max)
	}
	if err := b.sem.Acquire(ctx, int64(n)); err != nil {
		return nil, err
	}
	return func() { b.sem.Release(int64(n)) }, nil
}

// serial makes group names unique within a process.
var serial atomic.Int64

// one runs one scenario. A panic of an in-process target is a failure of that scenario, not the end of the run.
func (s Suite) one(ctx context.Context, tg target.Target, sc *Scenario, groups *budget) (res Result) {
	began := time.Now()
	caps := tg.Capabilities()
	defer func() {
		if p := recover(); p != nil {
			res = Result{Scenario: sc.Name, Rules: sc.File.Rules, Status: Broken, Reason: fmt.Sprintf("panic: %v\n%s", p, debug.Stack())}
		}
		res.Duration = time.Since(began)
		dir := s.OutDir
		if dir == "" {
			dir = "muster-out"
		}
		for _, f := range res.Failures() {
			f.save(dir, tg.Name())
		}
	}()
	res = Result{Scenario: sc.Name, Rules: sc.File.Rules}
	if reason := sc.skip(caps, s.Slow); reason != nil {
		return res.ended(ctx, reason)
	}
	if ctx.Err() != nil {
		res.Status, res.Reason = Broken, "the run ended before it"
		if errors.Is(context.Cause(ctx), errOutOfTime) {
			res.Reason = errOutOfTime.Error()
		}
		return res
	}
	free, err := groups.take(ctx, len(sc.groups()))
	if err != nil {
		return res.ended(ctx, err)
	}
	defer free()
	if s.health != nil && sc.groups()[noGroup] {
		s.health.nameless.Lock()
		defer s.health.nameless.Unlock()
	}
	limit := s.Timeout
	if limit <= 0 {
		limit = time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, limit+18*sc.Estimate(caps)) // three more tries at most, each slower
	defer cancel()
	if ch, ok := tg.(Chooser); ok {
		return sc.accept(ctx, ch)
	}
	return sc.judge(ctx, tg, s.Hasty, manner{health: s.health, subjects: s.subjects}, func() string { return freshGroup(caps, sc) })
}

func freshGroup(caps target.Capabilities, sc *Scenario) string {
	return fmt.Sprintf("%s%s-%d", caps.Prefix, sc.Name, serial.Add(1))
}
