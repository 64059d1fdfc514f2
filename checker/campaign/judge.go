package campaign

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/checker/traffic"
)

const (
	// explained failures at most: each takes time to be made small.
	explained = 5
	// explaining is how long that may take for one, beside finding the wrong answer.
	explaining = 12 * time.Second
	// patient is how many times longer a history may take to be judged while no other waits.
	patient = 4
)

// judge judges histories as they come, until there are no more. What is illegal may be told until the end.
func (c *campaign) judge(ctx context.Context, end time.Time) {
	telling, stop := context.WithDeadline(context.WithoutCancel(ctx), end)
	defer stop()
	for one := range c.ready {
		if ctx.Err() != nil {
			c.leftOver(one)
			continue
		}
		c.look(ctx, telling, one)
	}
}

func (c *campaign) leftOver(one *cell) {
	if one.of != nil {
		return // all of it comes yet
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Left++
}

func (c *campaign) threwAway() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Stalled++
}

// look judges one history.
func (c *campaign) look(ctx, telling context.Context, one *cell) {
	h := one.history
	if h.Header.Ran > 0 && float64(h.Header.StalledFor) > linearize.MaxStalled*float64(h.Header.Ran) {
		if one.of == nil {
			c.threwAway()
		}
		return
	}
	v, err := c.check(ctx, h)
	if err != nil {
		c.fail(fmt.Errorf("campaign: %w", err)) // a history that we have made ourselves
		return
	}
	if c.outlived(one, &v); len(v.Groups) == 0 || ctx.Err() != nil && v.Result != linearize.Illegal {
		c.leftOver(one)
		return
	}
	c.tardy(ctx, h, &v)
	known := map[string]bool{}
	if one.of != nil {
		v.Groups = slices.DeleteFunc(v.Groups, func(g linearize.GroupVerdict) bool { return g.Result != linearize.Illegal })
		if len(v.Groups) == 0 || !c.knows(one.of, v.Groups) {
			return
		}
	} else {
		known = c.whole(one)
	}
	c.cleaned(h, &v)
	var wrong []wrongGroup
	for _, g := range v.Groups {
		if apart := c.converges(one, g); (apart != nil || g.Result == linearize.Illegal) && !known[g.Group] {
			w := wrongGroup{group: g.Group, result: g.Result, apart: apart}
			if apart != nil {
				w.from = one.rec.At(apart.Began)
			}
			wrong = append(wrong, w)
		}
	}
	whole := c.keep(one, v, len(wrong) > 0)
	c.mu.Lock()
	for _, g := range v.Groups {
		if known[g.Group] {
			continue // it is counted, and told
		}
		if g.Result == linearize.Unknown && one.worst > c.o.Slack {
			c.report.Stalled++ // all that was on its way overlaps then, and any timer may have fired
			continue
		}
		c.report.add(h.Header.Seed, g, whole)
	}
	much := c.report.Illegal+c.report.Convergence.Apart >= c.o.Enough
	c.mu.Unlock()
	for _, w := range wrong {
		c.explain(telling, h, w, whole)
	}
	if much {
		c.fail(errEnough)
	}
}

// knows notes groups that are illegal by the beginning of a history, and says whether all of it is still to come.
func (c *campaign) knows(one *cell, illegal []linearize.GroupVerdict) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one.judged {
		return false
	}
	one.known = map[string]bool{}
	for _, g := range illegal {
		one.known[g.Group] = true
	}
	return true
}

// whole says which groups of a history are known to be illegal by its beginning; from now on that tells nothing new.
func (c *campaign) whole(one *cell) map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	one.judged = true
	return one.known
}

// wrongGroup is a group of which something is to be told.
type wrongGroup struct {
	group  string
	result linearize.Result
	apart  *traffic.Healed // why its clients are not together; nil where they are
	from   int64           // when they were left alone
}

// keep saves a history of which something is to be told, and returns where: each of these, whether or not it is told, since what is made small of
// it may show less than it does. Of those that could not be decided the first few are saved.
func (c *campaign) keep(one *cell, v linearize.Verdict, wrong bool) string {
	h := one.history
	c.mu.Lock()
	undecided := len(c.report.Reasons)
	c.mu.Unlock()
	switch {
	case wrong:
	case v.Result != linearize.Unknown, undecided >= maxReasons, one.worst > c.o.Slack:
		return ""
	}
	file := filepath.Join(c.o.Out, fmt.Sprintf("history-%d.jsonl", h.Header.Seed))
	if err := h.WriteFile(file); err != nil {
		c.unsaved(err)
		return ""
	}
	return file
}

// check judges a history by the profile that has explained all so far. A group that it does not explain is judged by the others: one that explains it
// clears it, and one that cannot tell leaves it undecided.
func (c *campaign) check(ctx context.Context, h *history.History) (linearize.Verdict, error) {
	c.mu.Lock()
	first := c.using
	c.mu.Unlock()
	h.Header.Profile = c.o.Profiles[first]
	limits := c.o.Limits
	if len(c.ready) == 0 {
		limits.Timeout *= patient
	}
	v, err := linearize.Check(ctx, h, limits)
	for i, profile := range c.o.Profiles {
		if err != nil || v.Result != linearize.Illegal {
			break
		}
		if i == first {
			continue
		}
		other := *h
		other.Header.Profile = profile
		var w linearize.Verdict
		if w, err = linearize.Check(ctx, &other, limits); err != nil {
			break
		}
		if w.Result == linearize.Legal {
			c.mu.Lock()
			c.report.refute(c.o.Profiles[first])
			c.using = i
			c.mu.Unlock()
		}
		v = kinder(v, w)
	}
	return v, err
}

// kinder takes of each group the kinder of two verdicts. The second lacks groups for which there was no time any more: nothing is known of these.
func kinder(v, w linearize.Verdict) linearize.Verdict {
	v.Groups = slices.Clone(v.Groups)
	for i := range v.Groups {
		if i >= len(w.Groups) {
			if v.Groups[i].Result == linearize.Illegal {
				v.Groups[i].Result, v.Groups[i].Reason, v.Groups[i].Late = linearize.Unknown, "there was no time left to judge it by another profile", true
			}
			continue
		}
		if v.Groups[i].Result == linearize.Illegal && w.Groups[i].Result != linearize.Illegal || v.Groups[i].Result == linearize.Unknown && w.Groups[i].Result == linearize.Legal {
			v.Groups[i] = w.Groups[i]
		}
	}
	v.Result = worst(v.Groups)
	return v
}

// worst is what is known of a history by its groups.
func worst(groups []linearize.GroupVerdict) linearize.Result {
	for _, result := range []linearize.Result{linearize.Illegal, linearize.Unknown} {
		if slices.ContainsFunc(groups, func(g linearize.GroupVerdict) bool { return g.Result == result }) {
			return result
		}
	}
	return linearize.Legal
}

// explain makes a wrong history small and saves it, unless enough of its kind are told already. The first is told whatever happens.
func (c *campaign) explain(ctx context.Context, h *history.History, w wrongGroup, whole string) {
	c.mu.Lock()
	told := len(c.report.Failures)
	c.mu.Unlock()
	if told >= explained || told > 0 && ctx.Err() != nil {
		c.untold()
		return
	}
	budget := explaining
	if end, ok := ctx.Deadline(); ok {
		budget = max(time.Second, min(budget, time.Until(end)/2))
	}
	o := linearize.Explaining{Limits: c.o.Limits, Out: c.o.Out, Whole: whole, Budget: budget, Undecided: w.result != linearize.Illegal}
	if w.apart != nil {
		o.Apart = &linearize.Apart{From: w.from, Took: w.apart.Took, Why: w.apart.Why}
	}
	f, err := linearize.Explain(ctx, h, w.group, o)
	if err != nil {
		c.unsaved(err)
	}
	f.Whole = whole
	if whole != "" {
		f.Text += fmt.Sprintf("The whole history, from which nothing is left out: %s\n", whole)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.Rule != "" && slices.ContainsFunc(c.report.Failures, func(old linearize.Failure) bool { return old.Rule == f.Rule }) {
		c.report.Same++
		return
	}
	c.report.Failures = append(c.report.Failures, f)
}

// unsaved notes a file that could not be written. It has no bearing on what was found.
func (c *campaign) unsaved(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text := err.Error(); !slices.Contains(c.report.Unsaved, text) {
		c.report.Unsaved = append(c.report.Unsaved, text)
	}
}

func (c *campaign) untold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Untold++
}
