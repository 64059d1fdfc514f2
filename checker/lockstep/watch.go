package lockstep

import (
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/monitor"
	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/model/classic"
)

// watcher has monitors look on (Options.Watch). They ask the machine for descriptions between the steps, which changes nothing.
type watcher struct {
	names  []string // of the monitors that count
	groups map[string]*monitor.Watch
	behind map[string]bool // the log is: a write has failed that memory did not take back
	asked  checker.Ticket
}

// watched lets the monitors see a step. e is what the step was about; only of a request or an act there is more than that it fails.
func (w *walk) watched(e gen.Event, effects checker.Effects) *Violation {
	if w.watcher == nil {
		return nil
	}
	restarted := e.Act == gen.Unload || e.Act == gen.Load || e.Act == gen.Loaded || e.Act == gen.Restart
	looks := w.looks(w.machine, effects)
	var again checker.Machine // from the log
	for _, group := range slices.Sorted(maps.Keys(looks)) {
		s := &monitor.Step{Sent: e.Request, Look: looks[group], Restarted: restarted, Torn: e.Torn, Loosens: loosens(e)}
		for _, a := range effects.Answers {
			if from := w.sent.of(a.Ticket); from != nil && from.group == group {
				s.Answers = append(s.Answers, monitor.Answer{Request: from.event.Request, Version: from.event.Version, Response: a.Message})
			}
		}
		wrote := false
		for _, r := range effects.Records {
			if r.Group != group {
				continue
			}
			wrote = true
			switch {
			case e.FailWrites:
				w.watcher.behind[group] = true
			case r.Kind == classic.GroupRecord:
				w.watcher.behind[group] = false
			}
		}
		if r, ok := w.machine.(checker.Replayer); ok && wrote && !w.watcher.behind[group] {
			if again == nil {
				var err error
				if again, err = r.Replay(); err != nil {
					return w.violation(group, &difference{what: "the log cannot be read", got: err.Error(), rules: []classic.RuleID{classic.LoadState}}, 0)
				}
			}
			l := w.looks(again, checker.Effects{})[group]
			l.Offsets, s.Look.Offsets = w.offsets(again, group), w.offsets(w.machine, group)
			s.Replayed = &l
		}
		watch := w.watcher.groups[group]
		if watch == nil {
			watch = monitor.New()
			w.watcher.groups[group] = watch
		}
		for _, b := range watch.Step(s) {
			if !slices.Contains(w.watcher.names, b.Monitor) {
				continue
			}
			return w.violation(group, &difference{what: b.Monitor, expected: b.Monitor, got: b.What, rules: []classic.RuleID{b.Rule}}, 0)
		}
	}
	return nil
}

// loosens says whether offsets may go or come by other ways than plain commits.
func loosens(e gen.Event) bool {
	switch e.Request.(type) {
	case *kmsg.TxnOffsetCommitRequest, *kmsg.OffsetDeleteRequest, *kmsg.DeleteGroupsRequest:
		return true
	}
	return e.Act == gen.EndTxn || e.Act == gen.DeleteTopics || e.Act == gen.Cleanup
}

// looks are what the groups look like.
func (w *walk) looks(m checker.Machine, effects checker.Effects) map[string]monitor.Look {
	r := kmsg.NewPtrDescribeGroupsRequest()
	r.Groups = w.gen.Groups()
	looks := map[string]monitor.Look{}
	d, ok := w.ask(m, r, 5).(*kmsg.DescribeGroupsResponse)
	if !ok {
		return looks
	}
	timers := m.Timers()
	for _, g := range d.Groups {
		l := monitor.Look{Served: g.ErrorCode == 0, Described: g}
		for _, t := range timers {
			if t.Group == g.Group {
				l.Timers = append(l.Timers, t)
			}
		}
		looks[g.Group] = l
	}
	for _, s := range w.sent {
		l := looks[s.group]
		ended := slices.ContainsFunc(effects.Answers, func(a checker.Answer) bool { return a.Ticket == s.ticket }) || slices.Contains(effects.Dropped, s.ticket)
		switch s.event.Request.(type) {
		case *kmsg.JoinGroupRequest:
			if !ended {
				l.Joins++
			}
		case *kmsg.SyncGroupRequest:
			if !ended {
				l.Syncs++
			}
		}
		if _, is := looks[s.group]; is {
			looks[s.group] = l
		}
	}
	return looks
}

// offsets are all offsets of a group.
func (w *walk) offsets(m checker.Machine, group string) []kmsg.OffsetFetchResponseGroupTopic {
	r := kmsg.NewPtrOffsetFetchRequest()
	r.Groups = []kmsg.OffsetFetchRequestGroup{{Group: group}}
	if a, ok := w.ask(m, r, 8).(*kmsg.OffsetFetchResponse); ok && len(a.Groups) == 1 {
		return a.Groups[0].Topics
	}
	return nil
}

// ask asks the machine something that nobody notices.
func (w *walk) ask(m checker.Machine, r kmsg.Request, version int16) kmsg.Response {
	w.watcher.asked++
	ticket := checker.Questions + w.watcher.asked
	m.Request(checker.Request{Ticket: ticket, Message: r, Version: version, ClientID: "monitor"})
	for _, a := range m.Drain().Answers {
		if a.Ticket == ticket {
			return a.Message
		}
	}
	return nil
}
