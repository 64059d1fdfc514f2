package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/muster-kafka/muster/checker/campaign"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/internal/verdict"
)

// linearizeImpl is a short campaign on the reference coordinator over TCP, for half of the budget.
func linearizeImpl(ctx context.Context, s *session) error {
	t, err := embedded.NewTCP(ctx, embedded.Options{Seed: s.seed})
	if err != nil {
		return err
	}
	defer t.Close()
	return s.campaign(ctx, t, campaign.Options{Budget: s.budget / 2, Faults: campaign.Faults{Connections: true}}, false)
}

// campaign runs a campaign on a target and hands in what it finds.
func (s *session) campaign(ctx context.Context, t target.Target, o campaign.Options, stranger bool) error {
	o.Seed, o.Out = s.seed, s.out
	o.Progress = func(r campaign.Report) {
		s.progress.step("campaign: %d groups judged, %d calls made, %d illegal, %d faults, %v", r.Groups, r.Made, r.Illegal, faults(r), r.Elapsed.Round(time.Second))
	}
	report, err := campaign.Run(ctx, t, o)
	s.tell(func(v *verdict.Verdict) {
		tellCampaign(v, s.seed, report, o.Faults, stranger, err != nil || ctx.Err() != nil)
	})
	return err
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func faults(r campaign.Report) (n int) {
	for _, of := range r.Faults {
		n += of
	}
	return n
}

// tellCampaign hands in what a campaign did and found. One that was cut short has no doubts of its own: it is not over.
func tellCampaign(v *verdict.Verdict, seed uint64, r campaign.Report, asked campaign.Faults, stranger, short bool) {
	*v.Linearizability = verdict.LinearizabilityCounts{Histories: r.Groups, Operations: r.Calls, Illegal: r.Illegal, Unknown: r.Unknown}
	c := &verdict.CampaignCounts{
		Groups: r.Groups, Legal: r.Legal, Illegal: r.Illegal, Undecided: r.Unknown, Calls: r.Made, Lost: r.NotAnswered, Widest: r.Widest,
		Together: r.Convergence.Together, TogetherMS: r.Convergence.Longest.Milliseconds(), Apart: r.Convergence.Apart, NotSeen: r.Convergence.Untold,
		Stalled: r.Stalled, Left: r.Left, StallMS: float64(r.Stall.Microseconds()) / 1000, Faults: map[string]int{}, Profiles: map[string]int{},
	}
	if seconds := r.Elapsed.Seconds(); seconds > 0 {
		c.PerSecond = float64(int(float64(r.Made)/seconds*10)) / 10
	}
	for _, kind := range asked.Kinds() {
		c.Faults[string(kind)] = 0
	}
	for kind, n := range r.Faults {
		c.Faults[string(kind)] = n
	}
	for name, n := range r.Profiles {
		c.Profiles[name] = n
	}
	c.Rules, c.Moves, c.Wide, c.Open = map[string]int{}, map[string]int{}, []verdict.WideGroup{}, []verdict.OpenGroup{}
	for rule, n := range r.Exercised.Rules {
		c.Rules[rule.String()] = n
	}
	for m, n := range r.Exercised.Moves {
		c.Moves[fmt.Sprintf("%v to %v", m.From, m.To)] = n
	}
	for _, w := range r.Wide {
		c.Wide = append(c.Wide, verdict.WideGroup{Seed: w.Seed, Group: w.Group, Calls: w.Calls, Overlap: w.Overlap, TookS: verdict.Seconds(w.Took), Result: w.Result.String()})
	}
	for _, o := range r.Open {
		c.Open = append(c.Open, verdict.OpenGroup{Seed: o.Seed, Group: o.Group, Why: o.Why, File: o.File})
	}
	v.Campaign = c
	tellOwnership(v, r.Consumers, stranger, short || r.Outage != nil)
	v.Case(verdict.Case{Judge: verdict.Linearizability, Name: fmt.Sprintf("seed %d", seed), Took: r.Elapsed})
	for _, f := range r.Failures {
		v.Find(verdict.Finding{
			Judge: verdict.Linearizability, Rule: f.Rule, Class: f.Class, Suffers: f.Suffers, Scenario: orElse(f.File, f.Group), Text: f.Text, Replay: f.Replay, Page: f.Page,
			Stranger: stranger,
		})
	}
	for _, unsaved := range r.Unsaved {
		v.Warn("what was found stands, but not all of it could be saved: %s; free some space, or give --report a folder that can be written", unsaved)
	}
	for _, why := range r.Convergence.Whys {
		v.Warn("clients that were left alone did not get together: %s", why)
	}
	if r.Same > 0 {
		v.Warn("%d more groups are illegal for rules that are told of. Their histories are beside those", r.Same)
	}
	if r.Untold > 0 {
		v.Warn("%d more groups are illegal and are not told one by one: for the same rules, or for others. Their histories are beside those that are told of", r.Untold)
		v.NotTold(r.Untold)
	}
	if r.Mixed() {
		names := slices.Sorted(maps.Keys(r.Profiles))
		v.Warn("no one profile explains all groups: some are as only %s has it, although a target should be like one of them throughout", strings.Join(names, ", others as only "))
	}
	if r.Cleaned > 0 {
		v.Warn("what was seen of %s can be explained only if the target removes groups that are Empty and have no offsets, as Kafka does now and then (offsets.retention.check.interval.ms)", counted(r.Cleaned, "group"))
	}
	if r.Tardy > 0 {
		v.Warn("what was seen of %s can be explained only if a timer was later than the slack, by up to three times that: the machine was too busy for it, or the target's timers are wrong now and then. More of them would be failures", counted(r.Tardy, "group"))
	}
	if !short {
		for _, doubt := range r.Doubts(asked) {
			v.CannotTell("linearizability: %s", doubt)
		}
	}
	if len(r.Reasons) > 0 {
		v.Warn("%d groups could not be decided and count as nothing; the first of them:", r.Unknown)
		for _, reason := range r.Reasons {
			v.Warn("  %s", reason)
		}
	}
}
