package retell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/conformance/targets/model"
	c "github.com/muster-kafka/muster/model/classic"
)

// Trace is the trace of a violation that an exploration of a group has found.
type Trace struct {
	Group     explore.Group
	Violation explore.Violation
}

// ErrUntimed says that a trace cannot be done by clients and clocks, as far as is known. The error that wraps it says why.
var ErrUntimed = errors.New("untimed")

func untimed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUntimed, fmt.Sprintf(format, args...))
}

// Scenario does a trace as a scenario: with durations such that its timers fire when they do in the trace and no others do, and with what shows
// that something is wrong at its end. The expected text is what the specification gives. Where the trace is of one that breaks a rule on purpose,
// that one fails the scenario.
func (t Trace) Scenario(ctx context.Context) ([]byte, error) {
	rule, err := t.rule()
	if err != nil {
		return nil, err
	}
	events, err := t.events()
	if err != nil {
		return nil, err
	}
	release, err := t.release()
	if err != nil {
		return nil, err
	}
	var best []byte
	var took time.Duration
	why := untimed("no durations bring it about")
	for _, times := range Lengths(slices.ContainsFunc(events, passes)) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		l := New(t.Group.Alphabet(), "one", "", true, times)
		l.Aside = "aside"
		l.Way(events)
		if l.Err() != nil {
			why = untimed("%v", l.Err())
			continue
		}
		if best != nil && l.Took() >= took {
			continue
		}
		way := scenario{group: &t.Group, release: release, rule: rule, property: t.Violation.Property, commands: l.Commands()}
		text, err := way.shown(ctx, l.Ends())
		if err != nil {
			if !errors.Is(err, ErrUntimed) {
				return nil, err
			}
			why = err
			continue
		}
		best, took = text, l.Took()
	}
	if best == nil {
		return nil, why
	}
	return best, nil
}

// searched bounds the search for another trace.
const searched = 50_000

// Another looks for a trace to the same property that clients can do, where the shortest one cannot be done: without crashes, without a delay of
// the broker's own, and with assignments that are written at once. False is that there is none, as far as was looked.
func (t Trace) Another(ctx context.Context) (Trace, bool) {
	g := t.Group
	g.Failover, g.Delay, g.WriteInFlight = false, false, false
	if g.Failover == t.Group.Failover && g.Delay == t.Group.Delay && g.WriteInFlight == t.Group.WriteInFlight {
		return t, false
	}
	same := func(property string) bool { return property == t.Violation.Property }
	rep := explore.Run(ctx, g.Name, explore.Asking(g.Machine, same), explore.Options{Workers: 2, MaxStates: searched, StopAtViolation: true})
	if len(rep.Violations) == 0 {
		return t, false
	}
	return Trace{g, rep.Violations[0]}, true
}

// passes says whether time passes for something to happen.
func passes(h explore.Happening) bool { return !h.Event.Kind.Request() && h.Event.Kind != c.TxnMarker }

// rule is the rule that the scenario is about.
func (t Trace) rule() (c.RuleID, error) {
	if rule, ok := c.FindRule(t.Violation.Rule); ok {
		return rule, nil
	}
	if len(t.Group.Broken) > 0 {
		return t.Group.Broken[0], nil
	}
	return 0, untimed("a scenario is about a rule, and the property stands for none")
}

// events are those of the trace. An assignment that is written at once after the leader's SyncGroup is part of that.
func (t Trace) events() ([]explore.Happening, error) {
	var events []explore.Happening
	for _, step := range t.Violation.Trace {
		if step.Did == nil {
			continue
		}
		events = append(events, *step.Did)
	}
	if t.Group.Delay && slices.ContainsFunc(events, func(h explore.Happening) bool { return h.Event.Kind == c.JoinGroup }) {
		return nil, untimed("the initial delay is the broker's own")
	}
	if len(events) == 0 {
		return nil, untimed("nothing happens in it")
	}
	return events, nil
}

// release is the model's name for the group's coordinator.
func (t Trace) release() (string, error) {
	switch t.Group.Profile {
	case c.Java:
		return "model", nil
	case c.Reference:
		return "model:reference", nil
	case c.Scala:
		return "model:3.9.2", nil
	}
	if _, err := c.ProfileFor(t.Group.Profile.Name); err != nil {
		return "", untimed("no release is like %s", t.Group.Profile.Name)
	}
	return "model:" + t.Group.Profile.Name, nil
}

// scenario is a way as commands, on its way to become a scenario.
type scenario struct {
	group    *explore.Group
	release  string
	rule     c.RuleID
	property string
	commands []string
}

// shown tries what shows at the end that something is wrong, the least first.
func (s scenario) shown(ctx context.Context, ends [][]string) ([]byte, error) {
	err := untimed("nothing that a client sees shows it")
	for _, end := range ends {
		more := s
		if len(end) > 0 {
			more.commands = append(append(slices.Clone(s.commands), Pause), end...)
		}
		text, failed := more.recorded(ctx)
		if failed != nil {
			err = failed
			continue
		}
		if len(s.group.Broken) == 0 {
			return text, nil // nobody knows who is wrong, the property or the specification
		}
		status, broken := s.run(ctx, text, s.group.Broken)
		if broken != nil {
			return nil, broken
		}
		if status.Status == conformance.Fail {
			return text, nil
		}
	}
	return nil, err
}

// recorded is the scenario with the text that the specification gives.
func (s scenario) recorded(ctx context.Context) ([]byte, error) {
	text := []byte(s.text())
	for filled := 0; ; {
		res, err := s.run(ctx, text, nil)
		if err != nil {
			return nil, err
		}
		switch {
		case res.Status == conformance.Pass:
			return text, nil
		case res.Status != conformance.Fail:
			return nil, untimed("%s", res.Reason)
		case res.Failure.Block <= filled || res.Failure.Note != "":
			return nil, untimed("the specification leaves a choice")
		}
		filled = res.Failure.Block
		sc, err := conformance.Parse("way.txt", text)
		if err != nil {
			return nil, err
		}
		v := &sc.File.Blocks[filled-1].Variants[0]
		for _, line := range res.Failure.Got {
			v.Lines = append(v.Lines, script.NewExpect(line))
		}
		text = script.Print(sc.File)
	}
}

// run runs the scenario on the specification, with broken rules or without.
func (s scenario) run(ctx context.Context, text []byte, broken []c.RuleID) (conformance.Result, error) {
	sc, err := conformance.Parse("way.txt", text)
	if err != nil {
		return conformance.Result{}, untimed("%v", err)
	}
	tg, err := model.New(model.Options{Name: s.release, Profile: s.profile(), Broken: broken}, nil)
	if err != nil {
		return conformance.Result{}, err
	}
	rep, err := conformance.Suite{Scenarios: []*conformance.Scenario{sc}, OutDir: os.DevNull}.Run(ctx, tg, nil)
	if err != nil {
		return conformance.Result{}, err
	}
	return rep.Results[0], ctx.Err()
}

// profile is the broker profile that the scenario needs.
func (s scenario) profile() string {
	switch {
	case slices.ContainsFunc(s.commands, func(c string) bool { return strings.HasPrefix(c, "broker ") }):
		return conformance.FaultsProfile
	case s.group.MaxSize > 0:
		return "size"
	}
	return conformance.DefaultProfile
}

// text is the scenario without expected text.
func (s scenario) text() string {
	var b strings.Builder
	if len(s.group.Broken) > 0 {
		fmt.Fprintf(&b, "# What a coordinator does wrong that breaks %s, as exploration of the specification has found it:\n", s.group.Broken[0])
	} else {
		b.WriteString("# Exploration of the specification has found this to break the property named below. The text is what the specification gives: what a real\n# broker gives says which of the two is wrong.\n")
	}
	fmt.Fprintf(&b, "# broken: %s\n# rule: %s\n", s.property, s.rule)
	if p := s.profile(); p != conformance.DefaultProfile {
		fmt.Fprintf(&b, "# profile: %s\n", p)
	}
	if words := Requires(s.commands); len(words) > 0 {
		fmt.Fprintf(&b, "# requires: %s\n", strings.Join(words, ", "))
	}
	b.WriteString("\n")
	for i, command := range s.commands {
		switch {
		case command != Pause:
			b.WriteString(command + "\n")
		case i > 0 && s.commands[i-1] != Pause:
			b.WriteString("----\n\n")
		}
	}
	b.WriteString("----\n")
	return b.String()
}

// Requires is what a target must have for the commands.
func Requires(commands []string) []string {
	var words []string
	for _, line := range commands {
		word := ""
		switch verb, _, _ := strings.Cut(line, " "); {
		case strings.HasPrefix(verb, "txn-"):
			word = "txn"
		case verb == "offset-delete":
			word = "offset-delete"
		case strings.Contains(line, "static="):
			word = "static"
		}
		if word != "" && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	return words
}
