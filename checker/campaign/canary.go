package campaign

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/conformance/target"
)

// canary measures how far the machine, the network and the target fall behind: it sleeps a little, asks about a group of its own that
// never exists, and takes what both take longer than the sleep. A timer that is late by as much proves nothing.
type canary struct {
	target  target.Target
	around  *around
	pace    func(context.Context) error
	group   string
	version int16
	pause   time.Duration
	conns   []target.Conn // that are asked in turn; nil where one is to be dialled

	mu     sync.Mutex
	began  time.Time // of the round that goes on; zero between rounds
	paused time.Duration
	stalls []stall // the last few minutes'
	latest time.Duration

	alive  time.Time // the last request that was answered was sent then
	outage outage    // the first, of somebody else's target
}

// stall is a time during which nothing came back.
type stall struct {
	due  time.Time // since then; some of it may have been on purpose
	end  time.Time
	late time.Duration // without what was on purpose
}

const (
	canaryPause = 10 * time.Millisecond
	// slowPause is that of a target whose requests are counted.
	slowPause = 100 * time.Millisecond
	// stallFrom is the lateness from which on a round counts as stalled; below it is ordinary scheduling.
	stallFrom = 50 * time.Millisecond
	// patience of the canary with the target.
	canaryPatience = 10 * time.Second
	// remembered stalls: a history is far shorter.
	remembered = 5 * time.Minute
)

func newCanary(c *campaign) *canary {
	k := &canary{
		target: c.target, around: c.around, pace: c.pace, group: c.caps.Prefix + "lin-" + c.stamp + "-canary", pause: canaryPause,
		version: min(c.caps.Versions[int16(kmsg.DescribeGroups)].Max, 5),
	}
	if c.caps.MaxGroups > 0 {
		k.pause = slowPause
	}
	k.conns = make([]target.Conn, 1)
	if c.others() {
		k.conns = make([]target.Conn, witnesses)
	}
	return k
}

func (k *canary) watch(ctx context.Context) {
	var life int64
	defer k.drop()
	if named, err := k.target.Capabilities().Named(ctx, k.group); err == nil {
		k.group = named
	}
	clock := k.target.Clock()
	for n := 0; ; n = (n + 1) % len(k.conns) {
		now, err := k.around.Enter(ctx)
		if err != nil {
			return
		}
		if now != life {
			k.drop()
			life = now
		}
		if !k.dial(ctx) {
			if clock.Sleep(ctx, k.pause) != nil {
				return
			}
			continue // whether the target has gone is for clients to say
		}
		if k.pace != nil && k.pace(ctx) != nil {
			return
		}
		began, paused := clock.Now(), k.around.paused()
		k.begin(began, paused)
		if clock.Sleep(ctx, k.pause) != nil {
			return
		}
		sent := clock.Now()
		call := k.ask(n)
		answered := clock.Await(ctx, call, canaryPatience)
		if ctx.Err() != nil {
			return
		}
		if k.around.disturbed(canaryName, life, began) {
			k.begin(time.Time{}, 0)
			continue
		}
		if !answered {
			k.drop()
		} else if resp, err := call.Answer(); err != nil {
			if k.ended(ctx, n) {
				k.left()
			}
		} else {
			k.lived(sent)
			if linearize.Moved(resp) {
				k.around.moves()
			}
		}
		k.saw(clock.Now(), k.late(clock.Now()))
	}
}

// ask asks about its group.
func (k *canary) ask(n int) *target.Call {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{k.group}
	return k.conns[n].Send(req, k.version)
}

// dial dials the connections that there are not.
func (k *canary) dial(ctx context.Context) bool {
	for n, conn := range k.conns {
		if conn != nil {
			continue
		}
		conn, err := k.target.Dial(ctx, canaryName)
		if err != nil {
			k.refused()
			return false
		}
		k.conns[n] = conn
	}
	return true
}

func (k *canary) drop() {
	for n, conn := range k.conns {
		if conn != nil {
			conn.Close()
			k.conns[n] = nil
		}
	}
}

// ended says whether all connections have ended, now that one has.
func (k *canary) ended(ctx context.Context, n int) bool {
	k.conns[n].Close()
	k.conns[n] = nil
	if len(k.conns) == 1 {
		return false // it alone proves nothing
	}
	k.refused() // where the target has gone already
	for other, conn := range k.conns {
		if conn == nil {
			continue
		}
		if k.pace != nil && k.pace(ctx) != nil {
			return false
		}
		call := k.ask(other)
		if !k.target.Clock().Await(ctx, call, canaryPatience) {
			return false
		}
		if _, err := call.Answer(); err == nil {
			return false
		}
		conn.Close()
		k.conns[other] = nil
	}
	return true
}

// canaryName is its client id.
const canaryName = "canary"

func (k *canary) begin(at time.Time, paused time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.began, k.paused = at, paused
}

// late is by how much the round that goes on is late by now. What stood still on purpose is not late.
func (k *canary) late(now time.Time) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.began.IsZero() {
		return 0
	}
	return now.Sub(k.began) - k.pause - (k.around.paused() - k.paused)
}

func (k *canary) saw(at time.Time, late time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	due := at.Add(-late)
	if !k.began.IsZero() {
		due = k.began.Add(k.pause)
	}
	k.began = time.Time{}
	k.latest = max(k.latest, late)
	if late < stallFrom {
		return
	}
	k.stalls = append(k.stalls, stall{due, at, late})
	for len(k.stalls) > 0 && at.Sub(k.stalls[0].end) > remembered {
		k.stalls = k.stalls[1:]
	}
}

// lately is the worst lateness since it was last asked for.
func (k *canary) lately() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	late := k.latest
	k.latest = 0
	return late
}

// between are the stalls of a time.
func (k *canary) between(from, to time.Time) (all []stall) {
	k.mu.Lock()
	for _, s := range k.stalls {
		if !s.end.Before(from) && !s.due.After(to) {
			all = append(all, s)
		}
	}
	due := k.began.Add(k.pause)
	k.mu.Unlock()
	if late := k.late(to); late >= stallFrom { // and nothing has come back yet
		all = append(all, stall{due, to, late})
	}
	return all
}
