//go:build unix

package explore

import (
	"context"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/muster-kafka/muster/model/classic"
)

// BenchmarkExplore compares one worker with two within one run, turn by turn, since a machine that does other things too is not as fast at one
// time as at another. Numbers by CPU time are medians of the rounds. Those by wall time are of the rounds that were disturbed least, and tell
// something only where two processors are nearly idle.
func BenchmarkExplore(b *testing.B) {
	for _, g := range []Group{
		{Name: "core", Profile: classic.Java, Members: 3, Lists: []string{"a"}, Static: true, Delay: true, Failover: true, AnySubset: true, WriteFailures: true, WriteInFlight: true},
		{Name: "requests", Profile: classic.Java, Members: 3, Lists: []string{"ab", "b"}, AnySubset: true, WriteFailures: true, Offsets: true},
	} {
		b.Run(g.Name, func(b *testing.B) {
			var one, two []round
			for range max(b.N, 7) {
				one, two = append(one, explored(b, g, 1)), append(two, explored(b, g, 2))
			}
			cpu, wall := func(r round) float64 { return r.cpu }, func(r round) float64 { return r.wall }
			n := one[0].transitions
			b.ReportMetric(n/median(one, cpu), "transitions/cpu-s")
			b.ReportMetric(median(two, cpu)/median(one, cpu), "cpu-two/one")
			b.ReportMetric(n/best(one, wall), "transitions/s-one")
			b.ReportMetric(n/best(two, wall), "transitions/s-two")
			b.ReportMetric(best(one, wall)/best(two, wall), "two/one")
			b.ReportMetric(0, "ns/op") // of all rounds, which says nothing
		})
	}
}

// round is one search, in seconds.
type round struct{ transitions, cpu, wall float64 }

func explored(b *testing.B, g Group, workers int) round {
	start, cpu := time.Now(), cpuTime(b)
	r := Run(context.Background(), g.Name, g.Machine, Options{Workers: workers})
	if !r.Ok() {
		b.Fatal(r)
	}
	return round{float64(r.Transitions), (cpuTime(b) - cpu).Seconds(), time.Since(start).Seconds()}
}

func median(rounds []round, of func(round) float64) float64 {
	all := sorted(rounds, of)
	return all[len(all)/2]
}

func best(rounds []round, of func(round) float64) float64 { return sorted(rounds, of)[0] }

func sorted(rounds []round, of func(round) float64) (all []float64) {
	for _, r := range rounds {
		all = append(all, of(r))
	}
	slices.Sort(all)
	return all
}

// cpuTime is what the process has taken so far, in user mode.
func cpuTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano())
}
