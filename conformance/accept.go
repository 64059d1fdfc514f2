package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/muster-kafka/muster/conformance/script"
)

// maxRuns bounds how often a scenario is run on a Chooser.
const maxRuns = 4096

// acceptor looks for answers to a Chooser's questions with which it gives a scenario's text: it runs the scenario again and again,
// depth first, each time with another prefix of answers.
type acceptor struct {
	s  *Scenario
	tg Chooser

	furthest int // the last block that some run reached
	failed   *Failure
	seen     map[string][]string // text so far, block by block: the first text of the next block
	loose    *Failure
	lenient  bool // does not look for looseness

	reached int      // the last block that was gone through, for those that cite
	cited   []string // what decided it

	decides func(whole bool, blocks []decision) // hears after each run what the blocks were decided by that gave their text; may be nil
	bound   int                                 // runs at most; 0 is maxRuns
}

// choices are the answers of one run: what was chosen, of how many.
type choices struct {
	prefix []int
	chosen []int
	of     []int
}

func (c *choices) choose(n int) int {
	pick := 0
	if i := len(c.chosen); i < len(c.prefix) {
		pick = min(c.prefix[i], n-1)
	}
	c.chosen, c.of = append(c.chosen, pick), append(c.of, n)
	return pick
}

// accept judges the scenario on a Chooser: it passes if one run gives the expected text to the end, and if wherever two runs differ
// for the first time the expected line says by "# free:" that they may.
func (s *Scenario) accept(ctx context.Context, tg Chooser) Result {
	a := &acceptor{s: s, tg: tg, furthest: -1, seen: map[string][]string{}}
	return a.accept(ctx)
}

func (a *acceptor) accept(ctx context.Context) Result {
	res := Result{Scenario: a.s.Name, Rules: a.s.File.Rules, Status: Pass}
	stack, survived, runs := [][]int{nil}, false, 0
	var stopped error
	for len(stack) > 0 {
		if runs++; runs > cmp.Or(a.bound, maxRuns) {
			res.Status = Broken
			res.Reason = fmt.Sprintf("the specification leaves more choices than %d runs can try; name roles, or make the scenario shorter", cmp.Or(a.bound, maxRuns))
			return res
		}
		c := &choices{prefix: stack[len(stack)-1]}
		stack = stack[:len(stack)-1]
		whole, err := a.run(ctx, c)
		if cannot := (*cannotError)(nil); errors.As(err, &cannot) {
			stopped, whole = err, false // this run says nothing
		} else if err != nil {
			return res.ended(ctx, err)
		}
		survived = survived || whole
		if told, ok := a.tg.(Told); ok {
			told.Ended(whole)
		}
		for i := len(c.chosen) - 1; i >= len(c.prefix); i-- {
			for other := c.of[i] - 1; other >= 1; other-- {
				next := append(append([]int(nil), c.chosen[:i]...), other)
				stack = append(stack, next)
			}
		}
	}
	res.Blocks = a.furthest + 1
	switch {
	case a.loose != nil:
		res.Status, res.Failure = Fail, a.loose
	case !survived && a.failed == nil:
		return res.ended(ctx, stopped)
	case !survived:
		res.Status, res.Failure = Fail, a.failed
		if runs > 1 {
			res.Failure.Note = fmt.Sprintf("none of the %d runs that the specification allows gives the expected text", runs)
		}
	}
	return res
}

// run runs the scenario once and reports whether its whole text was the expected one.
func (a *acceptor) run(ctx context.Context, c *choices) (bool, error) {
	a.tg.Reset(c.choose)
	history, whole := "", true
	var decided []decision
	_, err := a.s.attempt(ctx, a.tg, a.s.Name, manner{}, func(r *run, i int, got []string) bool {
		b := a.s.File.Blocks[i]
		var by decision
		if citing, ok := a.tg.(Citing); ok {
			if by = r.decision(citing); i >= a.reached {
				a.reached, a.cited = i, by.all
			}
		}
		expected := candidates(b, a.tg.Capabilities().Release)
		if !a.lenient {
			a.compare(i, history, expected, got)
		}
		history += strings.Join(got, "\n") + "\n\n"
		match := accepted(expected, got)
		if match == nil {
			whole = false
			if i > a.furthest {
				a.furthest, a.failed = i, a.s.failure(i, expected[0], got)
				a.failed.resembles(alike(b, expected, got), expected[0])
			}
			return false
		}
		decided = append(decided, by)
		return true
	})
	if err == nil && whole {
		a.furthest = len(a.s.File.Blocks) - 1
	}
	if a.decides != nil {
		a.decides(err == nil && whole, decided)
	}
	return whole, err
}

// compare finds looseness: a run that agreed with an earlier one so far and gives another text now, in a line that is not marked.
func (a *acceptor) compare(i int, history string, expected []*script.Variant, got []string) {
	first, again := a.seen[history]
	if !again {
		a.seen[history] = got
		return
	}
	if a.loose != nil {
		return
	}
	for n := range max(len(first), len(got)) {
		if n < len(first) && n < len(got) && first[n] == got[n] || marked(expected, n) {
			continue
		}
		f := a.s.failure(i, expected[0], got)
		f.Note = fmt.Sprintf("the specification leaves line %d of this block open: another run gives %q. Mark the line with # free: RULE, or name the choice with roles",
			n+1, lineOr(first, n))
		a.loose = f
		return
	}
}

func marked(expected []*script.Variant, line int) bool {
	for _, v := range expected {
		if line < len(v.Lines) && v.Lines[line].Free != "" {
			return true
		}
	}
	return false
}

func lineOr(lines []string, n int) string {
	if n < len(lines) {
		return lines[n]
	}
	return "no such line"
}
