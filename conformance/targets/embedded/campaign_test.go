package embedded_test

import (
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker/campaign"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
)

func overTCP(t *testing.T) target.Target {
	t.Helper()
	tg, err := embedded.NewTCP(t.Context(), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tg
}

// TestCampaign judges what concurrent clients see of the coordinator over TCP, while their connections are disturbed.
func TestCampaign(t *testing.T) {
	tg := overTCP(t)
	faults := campaign.Possible(tg)
	if !faults.Connections || faults.Crashes || !faults.Appends {
		t.Fatalf("possible are %+v", faults)
	}
	faults.Appends = false // as by default
	report, err := campaign.Run(t.Context(), tg, campaign.Options{Seed: 1, Budget: 10 * time.Second, Faults: faults, Out: t.TempDir()})
	if closing := tg.Close(); closing != nil {
		t.Error(closing)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Failures {
		t.Error(f.Text)
	}
	doubts := report.Doubts(faults)
	busy := report.Stall > tg.Capabilities().Slack // the machine has too much to do for a verdict, which is what the doubts say
	switch {
	case report.Illegal > 0:
		t.Errorf("%d groups are illegal", report.Illegal)
	case len(doubts) > 0 && !busy:
		t.Errorf("doubts: %q", doubts)
	case report.Legal == 0 && !busy:
		t.Error("no group was found right")
	}
	t.Logf("%d groups, %d calls of %d made: %d legal, %d unknown, %d stalled, %d left; %d answered, %d not; faults %v; at most %d at a time, overlap %d; stall %v; %v; %q",
		report.Groups, report.Calls, report.Made, report.Legal, report.Unknown, report.Stalled, report.Left, report.Answered, report.NotAnswered,
		report.Faults, report.Widest, report.Overlap, report.Stall, report.Elapsed, append(doubts, report.Reasons...))
}

// TestTargetDies closes the target in the middle of a campaign: it ends soon, with an error, and with a verdict on what was seen until then.
func TestTargetDies(t *testing.T) {
	tg := overTCP(t)
	judged := make(chan struct{}, 1)
	go func() {
		<-judged
		if err := tg.Close(); err != nil {
			t.Error(err)
		}
	}()
	closed := false
	report, err := campaign.Run(t.Context(), tg, campaign.Options{Seed: 2, Budget: 2 * time.Minute, Steps: 40, Out: t.TempDir(), Progress: func(r campaign.Report) {
		if r.Legal > 0 && !closed {
			closed = true
			judged <- struct{}{}
		}
	}})
	if err == nil {
		t.Error("no error from a campaign whose target has gone")
	}
	if report.Legal == 0 || report.Illegal > 0 || report.Elapsed > time.Minute {
		t.Errorf("%d groups legal, %d illegal, after %v; %v", report.Legal, report.Illegal, report.Elapsed, report.Reasons)
	}
}
