package bugs

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker/history"
	clients "github.com/muster-kafka/muster/checker/traffic"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
)

// alone judges nothing but whether the clients of a coordinator over TCP get together when they are left alone, as campaigns end.
func alone(t *testing.T) string {
	target, err := embedded.NewTCP(t.Context(), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	runs := uint64(10)
	if os.Getenv(EnvVar) == "" { // where there is nothing to find, all of them are made
		runs = 4
	}
	for n := range runs {
		plan := clients.Plan{
			Setup: clients.Setup{
				Seed: seed + n, Groups: []string{fmt.Sprint("alone-", n)}, Clients: 4, Name: fmt.Sprintf("k%d", n), Topic: "t", MaxMetadata: 4096,
				MinSession: target.Capabilities().MinSession, Static: true, OffsetDelete: true,
			},
			Calls: 80, Duration: 2 * time.Second, Patience: time.Second, Overlap: 8,
		}
		run, err := clients.Prepare(target, plan, &history.Recorder{Clock: time.Now, Start: time.Now(), Groups: plan.Groups})
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		if err := run.Drive(t.Context()); err != nil {
			t.Fatal(err)
		}
		healed, err := run.Heal(t.Context(), plan.HealsWithin(0))
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range healed {
			t.Logf("%s: %d in %v %s", h.Group, h.Result, h.Took, h.Why.Text)
			if h.Result == clients.Apart {
				return fmt.Sprintf("%s: not together after %v: %s %v", h.Group, h.Took.Round(time.Second), h.Why.Text, h.Why.Rules)
			}
		}
	}
	return ""
}

// TestClientsLeftAlone shows that a coordinator whose clients cannot get together is found by that alone, and why is told in words, and that one
// without a fault is not accused.
func TestClientsLeftAlone(t *testing.T) {
	t.Parallel()
	binary := plantedBinary(t)
	if found, took := run(t, binary, aloneJudge, EnvVar+"="); found.Text != "" {
		t.Errorf("with no bug awake, after %.1f s: %s", took.Seconds(), found.Text)
	}
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, bug := range all {
		want, must := saysAlone[bug.ID]
		if bug.ID != quickAlone && os.Getenv("MUSTER_NIGHTLY") == "" {
			continue
		}
		result, took := run(t, binary, aloneJudge, bug.Env())
		found := result.Text
		switch {
		case found == "" && must:
			t.Errorf("%-34s not noticed in %.1f s: %s", bug.ID, took.Seconds(), bug.Title)
		case !strings.Contains(found, want):
			t.Errorf("%-34s is told without %q: %s", bug.ID, want, found)
		case found != "":
			t.Logf("%-34s after %5.1f s: %s", bug.ID, took.Seconds(), found)
		default:
			t.Logf("%-34s not noticed in %5.1f s, and need not be", bug.ID, took.Seconds())
		}
	}
}

// saysAlone are the bugs that keep clients apart for good, with what has to be said of them.
var saysAlone = map[string]string{
	quickAlone:            "and waits for the join of",
	neverAnswered:         "for the answer to its JoinGroup",
	"follower-sync-early": `and it was told ""`,
}

// quickAlone is the one that is tried in every run: each takes as long as clients have for getting together.
const quickAlone = "silent-member-waited-for"
