package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"github.com/muster-kafka/muster/internal/verdict"
)

// outDir is where artefacts of failures are kept.
const outDir = "muster-out"

// session is one run of verify: what its judges share.
type session struct {
	progress *progress
	stdout   io.Writer // what a dry run finds
	seed     uint64
	budget   time.Duration // for the judges that have no end of their own
	slow     bool          // scenarios that wait for minutes too
	called   invocation
	out      string // folder for artefacts of failures

	mu      sync.Mutex
	verdict *verdict.Verdict
}

// tell changes the verdict; judges may run side by side.
func (s *session) tell(change func(*verdict.Verdict)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s.verdict)
}

// judge is one of the judges at work on one target. It hands in what it finds as it goes; its error says that the target or the
// environment gave way.
type judge struct {
	name verdict.Judge
	run  func(context.Context, *session) error
}

// stage is a set of judges that may run side by side.
type stage []judge

// run runs the stages one after the other, until one is interrupted or finds its target gone.
func (s *session) run(ctx context.Context, stages []stage) {
	for _, st := range stages {
		var all sync.WaitGroup
		errs := make([]error, len(st))
		for i, j := range st {
			all.Go(func() { errs[i] = s.guarded(ctx, j) })
		}
		all.Wait()
		for i, err := range errs {
			s.ended(ctx, st[i].name, err)
		}
		if errors.Join(errs...) != nil {
			return
		}
	}
}

func (s *session) ended(ctx context.Context, name verdict.Judge, err error) {
	s.tell(func(v *verdict.Verdict) {
		var own *panicError
		switch {
		case err == nil:
			v.Finish(name)
		case ctx.Err() != nil:
			v.CannotTell("%s: interrupted", name)
		case errors.As(err, &own):
			v.CannotTell("%s: %v", name, err)
		default:
			v.TargetFailed("%s: %v", name, err)
		}
	})
}

// guarded runs a judge; a fault of Muster's own must not cost what the others have found.
func (s *session) guarded(ctx context.Context, j judge) error {
	began := time.Now()
	defer func() { s.tell(func(v *verdict.Verdict) { v.Took(j.name, time.Since(began)) }) }()
	return caught(func() error { return j.run(ctx, s) })
}

// caught turns a panic into an error.
func caught(do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &panicError{r, debug.Stack()}
		}
	}()
	return do()
}

type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string {
	return fmt.Sprintf("Muster itself failed, please report it: %v\n%s", e.value, e.stack)
}
