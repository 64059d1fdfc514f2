package embedded_test

import (
	"testing"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/checker/joint"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
)

func TestJoint(t *testing.T) {
	for _, r := range joint.Runs() {
		t.Run(r.Name, func(t *testing.T) {
			report := explore.Run(t.Context(), r.Name, r.Machines(embedded.JointBench), explore.Options{Workers: 2, StopAtViolation: true, MaxStates: 2_000_000})
			t.Log(report.String())
			for _, v := range report.Violations {
				t.Errorf("%s", v.String())
			}
		})
	}
}
