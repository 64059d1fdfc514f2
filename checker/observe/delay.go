package observe

import (
	"time"

	"github.com/muster-kafka/muster/model/classic"
)

// delay is what numbers the initial rebalance delay has: how long it runs now, and how much of the first member's rebalance timeout is left
// to extend it into (delay.extends).
type delay struct{ wait, rest time.Duration }

// begin starts the initial delay of a group whose first member has the given rebalance timeout.
func (d *delay) begin(initial, rebalance time.Duration) time.Duration {
	*d = delay{wait: initial, rest: max(rebalance-initial, 0)}
	return d.wait
}

// extend starts it once more.
func (d *delay) extend(initial time.Duration) time.Duration {
	next := min(initial, d.rest)
	*d = delay{wait: next, rest: max(d.rest-d.wait, 0)}
	return next
}

// settle forgets the numbers of a delay that is over.
func (d *delay) settle(s *classic.State) {
	if !s.Initial {
		*d = delay{}
	}
}
