package conformance

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/internal/kafka"
)

// TestArms holds that the specification gives each of the texts that an alternation {x|y} allows, for some release or as the reference: one that nobody can
// give is a hole through which a wrong coordinator slips.
func TestArms(t *testing.T) {
	all, err := Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	releases := append([]string{Reference}, kafka.Releases...)
	arms := 0
	for _, s := range all {
		open := alternations(s)
		arms += len(open)
		for _, release := range releases {
			if len(open) == 0 {
				break
			}
			given := s.given(t, release)
			open = slices.DeleteFunc(open, func(a arm) bool {
				return slices.ContainsFunc(given[a.block], func(got []string) bool {
					return a.line < len(got) && accepted(candidates(s.File.Blocks[a.block], release), got) == a.of && a.only.Match(got[a.line])
				})
			})
		}
		for _, a := range open {
			t.Errorf("%s, line %d: the specification of no release gives %q where the text allows %q", s.Name, a.of.Line+1+a.line, a.word, a.of.Lines[a.line].Text)
		}
	}
	if arms < 30 {
		t.Errorf("only %d arms were found", arms)
	}
}

// arm is one of the texts that a line allows.
type arm struct {
	block, line int
	of          *script.Variant
	word        string
	only        script.Expect // the line with no other in its place
}

func alternations(s *Scenario) []arm {
	var all []arm
	for i, b := range s.File.Blocks {
		for v := range b.Variants {
			for n, l := range b.Variants[v].Lines {
				for word, only := range l.Arms() {
					all = append(all, arm{i, n, &b.Variants[v], word, only})
				}
			}
		}
	}
	return all
}

// given are the texts that the specification of the release gives for each block, in all runs that it allows.
func (s *Scenario) given(t *testing.T, release string) map[int][][]string {
	t.Helper()
	tg, err := specification(release, s.File.Profile)
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	texts := map[int][][]string{}
	if s.skip(tg.Capabilities(), true) != "" {
		return texts
	}
	prefixes := [][]int{nil}
	for runs := 0; len(prefixes) > 0; runs++ {
		if runs > maxRuns {
			t.Fatalf("%s: too many runs", s.Name)
		}
		c := &choices{prefix: prefixes[0]}
		prefixes = prefixes[1:]
		tg.Reset(c.choose)
		_, err := s.attempt(context.Background(), tg, s.Name, manner{}, func(_ *run, i int, got []string) bool {
			texts[i] = append(texts[i], got)
			return accepted(candidates(s.File.Blocks[i], release), got) != nil
		})
		if err != nil {
			t.Fatal(fmt.Errorf("%s on %s: %w", s.Name, release, err))
		}
		for i := len(c.chosen) - 1; i >= len(c.prefix); i-- {
			for other := 1; other < c.of[i]; other++ {
				prefixes = append(prefixes, append(slices.Clone(c.chosen[:i]), other))
			}
		}
	}
	return texts
}
