package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/model/classic"
)

// manner is how an attempt is made.
type manner struct {
	recording bool    // there is no expected text
	stretch   float64 // by how much slower than usual time passes; 0 is not
	health    *health // of the suite; may be nil
	subjects  *subjects

	unpromised bool // as recording, but no slower: nobody knows yet what comes
}

// attempt runs the scenario once. Each, called after every block with its text, ends the attempt by returning false. The groups that
// could not be removed are returned.
func (s *Scenario) attempt(ctx context.Context, tg target.Target, group string, how manner, each func(r *run, block int, got []string) bool) ([]string, error) {
	group, err := tg.Capabilities().Named(ctx, group)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	r := newRun(ctx, tg, group)
	if how.health != nil {
		r.health = how.health
	}
	r.delays, r.expires = s.File.Profile == DelayProfile, s.File.Profile == RetentionProfile
	r.recording, r.unpromised = how.recording, how.unpromised
	if how.recording && !r.delays { // the broker's delay does not wait for a careful recorder
		r.quiet = max(3*r.quiet, 300*time.Millisecond)
		r.caps.Settle = r.quiet
	}
	r.caps.Scale = s.scale(r.caps)
	if how.stretch > 0 && s.File.Profile == "" {
		r.caps.Scale *= how.stretch
		r.quiet = time.Duration(float64(r.quiet) * how.stretch)
		r.patience = time.Duration(float64(r.patience) * how.stretch)
	}
	r.strain = s.strain(r.caps)
	if s.File.Profile == RestartProfile {
		r.gate = enter(tg)
		defer r.gate.leave()
	}
	err = r.all(s, each)
	if _, virtual := tg.(Chooser); virtual {
		return nil, err // it forgets everything before the next attempt
	}
	if undone := r.mend(); undone != nil {
		err = errors.Join(err, undone)
	}
	return r.cleanUp(), err
}

func (r *run) all(s *Scenario, each func(*run, int, []string) bool) error {
	for i, b := range s.File.Blocks {
		var expected []*script.Variant
		if !r.recording && !r.unpromised {
			expected = candidates(b, r.caps.Release)
		}
		got, err := r.exec(b, expected)
		if err != nil {
			return err
		}
		if r.stopped != nil && (r.recording || r.unpromised || r.asExpectedSoFar(got)) {
			return r.stopped // nothing that the target answered is to blame
		}
		if !each(r, i, got) {
			return nil
		}
		if r.stopped != nil {
			return r.stopped
		}
	}
	return nil
}

// asExpectedSoFar reports whether the lines before the command that could not be done are those of some expected text.
func (r *run) asExpectedSoFar(got []string) bool {
	n := slices.IndexFunc(r.rendered, func(l *line) bool { return l.req == nil && l.command == r.stopped.command })
	return n >= 0 && slices.ContainsFunc(r.expected, func(v *script.Variant) bool {
		for i := range n {
			if i >= len(v.Lines) || !v.Lines[i].Match(got[i]) {
				return false
			}
		}
		return true
	})
}

// secondTry is by how much slower a scenario is run again, and manyTries how often where an answer never came.
const (
	secondTry = 2.5
	manyTries = 3
)

// judge runs the scenario on a target and compares. On a network one failure proves nothing: a machine may have been too busy to notice a
// timer in time, or to answer. The scenario is run again, slower, and only what fails again counts.
func (s *Scenario) judge(ctx context.Context, tg target.Target, hasty bool, how manner, group func() string) Result {
	res := s.try(ctx, tg, group(), how)
	if hasty || tg.Capabilities().Virtual || res.Status != Fail && !res.cannot {
		return res
	}
	tries, proof := 1, res.proof
	again := func(strained int) Result {
		slow := how
		slow.stretch = s.slower(tg.Capabilities(), strained)
		next := s.try(ctx, tg, group(), slow)
		if next.Status == Skip { // longer timeouts are not allowed there
			left := next.Leftover
			next = s.try(ctx, tg, group(), how)
			next.Leftover = append(left, next.Leftover...)
		}
		next.Leftover = append(res.Leftover, next.Leftover...)
		res.Leftover = next.Leftover
		tries, proof = tries+1, cmp.Or(proof, next.proof)
		return next
	}
	if res.cannot {
		return again(0)
	}
	last := res.confirmed(again)
	return last.proven(proof, tries)
}

// proven is the result of all tries where one of them has shown what no delay explains: a commit that is lost now and then is lost.
func (res Result) proven(proof *Failure, tries int) Result {
	if proof == nil || slices.ContainsFunc(res.Failures(), isContract) {
		return res
	}
	proof.Note = more(proof.Note, fmt.Sprintf("It did not show in each of %d tries; but however busy target and machine are, what was acknowledged has to be there.", tries))
	if res.Status == Fail {
		res.Later, res.Unsteady = append(res.Later, proof), nil
		return res
	}
	res.Status, res.Reason, res.Failure, res.Unsteady = Fail, "", proof, nil
	return res
}

// confirmed repeats the scenario until the failure has shown again, or has not. An answer that never came, though it was waited for with
// patience, is looked for several times: a coordinator that loses one now and then is wrong as well. What only shows while this machine is too
// busy is held against nobody.
func (res Result) confirmed(again func(strained int) Result) Result {
	seen, tries := []*Failure{res.Failure}, 1
	if res.Failure.Missing != "" {
		tries = manyTries
	}
	for n := 1; n <= tries; n++ {
		next := again(len(seen) - len(unexcused(seen)))
		switch next.Status {
		case Pass:
			if n < tries {
				continue
			}
			next.Unsteady = res.Failure
			next.Unsteady.Note = more(next.Unsteady.Note, fmt.Sprintf("It failed so once and passed when it was run again, more slowly (%d of %d tries).", len(seen), n+1))
			return next
		case Fail:
			seen = append(seen, next.Failure)
			sure := unexcused(seen)
			if next.Failure.excuse == "" && (next.Failure.repeats(sure) || len(sure) > manyTries && next.Failure.torn == "") {
				return next.againLater(res)
			}
			tries = manyTries // another one each time, or always while the machine is too busy: it may be the machine
		case Skip: // it failed before it came to what the target cannot be asked, and not again
			next.Unsteady = res.Failure
			return next
		default:
			return next.open(res.Failure, "it failed and could not be run again to see whether that repeats: "+next.Reason)
		}
	}
	if f := seen[len(seen)-1]; f.torn != "" && f.excuse == "" {
		return res.scattered(f, len(seen))
	}
	return res.undecided(res.Failure, len(seen))
}

// unexcused are the failures that showed on a machine which kept up.
func unexcused(all []*Failure) []*Failure {
	return slices.DeleteFunc(slices.Clone(all), func(f *Failure) bool { return f.excuse != "" })
}

// undecided is the result of a scenario whose failure may be anybody's.
func (res Result) undecided(f *Failure, tries int) Result {
	return res.open(f, fmt.Sprintf("it failed in each of %d tries, and this machine was too busy to say whose fault that is: %s", tries, cmp.Or(f.excuse, "at other tries than the first")))
}

// open is the result of a scenario that could not be judged, though something failed once.
func (res Result) open(f *Failure, reason string) Result {
	res.Status, res.Reason, res.Failure, res.Later, res.Unsteady = Broken, reason, nil, nil, f
	return res
}

// againLater keeps of the later failures those that an earlier try had too.
func (res Result) againLater(earlier Result) Result {
	kept := res.Later[:0:0]
	for _, f := range res.Later {
		i := slices.IndexFunc(earlier.Later, func(e *Failure) bool { return e.Block == f.Block })
		switch {
		case i < 0:
			res.Unsteady = f
		case f.excuse != "" && earlier.Later[i].excuse != "":
			return res.undecided(f, 2)
		default:
			kept = append(kept, f)
		}
	}
	for _, e := range earlier.Later {
		if !slices.ContainsFunc(kept, func(f *Failure) bool { return f.Block == e.Block }) {
			res.Unsteady = e
		}
	}
	res.Later = kept
	return res
}

func (s *Scenario) try(ctx context.Context, tg target.Target, group string, how manner) Result {
	res := Result{Scenario: s.Name, Rules: s.File.Rules, Status: Pass}
	release := tg.Capabilities().Release
	var err error
	res.Leftover, err = s.attempt(ctx, tg, group, how, func(r *run, i int, got []string) bool {
		res.Blocks++
		return s.compare(&res, r, i, candidates(s.File.Blocks[i], release), got)
	})
	res = res.ended(ctx, err)
	s.file(ctx, &res, release, how.subjects)
	return res
}

// file says what the failures are about. A broken contract ends the scenario: what was seen after it is a consequence. After a mere difference one counts
// that is broken.
func (s *Scenario) file(ctx context.Context, res *Result, release string, m *subjects) {
	if res.Failure == nil {
		return
	}
	if m == nil {
		m = newSubjects()
	}
	tell := func(f *Failure) {
		b := s.File.Blocks[f.Block-1]
		expected := candidates(b, release)
		others := alike(b, expected, f.Got)
		if len(others) == 0 { // whoever wrote down another release's text has said what it is about
			f.Rules = m.of(ctx, s, release, f, expected[0])
		}
		f.Class = class(f.Rules)
		f.resembles(others, expected[0])
	}
	later := res.Later
	res.Later = nil
	if tell(res.Failure); isContract(res.Failure) {
		return
	}
	for _, f := range later {
		if !f.lost {
			tell(f)
		}
		if isContract(f) {
			res.Later = []*Failure{f}
			return
		}
	}
}

// compare looks at a block's text and reports whether the scenario goes on.
func (s *Scenario) compare(res *Result, r *run, i int, expected []*script.Variant, got []string) bool {
	agrees := accepted(expected, got) != nil
	if !agrees && res.Failure == nil {
		res.Status = Fail
		res.Failure = s.failure(i, expected[0], got)
		res.Failure.desert(r, expected[0])
		res.Failure.tear(r)
		res.Failure.strained(r)
		return !s.loses(res, r, i, expected[0], got) && r.goesOn(expected[0], got)
	}
	if res.Failure == nil {
		return true
	}
	if s.loses(res, r, i, expected[0], got) {
		return false
	}
	if agrees || r.onlyFetches(expected[0], got) {
		return true
	}
	f := s.failure(i, expected[0], got)
	f.Note, f.later = after(res.Failure), true
	f.desert(r, expected[0])
	f.tear(r)
	f.strained(r)
	res.Later = append(res.Later, f)
	return r.goesOn(expected[0], got)
}

// loses reports, after a difference, whether a fetch does not show what was acknowledged: fetch.committed.
func (s *Scenario) loses(res *Result, r *run, i int, expected *script.Variant, got []string) bool {
	if len(r.lacking) == 0 {
		return false
	}
	f := s.failure(i, expected, got)
	f.Rules = []string{classic.FetchCommitted.Rule().ID}
	f.Class = class(f.Rules)
	f.later, f.lost = true, true
	var texts []string
	for _, l := range r.lacking {
		texts = append(texts, l.text)
		f.sure = f.sure || l.sure && s.File.Profile == "" // nothing was done to the target that could have taken it
	}
	f.Note = after(res.Failure) + ": " + strings.Join(texts, "; ") + "."
	res.Later = append(res.Later, f)
	if f.sure {
		res.proof = f
	}
	return true
}

func after(f *Failure) string { return fmt.Sprintf("after a difference at line %d", f.Line) }

// desert notes that all that differs is an answer which never came.
func (f *Failure) desert(r *run, expected *script.Variant) {
	if !r.deserted {
		return
	}
	if f.Missing = missing(expected, f.Got); f.Missing != "" {
		f.Note = more(f.Note, fmt.Sprintf("The answer %q never came within %s, though the connection stayed open and the target answered DescribeGroups meanwhile.", f.Missing, r.patience.Round(100*time.Millisecond)))
	}
}

// ended files an error of the attempt.
func (res Result) ended(ctx context.Context, err error) Result {
	var skip *skipError
	var cannot *cannotError
	switch {
	case err == nil:
	case errors.As(err, &cannot):
		if res.Failure == nil { // what differs before it is a failure in its own right
			res.Status, res.Reason, res.cannot = Broken, err.Error(), true
		}
	case errors.As(err, &skip):
		if res.Failure == nil {
			res.Status, res.Reason, res.Lacks = Skip, skip.reason, skip.lacks
		}
	case errors.Is(context.Cause(ctx), errOutOfTime):
		res.Failure, res.Later = nil, nil
		res.Status, res.Reason = Broken, fmt.Sprintf("%v, after %d of its blocks", errOutOfTime, res.Blocks)
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil:
		res.Failure, res.Later = nil, nil
		res.Status, res.Reason = Broken, fmt.Sprintf("not at its end in time, after %d blocks", res.Blocks)
	default:
		res.Failure, res.Later = nil, nil
		res.Status, res.Reason = Broken, err.Error()
	}
	return res
}

// failure describes a block whose text differs.
func (s *Scenario) failure(i int, expected *script.Variant, got []string) *Failure {
	b := s.File.Blocks[i]
	f := &Failure{Scenario: s.Name, File: s.ownFile(), Block: i + 1, Line: b.Line, Rules: s.rules(i), Expected: expected.Texts(), Got: got}
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
