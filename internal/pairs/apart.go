package pairs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
)

// Apart is how a scenario tells two releases apart.
type Apart struct {
	Told   bool     // the one without the fault gives the text for its release, and the other does not
	Block  int      // the first in which it does not
	Lines  []string // of that block: "- " what is expected, "+ " what the one with the fault answers
	Lacks  string   // what the one with the fault does not even offer: "JoinGroup 0"
	Reason string   // why it does not tell them apart
}

// TellApart runs the scenario of a pair on both releases. The one without the fault must give the text that was recorded for it, or it would be a false
// alarm; the one with the fault must give its own, or the fault is another one, and must not give the first one's.
func TellApart(ctx context.Context, p Pair, s *conformance.Scenario, bad, good target.Target) (Apart, error) {
	right, err := judge(ctx, s, good, false)
	if err != nil {
		return Apart{}, err
	}
	own, err := judge(ctx, s, bad, false)
	if err != nil {
		return Apart{}, err
	}
	wrong, err := judge(ctx, s, target.As{Target: bad, Release: p.Good}, own.Status == conformance.Pass) // if it has just given its own text, the machine keeps up
	if err != nil {
		return Apart{}, err
	}
	switch {
	case right.Status != conformance.Pass:
		return Apart{Reason: fmt.Sprintf("a false alarm: kafka:%s does not give the text that was recorded for it: %s", p.Good, why(right))}, nil
	case own.Status == conformance.Skip && own.Lacks.API != "":
		return Apart{Told: true, Lacks: fmt.Sprintf("%s %d", own.Lacks.API, own.Lacks.Version)}, nil
	case own.Status != conformance.Pass:
		return Apart{Reason: fmt.Sprintf("kafka:%s does not give the text that was recorded for it: %s", p.Bad, why(own))}, nil
	case wrong.Status != conformance.Fail:
		return Apart{Reason: fmt.Sprintf("kafka:%s gives the text of kafka:%s too: %s", p.Bad, p.Good, why(wrong))}, nil
	}
	f := wrong.Failure
	return Apart{Told: true, Block: f.Block, Lines: unlike(f.Expected, f.Got)}, nil
}

func judge(ctx context.Context, s *conformance.Scenario, tg target.Target, hasty bool) (conformance.Result, error) {
	report, err := conformance.Suite{Scenarios: []*conformance.Scenario{s}, Parallel: 1, Hasty: hasty}.Run(ctx, tg, nil)
	if err != nil {
		return conformance.Result{}, err
	}
	if len(report.Results) != 1 {
		return conformance.Result{}, errors.New("a scenario without a result")
	}
	return report.Results[0], ctx.Err()
}

func why(r conformance.Result) string {
	if r.Failure != nil {
		return fmt.Sprintf("block %d: %s", r.Failure.Block, strings.Join(unlike(r.Failure.Expected, r.Failure.Got), " / "))
	}
	return string(r.Status) + " " + r.Reason
}

// unlike are the lines in which two texts differ.
func unlike(expected, got []string) (lines []string) {
	for i := range max(len(expected), len(got)) {
		if i < len(expected) && i < len(got) && expected[i] == got[i] {
			continue
		}
		if i < len(expected) {
			lines = append(lines, "- "+expected[i])
		}
		if i < len(got) {
			lines = append(lines, "+ "+got[i])
		}
	}
	return lines
}
