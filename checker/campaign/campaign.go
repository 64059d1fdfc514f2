// Package campaign judges a running coordinator by its concurrent histories: many small groups side by side over real connections, each
// with a few members that mostly do what consumers do, while things are done to the target and to the connections. Each group's history
// is judged by package linearize as soon as it is over, while others are still being made.
package campaign

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/conformance/target"
)

// Options say what to do. Zero values mean the defaults.
type Options struct {
	Seed   uint64
	Budget time.Duration // for all of it, checking included; default 2 min
	Groups int           // begin no more groups after so many; 0 is no limit
	Enough int           // end after so many illegal groups; default 40
	Steps  int           // calls of one history at most; by default drawn, 60 to 400

	Parallel int // histories at a time at most; default 128, fewer where the target has limits or is killed

	Faults Faults

	Consumers bool // let real consumers work in some groups; takes a budget of LeastForConsumers, and a target that is Reachable

	Profiles []string      // those one of which must explain the target; default by its release
	Slack    time.Duration // how late a timer may fire; default the target's, at most 250 ms
	Tick     time.Duration // granularity of the target's timers; default 10 ms
	Patience time.Duration // when a client gives an answer up; default 4 s

	Limits linearize.Limits // default 10 s for a group
	Out    string           // folder for the histories of failures; default "muster-out"

	Progress func(Report) // told twice a second how far it is; may be nil
}

// Faults say what to do on purpose. What the target cannot have done to it must not be asked for.
type Faults struct {
	Connections bool // cut, lose answers, hold requests back
	Crashes     bool // kill the target and start it again
	Shutdowns   bool // ask it to end and start it again
	Pauses      bool // let it stand still
	Appends     bool // let what it writes fail, and hang
}

// Kinds are the kinds of fault that have to have happened by the end.
func (f Faults) Kinds() []history.FaultKind {
	var all []history.FaultKind
	if f.Connections {
		all = append(all, history.Cut, history.ReplyLost, history.HalfOpen, history.Delay)
	}
	if f.Crashes {
		all = append(all, history.Restart)
	}
	if f.Shutdowns {
		all = append(all, history.Shutdown)
	}
	if f.Pauses {
		all = append(all, history.Pause)
	}
	if f.Appends {
		all = append(all, history.AppendFails, history.AppendHangs)
	}
	return all
}

// Recovering is a target that can be started again, on what it has stored.
type Recovering interface {
	Recover(context.Context) error
}

// Mortal is a target that can be killed and started again.
type Mortal interface {
	Recovering
	Crash() error
}

// Retiring is a target that ends when it is asked to, and can be started again.
type Retiring interface {
	Recovering
	Shutdown(context.Context) error
}

// Freezer is a target that can be made to stand still.
type Freezer interface {
	Freeze() error
	Thaw() error
}

// Writer is a target that writes what its groups are told, and can be made to fail at that, or to take its time. What it writes while appends hang is written
// when they do no more.
type Writer interface {
	FailAppends(on bool)
	HangAppends(on bool)
}

// Divertible is a target whose clients' connections can go through a proxy.
type Divertible interface {
	Divert(through func(addr string) (string, error))
	Secured() bool
}

// Possible are the faults that the target can have done to it.
func Possible(t target.Target) Faults {
	d, divertible := t.(Divertible)
	_, mortal := t.(Mortal)
	_, retiring := t.(Retiring)
	_, freezer := t.(Freezer)
	_, writer := t.(Writer)
	return Faults{Connections: divertible && !d.Secured(), Crashes: mortal, Shutdowns: retiring, Pauses: freezer, Appends: writer}
}

const (
	maxSlack = 250 * time.Millisecond
	// maxMetadata and newMemberTimeout are what Kafka has by default, and what no client is told.
	maxMetadata      = 4096
	newMemberTimeout = 5 * time.Minute
	// maxOverlap is how many calls of one group may be open at a time: beyond it the search explodes.
	maxOverlap = 8
	// maxParallel is how many histories are made at a time at most; fewer where all their clients come back at once after a crash.
	maxParallel, maxMortal = 128, 16
	// enough illegal groups end a campaign by default: more of them would only take time.
	enough = 40
	// longestHealing is the most of a campaign that is kept for the healing of its last histories; the others heal when they are over.
	longestHealing = 5 * time.Second
	// grace is how long a campaign may go on after its budget, to tell what it has found.
	grace = 4 * time.Second
)

func (o Options) withDefaults(caps target.Capabilities) Options {
	setDefault(&o.Budget, 2*time.Minute)
	setDefault(&o.Enough, enough)
	setDefault(&o.Parallel, maxParallel)
	if o.Faults.Crashes || o.Faults.Shutdowns {
		o.Parallel = min(o.Parallel, maxMortal)
	}
	if caps.MaxGroups > 0 { // somebody else's: few groups, few requests a second
		o.Parallel = min(o.Parallel, max(1, caps.MaxGroups/4))
	}
	setDefault(&o.Slack, min(caps.Slack, maxSlack))
	setDefault(&o.Slack, maxSlack)
	setDefault(&o.Tick, 10*time.Millisecond)
	setDefault(&o.Patience, 4*time.Second)
	setDefault(&o.Limits.Timeout, 5*time.Second)
	setDefault(&o.Out, "muster-out")
	if len(o.Profiles) == 0 {
		o.Profiles = ProfilesFor(caps.Release)
	}
	if o.Progress == nil {
		o.Progress = func(Report) {}
	}
	return o
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// ProfilesFor are the profiles one of which has to explain a target: its release's own. What is no Kafka, or one that is not described, has
// to be explained by one of those that there are.
func ProfilesFor(release string) []string {
	if linearize.KnownProfile(release) {
		return []string{release}
	}
	return []string{"java", reference, "scala"}
}

// reference is the profile of the newest release with every quirk replaced by its contract.
const reference = "reference"

// campaign is one at work.
type campaign struct {
	o      Options
	target target.Target
	caps   target.Capabilities
	stamp  string
	pace   func(context.Context) error
	urgent func(context.Context) error // the pace of what must not wait
	around *around
	canary *canary
	ready  chan *cell // whose histories wait to be judged
	fail   context.CancelCauseFunc
	life   life

	mu     sync.Mutex
	report Report
	using  int // index of the profile that has explained all so far
}

// Run drives the campaign until its budget is used up, or something has gone wrong. The error is about the target or the machine; the report then
// holds what was judged until then.
func Run(ctx context.Context, t target.Target, o Options) (Report, error) {
	caps := t.Capabilities()
	if caps.Virtual {
		return Report{}, fmt.Errorf("campaign: %s runs on virtual time, where calls do not overlap; give a target that is spoken to over a network", t.Name())
	}
	o = o.withDefaults(caps)
	began := time.Now()
	whole, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	c := &campaign{
		o: o, target: t, caps: caps, stamp: fmt.Sprintf("%x", time.Now().UnixNano()&0xffffffff), around: newAround(o.Seed), fail: fail,
		ready: make(chan *cell, 4*maxParallel),
	}
	c.report.Faults = map[history.FaultKind]int{}
	c.life.alive = began
	if p, ok := t.(interface {
		TakePace() func(context.Context) error
	}); ok {
		c.pace = p.TakePace()
	}
	c.prefer()
	c.canary = newCanary(c)
	if o.Faults.Connections {
		end, err := c.around.divert(t)
		if err != nil {
			return c.report, err
		}
		defer end()
	}
	// The last part of the budget is for what is still to be judged then, and the part before it for the clients that are still at work to
	// heal.
	reserve := max(min(o.Budget/8, 8*time.Second), min(o.Budget/3, 2*time.Second))
	healing, stopHealing := context.WithTimeout(whole, o.Budget-reserve)
	defer stopHealing()
	traffic, stop := context.WithTimeout(healing, o.Budget-reserve-min((o.Budget-reserve)/6, longestHealing))
	defer stop()
	judging, stopJudging := context.WithDeadline(ctx, began.Add(o.Budget+grace/4))
	defer stopJudging()

	var work, judges sync.WaitGroup
	for range runtime.NumCPU() { // one that is slow does not hold the others up
		judges.Go(func() { c.judge(judging, began.Add(o.Budget+grace)) })
	}
	watching, stopWatching := context.WithCancel(healing)
	looking, stopLooking := context.WithCancel(ctx) // until the last clients have ended: whether the target lived then
	work.Go(func() { c.canary.watch(looking) })
	work.Go(func() { c.mourn(watching, stopJudging) })
	work.Go(func() { c.endsAway(watching) })
	work.Go(func() { c.disturb(traffic) })
	work.Go(func() { c.tell(watching, began) })
	work.Go(func() { c.consume(watching) })
	c.drive(traffic, healing)
	stop() // where no more groups are to begin
	stopWatching()
	stopLooking()
	work.Wait()
	close(c.ready)
	judges.Wait()

	cause := context.Cause(whole)
	if errors.Is(cause, errEnough) || errors.Is(cause, errAway) {
		cause = nil
	}
	cause = c.causeOf(ctx, cause)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Elapsed = time.Since(began)
	c.report.Faults = c.around.counted()
	c.report.Outage = c.canary.away().report(began)
	if ctx.Err() != nil {
		return c.report, context.Cause(ctx)
	}
	return c.report, cause
}

// errEnough ends the traffic where what is wrong has been seen often enough.
var errEnough = errors.New("enough was found")

// drive makes histories side by side, as many as target and machine bear, until the context is over.
func (c *campaign) drive(ctx, healing context.Context) {
	pace := newPacer(c.o.Parallel, c.o.Slack)
	ended := make(chan struct{}, c.o.Parallel)
	tick := time.NewTicker(pacerPeriod)
	defer tick.Stop()
	live, begun := 0, 0
	for ctx.Err() == nil {
		for live < pace.allowed && ctx.Err() == nil && (c.o.Groups == 0 || begun < c.o.Groups) {
			one := c.newCell(begun)
			begun += len(one.plan.Groups)
			live++
			go func() {
				defer func() { ended <- struct{}{} }()
				c.run(ctx, healing, one)
			}()
		}
		if live == 0 {
			return
		}
		select {
		case <-ended:
			live--
		case <-tick.C:
			pace.adapt(c.canary.lately(), len(c.ready), live)
			c.widest(live)
		case <-ctx.Done():
		}
	}
	for ; live > 0; live-- {
		<-ended
	}
}

func (c *campaign) widest(live int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Widest = max(c.report.Widest, live)
}

// tell reports how far the campaign is.
func (c *campaign) tell(ctx context.Context, began time.Time) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		c.mu.Lock()
		so := c.report
		so.Consumers = c.report.Consumers.clone()
		c.mu.Unlock()
		so.Elapsed, so.Faults = time.Since(began), c.around.counted()
		so.Failures, so.Reasons, so.Wide, so.Exercised, so.Convergence = nil, nil, nil, linearize.Exercised{}, Convergence{} // which go on changing
		c.o.Progress(so)
	}
}
