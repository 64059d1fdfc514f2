package embedded_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"

	"github.com/muster-kafka/muster/checker/consumers"
	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/checker/ownership"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
)

// reachable is a target that other clients can reach.
type reachable interface {
	target.Target
	Clients() (addr string, dial func(ctx context.Context, network, addr string) (net.Conn, error), auth sasl.Mechanism)
}

// work lets real consumers work on a target for a while.
func work(t *testing.T, tg reachable, kind int, d time.Duration) *consumers.Result {
	addr, dial, _ := tg.Clients()
	name := fmt.Sprintf("%sown-%d", tg.Capabilities().Prefix, kind)
	result, err := consumers.Run(t.Context(), consumers.Plan{
		Seed: uint64(kind), Kind: kind, Name: fmt.Sprintf("k%d", kind), Target: tg.Name(), Group: name, Network: consumers.Network{Addr: addr, Dial: dial},
		Topics: consumers.TopicsOf(tg), Prefix: name + "-", Static: true, Session: 1800 * time.Millisecond, Rebalance: 1100 * time.Millisecond,
		Heartbeat: 150 * time.Millisecond, Duration: d,
	})
	if err != nil {
		t.Error(err)
	}
	return result
}

// TestConsumers lets real consumers work on the reference and judges who owned what, and all that they said to each other. Nightly everything
// happens to them that there is, under each way of balancing.
func TestConsumers(t *testing.T) {
	tg := overTCP(t).(reachable)
	defer tg.Close()
	kinds, each := 1, time.Millisecond
	nightly := os.Getenv("MUSTER_NIGHTLY") != ""
	if nightly {
		kinds, each = 5, 40*time.Second
	}
	results := make([]*consumers.Result, kinds)
	var all sync.WaitGroup
	for kind := range kinds {
		all.Go(func() { results[kind] = work(t, tg, kind, each) })
	}
	all.Wait()
	caps := tg.Capabilities()
	for kind, result := range results {
		v := ownership.Judge(result.Log)
		for _, one := range v.Violations {
			t.Errorf("\n%s", ownership.Tell(result.Log, one))
		}
		if v.Rests < 1 || v.Claims == 0 || result.History == nil {
			t.Errorf("kind %d: nothing was seen: %+v", kind, v)
			continue
		}
		for _, trigger := range consumers.Triggers() {
			if nightly && result.Happened[trigger] == 0 && (trigger != consumers.Switch || kind == 4) {
				t.Errorf("kind %d: %q never happened: %v", kind, trigger, result.Happened)
			}
		}
		h := &result.History.Header
		h.Profile, h.MinSession, h.MaxSession, h.NewMemberTimeout, h.MaxMetadata = embedded.Release, caps.MinSession, caps.MaxSession, 5*time.Minute, 4096
		h.Tick, h.Slack, h.Stall = 10*time.Millisecond, caps.Slack, time.Second // other tests have the machine as well
		judged, err := linearize.Check(t.Context(), result.History, linearize.Limits{Timeout: 20 * time.Second})
		if err != nil || judged.Result == linearize.Illegal {
			t.Errorf("kind %d: %v %s %v", kind, judged.Result, judged.Reason, err)
		}
		t.Logf("kind %d: %v; %+v; %d events, %d calls: %v", kind, result.Happened, v, len(result.Log.Events), len(result.History.Calls), judged.Result)
	}
}
