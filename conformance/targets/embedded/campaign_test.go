package embedded_test

import (
	"os"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker/campaign"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
)

// TestCampaign judges what concurrent clients see of the coordinator over TCP, while their connections are disturbed.
func TestCampaign(t *testing.T) {
	target, err := embedded.NewTCP(t.Context(), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	faults := campaign.Possible(target)
	if !faults.Connections || faults.Crashes {
		t.Fatalf("possible are %+v", faults)
	}
	out := t.TempDir()
	if d := os.Getenv("MUSTER_KEEP"); d != "" {
		out = d
	}
	const budget = 10 * time.Second
	report, err := campaign.Run(t.Context(), target, campaign.Options{Seed: 1, Budget: budget, Faults: faults, Out: out})
	if closing := target.Close(); closing != nil {
		t.Error(closing)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Failures {
		t.Error(f.Text)
	}
	for _, doubt := range report.Doubts(faults) {
		t.Errorf("doubt: %s", doubt)
	}
	for _, reason := range report.Reasons {
		t.Logf("unknown: %s", reason)
	}
	t.Logf("%d groups, %d calls of %d made: %d legal, %d unknown, %d stalled, %d left; %d answered, %d not; faults %v; at most %d at a time, overlap %d; stall %v; %v",
		report.Groups, report.Calls, report.Made, report.Legal, report.Unknown, report.Stalled, report.Left, report.Answered, report.NotAnswered,
		report.Faults, report.Widest, report.Overlap, report.Stall, report.Elapsed)
	if report.Illegal > 0 {
		t.Errorf("%d groups are illegal", report.Illegal)
	}
}
