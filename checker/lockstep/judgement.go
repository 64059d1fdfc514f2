package lockstep

import (
	"errors"
	"slices"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
)

// judgement is what comes of a step for one group. There is one at a time, and its room is used again.
type judgement struct {
	w           *walk
	got         *observed
	at          observe.Window
	next        []*observe.Branch // those that explain the step, all different
	hashes      []uint64          // of next, made from the second on: mostly there is only one
	nearest     *difference
	predictions int
	failed      error
	spent       []*observe.Branch
	free        []*observe.Branch // room for the next next

	// take and settle as functions, made once.
	takes, settles func(observe.Outcome) bool
}

func newJudgement(w *walk) *judgement {
	j := &judgement{w: w}
	j.takes, j.settles = j.take, j.settle
	return j
}

// judge keeps the outcomes of one group that are what the machine did. Timers that are due at once may fire within the step.
func (w *walk) judge(group string, effects checker.Effects, fails bool, outcomes func(*observe.Branch, func(observe.Outcome) bool) error) *Violation {
	return w.judges(group, effects, fails, outcomes, w.verdict.settles)
}

func (w *walk) judges(group string, effects checker.Effects, fails bool, outcomes func(*observe.Branch, func(observe.Outcome) bool) error, yield func(observe.Outcome) bool) *Violation {
	j := w.verdict
	j.got, j.at = w.seen(group, effects), observe.At(w.machine.Now())
	j.got.fails = fails
	j.next, j.hashes, j.spent = j.free[:0], j.hashes[:0], j.spent[:0]
	j.nearest, j.predictions, j.failed = nil, 0, nil
	before := w.set(group)
	for _, b := range before {
		err := outcomes(b, yield)
		if err = errors.Join(j.failed, err); err != nil {
			w.stats.Inconclusive = err.Error()
			return nil
		}
	}
	if len(j.next) == 0 {
		if j.nearest == nil {
			j.nearest = &difference{what: "timers", expected: "no such timer", got: "a timer that fires"}
		}
		return w.violation(group, j.nearest, j.predictions-1)
	}
	w.sets[group] = j.next
	w.stats.Branches = max(w.stats.Branches, len(j.next))
	j.spent = append(j.spent, before...)
	j.recycle()
	j.free = before
	return nil
}

// take takes an outcome if it is what the machine did.
func (j *judgement) take(o observe.Outcome) bool {
	if o.Overflow {
		j.failed = observe.ErrCapacity
		return false
	}
	j.predictions++
	if d := j.got.compare(j.w, &o); d != nil {
		j.spent = append(j.spent, o.Branch)
		if j.nearest == nil || d.depth > j.nearest.depth {
			j.nearest = d
		}
		return true
	}
	for _, id := range o.Rules {
		j.w.stats.Rules[id]++
	}
	if !j.add(o.Branch) {
		j.spent = append(j.spent, o.Branch)
	}
	return true
}

// add adds a branch unless there is an equal one.
func (j *judgement) add(b *observe.Branch) bool {
	if len(j.next) > 0 {
		if len(j.hashes) == 0 {
			j.hashes = append(j.hashes, j.next[0].Hash())
		}
		hash := b.Hash()
		for i, h := range j.hashes {
			if h == hash && j.next[i].Equal(b) {
				return false
			}
		}
		j.hashes = append(j.hashes, hash)
	}
	j.next = append(j.next, b)
	return true
}

// recycle gives up the branches that are spent, but for those that are still in use.
func (j *judgement) recycle() {
	for i, b := range j.spent {
		if !slices.Contains(j.next, b) && !slices.Contains(j.spent[:i], b) {
			b.Recycle()
		}
	}
}

// instant bounds how many timers may fire within a step.
const instant = 4

// settle takes an outcome, and what becomes of it if timers that are due at this very instant fire within the same step. A timer without
// length is due when it is armed, and a machine may fire it at once.
func (j *judgement) settle(o observe.Outcome) bool { return j.settled(o, instant) }

func (j *judgement) settled(o observe.Outcome, more int) bool {
	if !j.take(o) {
		return false
	}
	if o.Overflow || more == 0 || !o.Branch.Due(j.at) {
		return true
	}
	going := true
	for _, t := range o.Branch.Timers() {
		if t.Window.Latest > j.at.Latest || !going {
			continue
		}
		t.WriteFails = j.got.fails
		j.w.world.Fire(o.Branch, t, j.at, func(next observe.Outcome) bool {
			going = j.settled(o.Then(next), more-1)
			return going
		})
	}
	return going
}
