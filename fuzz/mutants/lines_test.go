package mutants

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/script"
)

// texts makes every expected line of every scenario wrong, in turn and in every way that there is, and tells of each whether the target refuses the
// text at that very place. pick says which to try; nil is all.
func texts(ctx context.Context, name string, pick func(key string) bool, tell func(key, change string, refused bool)) error {
	all, err := conformance.Scenarios()
	if err != nil {
		return err
	}
	for _, set := range conformance.ByProfile(all) {
		tg, err := opened(name, set.Profile, nil)
		if err != nil {
			return err
		}
		for _, s := range set.Scenarios {
			run := func() (conformance.Result, error) {
				rep, err := conformance.Suite{Scenarios: []*conformance.Scenario{s}, Slow: true, Hasty: true, OutDir: os.DevNull}.Run(ctx, tg, nil)
				return rep.Results[0], err
			}
			r, err := run()
			if err != nil {
				return err
			}
			if r.Status == conformance.Skip || unspoken[s.Name] {
				continue
			}
			if r.Status != conformance.Pass {
				return fmt.Errorf("%s is not right on %s as it is: %s %s", s.Name, name, r.Status, r.Reason)
			}
			seen := map[string]int{}
			for i, b := range s.File.Blocks {
				if len(b.Variants) != 1 || !b.Variants[0].Base() {
					continue // another text may be the target's
				}
				right := b.Variants[0].Lines
				for l, line := range right {
					for _, wrong := range WrongLines(line.Text) {
						key := fmt.Sprintf("%s: %s => %s", s.Name, line.Text, wrong.Text)
						if wrong.Text == "" {
							key += "nothing"
						}
						if seen[key]++; seen[key] > 1 {
							key += fmt.Sprintf(" (%d)", seen[key])
						}
						if pick != nil && !pick(key) {
							continue
						}
						b.Variants[0].Lines = slices.Clone(right)
						if wrong.Text == "" {
							b.Variants[0].Lines = slices.Delete(b.Variants[0].Lines, l, l+1)
						} else {
							b.Variants[0].Lines[l] = script.NewExpect(wrong.Text)
						}
						r, err := run()
						b.Variants[0].Lines = right
						if err != nil {
							return err
						}
						tell(key, wrong.Change, r.Status == conformance.Fail && r.Failure.Block == i+1)
					}
				}
			}
		}
		if err := tg.Close(); err != nil {
			return err
		}
	}
	return nil
}
