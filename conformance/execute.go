package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/conformance/target"
)

// manner is how an attempt is made.
type manner struct {
	recording bool    // there is no expected text
	stretch   float64 // by how much slower than usual time passes; 0 is not
}

// attempt runs the scenario once. Each, called after every block with its text, ends the attempt by returning false. The groups that
// could not be removed are returned.
func (s *Scenario) attempt(ctx context.Context, tg target.Target, group string, how manner, each func(block int, got []string) bool) ([]string, error) {
	r := newRun(ctx, tg, group)
	if how.recording {
		r.recording = true
		r.quiet = max(3*r.quiet, 300*time.Millisecond)
		r.caps.Settle = r.quiet
		r.caps.Scale = scale(r.caps)
	}
	if how.stretch > 0 {
		r.caps.Scale *= how.stretch
	}
	err := r.all(s, each)
	if _, virtual := tg.(Chooser); virtual {
		return nil, err // it forgets everything before the next attempt
	}
	return r.cleanUp(), err
}

func (r *run) all(s *Scenario, each func(int, []string) bool) error {
	for i, b := range s.File.Blocks {
		var expected []*script.Variant
		if !r.recording {
			expected = candidates(b, r.caps.Release)
		}
		got, err := r.exec(b, expected)
		if err != nil {
			return err
		}
		if !each(i, got) {
			return nil
		}
	}
	return nil
}

// secondTry is by how much slower a scenario is run again.
const secondTry = 2.5

// judge runs the scenario on a target and compares. On a network a failure that comes after time has passed may be that of a machine
// which was too busy to notice a timer in time: the scenario is run again, slower, and that run counts.
func (s *Scenario) judge(ctx context.Context, tg target.Target, hasty bool, group func() string) Result {
	res := s.try(ctx, tg, group(), 0)
	if res.Status != Fail || hasty || tg.Capabilities().Virtual || !s.timed(res.Failure.Block) {
		return res
	}
	again := s.try(ctx, tg, group(), secondTry)
	again.Leftover = append(res.Leftover, again.Leftover...)
	switch again.Status {
	case Pass:
		again.Unsteady = res.Failure
		return again
	case Fail:
		return again
	default: // it could not be run again
		res.Leftover = again.Leftover
		return res
	}
}

// timed reports whether time passes in the first n blocks.
func (s *Scenario) timed(n int) bool {
	for _, b := range s.File.Blocks[:n] {
		for _, c := range b.Commands {
			if c.Verb == "advance" {
				return true
			}
		}
	}
	return false
}

func (s *Scenario) try(ctx context.Context, tg target.Target, group string, stretch float64) Result {
	res := Result{Scenario: s.Name, Rules: s.File.Rules, Status: Pass}
	release := tg.Capabilities().Release
	var err error
	res.Leftover, err = s.attempt(ctx, tg, group, manner{stretch: stretch}, func(i int, got []string) bool {
		res.Blocks++
		b := s.File.Blocks[i]
		expected := candidates(b, release)
		if accepted(expected, got) != nil {
			return true
		}
		res.Status = Fail
		res.Failure = s.failure(i, expected[0], got)
		res.Failure.Others = others(b, expected, got)
		return false
	})
	return res.ended(ctx, err)
}

// ended files an error of the attempt.
func (res Result) ended(ctx context.Context, err error) Result {
	var skip *skipError
	switch {
	case err == nil:
	case errors.As(err, &skip):
		res.Failure = nil
		res.Status, res.Reason = Skip, skip.reason
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil:
		res.Status, res.Reason = Broken, fmt.Sprintf("not at its end in time, after %d blocks", res.Blocks)
	default:
		res.Status, res.Reason = Broken, err.Error()
	}
	return res
}

// failure describes a block whose text differs.
func (s *Scenario) failure(i int, expected *script.Variant, got []string) *Failure {
	b := s.File.Blocks[i]
	f := &Failure{Scenario: s.Name, Block: i + 1, Line: b.Line, Rules: s.rules(i), Expected: expected.Texts(), Got: got}
	f.Class = class(f.Rules)
	f.Text = s.excerpt(i, expected, got)
	return f
}

// rules are those that the block is about: named above it, else the scenario's.
func (s *Scenario) rules(i int) []string {
	if own := s.File.Blocks[i].Rules; len(own) > 0 {
		return own
	}
	return s.File.Rules
}
