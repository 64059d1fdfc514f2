package observe

import "github.com/muster-kafka/muster/model/classic"

// A coordinator that answers from what is written does not show a group that has no record (describe.unseen), until something is written to
// the partition of the log that it shares with others: nobody can tell when. So both are explained, until it has been seen.

// The record of a group that a JoinGroup makes is on its way when the JoinGroup is answered (Config.EarlyAnswers). It is there when a later record of the group
// has been acknowledged.

// sight is whether those who look at groups see one.
type sight uint8

const (
	seen      sight = iota
	bare            // it has no record
	unwritten       // its record may not be written yet
)

// Unwritten says whether the record of the group may still be on its way, and when the group was made.
func (b *Branch) Unwritten() (made Window, ok bool) {
	if b.unseen != unwritten {
		return Window{}, false
	}
	return b.made, true
}

// hides says whether the group of n is shown after a step from b.
func (w *World) hides(n, b *Branch, c *call, t *classic.Transition) sight {
	if !w.config.Profile.ShownWhenWritten || n.state.Phase == classic.Absent || c.shows() {
		return seen
	}
	written := len(t.Records) > 0 && c.event.Write != classic.WriteFailed
	made := b.state.Phase == classic.Absent && c.event.Kind.Request()
	switch {
	case made && written && c.event.Kind == classic.JoinGroup && w.config.EarlyAnswers:
		return unwritten
	case b.unseen == unwritten && !c.event.Kind.Request(): // nobody waits for what it writes
		return unwritten
	case written:
		return seen
	case made:
		return bare
	}
	return b.unseen
}

// shows says whether the request asks which groups there are.
func (c *call) shows() bool {
	return c.event.Kind == classic.DescribeGroups || c.event.Kind == classic.ListGroups
}

// unseen yields the outcome of a request that shows a group where it does not show this one.
func (w *World) unseen(b *Branch, c *call, at Window, yield func(Outcome) bool) bool {
	none := &Branch{head: head{group: b.group}}
	more := true
	w.step(&none.state, &c.event, func(st *stepper, t *classic.Transition) bool {
		o := w.follow(st, none, c, t, at)
		o.Branch, o.Rules = b, append(o.Rules, classic.GroupUnseen)
		more = yield(o)
		return more
	})
	return more
}
