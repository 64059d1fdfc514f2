package clients

import "github.com/muster-kafka/muster/model/classic"

// logging is what an event does to the log: a record that was on its way gets there, or one that the event itself hands over, or both.
type logging struct {
	before, after *classic.State
	other         int8 // the slot that has another id in the log than in memory, or -1
	unsure        bool // the coordinator does not know, or does not say, that a record is there or is not
}

// loggings are the possible ones of a transition.
func (s *stepper) loggings(t *classic.Transition) (all []logging) {
	all = append(s.all[:0], logging{other: -1})
	if !s.in.tracked {
		return all
	}
	if s.from.group.Writing && !t.Next.Writing {
		all = s.ended(all)
	}
	if !t.Next.Writing && recorded(t) {
		all = s.handed(all, t)
	}
	s.all = all
	return all
}

// ended is the leader's assignment of which the event is the end: written, or failed, or overtaken by a rebalance.
func (s *stepper) ended(all []logging) []logging {
	record := s.m.durable(&s.from.group)
	written := logging{before: &record, other: -1}
	if s.event.Kind == classic.WriteDone && s.event.Write == classic.WriteOK {
		return append(all[:0], written)
	}
	written.unsure = true
	return append(all, written)
}

// handed are the records that the event hands to the log.
func (s *stepper) handed(all []logging, t *classic.Transition) []logging {
	failed := s.event.Write == classic.WriteFailed
	record, other, cut := s.m.durable(&t.Next), int8(-1), failed
	switch {
	case s.from.group.Phase == classic.Absent: // whatever comes of the JoinGroup, it first creates an Empty group
		record = classic.State{Phase: classic.Empty, FirstGen: true}
	case t.Next.Phase == classic.Empty:
		// The record that a timer writes is cut off by a crash, or fails, and nobody hears of it. A LeaveGroup is not answered before.
		cut = failed || s.event.Kind != classic.LeaveGroup || !s.m.run.Profile.WritesReported
	case failed: // the replacement of a static member, which memory has taken back
		as := t.Next
		as.Slots[s.event.Instance.Slot].List = s.event.List
		record, other = s.m.durable(&as), s.event.Instance.Slot
	}
	var with []logging
	for _, l := range all {
		l.after, l.other, l.unsure = &record, other, l.unsure || failed
		if s.from.group.Phase == classic.Absent {
			l.before, l.after = l.after, nil
		}
		with = append(with, l)
	}
	if !cut {
		return with
	}
	for i := range all {
		all[i].unsure = true
	}
	return append(with, all...)
}

func recorded(t *classic.Transition) bool {
	for _, r := range t.Records {
		if r.Kind == classic.GroupRecord {
			return true
		}
	}
	return false
}

// durable is what the log says of a state.
func (m *machine) durable(s *classic.State) classic.State {
	return classic.Durable(s, func(_, protocol uint8) uint8 { return alone(m.lexicon, protocol) })
}

// crash yields what a crash of the coordinator may come to.
func (m *machine) crash(w *world, yield func(*act) bool) bool {
	a := act{kind: crashes, who: -1, log: logging{other: -1}}
	if m.run.Crash == Forget {
		return !m.asRecorded(&w.group) || m.load(*w, m.durable(&w.group), &a, yield)
	}
	if w.group.Phase != classic.Absent && !m.load(*w, w.log, &a, yield) {
		return false
	}
	if !w.group.Writing {
		return true
	}
	cut, record := *w, m.durable(&w.group)
	a.log = logging{before: &record, other: -1, unsure: true}
	cut.write(record)
	return m.load(cut, cut.log, &a, yield)
}

// asRecorded says whether a state is just what a record says, or its record may be on its way to the log.
func (m *machine) asRecorded(s *classic.State) bool {
	switch s.Phase {
	case classic.Empty:
		return m.run.Profile.CreationRecord || !s.FirstGen
	case classic.Stable:
		return true
	}
	return s.Writing
}

// load is a coordinator that has read the record.
func (m *machine) load(w world, record classic.State, a *act, yield func(*act) bool) (going bool) {
	e := classic.Event{Kind: classic.Loaded, Record: &record}
	m.model.Step(&classic.State{Serving: classic.Loading}, &e, func(t *classic.Transition) bool {
		next := w
		if m.run.Crash == Forget { // the slots of a record are those of memory
			for i := range next.clients {
				if c := &next.clients[i]; c.is {
					if c.at >= 0 && t.Next.Slots[c.at].Kind == classic.Free {
						c.at = nowhere
					}
					c.forget()
				}
			}
			next.group = t.Next
		} else {
			next.loaded(t.Next)
		}
		a.event, a.transition, a.next = e, t, next
		going = yield(a)
		return going
	})
	return going
}
