package embedded_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"

	"github.com/muster-kafka/muster/checker/consumers"
	"github.com/muster-kafka/muster/checker/ownership"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
)

// reachable is a target that other clients can reach.
type reachable interface {
	target.Target
	Clients() (addr string, dial func(ctx context.Context, network, addr string) (net.Conn, error), auth sasl.Mechanism)
}

// TestConsumers lets real consumers work on the reference, and everything happen to them that there is.
func TestConsumers(t *testing.T) {
	tg := overTCP(t).(reachable)
	defer tg.Close()
	addr, dial, _ := tg.Clients()
	for seed := range uint64(5) {
		result, err := consumers.Run(t.Context(), consumers.Plan{
			Seed: seed, Name: "x", Target: tg.Name(), Group: tg.Capabilities().Prefix + "own", Network: consumers.Network{Addr: addr, Dial: dial},
			Topics: consumers.TopicsOf(tg), Prefix: tg.Capabilities().Prefix + "own-", Session: 1200 * time.Millisecond, Rebalance: 1500 * time.Millisecond,
			Heartbeat: 150 * time.Millisecond, Duration: 20 * time.Second,
		})
		if err != nil {
			t.Fatal(err)
		}
		v := ownership.Judge(result.Log)
		for _, one := range v.Violations {
			t.Errorf("\n%s", ownership.Tell(result.Log, one))
		}
		t.Logf("%d: %v; %+v; %d events, %d calls", seed, result.Happened, v, len(result.Log.Events), len(result.History.Calls))
	}
}

var _ = embedded.Release
