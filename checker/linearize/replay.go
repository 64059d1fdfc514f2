package linearize

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/model/classic"
)

// Label is a step that a coordinator says it has taken: a request that it took up, or a timer that was due, and what it answered then. A label of neither is the rest of
// the one before: what was answered when its writes had ended.
type Label struct {
	At      int64            // on the history's clock
	Request *checker.Request // its ticket is the coordinator's own
	Timer   *checker.Timer
	Answers []checker.Answer
}

// Replay follows the labels of a run through the specification, one after the other at the instant of each. Nothing is searched for but which of the ways that
// the specification leaves open has been gone, which the answers tell. The error says which label the specification does not explain, or which answer of the history
// none of them gave. A run that is explained so must be called legal whatever else is known of it.
func Replay(h *history.History, labels []Label) error {
	exact := *h
	exact.Header.Tick = 0
	exact.Header.InitialDelay = max(exact.Header.InitialDelay, 1) // it is a timer, and so a label, also where it is none
	config, err := configOf(&exact, nil)
	if err != nil {
		return err
	}
	r := &replay{world: observe.NewWorld(config), slack: int64(h.Header.Lateness()), groups: map[string][]*observe.Branch{}, of: map[checker.Ticket]checker.Request{}, answers: map[checker.Ticket]kmsg.Response{}}
	for _, g := range h.Header.Groups {
		r.groups[g] = []*observe.Branch{r.world.NewBranch(g)}
	}
	labels = whole(labels)
	for _, l := range labels {
		for _, a := range l.Answers {
			r.answers[a.Ticket] = a.Message
		}
	}
	for i := range labels {
		if err := r.follow(&labels[i]); err != nil {
			return fmt.Errorf("label %d, at %.3f ms: %w", i+1, ms(labels[i].At), err)
		}
	}
	return r.given(h, labels)
}

type replay struct {
	world   *observe.World
	slack   int64
	groups  map[string][]*observe.Branch // all that explain the labels so far
	of      map[checker.Ticket]checker.Request
	answers map[checker.Ticket]kmsg.Response
}

// whole puts what was answered when writes had ended to the labels that have caused them.
func whole(labels []Label) (all []Label) {
	for _, l := range labels {
		if l.Request == nil && l.Timer == nil {
			if len(all) == 0 { // the coordinator has begun to serve
				continue
			}
			last := &all[len(all)-1]
			last.Answers = append(slices.Clip(last.Answers), l.Answers...)
			continue
		}
		all = append(all, l)
	}
	return all
}

func (r *replay) follow(l *Label) error {
	if l.Timer != nil {
		if r.groups[l.Timer.Group] == nil {
			return nil // somebody else's
		}
		return r.step(l, l.Timer.Group, func(b *observe.Branch, at observe.Window, yield func(observe.Outcome) bool) error {
			if l.Timer.Kind == classic.GroupJoinTimer && b.State().Phase == classic.Empty {
				// A rebalance that nobody is left for takes no time at all, which is a timer to the coordinator where ids are pending, and no step to the model.
				yield(observe.Outcome{Branch: b})
				return nil
			}
			for _, t := range b.Timers() {
				if t.Kind == l.Timer.Kind && t.Member == l.Timer.Member && t.Window.Earliest <= l.At {
					r.world.Fire(b, t, at, yield)
				}
			}
			return nil
		})
	}
	r.of[l.Request.Ticket] = *l.Request
	names := make([]string, 0, len(r.groups))
	for g := range r.groups {
		names = append(names, g)
	}
	slices.Sort(names)
	for _, part := range partsOf(l.Request.Message, names) {
		if r.groups[part.Group] == nil {
			continue
		}
		request := observe.Request{Ticket: l.Request.Ticket, Message: part.Message, Version: l.Request.Version, ClientID: l.Request.ClientID, Minted: r.minted(l.Request)}
		err := r.step(l, part.Group, func(b *observe.Branch, at observe.Window, yield func(observe.Outcome) bool) error {
			return r.world.Apply(b, request, at, yield)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// minted is the member id that a request was given, as its answer tells, which may have come later.
func (r *replay) minted(request *checker.Request) string {
	join, ok := request.Message.(*kmsg.JoinGroupRequest)
	if !ok || join.MemberID != "" {
		return ""
	}
	if answer, ok := r.answers[request.Ticket].(*kmsg.JoinGroupResponse); ok {
		return answer.MemberID
	}
	return ""
}

// step lets one thing happen to a group, in each of the ways that explain what was before, and keeps those that answer as the label says.
func (r *replay) step(l *Label, group string, happen func(*observe.Branch, observe.Window, func(observe.Outcome) bool) error) error {
	var after []*observe.Branch
	var why error
	refuse := func(err error) { why = cmp.Or(why, err) }
	for _, b := range r.groups[group] {
		if late := overdue(b, l.At-r.slack); late != nil {
			refuse(fmt.Errorf("the %s of %q in group %q should have fired by %.3f ms", timerText(late.Kind), late.Member, group, ms(late.Window.Latest)))
			continue
		}
		some := false
		err := happen(b, observe.Window{Earliest: l.At, Latest: l.At}, func(o observe.Outcome) bool {
			some = true
			if o.Overflow {
				refuse(errCapacity)
				return true
			}
			if err := r.matches(l, group, o); err != nil {
				refuse(err)
			} else if !slices.ContainsFunc(after, o.Branch.Equal) {
				after = append(after, o.Branch)
			}
			return true
		})
		if err != nil {
			return err
		}
		if !some {
			refuse(fmt.Errorf("the %s of %q in group %q fired, and was not due: %s", timerText(l.Timer.Kind), l.Timer.Member, group, b))
		}
	}
	if len(after) == 0 {
		return why
	}
	r.groups[group] = after
	return nil
}

func overdue(b *observe.Branch, since int64) *observe.Timer {
	for _, t := range b.Timers() {
		if t.Window.Latest < since {
			return &t
		}
	}
	return nil
}

// matches compares what is predicted for a group with what the label says was answered.
func (r *replay) matches(l *Label, group string, o observe.Outcome) error {
	for _, predicted := range o.Answers {
		i := slices.IndexFunc(l.Answers, func(a checker.Answer) bool { return a.Ticket == predicted.Ticket })
		if i < 0 {
			return fmt.Errorf("the %s of ticket %d should have been answered: %s", kmsg.NameForKey(predicted.Message.Key()), predicted.Ticket, answerText(predicted.Message))
		}
		if err := observe.Match(predicted.Message, observe.Only(l.Answers[i].Message, group)); err != nil {
			return fmt.Errorf("the answer to the %s of ticket %d: %w", kmsg.NameForKey(predicted.Message.Key()), predicted.Ticket, err)
		}
	}
	for _, a := range l.Answers {
		request := r.of[a.Ticket]
		about := slices.ContainsFunc(partsOf(request.Message, []string{group}), func(p observe.Part) bool { return p.Group == group })
		if about && !slices.ContainsFunc(o.Answers, func(p observe.Answer) bool { return p.Ticket == a.Ticket }) {
			return fmt.Errorf("the %s of ticket %d was answered, and should still wait", kmsg.NameForKey(a.Message.Key()), a.Ticket)
		}
	}
	return nil
}

// given holds that every answer of the history was given, to that request and while it was open.
func (r *replay) given(h *history.History, labels []Label) error {
	type taken struct {
		client, request, answer string
		key, version            int16
	}
	at := map[taken][]int64{}
	for _, l := range labels {
		if l.Request == nil || r.answers[l.Request.Ticket] == nil {
			continue
		}
		q := l.Request
		what := taken{q.ClientID, string(history.EncodeRequest(q.Message, q.Version)), string(history.EncodeResponse(r.answers[q.Ticket], q.Version)), q.Message.Key(), q.Version}
		at[what] = append(at[what], l.At)
	}
	calls := slices.Clone(h.Calls)
	slices.SortFunc(calls, func(a, b history.Call) int { return cmp.Compare(a.Return, b.Return) })
	for _, c := range calls {
		if c.Outcome != history.Answered {
			continue
		}
		what := taken{c.Client, string(c.Request), string(c.Response), c.Key, c.Version}
		i := slices.IndexFunc(at[what], func(at int64) bool { return c.Call <= at && at <= c.Return })
		if i < 0 {
			return fmt.Errorf("call %d (%s by %s) was answered as no step of the coordinator did", c.ID, kmsg.NameForKey(c.Key), c.Client)
		}
		at[what] = slices.Delete(at[what], i, i+1)
	}
	return nil
}

func timerText(kind classic.TimerKind) string {
	return [...]string{"session timer", "join timer", "sync timer"}[kind]
}
