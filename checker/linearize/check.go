package linearize

import (
	"context"
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/model/classic"
)

// Result is what is known of a history.
type Result uint8

const (
	// Unknown: nothing was proven, either way. It is never a pass.
	Unknown Result = iota
	// Legal: the specification explains everything that was recorded.
	Legal
	// Illegal: it does not.
	Illegal
)

func (r Result) String() string { return [...]string{"unknown", "legal", "illegal"}[r] }

// Limits bound a check. Zero values mean the defaults.
type Limits struct {
	Timeout      time.Duration // for each group; default 30 s
	Operations   int           // for each group; what comes later is not judged, and said so; default 10 000
	Explanations int           // at once, in one group; default 4096

	Broken []classic.RuleID // rules that the model breaks on purpose, to see who notices

	all   int  // operations of all groups together: thousands of groups, each asked for by thousands of ListGroups, are a small file. Default 1 million
	blind bool // no evidence is looked for; for tests, as the verdict has to be the same
	forks bool // each call of unknown effect doubles the explanations, and they are never merged again; for tests that measure
	apart bool // explanations that differ in their windows are not merged; for tests that ask why something is explained
}

func (l Limits) withDefaults() Limits {
	if l.Timeout <= 0 {
		l.Timeout = 30 * time.Second
	}
	if l.Operations <= 0 {
		l.Operations = 10_000
	}
	if l.all <= 0 {
		l.all = 1_000_000
	}
	if l.Explanations <= 0 {
		l.Explanations = 4096
	}
	return l
}

// Verdict is what a check found.
type Verdict struct {
	Result   Result
	Reason   string            // why it is Unknown
	Groups   []GroupVerdict    // by name
	Problems []history.Problem // of a history that was read from a file
	Elapsed  time.Duration
}

// GroupVerdict is the verdict on one group.
type GroupVerdict struct {
	Group      string
	Profile    string // by which it was judged
	Result     Result
	Reason     string // why it is Unknown
	Late       bool   // it is Unknown for want of time: with more of it, more may be known
	Calls      int
	Operations int // calls after splitting
	Overlap    int // the most operations that were open at one instant
	Elapsed    time.Duration
	Cleaned    bool // it is Legal only if the target has removed the group, as it had neither members nor offsets (history.Header.Cleanup)

	Exercised Exercised // of a Legal one
}

// CheckFile judges a saved history again.
func CheckFile(ctx context.Context, path string, limits Limits) (Verdict, *history.History, error) {
	h, problems, err := history.ReadFile(ctx, path)
	if err != nil {
		return Verdict{Problems: problems, Reason: err.Error()}, nil, err
	}
	v, err := Check(ctx, h, limits)
	v.Problems = problems
	if len(problems) > 0 && v.Result == Legal {
		v.Result, v.Reason = Unknown, "legal as far as the record can be trusted: "+problems[len(problems)-1].Reason
	}
	return v, h, err
}

// Check judges a history, group by group. The error is about a history that cannot be judged at all.
func Check(ctx context.Context, h *history.History, limits Limits) (Verdict, error) {
	limits = limits.withDefaults()
	started := time.Now()
	config, err := configOf(h, limits.Broken)
	if err != nil {
		return Verdict{Reason: err.Error()}, err
	}
	parts, err := divide(ctx, h, limits)
	if err != nil && ctx.Err() != nil {
		return Verdict{Reason: stopped(ctx).Error()}, nil
	}
	if err != nil {
		return Verdict{Reason: err.Error()}, err
	}
	v := Verdict{Result: Legal}
	for _, group := range parts.groups() {
		if ctx.Err() != nil {
			if v.Result == Legal {
				v.Result, v.Reason = Unknown, stopped(ctx).Error()
			}
			break
		}
		p := parts.partition(group)
		g := GroupVerdict{Group: group, Calls: p.made}
		if share := stalled(&h.Header); share > MaxStalled {
			g.Reason = fmt.Sprintf("the run was stalled for %.0f %% of its time; run it again on a machine with less to do", share*100)
		} else {
			g = checkGroup(ctx, config, p, limits)
		}
		g.Profile = h.Header.Profile
		v.Groups = append(v.Groups, g)
		switch {
		case g.Result == Illegal:
			v.Result, v.Reason = Illegal, ""
		case g.Result == Unknown && v.Result == Legal:
			v.Result, v.Reason = Unknown, fmt.Sprintf("group %q: %s", g.Group, g.Reason)
		}
	}
	if len(v.Groups) == 0 {
		v.Result, v.Reason = Unknown, "the history holds no call about a group"
	}
	v.Elapsed = time.Since(started)
	return v, nil
}

func stopped(ctx context.Context) error { return fmt.Errorf("stopped: %w", context.Cause(ctx)) }

// prepare is what a check of one group of a history needs.
func prepare(h *history.History, group string, limits Limits) (observe.Config, *partition, error) {
	config, err := configOf(h, limits.Broken)
	if err != nil {
		return config, nil, err
	}
	parts, err := divide(context.Background(), h, limits.withDefaults())
	if err != nil {
		return config, nil, err
	}
	if _, known := parts.by[group]; !known {
		return config, nil, fmt.Errorf("no call is about group %q", group)
	}
	return config, parts.partition(group), nil
}

// MaxStalled is the share of a run that may be stalled before nothing can be said. What stood still excuses only what was due just then, so it may be large: the rest
// of the run is judged as ever.
const MaxStalled = 0.5

func stalled(h *history.Header) float64 {
	if h.Ran <= 0 {
		return 0
	}
	return float64(h.StalledFor) / float64(h.Ran)
}

// checkGroup runs porcupine over one group. Each group has a search of its own, so that its time is its own and a slow one does not
// delay what another has found.
func checkGroup(ctx context.Context, config observe.Config, p *partition, limits Limits) GroupVerdict {
	g := GroupVerdict{Group: p.group, Calls: p.made}
	g.Operations, g.Overlap = len(p.operations), p.overlap()
	started := time.Now()

	var j *judge
	var result porcupine.CheckResult
	for _, how := range p.assumptions(config.Profile.Name != classic.Reference.Name) {
		j, result = search(ctx, config, how, limits, how.time(limits.Timeout-time.Since(started)))
		if result == porcupine.Ok && j.abandoned() == nil {
			g.Cleaned = how.cleanup > 0
			break
		}
		if ctx.Err() != nil || !how.narrower && (result != porcupine.Illegal || j.abandoned() != nil || j.leftOut() != nil) {
			break
		}
	}
	g.Elapsed = time.Since(started)
	switch abandoned := j.abandoned(); {
	case abandoned != nil:
		g.Reason = abandoned.Error()
	case result == porcupine.Unknown:
		g.Late = true
		g.Reason = fmt.Sprintf("no verdict within %v (%d operations, %d of them open at once)", limits.Timeout, g.Operations, g.Overlap)
	case result == porcupine.Illegal && j.leftOut() != nil:
		g.Reason = j.leftOut().Error()
	case result == porcupine.Illegal:
		g.Result = Illegal
	case p.left > 0:
		g.Reason = fmt.Sprintf("legal so far: only the first %d operations were judged, %d were not", g.Operations, p.left)
	case p.closed > 0:
		g.Reason = fmt.Sprintf("legal, but the target closed the connection of %d calls without an answer, and nothing was done to it then", p.closed)
	default:
		g.Result, g.Exercised = Legal, j.exercised.counted()
	}
	return g
}

// search looks for an explanation of a group under an assumption.
func search(ctx context.Context, config observe.Config, how assumption, limits Limits, within time.Duration) (*judge, porcupine.CheckResult) {
	j := newJudge(config, how.partition, limits)
	j.cleanup = how.cleanup
	if how.plain {
		j.scala, j.later = false, false
	}
	return j, porcupine.CheckOperationsTimeout(j.model(ctx), how.partition.porcupine(), within)
}

func newJudge(config observe.Config, p *partition, limits Limits) *judge {
	world := observe.NewWorld(config)
	for _, c := range p.calls {
		for _, id := range idsIn(c) {
			world.Know(id)
		}
	}
	return &judge{world: world, partition: p, capacity: limits.Explanations, forks: limits.forks, apart: limits.apart, scala: IsScala(config.Profile.Name), later: config.Profile.Name != classic.Reference.Name, cleanup: p.cleanup}
}

// model is the judge in porcupine's terms.
func (j *judge) model(ctx context.Context) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return j.initial() },
		StepContext: func(search context.Context, before, input, _ any) (bool, any) {
			if ctx.Err() != nil {
				j.giveUp(stopped(ctx))
			}
			if j.abandoned() != nil {
				return false, nil
			}
			after := j.step(search, before.(*state), input.(*operation))
			return after != nil, after
		},
		// The search leaves a state alone if one that is equal was seen after the same operations. It asks Equal(new, seen), and it is
		// enough that the seen one covers the new: what follows the new one followed the seen one, in vain. There is no Hash, as
		// states that cover each other need not have the same.
		Equal:             func(fresh, seen any) bool { return seen.(*state).covers(fresh.(*state)) },
		DescribeOperation: func(input, _ any) string { return input.(*operation).describe() },
		DescribeState:     func(s any) string { return s.(*state).describe() },
	}
}
