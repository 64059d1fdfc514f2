package embedded_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/muster-kafka/muster/checker/lockstep"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/model/classic"
)

// The coordinator and the specification read logs of others in the same way, and agree on all that clients and brokers do from there.
func TestForeignLogs(t *testing.T) {
	seen := map[classic.RuleID]int64{}
	seeds := uint64(12)
	if os.Getenv("MUSTER_NIGHTLY") != "" {
		seeds *= 50
	}
	for seed := range seeds {
		settings, options := embedded.WalkForeign(seed)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			for id, n := range walkWith(t, seed, settings, options, lockstep.Options{Checks: *checks / 2, Steps: 20}) {
				seen[id] += n
			}
		})
	}
	for _, rule := range []classic.RuleID{
		classic.LoadState, classic.LoadSessions, classic.LoadOneProtocol, classic.TxnCommits, classic.TxnAborts, classic.ExpirySimple, classic.ExpiryEmpty, classic.ExpiryExplicit,
		classic.FetchUnstable, classic.MaxSizeLoad,
	} {
		if seen[rule] == 0 {
			t.Errorf("no walk came by %s", rule)
		}
	}
}
