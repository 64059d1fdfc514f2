package campaign

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/linearize"
)

const (
	// explained failures at most: each takes time to be made small.
	explained = 5
	// explaining is how long that may take for one, beside finding the wrong answer.
	explaining = 12 * time.Second
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

func (c *campaign) leftOver(*cell) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Left++
}

// look judges one history.
func (c *campaign) look(ctx, telling context.Context, one *cell) {
	h := one.history
	if h.Header.Ran > 0 && float64(h.Header.StalledFor) > maxStalled*float64(h.Header.Ran) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.report.Stalled++
		return
	}
	v, profile, err := c.check(ctx, h)
	if err != nil {
		c.fail(fmt.Errorf("campaign: %w", err)) // a history that we have made ourselves
		return
	}
	if ctx.Err() != nil && v.Result != linearize.Illegal {
		c.leftOver(one)
		return
	}
	var illegal []string
	whole := c.keep(h, v)
	c.mu.Lock()
	for _, g := range v.Groups {
		if g.Result == linearize.Unknown && h.Header.Stall > c.o.Slack {
			c.report.Stalled++ // all that was on its way overlaps then, and any timer may have fired
			continue
		}
		c.report.add(h.Header.Seed, g, profile, whole)
		if g.Result == linearize.Illegal {
			illegal = append(illegal, g.Group)
		}
	}
	much := c.report.Illegal >= c.o.Enough
	c.mu.Unlock()
	for _, group := range illegal {
		c.explain(telling, h, group, whole)
	}
	if much {
		c.fail(errEnough)
	}
}

// keep saves a history that is not legal, unless enough are saved already, and returns where.
func (c *campaign) keep(h *history.History, v linearize.Verdict) string {
	c.mu.Lock()
	undecided, told := len(c.report.Reasons), len(c.report.Failures)
	c.mu.Unlock()
	if v.Result == linearize.Legal || v.Result == linearize.Unknown && (undecided >= maxReasons || h.Header.Stall > c.o.Slack) || v.Result == linearize.Illegal && told >= explained {
		return ""
	}
	file := filepath.Join(c.o.Out, fmt.Sprintf("history-%d.jsonl", h.Header.Seed))
	if err := h.WriteFile(file); err != nil {
		c.fail(err)
		return ""
	}
	return file
}

// check judges a history by the profile that has explained all so far, or by the first other that explains this one.
func (c *campaign) check(ctx context.Context, h *history.History) (linearize.Verdict, string, error) {
	c.mu.Lock()
	first := c.using
	c.mu.Unlock()
	h.Header.Profile = c.o.Profiles[first]
	v, err := linearize.Check(ctx, h, c.o.Limits)
	if err != nil || v.Result != linearize.Illegal {
		return v, h.Header.Profile, err
	}
	for i, profile := range c.o.Profiles {
		if i == first {
			continue
		}
		other := *h
		other.Header.Profile = profile
		if w, err := linearize.Check(ctx, &other, c.o.Limits); err != nil || w.Result == linearize.Legal {
			if err == nil {
				c.mu.Lock()
				c.using = i
				c.mu.Unlock()
			}
			return w, profile, err
		}
	}
	return v, h.Header.Profile, nil
}

// explain makes an illegal history small and saves it, unless enough of its kind are told already.
func (c *campaign) explain(ctx context.Context, h *history.History, group, whole string) {
	c.mu.Lock()
	told := len(c.report.Failures)
	c.mu.Unlock()
	if told >= explained || ctx.Err() != nil {
		c.untold()
		return
	}
	budget := explaining
	if end, ok := ctx.Deadline(); ok {
		budget = max(time.Second, min(budget, time.Until(end)/2))
	}
	f, err := linearize.Explain(ctx, h, group, linearize.Explaining{Limits: c.o.Limits, Out: c.o.Out, Budget: budget})
	if err != nil {
		c.fail(err)
		return
	}
	f.Whole = whole
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.Rule != "" && slices.ContainsFunc(c.report.Failures, func(old linearize.Failure) bool { return old.Rule == f.Rule }) {
		c.report.Untold++
		return
	}
	c.report.Failures = append(c.report.Failures, f)
}

func (c *campaign) untold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Untold++
}
