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

// BenchmarkExplore compares one worker with two within one run, turn by turn, since a machine that does other things as well is not as fast at
// one time as at another. Each number is the median of the rounds; those by CPU time are what the machine would do if nothing else ran.
func BenchmarkExplore(b *testing.B) {
	for _, g := range []Group{
		{Name: "core", Profile: classic.Java, Members: 3, Lists: []string{"a"}, Static: true, Delay: true, Failover: true, AnySubset: true, WriteFailures: true, WriteInFlight: true},
		{Name: "requests", Profile: classic.Java, Members: 3, Lists: []string{"ab", "b"}, AnySubset: true, WriteFailures: true, Offsets: true},
	} {
		b.Run(g.Name, func(b *testing.B) {
			var one, two []round
			for range b.N {
				one, two = append(one, explored(b, g, 1)), append(two, explored(b, g, 2))
			}
			b.ReportMetric(median(one, func(r round) float64 { return r.transitions / r.cpu }), "transitions/cpu-s")
			b.ReportMetric(median(one, func(r round) float64 { return r.transitions / r.wall }), "transitions/s")
			b.ReportMetric(median(two, func(r round) float64 { return r.transitions / r.wall }), "transitions/s-two")
			b.ReportMetric(median(two, func(r round) float64 { return r.transitions / r.wall })/median(one, func(r round) float64 { return r.transitions / r.wall }), "two/one")
			b.ReportMetric(median(two, func(r round) float64 { return r.cpu })/median(one, func(r round) float64 { return r.cpu }), "cpu-two/cpu-one")
			b.ReportMetric(0, "ns/op") // of three searches, which says nothing
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
	var all []float64
	for _, r := range rounds {
		all = append(all, of(r))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// cpuTime is what the process has taken so far, in user mode.
func cpuTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano())
}
