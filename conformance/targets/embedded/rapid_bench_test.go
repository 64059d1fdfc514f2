package embedded_test

import (
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/joint"
	"github.com/muster-kafka/muster/checker/lockstep"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
)

// BenchmarkRapid reports how many sequences of some 60 events the random judge makes in a second of the processor's time. In turn with it the
// same sequences are made and not judged (unjudged): what is left then is the generator, the clients and the coordinator with its log and
// timers, so that the ratio of the two says what judging costs, on a busy machine too.
func BenchmarkRapid(b *testing.B) {
	for kind := range uint64(2) {
		b.Run(embedded.WalkKinds[kind], func(b *testing.B) {
			var judged, unjudged speed
			for i := range b.N {
				judged.measure(b, kind, uint64(i+1), false)
				unjudged.measure(b, kind, uint64(i+1), true)
			}
			b.ReportMetric(judged.persecond(judged.sequences), "sequences/cpu-s")
			b.ReportMetric(judged.persecond(judged.steps), "steps/cpu-s")
			b.ReportMetric(unjudged.persecond(unjudged.sequences), "unjudged-sequences/cpu-s")
			b.ReportMetric(judged.persecond(judged.steps)/unjudged.persecond(unjudged.steps), "judged/unjudged")
		})
	}
}

// speed is what has been done in a time of the processor.
type speed struct {
	sequences, steps int
	took             time.Duration
}

func (s *speed) persecond(n int) float64 { return float64(n) / s.took.Seconds() }

func (s *speed) measure(b *testing.B, kind, seed uint64, blind bool) {
	machine, o := embedded.Walk(kind)
	o.Seed, o.Checks, o.Steps, o.Blind = seed, 400, 60, blind
	before := cpu(b)
	r := lockstep.Rapid(func() checker.Machine { return embedded.NewMachineWith(machine) }, o)
	s.took += cpu(b) - before
	if r.Err != nil || r.Violation != nil {
		b.Fatal(r.Err, r.Violation)
	}
	s.sequences, s.steps = s.sequences+r.Sequences, s.steps+r.Steps
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
