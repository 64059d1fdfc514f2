package mutants

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/checker/traffic"
	"github.com/muster-kafka/muster/conformance/targets/kafka"
)

// recordVar asks for new histories: it names Kafka releases, "4.3.1,3.9.2".
const recordVar = "MUSTER_RECORD"

// TestRecord records what clients see of real brokers, for testdata: few clients, so that not every wrong answer can be excused by one that came at
// the same time.
func TestRecord(t *testing.T) {
	releases := os.Getenv(recordVar)
	if releases == "" {
		t.Skipf("records histories of the releases that %s names", recordVar)
	}
	for _, release := range strings.Split(releases, ",") {
		tg, err := kafka.Open(t.Context(), release, "", kafka.Options{})
		if err != nil {
			t.Fatal(err)
		}
		caps, start := tg.Capabilities(), time.Now()
		topics := map[string]int32{caps.Topics["t"]: 3}
		for seed := range uint64(4) {
			groups := []string{fmt.Sprintf("recorded-%d", seed)}
			rec := &history.Recorder{Clock: time.Now, Start: start, Groups: groups}
			began := time.Now()
			plan := traffic.Plan{
				Setup: traffic.Setup{
					Seed: seed, Groups: groups, Clients: 2 + int(seed%2), Name: fmt.Sprintf("c%d", seed), Topic: caps.Topics["t"], Versions: caps.Versions, MinSession: time.Second,
					MaxMetadata: 4096, Static: seed%2 == 1, Period: 3 * time.Second,
				},
				Calls: 60, Duration: 6 * time.Second, Patience: 5 * time.Second, Overlap: 3,
			}
			if err := traffic.Drive(t.Context(), tg, plan, rec); err != nil {
				t.Fatal(err)
			}
			h := rec.History(history.Header{
				Target: tg.Name(), Seed: seed, Profile: release, MinSession: caps.MinSession, MaxSession: caps.MaxSession, NewMemberTimeout: 5 * time.Minute,
				MaxMetadata: 4096, Tick: 10 * time.Millisecond, Slack: 500 * time.Millisecond, InitialDelay: max(caps.InitialDelay, time.Nanosecond), Ran: time.Since(began), Groups: groups, Topics: topics,
			})
			v, err := linearize.Check(t.Context(), h, linearize.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, seed %d: %d calls, %v %s", release, seed, len(h.Calls), v.Result, v.Reason)
			if v.Result != linearize.Legal {
				continue
			}
			if err := h.WriteFile(filepath.Join("testdata", fmt.Sprintf("%s-%d.jsonl", release, seed))); err != nil {
				t.Fatal(err)
			}
		}
		if err := tg.Close(); err != nil {
			t.Error(err)
		}
	}
}
