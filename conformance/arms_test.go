package conformance

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/internal/kafka"
)

// chance are the arms that only a broker gives, now and then: what it answers depends on what it was doing for others.
var chance = map[string]string{
	"txn-verified TRANSACTION_ABORTABLE":         mixedUp,
	"txn-verified-abortable INVALID_TXN_STATE":   mixedUp,
	"rebalancing-requests TRANSACTION_ABORTABLE": mixedUp,
	"faults-write-static UNKNOWN_SERVER_ERROR":   "the error of a failed write may reach the next request, in 3.9 with the Java coordinator",
	"faults-write-sync UNKNOWN_SERVER_ERROR":     "as in faults-write-static",
}

const mixedUp = "4.0.2 and 4.4.0 were seen to answer one version with the other's code, while transactions of other versions were verified"

// TestArms holds that the specification gives each of the texts that an alternation {x|y} allows, for some release or as the reference: one that nobody can
// give is a hole through which a wrong coordinator slips.
func TestArms(t *testing.T) {
	all, err := Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	releases := append([]string{Reference}, kafka.Releases...)
	arms, used := 0, map[string]bool{}
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
			if key := s.Name + " " + a.word; chance[key] != "" {
				used[key] = true
				continue
			}
			t.Errorf("%s, line %d: the specification of no release gives %q where the text allows %q", s.Name, a.of.Line+1+a.line, a.word, a.of.Lines[a.line].Text)
		}
	}
	for key := range chance {
		if !used[key] {
			t.Errorf("%s is said to be a matter of chance, and the specification gives it, or no text has it: take it off the list", key)
		}
	}
	if arms < 25 {
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
			if b.Variants[v].Contract != "" {
				continue // what those may do who are not Kafka, who have no specification
			}
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
	if s.skip(tg.Capabilities(), true) != nil {
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
		if skip := (*skipError)(nil); err != nil && !errors.As(err, &skip) {
			t.Fatalf("%s on %s: %v", s.Name, release, err)
		}
		for i := len(c.chosen) - 1; i >= len(c.prefix); i-- {
			for other := 1; other < c.of[i]; other++ {
				prefixes = append(prefixes, append(slices.Clone(c.chosen[:i]), other))
			}
		}
	}
	return texts
}
