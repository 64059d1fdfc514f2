package embedded_test

import (
	"testing"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/joint"
	"github.com/muster-kafka/muster/checker/lockstep"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
)

// BenchmarkRapid reports how many sequences of some 60 events the random judge makes, by the processor's time.
func BenchmarkRapid(b *testing.B) {
	for kind := range uint64(2) {
		b.Run(embedded.WalkKinds[kind], func(b *testing.B) {
			sequences, steps := 0, 0
			before := cpu(b)
			for i := range b.N {
				machine, o := embedded.Walk(kind)
				o.Seed, o.Checks, o.Steps = uint64(i+1), 200, 60
				r := lockstep.Rapid(func() checker.Machine { return embedded.NewMachineWith(machine) }, o)
				if r.Err != nil || r.Violation != nil {
					b.Fatal(r.Err, r.Violation)
				}
				sequences, steps = sequences+r.Sequences, steps+r.Steps
			}
			took := (cpu(b) - before).Seconds()
			b.ReportMetric(float64(sequences)/took, "sequences/cpu-s")
			b.ReportMetric(float64(steps)/took, "steps/cpu-s")
		})
	}
}

// BenchmarkJointWalk is the same of joint walks, on four members with everything about members.
func BenchmarkJointWalk(b *testing.B) {
	sequences, steps, stable := 0, 0, 0
	before := cpu(b)
	for i := range b.N {
		w := big.Walk(embedded.JointBench, joint.Walks{Seed: uint64(i + 1), Sequences: 2000, Steps: 60})
		if w.Err != nil || w.Violation != nil {
			b.Fatal(w.Err, w.Violation)
		}
		sequences, steps, stable = sequences+w.Sequences, steps+w.Steps, stable+w.Stable
	}
	took := (cpu(b) - before).Seconds()
	b.ReportMetric(float64(sequences)/took, "sequences/cpu-s")
	b.ReportMetric(float64(steps)/took, "steps/cpu-s")
	b.ReportMetric(float64(stable)/took, "stable-sequences/cpu-s")
}
