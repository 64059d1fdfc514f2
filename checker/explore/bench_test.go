package explore

import (
	"context"
	"fmt"
	"testing"

	"github.com/muster-kafka/muster/model/classic"
)

func BenchmarkExplore(b *testing.B) {
	g := Group{Profile: classic.Java, Members: 3, Lists: []string{"ab", "b"}, AnySubset: true, WriteFailures: true, Offsets: true}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			var states, transitions int64
			for range b.N {
				r := Run(context.Background(), "", g.Machine, Options{Workers: workers})
				states, transitions = states+r.States, transitions+r.Transitions
			}
			b.ReportMetric(float64(states)/b.Elapsed().Seconds(), "states/s")
			b.ReportMetric(float64(transitions)/b.Elapsed().Seconds(), "transitions/s")
		})
	}
}
