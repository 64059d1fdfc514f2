package embedded_test

import (
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
)

// TestLinearizable judges what concurrent clients see of the coordinator over TCP.
func TestLinearizable(t *testing.T) {
	for _, o := range []linearize.Options{
		{Seed: 1, Groups: 2, Clients: 8, Calls: 800},
		{Seed: 2, Groups: 4, Clients: 8, Calls: 800},
	} {
		target, err := embedded.NewTCP(t.Context(), embedded.Options{Report: func(err error) { t.Errorf("the coordinator reports: %v", err) }})
		if err != nil {
			t.Fatal(err)
		}
		o.Out = t.TempDir()
		report, err := linearize.Judge(t.Context(), target, o)
		if closing := target.Close(); closing != nil {
			t.Error(closing)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range report.Failures {
			t.Error(f.Text)
		}
		for _, r := range report.Reasons {
			t.Errorf("unknown: %s", r)
		}
		t.Logf("%d groups, %d calls: %d legal; stalled for at most %v; %v", report.Histories, report.Operations, report.Legal, report.Stall, report.Elapsed.Round(time.Millisecond))
		if report.Legal != report.Histories || report.Operations < o.Calls/2 {
			t.Errorf("%d of %d histories are legal, with %d calls", report.Legal, report.Histories, report.Operations)
		}
	}
}
