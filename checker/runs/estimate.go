package runs

import (
	"fmt"
	"time"

	"github.com/muster-kafka/muster/checker/explore"
)

// What a run takes beyond its table: each worker remembers what becomes of requests that wait.
const bytesAnyway = 16 << 20

// healingBytes is what a run whose clients heal remembers for each state, by each worker.
const healingBytes = 220

// jointBytes is what a joint state takes: the coordinator itself is kept until it is expanded.
const jointBytes = 4 << 10

// BytesPerState is what a state of the run takes, about.
func (r Run) BytesPerState(workers int) int64 {
	if r.Joint != nil {
		return jointBytes
	}
	if r.Clients != nil && r.Clients.Converge {
		return explore.BytesPerState + healingBytes*int64(workers)
	}
	return explore.BytesPerState
}

// Fits says why a run cannot be made in so much memory to its end, or to a bound on its states (0 is none); nil where it can, or where nobody
// knows.
func (r Run) Fits(limit uint64, workers int, most int64) error {
	states, what := most, fmt.Sprintf("%s may reach %d states", r.Name, most)
	if k, ok := r.Known(); ok && (most == 0 || k.States <= most) {
		states, what = k.States, fmt.Sprintf("%s has %d states", r.Name, k.States)
	}
	each := r.BytesPerState(workers)
	need := bytesAnyway*int64(workers) + states*each
	if states == 0 || uint64(need) <= limit {
		return nil
	}
	return fmt.Errorf("%s, which take %d bytes each: about %s with all that is remembered, and %s are allowed; raise --max-memory, take a smaller run, or say --until states=N with fewer",
		what, each, Mebibytes(uint64(need)), Mebibytes(limit))
}

// Mebibytes tells bytes.
func Mebibytes(bytes uint64) string { return fmt.Sprintf("%d MiB", bytes>>20) }

// Transitions a second that one worker judges, about: of a group, of clients, and of a coordinator beside the specification.
const (
	groupRate, clientsRate, jointRate = 2_000_000, 500_000, 150_000
)

// About is how long the run takes with so many workers on a quiet machine; 0 where nobody knows.
func (r Run) About(workers int) time.Duration {
	k, ok := r.Known()
	if !ok {
		return 0
	}
	rate := int64(groupRate)
	switch {
	case r.Clients != nil:
		rate = clientsRate
	case r.Joint != nil:
		rate = jointRate
	}
	return time.Duration(float64(k.Transitions) / float64(rate*int64(workers)) * float64(time.Second))
}
