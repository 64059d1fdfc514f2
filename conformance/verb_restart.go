package conformance

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/conformance/target"
)

// Broker profiles that the runner itself must know of.
const (
	DelayProfile     = "delay"     // has an initial rebalance delay, which is what its scenarios are about
	RetentionProfile = "retention" // offsets expire within a scenario
	RestartProfile   = "restart"   // is restarted by its scenarios, so that no others run there
)

// restartTime is about how long a broker takes to come back.
const restartTime = 8 * time.Second

func init() {
	register("restart", &verb{example: "restart", run: runRestart})
}

// runRestart ends the coordinator as a crash would and waits until it serves the scenario's group again. Requests that were waiting
// end with their connections.
func runRestart(r *run, _ *script.Command) error {
	clear(r.acked) // it may change what is committed
	if r.caps.Restart == nil || r.gate == nil {
		return skipf("needs a target that can be restarted: %s", onFaces)
	}
	if err := r.gate.restart(r.ctx, r.caps.Restart); err != nil {
		return errors.Join(errBroken, err)
	}
	for _, a := range append(r.order, r.probe) {
		a.close()
	}
	for _, req := range r.open {
		r.await(req, time.Second) // the closing ends it
	}
	r.absorb()
	if err := r.serves(); err != nil {
		return err
	}
	r.activity = r.clock.Now()
	return nil
}

// serves waits until the coordinator has loaded the scenario's group.
func (r *run) serves() error {
	deadline := r.clock.Now().Add(4 * r.patience)
	for {
		msg := kmsg.NewPtrDescribeGroupsRequest()
		msg.Groups = []string{r.base}
		resp, ok := r.private("describe", msg).(*kmsg.DescribeGroupsResponse)
		if ok && len(resp.Groups) == 1 && (resp.Groups[0].ErrorCode < 14 || resp.Groups[0].ErrorCode > 16) {
			return nil
		}
		if r.clock.Now().After(deadline) {
			return errors.Join(errBroken, errors.New("after a restart the group was not served again in time"))
		}
		if err := r.sleep(r.ctx, 10*tick); err != nil {
			return err
		}
	}
}

// gate lets the scenarios at work on one target share its restarts: one happens when all of them wait for it.
type gate struct {
	tg      target.Target
	mu      sync.Mutex
	active  int
	waiting []chan error
	do      func(context.Context) error
}

var gates = struct {
	sync.Mutex
	of map[target.Target]*gate
}{of: map[target.Target]*gate{}}

// enter counts a scenario in; leave must follow.
func enter(tg target.Target) *gate {
	gates.Lock()
	defer gates.Unlock()
	g, ok := gates.of[tg]
	if !ok {
		g = &gate{tg: tg}
		gates.of[tg] = g
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.active++
	return g
}

func (g *gate) leave() {
	gates.Lock()
	defer gates.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.active--
	if g.active == 0 {
		delete(gates.of, g.tg)
	}
	g.open()
}

// restart returns when the target has been restarted. The restart is bounded by a time of its own: it belongs to all who wait.
func (g *gate) restart(ctx context.Context, do func(context.Context) error) error {
	done := make(chan error, 1)
	g.mu.Lock()
	g.do = do
	g.waiting = append(g.waiting, done)
	g.open()
	g.mu.Unlock()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		g.mu.Lock()
		defer g.mu.Unlock()
		g.waiting = slices.DeleteFunc(g.waiting, func(w chan error) bool { return w == done })
		return ctx.Err()
	}
}

// open restarts the target if all who are at work wait for that. The lock is held: who comes meanwhile waits with it.
func (g *gate) open() {
	if len(g.waiting) == 0 || len(g.waiting) < g.active {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	err := g.do(ctx)
	for _, w := range g.waiting {
		w <- err
	}
	g.waiting = nil
}
