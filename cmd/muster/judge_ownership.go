package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/checker/campaign"
	"github.com/muster-kafka/muster/checker/ownership"
	"github.com/muster-kafka/muster/internal/verdict"
	"github.com/muster-kafka/muster/model/classic"
)

// tellOwnership hands in what real consumers did in a campaign, and what was found of who owned what. A campaign that was cut short has no doubts
// of its own.
func tellOwnership(v *verdict.Verdict, r campaign.Consumers, stranger, short bool) {
	if len(r.Asked) == 0 {
		return
	}
	counts := &verdict.ConsumerCounts{
		Groups: r.Groups, Generations: r.Generations, Claims: r.Claims, Zombies: r.Zombies, Rests: r.Rests, Broken: r.Broken,
		Triggers: map[string]int{}, Skipped: map[string]string{},
	}
	for _, t := range r.Asked {
		counts.Triggers[string(t)] = r.Triggers[t]
	}
	var skipped []string
	for t, why := range r.Impossible {
		counts.Skipped[string(t)] = why
		skipped = append(skipped, fmt.Sprintf("%q does not happen to consumers here: %s", t, why))
	}
	slices.Sort(skipped)
	for _, s := range skipped {
		v.Warn("%s", s)
	}
	v.Campaign.Consumers = counts
	if r.Unrested > 0 {
		v.Warn("groups of real consumers were looked at %d times without having come to rest, and without having had all the time for it", r.Unrested)
	}
	for _, f := range r.Failures {
		v.Find(verdict.Finding{
			Judge: verdict.Ownership, Rule: f.Rule.ID, Class: classic.Contract.String(), Sentence: f.Rule.Sentence, Suffers: f.Rule.Suffers,
			Scenario: orElse(f.File, f.Group), Text: f.Text, Replay: f.Replay, Stranger: stranger,
		})
	}
	if !short {
		for _, doubt := range r.Doubts() {
			v.CannotTell("ownership: %s", doubt)
		}
	}
	if more := r.Broken - len(r.Failures); more > 0 {
		v.Warn("rules of ownership were broken %d more times, which are not told one by one: the same rules, or others", more)
	}
}

// explainOwnership prints the rules of ownership whose ids begin so.
func explainOwnership(w io.Writer, id string) error {
	n := 0
	for _, r := range ownership.Rules() {
		if !strings.HasPrefix(r.ID, id) {
			continue
		}
		if n++; n > 1 {
			fmt.Fprintln(w)
		}
		if _, err := fmt.Fprintf(w, "%s (contract)\n  rule: %s\n  a client suffers: %s\n", r.ID, r.Sentence, r.Suffers); err != nil {
			return unavailable(err)
		}
	}
	if n == 0 {
		return usage("no rule of ownership is called %s; docs/ownership.md lists them, and so does: muster explain ownership", id)
	}
	return nil
}

// mostTold violations of a log are told at length. Each takes as long as judging the log.
const mostTold = 20

// checkOwnership judges a log of ownership, for at most so long.
func checkOwnership(cmd *cobra.Command, path string, timeout time.Duration, doc *checked) error {
	timeout = cmp.Or(max(0, timeout), 30*time.Second)
	ctx, stop := context.WithTimeoutCause(cmd.Context(), timeout, fmt.Errorf("no verdict within %v: raise --timeout", timeout))
	defer stop()
	l, problems, err := ownership.ReadFile(ctx, path)
	if err != nil && ctx.Err() != nil {
		return undecided(ctx, path)
	}
	if err != nil {
		return usage("%s cannot be judged: %v\na log of ownership is a .jsonl file in the form of docs/ownership.md, such as muster campaign leaves in %s", path, err, outDir)
	}
	out := plain{cmd.OutOrStdout()}
	fmt.Fprintf(out, "%s: who owned what in group %s of %s, seed %d\n", path, l.Header.Group, l.Header.Target, l.Header.Seed)
	v, cut := ownership.JudgeWithin(ctx, l)
	doc.ownership(v, problems, l)
	fmt.Fprintf(out, "  %s in %s; %s; at rest %s\n", counted(v.Claims, "claim"), counted(v.Generations, "generation"), counted(v.Zombies, "zombie"), counted(v.Rests, "time"))
	for _, p := range problems {
		fmt.Fprintf(out, "  the record itself: %s\n", p)
	}
	for n, one := range v.Violations {
		if n == mostTold || n > 0 && ctx.Err() != nil {
			fmt.Fprintf(out, "\nand %d more violations, which are not told\n", len(v.Violations)-n)
			break
		}
		rule, _ := ownership.FindRule(one.Rule)
		fmt.Fprintf(out, "\n%s  a client suffers: %s\n", ownership.Tell(l, one), rule.Suffers)
	}
	switch {
	case len(v.Violations) > 0:
		return &codedError{code: verdict.ExitFail}
	case cut != nil:
		return undecided(ctx, path)
	case len(problems) > 0:
		return &codedError{verdict.ExitInconclusive, fmt.Errorf("%s: not decided: the record is not whole", path)}
	case v.Claims == 0:
		return &codedError{verdict.ExitInconclusive, fmt.Errorf("%s: not decided: nobody owned anything", path)}
	}
	holds := "holds: nothing was owned twice, and nothing was left over"
	if v.Rests == 0 {
		holds = "holds: nothing was owned twice; whether anything was left over was not judged, as the group was never seen at rest"
	}
	_, err = fmt.Fprintln(out, holds)
	return unavailable(err)
}

// undecided says why a file was not judged to its end: somebody has interrupted it, or there was no time left.
func undecided(ctx context.Context, path string) error {
	why := context.Cause(ctx)
	if errors.Is(why, context.Canceled) {
		why = errors.New("interrupted")
	}
	return &codedError{verdict.ExitInconclusive, fmt.Errorf("%s: not decided: %w", path, why)}
}
