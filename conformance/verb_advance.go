package conformance

import (
	"fmt"
	"time"

	"github.com/muster-kafka/muster/conformance/script"
)

func init() {
	register("advance", &verb{
		example: "advance 8s",
		words:   oneDuration,
		flags:   []string{"unscaled"},
		run:     runAdvance,
	})
	register("mark", &verb{example: "mark", run: func(r *run, _ *script.Command) error {
		r.marking = true
		return nil
	}})
	register("at", &verb{example: "at 2600ms", words: oneDuration, run: runAt})
}

func oneDuration(words []string) error {
	if len(words) != 1 {
		return fmt.Errorf("say how long")
	}
	d, err := time.ParseDuration(words[0])
	if err == nil && (d <= 0 || d > time.Hour) {
		err = fmt.Errorf("%s is not between 0 and an hour", words[0])
	}
	return err
}

// runAt lets time pass until so long after the request that the verb mark named: for timers of the broker that run on while the runner
// looks whether requests are parked.
func runAt(r *run, c *script.Command) error {
	clear(r.acked) // it may change what is committed
	if r.marked.IsZero() {
		return fmt.Errorf("nothing is marked; write mark before the request that time counts from")
	}
	d, _ := time.ParseDuration(c.Words[0])
	return r.sleepUntil(r.marked.Add(r.scaled(d)))
}

// runAdvance lets time pass, counted from the last request or answer: what the runner waited since then, to see that the target is
// silent, is a part of it.
func runAdvance(r *run, c *script.Command) error {
	if r.expires {
		clear(r.acked)
	}
	d, _ := time.ParseDuration(c.Words[0])
	if !c.Flag("unscaled") {
		d = r.scaled(d)
	}
	return r.sleepUntil(r.activity.Add(d))
}

func (r *run) sleepUntil(until time.Time) error {
	if err := r.sleep(r.ctx, until.Sub(r.clock.Now())); err != nil {
		return err
	}
	r.activity = until
	r.absorb()
	return nil
}
