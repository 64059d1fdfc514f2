package bugs

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"

	"github.com/muster-kafka/muster/checker/consumers"
	"github.com/muster-kafka/muster/checker/ownership"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
)

// owning is how long groups of real consumers work.
const owning = 16 * time.Second

// own lets real consumers work, in a group for each way of balancing, and judges who owned what.
func own(t *testing.T) finding {
	target, err := embedded.NewTCP(t.Context(), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	addr, dial, _ := target.(interface {
		Clients() (string, func(context.Context, string, string) (net.Conn, error), sasl.Mechanism)
	}).Clients()
	var work sync.WaitGroup
	found := make([]string, 5)
	ctx, stop := context.WithTimeout(t.Context(), limit/2)
	defer stop()
	for kind := range found {
		name := fmt.Sprintf("%sown-%d", target.Capabilities().Prefix, kind)
		work.Go(func() {
			began := time.Now()
			result, err := consumers.Run(ctx, consumers.Plan{
				Seed: seed, Kind: kind, Name: fmt.Sprintf("k%d", kind), Target: target.Name(), Group: name, Network: consumers.Network{Addr: addr, Dial: dial},
				Topics: consumers.TopicsOf(target), Prefix: name + "-", Static: true, Session: 1800 * time.Millisecond, Rebalance: 1100 * time.Millisecond,
				Heartbeat: 150 * time.Millisecond, Duration: owning,
			})
			if err != nil {
				t.Error(err)
				return
			}
			if v := ownership.Judge(result.Log); len(v.Violations) > 0 {
				found[kind] = fmt.Sprintf("%s after %d generations and %.1f s: %s", v.Violations[0].Rule, v.Generations, time.Since(began).Seconds(), v.Violations[0].Text)
			}
		})
	}
	work.Wait()
	for _, one := range found {
		if one != "" {
			return finding{Text: one}
		}
	}
	return finding{}
}
