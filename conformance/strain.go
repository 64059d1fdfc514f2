package conformance

import (
	"context"
	"fmt"
	"time"

	"github.com/muster-kafka/muster/conformance/target"
)

// asleep is how late a wait of the runner may end before it says nothing of the target that an answer did not come.
const asleep = 500 * time.Millisecond

// awake is how late one may end on a machine that has time for the runner and for the target: a quiet one is late by a few milliseconds, one
// on which others keep all processors busy by hundreds now and then.
const awake = 50 * time.Millisecond

// prompt is how late any wait may end: timers and schedulers are no better on a quiet machine.
const prompt = 10 * time.Millisecond

// strain is how well this machine kept up with an attempt, by the runner's own measurements. A coordinator is not to be called wrong for what
// came too late, or was looked for too late, because nobody had the time to run it or us.
type strain struct {
	worst time.Duration // by how much a wait of the runner ended too late
	lost  time.Duration // by how much all waits did together; those of earlier blocks count less and less
	slow  time.Duration // how long, beyond what each may take, connections and answers took that nobody holds, whatever the coordinator thinks of them

	answer time.Duration // how long one of them may take
	spare  time.Duration // how late all may be together
}

// strain is that of an attempt before it begins. What a scenario has to spare is half the margin that it keeps from what timers would do, which
// shrinks with its time; where no time passes no timer is near. A profile's timers are the broker's own, which are short and not scaled.
func (s *Scenario) strain(caps target.Capabilities) strain {
	spare := time.Duration(float64(margin) * caps.Scale / 2)
	switch {
	case !s.timed():
		spare = asleep
	case s.File.Profile != "":
		spare = 2 * awake
	}
	spare = max(spare, awake)
	if !s.timed() {
		return strain{answer: caps.Slack, spare: spare}
	}
	// The slack is what the target's timers have. Where time is scaled until less is to spare, a few answers within it are what a timer overtakes.
	return strain{answer: min(caps.Slack, spare/4), spare: spare}
}

// slower is by how much a scenario is run more slowly another time. Where this machine could not keep up with the tries before, so many of them, it
// is given more time, but none has to have more to spare than a second.
func (s *Scenario) slower(caps target.Capabilities, strained int) float64 {
	const enough = time.Second
	caps.Scale = s.scale(caps) * secondTry
	more := float64(enough) / float64(s.strain(caps).spare)
	return secondTry * max(1, min(float64(strained), more))
}

// sleep lets time pass on the target's clock. Where it is over already, since an answer was waited for with patience, that is not the machine's
// doing.
func (r *run) sleep(ctx context.Context, d time.Duration) error {
	until := r.clock.Now().Add(max(0, d))
	if err := r.clock.Sleep(ctx, d); err != nil {
		return err
	}
	r.strain.woke(r.clock.Now().Sub(until))
	return nil
}

// woke notes by how much a wait ended late.
func (s *strain) woke(late time.Duration) {
	s.worst = max(s.worst, late)
	s.lost += max(0, late-prompt)
}

// answered notes how long a request took, or the connection for it.
func (s *strain) answered(took time.Duration) { s.slow += max(0, took-s.answer) }

// next begins another block: what was long ago is no longer why its text differs.
func (s *strain) next() { s.lost, s.slow = s.lost*3/4, s.slow*3/4 }

// stalled reports whether this machine has been too busy to say that a difference which does not repeat is the target's.
func (s *strain) stalled() bool { return s.worst > awake }

// excuse says what this machine, or the way to the target, did that may be why the text differs; empty if that cannot be.
func (s *strain) excuse() string {
	if s.lost+s.slow <= s.spare {
		return ""
	}
	return fmt.Sprintf("Muster's waits ended %s late and answers that nothing holds up came %s late, where %s are allowed for",
		s.lost.Round(time.Millisecond), s.slow.Round(time.Millisecond), s.spare.Round(time.Millisecond))
}

// strained notes how well this machine kept up until it differed.
func (f *Failure) strained(r *run) {
	f.excuse = r.strain.excuse()
	f.Stalled = r.strain.stalled() || f.excuse != ""
}
