package linearize

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/internal/pages"
	"github.com/muster-kafka/muster/model/classic"
)

// newPage tells of a failure for a browser. It shows what there is: where the wrong answer was not found there are no timers.
func newPage(ctx context.Context, h *history.History, group string, found *finding, f *Failure, o Explaining) *pages.Failure {
	p := &pages.Failure{
		Title: fmt.Sprintf("Group %s cannot be explained", group), NotFound: f.NotFound, Rule: f.Rule, Class: f.Class, Suffers: f.Suffers, Text: f.Text,
		Lateness: h.Header.Lateness().Round(time.Millisecond).String(),
		Facts: []pages.Fact{
			{Name: "target", Value: h.Header.Target},
			{Name: "judged by", Value: h.Header.Profile},
			{Name: "group", Value: group},
			{Name: "seed", Value: fmt.Sprint(h.Header.Seed)},
			{Name: "calls", Value: fmt.Sprintf("%d that are enough to show it", len(h.Calls))},
		},
	}
	if o.Undecided {
		p.Title, p.Facts[4].Value = fmt.Sprintf("The clients of group %s do not get together", group), fmt.Sprint(len(h.Calls))
	}
	if id, ok := classic.FindRule(f.Rule); ok {
		p.Sentence = id.Rule().Sentence
	}
	if o.Apart != nil {
		p.Apart = strings.TrimSpace(o.Apart.text(group))
	}
	if f.File != "" {
		p.Commands = append(p.Commands, f.Replay)
		p.Links = append(p.Links, pages.Link{Href: filepath.Base(f.File), Name: filepath.Base(f.File), What: "these calls"})
	}
	if o.Whole != "" {
		p.Commands = append(p.Commands, "muster check "+o.Whole)
		p.Links = append(p.Links, pages.Link{Href: filepath.Base(o.Whole), Name: filepath.Base(o.Whole), What: "the whole history"})
	}
	if f.Rule != "" {
		p.Commands = append(p.Commands, "muster explain "+f.Rule)
	}
	ctx, stop := context.WithTimeout(ctx, drawing(ctx))
	defer stop()
	part, wrong := found.shown(h, group)
	if found != nil {
		found.page(p)
	}
	p.Timeline = timeline(part, h, wrong)
	p.Lanes = append(p.Lanes, clientLanes(part, wrong)...)
	done, bands := faultLane(h)
	p.Lanes, p.Bands = append(done, p.Lanes...), bands
	var timers []pages.Lane
	if found != nil {
		timers = found.timerLanes(ctx, h, o.Limits)
	}
	p.Lanes = append(p.Lanes, timers...)
	p.Rows = len(p.Lanes)
	p.View, p.NoView = view(ctx, h, group, o.Limits, append(done, timers...))
	return p
}

// drawing is how long it may take to follow timers and to draw porcupine's view: both search once more.
func drawing(ctx context.Context) time.Duration {
	const most = 2 * time.Second
	if end, ok := ctx.Deadline(); ok {
		return min(most, time.Until(end)/2)
	}
	return most
}

// shown is the partition that a page shows, and the wrong call in it, if it is known. It is empty for a history that cannot be split.
func (f *finding) shown(h *history.History, group string) (*partition, *call) {
	if f != nil {
		return f.partition, f.wrong
	}
	if _, p, err := prepare(h, group, Limits{}); err == nil {
		return p, nil
	}
	return &partition{group: group}, nil
}

// mostReasons and mostBefore bound what a page tells of each; the text has all.
const mostReasons, mostBefore = 6, 6

// page puts in what does not fit, and where.
func (f *finding) page(p *pages.Failure) {
	p.Seen = &pages.Call{ID: f.wrong.id, Client: f.wrong.client, Request: requestText(f.wrong.message, f.wrong.version), Answer: f.wrong.endText()}
	for i := range f.refusals[:min(len(f.refusals), mostReasons)] {
		r := &f.refusals[i]
		said := pages.Reason{Text: r.reason}
		if r.call != nil {
			said.Text = fmt.Sprintf("#%d %s by %s: %s", r.call.id, kmsg.NameForKey(r.call.message.Key()), r.call.client, r.reason)
		}
		if r.predicted != nil {
			said.Must, said.Was = answerText(r.predicted), r.call.endText()
		}
		var rules []string
		for _, id := range r.rules {
			rules = append(rules, id.String())
		}
		said.Rules = strings.Join(rules, ", ")
		p.Reasons = append(p.Reasons, said)
	}
	p.Before = strings.Split(f.before.describe(), "\n")
	p.More = max(0, len(p.Before)-mostBefore)
	p.Before = p.Before[:len(p.Before)-p.More]
}

// timeline are all calls and faults, in the order of their beginnings.
func timeline(p *partition, h *history.History, wrong *call) (all []pages.Call) {
	was := map[int64]int64{}
	for i := range h.Calls {
		if c := &h.Calls[i]; c.Was != c.ID {
			was[c.ID] = c.Was
		}
	}
	for _, m := range p.moments(h.Faults) {
		if m.fault != nil {
			all = append(all, pages.Call{When: period(m.fault.At, m.fault.End()), Request: faultWords(m.fault), Kind: "fault"})
			continue
		}
		c := pages.Call{
			ID: m.call.id, Was: was[m.call.id], When: period(m.call.from, m.call.to), Client: m.call.client,
			Request: requestText(m.call.message, m.call.version), Answer: m.call.endText(),
		}
		if m.call == wrong {
			c.Kind = "wrong"
		}
		all = append(all, c)
	}
	return all
}

func period(from, to int64) string { return fmt.Sprintf("%.3f – %.3f ms", ms(from), ms(to)) }

// clientLanes are the calls of each client.
func clientLanes(p *partition, wrong *call) (lanes []pages.Lane) {
	byName := map[string][]pages.Bar{}
	for _, m := range p.moments(nil) {
		c := m.call
		b := pages.Bar{
			From: c.from, To: c.to, Call: c.id, Label: c.brief(),
			Tip: fmt.Sprintf("%s: %s", period(c.from, c.to), (&operation{call: c}).describe()),
		}
		switch {
		case c == wrong:
			b.Kind = pages.Wrong
		case c.outcome != history.Answered:
			b.Kind = pages.Silent
		case c.parks():
			b.Kind = pages.Wait
		}
		byName[c.client] = append(byName[c.client], b)
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		lanes = append(lanes, pages.Lane{Name: name, Bars: byName[name]})
	}
	return lanes
}

// brief is a call in two words.
func (c *call) brief() string {
	return fmt.Sprintf("#%d %s", c.id, strings.TrimSuffix(kmsg.NameForKey(c.message.Key()), "Group"))
}

// brief is an operation in a few words.
func (o *operation) brief() string {
	switch o.stage {
	case restart:
		return o.String()
	case followUp:
		return o.call.brief() + " answered"
	case silent:
		return o.call.brief() + " not answered"
	}
	return o.call.brief()
}

// faultLane is what was done on purpose; what was done to the target lies over all the picture besides.
func faultLane(h *history.History) (lanes []pages.Lane, bands []pages.Bar) {
	var bars []pages.Bar
	for i := range h.Faults {
		f := &h.Faults[i]
		b := pages.Bar{From: f.At, To: f.End(), Kind: pages.Fault, Label: string(f.Kind), Tip: period(f.At, f.End()) + ": " + faultWords(f)}
		bars = append(bars, b)
		if f.Client == "" {
			bands = append(bands, b)
		}
	}
	if len(bars) > 0 {
		lanes = []pages.Lane{{Name: "done on purpose", Bars: bars}}
	}
	return lanes, bands
}

// timerLanes are the timers of one explanation of all that fits.
func (f *finding) timerLanes(ctx context.Context, h *history.History, limits Limits) (lanes []pages.Lane) {
	config, p, err := prepare(h, f.partition.group, limits)
	if err != nil {
		return nil
	}
	j := newJudge(config, p, limits.withDefaults())
	end := h.End()
	byName := map[string][]pages.Bar{}
	for _, s := range spans(j.follow(ctx, f.order)) {
		name := p.timerName(s)
		byName[name] = append(byName[name], s.bars(end, &p.slack)...)
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		lanes = append(lanes, pages.Lane{Name: name, Bars: byName[name]})
	}
	return lanes
}

func (p *partition) timerName(s *span) string {
	switch s.kind {
	case classic.GroupJoinTimer:
		return "timer: the rebalance"
	case classic.GroupSyncTimer:
		return "timer: the SyncGroups"
	}
	for _, c := range p.calls {
		if slices.Contains(idsIn(c), s.member) {
			return fmt.Sprintf("timer: session of %s, %s", c.client, short(s.member))
		}
	}
	return "timer: session of " + observe.ShowID(s.member)
}

// bars are what is seen of a timer: since when it was set, when it could fire, how late, and when it did. What is to come after the end is cut.
func (s *span) bars(end int64, slack *slack) (bars []pages.Bar) {
	until := s.ended
	if until == 0 {
		until = end
	}
	last := slack.after(s.window.Latest)
	tip := fmt.Sprintf("set at %.3f ms, to fire from %.3f to %.3f ms, at most %.0f ms late", ms(s.set), ms(s.window.Earliest), ms(s.window.Latest), ms(last-s.window.Latest))
	switch {
	case s.fired != nil:
		tip += fmt.Sprintf("; it fired between %.3f and %.3f ms", ms(s.fired.Earliest), ms(s.fired.Latest))
	case s.ended > 0:
		tip += fmt.Sprintf("; it was set again or taken back at %.3f ms", ms(s.ended))
	}
	part := func(kind pages.BarKind, from, to int64) {
		if to = min(to, until); from < to || kind == pages.Armed {
			bars = append(bars, pages.Bar{From: from, To: to, Kind: kind, Tip: tip})
		}
	}
	part(pages.Armed, s.set, s.window.Earliest)
	part(pages.Window, max(s.set, s.window.Earliest), s.window.Latest)
	part(pages.Late, max(s.set, s.window.Latest), last)
	if s.fired != nil {
		bars = append(bars, pages.Bar{From: s.fired.Earliest, To: min(s.fired.Latest, end), Kind: pages.Fired, Tip: tip})
	}
	return bars
}

// mostViewed is how many operations porcupine draws: its picture of more is too large for a browser, and nobody reads it.
const mostViewed = 250

// view is porcupine's own page, with timers and faults as lanes of it, or why there is none.
func view(ctx context.Context, h *history.History, group string, limits Limits, lanes []pages.Lane) (page, why string) {
	// Whatever goes wrong here, the page is worth having without it.
	defer func() {
		if p := recover(); p != nil {
			page, why = "", fmt.Sprintf("It could not be drawn: %v.", p)
		}
		if ctx.Err() != nil {
			page, why = "", "It is left out, as it could not be drawn in time; muster check draws it anew where it is given a --report folder."
		}
	}()
	limits = limits.withDefaults()
	config, p, err := prepare(h, group, limits)
	if err != nil {
		return "", fmt.Sprintf("It could not be drawn: %v.", err)
	}
	if len(p.operations) > mostViewed {
		return "", fmt.Sprintf("It is left out: %d operations are too many for it.", len(p.operations))
	}
	ops := p.porcupine()
	for i := range ops {
		ops[i].Metadata = ops[i].Input
	}
	_, info := porcupine.CheckOperationsVerbose(newJudge(config, p, limits).model(ctx), ops, min(limits.Timeout, drawing(ctx)))
	for _, lane := range lanes {
		for _, b := range lane.Bars {
			info.AddAnnotations([]porcupine.Annotation{{Tag: lane.Name, Start: b.From, End: b.To, Description: orKind(b), Details: b.Tip, BackgroundColor: colours[b.Kind]}})
		}
	}
	// It steps again over what was found, and panics where that ends early.
	model := newJudge(config, p, limits).model(context.WithoutCancel(ctx))
	model.DescribeOperation = func(input, _ any) string { return input.(*operation).brief() }
	// Porcupine takes these two for HTML.
	model.DescribeOperationMetadata = func(op any) string { return html.EscapeString(op.(*operation).describe()) }
	model.DescribeState = func(s any) string { return strings.ReplaceAll(html.EscapeString(s.(*state).describe()), "\n", "<br>") }
	var text bytes.Buffer
	if err := porcupine.Visualize(model, info, &text); err != nil {
		return "", fmt.Sprintf("It could not be drawn: %v.", err)
	}
	return text.String(), ""
}

func orKind(b pages.Bar) string {
	if b.Label != "" {
		return b.Label
	}
	return string(b.Kind)
}

var colours = map[pages.BarKind]string{pages.Armed: "#e6ddf7", pages.Window: "#b79ce8", pages.Late: "#f1ebfb", pages.Fired: "#7c4fd0", pages.Fault: "#f0c674"}
