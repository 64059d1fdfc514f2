package conformance

import (
	"fmt"
	"time"

	"github.com/muster-kafka/muster/conformance/script"
)

func init() {
	register("advance", &verb{
		example: "advance 8s",
		words: func(words []string) error {
			if len(words) != 1 {
				return fmt.Errorf("say how long")
			}
			d, err := time.ParseDuration(words[0])
			if err == nil && (d <= 0 || d > time.Hour) {
				err = fmt.Errorf("%s is not between 0 and an hour", words[0])
			}
			return err
		},
		flags: []string{"unscaled"},
		run:   runAdvance,
	})
}

// runAdvance lets time pass, counted from the last request or answer: what the runner waited since then, to see that the target is
// silent, is a part of it.
func runAdvance(r *run, c *script.Command) error {
	d, _ := time.ParseDuration(c.Words[0])
	if !c.Flag("unscaled") {
		d = r.scaled(d)
	}
	until := r.activity.Add(d)
	if err := r.clock.Sleep(r.ctx, until.Sub(r.clock.Now())); err != nil {
		return err
	}
	r.activity = until
	r.absorb()
	return nil
}
