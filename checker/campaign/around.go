package campaign

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/campaign/proxy"
	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/conformance/target"
)

// around is what is done to the target and to its clients' connections, and what of it each client may have felt. It implements
// traffic.Around.
type around struct {
	mu     sync.Mutex
	rand   *rand.Rand
	life   int64         // of the target
	open   chan struct{} // closed while requests may be sent
	frozen time.Time     // since when it stands still; zero: it does not
	stood  time.Duration // how long it has stood still before
	stops  []stop        // when it did lately
	felt   map[string]time.Time

	trouble struct { // with what is written, that goes on; no kind: there is none
		kind  history.FaultKind
		since time.Time
	}

	cells  map[*cell]struct{}
	byName map[string]*cell // clients whose connections may be disturbed
	counts map[history.FaultKind]int
}

// stop is a time in which the target stood still on purpose.
type stop struct{ from, until time.Time }

// rememberedStops are enough: a call is open for a few seconds.
const rememberedStops = 16

func newAround(seed uint64) *around {
	a := &around{
		rand: rand.New(rand.NewPCG(seed, 0xfa17)), open: make(chan struct{}), felt: map[string]time.Time{},
		cells: map[*cell]struct{}{}, byName: map[string]*cell{}, counts: map[history.FaultKind]int{},
	}
	close(a.open)
	return a
}

// Enter implements traffic.Around.
func (a *around) Enter(ctx context.Context) (int64, error) {
	for {
		a.mu.Lock()
		open, life := a.open, a.life
		a.mu.Unlock()
		select {
		case <-open:
			return life, ctx.Err()
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// Blames implements traffic.Around.
func (a *around) Blames(client string, life int64, since time.Time) bool {
	return a.disturbed(client, life, since) || a.stopped(since)
}

// disturbed says whether the target was killed since then, or a connection of the client was disturbed.
func (a *around) disturbed(client string, life int64, since time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	felt, ok := a.felt[client]
	return life != a.life || ok && !felt.Before(since)
}

// stopped says whether a call that began at that time began while the target stood still. It may be of a new connection, which nobody takes up then: what its kernel has
// no room for is lost, and sent again much later.
func (a *around) stopped(at time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.frozen.IsZero() && !at.Before(a.frozen) ||
		slices.ContainsFunc(a.stops, func(s stop) bool { return !at.Before(s.from) && !at.After(s.until) })
}

// paused is how long the target has stood still on purpose in all.
func (a *around) paused() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.frozen.IsZero() {
		return a.stood
	}
	return a.stood + time.Since(a.frozen)
}

// down says whether the target has been killed and is not said to serve again yet: no history knows of that until then.
func (a *around) down() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-a.open:
		return false
	default:
		return true
	}
}

func (a *around) counted() map[history.FaultKind]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := map[history.FaultKind]int{}
	for kind, n := range a.counts {
		all[kind] = n
	}
	return all
}

// join makes a cell take part in what is done from now on.
func (a *around) join(c *cell) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cells[c] = struct{}{}
	if c.disturbed {
		for _, name := range c.names() {
			a.byName[name] = c
		}
	}
}

// spare ends what is done to the connections of a cell. What is done to the target still concerns it.
func (a *around) spare(c *cell) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, name := range c.names() {
		delete(a.byName, name)
	}
}

func (a *around) leave(c *cell) {
	a.spare(c)
	if f, goesOn := a.troubling(c); goesOn {
		c.rec.Fault(f)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.cells, c)
	for _, name := range c.names() {
		delete(a.felt, name)
	}
}

// happened notes what was done to the target itself in the histories that it concerns.
func (a *around) happened(kind history.FaultKind, at, gone, until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counts[kind]++
	for c := range a.cells {
		f := history.Fault{Kind: kind, At: c.rec.At(at), Until: c.rec.At(until)}
		if !gone.IsZero() {
			f.Gone = c.rec.At(gone)
		}
		if f.At < 0 {
			if f.Restarts() { // no call had begun: the first waited until it was over
				continue
			}
			f.At = 0
		}
		c.rec.Fault(f)
	}
}

// crash kills the target and starts it again. Requests that are open then have no answer coming; new ones wait.
func (a *around) crash(ctx context.Context, t Mortal) error {
	return a.restart(ctx, history.Restart, t, t.Crash)
}

// shutdown lets the target end as it does when it is asked to, and starts it again. Some of what waits is told so; new requests wait.
func (a *around) shutdown(ctx context.Context, t Retiring) error {
	return a.restart(ctx, history.Shutdown, t, func() error { return t.Shutdown(ctx) })
}

// restart ends the target and starts it again.
func (a *around) restart(ctx context.Context, kind history.FaultKind, t Recovering, end func() error) error {
	a.mu.Lock()
	closed := make(chan struct{})
	a.open = closed
	a.life++
	a.mu.Unlock()
	at := time.Now()
	err := end()
	gone := time.Now()
	if err == nil {
		err = t.Recover(ctx)
	}
	if err != nil {
		return err // clients wait until the campaign ends, which is now
	}
	if s, ok := t.(interface{ Sound(context.Context) bool }); ok && !s.Sound(ctx) {
		a.moves() // what it serves is not what it had
	}
	a.happened(kind, at, gone, time.Now())
	close(closed)
	return nil
}

// freeze lets the target stand still for a while.
func (a *around) freeze(ctx context.Context, t Freezer, d time.Duration) error {
	at := time.Now()
	a.mu.Lock()
	a.frozen = at
	a.mu.Unlock()
	err := t.Freeze()
	if err == nil {
		wait(ctx, d)
	}
	err = errors.Join(err, t.Thaw())
	until := time.Now()
	a.mu.Lock()
	a.frozen = time.Time{}
	a.stood += until.Sub(at)
	a.stops = append(a.stops[max(0, len(a.stops)+1-rememberedStops):], stop{at, until})
	a.mu.Unlock()
	if err == nil {
		a.happened(history.Pause, at, time.Time{}, until)
	}
	return err
}

// troubles does something to what the target writes for a while.
func (a *around) troubles(ctx context.Context, kind history.FaultKind, do func(on bool), d time.Duration) {
	at := time.Now()
	a.mu.Lock()
	a.trouble.kind, a.trouble.since = kind, at
	a.mu.Unlock()
	do(true)
	wait(ctx, d)
	do(false)
	a.happened(kind, at, time.Time{}, time.Now())
	a.mu.Lock()
	a.trouble.kind = ""
	a.mu.Unlock()
}

// troubling is the trouble that goes on, as far as a cell has to know of it that is over, or is judged before.
func (a *around) troubling(c *cell) (f history.Fault, goesOn bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return history.Fault{Kind: a.trouble.kind, At: max(0, c.rec.At(a.trouble.since)), Until: max(0, c.rec.At(time.Now()))}, a.trouble.kind != ""
}

// wait lets time pass, and says no where the context ends before.
func wait(ctx context.Context, d time.Duration) bool { return target.WallClock{}.Sleep(ctx, d) == nil }

// longestHold is how long a request is held back at most. It makes all that the target does as much later.
const longestHold = 40 * time.Millisecond

// groupKeys are the APIs whose requests are disturbed.
var groupKeys = []int16{
	int16(kmsg.JoinGroup), int16(kmsg.SyncGroup), int16(kmsg.Heartbeat), int16(kmsg.LeaveGroup), int16(kmsg.OffsetCommit), int16(kmsg.OffsetFetch),
	int16(kmsg.DescribeGroups), int16(kmsg.ListGroups), int16(kmsg.DeleteGroups), int16(kmsg.OffsetDelete),
}

// decide draws what is done to a request.
func (a *around) decide(r proxy.Request) proxy.Action {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byName[r.Client] == nil || !slices.Contains(groupKeys, r.Key) {
		return proxy.Action{}
	}
	switch n := a.rand.IntN(1000); {
	case n < 10:
		return proxy.Action{Kind: proxy.ReplyLost}
	case n < 17:
		return proxy.Action{Kind: proxy.Cut, After: a.rand.IntN(2) == 0}
	case n < 20:
		return proxy.Action{Kind: proxy.HalfOpen}
	case n < 50:
		return proxy.Action{Kind: proxy.Delay, Hold: time.Duration(a.rand.Int64N(int64(longestHold)))}
	}
	return proxy.Action{}
}

// did notes what was done to a request, before its client can notice.
func (a *around) did(r proxy.Request, action proxy.Action) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	kind := history.FaultKind(action.Kind)
	a.counts[kind]++
	if action.Kind != proxy.Delay {
		a.felt[r.Client] = now
	}
	c := a.byName[r.Client]
	if c == nil {
		return // it has ended meanwhile
	}
	what := kmsg.NameForKey(r.Key)
	switch {
	case action.Kind == proxy.Delay:
		what += " for " + action.Hold.Round(time.Millisecond).String()
	case action.After:
		what += ", passed on"
	}
	c.rec.Fault(history.Fault{Kind: kind, At: max(0, c.rec.At(now)), Client: r.Client, What: what})
}

// divert makes the connections of clients go through proxies, one before each broker.
func (a *around) divert(t any) (end func(), err error) {
	d, ok := t.(Divertible)
	if !ok || d.Secured() {
		return nil, errors.New("campaign: the connections to this target cannot be disturbed: they are encrypted, or do not go over a network of ours")
	}
	var mu sync.Mutex
	before := map[string]*proxy.Proxy{}
	d.Divert(func(addr string) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if p := before[addr]; p != nil {
			return p.Addr(), nil
		}
		p, err := proxy.Start(proxy.Options{Upstream: addr, Decide: a.decide, Did: a.did})
		if err != nil {
			return "", err
		}
		before[addr] = p
		return p.Addr(), nil
	})
	return func() {
		d.Divert(nil)
		mu.Lock()
		defer mu.Unlock()
		for _, p := range before {
			_ = p.Close()
		}
	}, nil
}
