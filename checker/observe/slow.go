package observe

import (
	"errors"
	"slices"

	"github.com/muster-kafka/muster/model/classic"
)

// What an OffsetCommit stores is seen when it has been written, and the group decides before that whether it lets the commit pass. Where a write takes its time others
// may come in between, to whom the model has no say: the group may be another one when the offsets are seen. So such a commit has two steps (Request.Slow, Land).

// accepted turns the outcome of a commit that could not be written into one whose write has yet to end: false where the commit writes nothing.
func (c *call) accepted(w *World, o *Outcome) bool {
	if o.Overflow || !slices.Contains(o.Rules, classic.CommitWriteFails) {
		return false
	}
	o.Rules = slices.DeleteFunc(slices.Clone(o.Rules), func(id classic.RuleID) bool { return id == classic.CommitWriteFails })
	o.Answers = slices.Clone(o.Answers)
	o.Answers[0].Message = w.commitAnswer(c, classic.CodeNone, false)
	o.Answers[0].Message.SetVersion(c.request.Version)
	o.Branch = o.Branch.next()
	o.Branch.created()
	return true
}

// created makes the group, if there is none, as a commit does at once (commit.simple.creates).
func (b *Branch) created() {
	if b.state.Phase == classic.Absent {
		b.state.Phase, b.state.FirstGen = classic.Empty, true
	}
}

// Land is the end of the write of an OffsetCommit that was applied as Slow.
func (w *World) Land(b *Branch, r Request, at Window) (Outcome, error) {
	st := w.stepper()
	defer w.models.Put(st)
	c, err := w.translate(b, r, &st.call)
	if errors.Is(err, errFull) {
		return Outcome{Branch: b, Overflow: true}, nil
	}
	if err != nil {
		return Outcome{}, err
	}
	n := b.next()
	n.created()
	put := w.aged(c.put, at)
	n.state.Offsets, n.ledger = true, b.store(put)
	if w.config.KeepLog {
		l := *b.log.orEmpty()
		l.ledger, l.before = l.store(put), nil // whoever sees it, sees it written
		n.log = &l
	}
	return Outcome{Branch: n}, nil
}
