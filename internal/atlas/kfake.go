package atlas

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
)

// unsteadyRuns is how often a scenario is run that the register says fails sometimes: it has to fail, and not to fail.
const unsteadyRuns = 16

// JudgeKFake runs the scenarios on kfake and holds them against its register, in both directions. It closes the target.
func JudgeKFake(ctx context.Context, kfake target.Target, scenarios []*conformance.Scenario, known *conformance.Register, outDir string) ([]string, error) {
	var all []*conformance.Scenario
	for _, sc := range scenarios {
		runs := 1
		if slices.ContainsFunc(known.Entries, func(e conformance.Entry) bool { return e.Scenario == sc.Name && e.Status == conformance.Sometimes }) {
			runs = unsteadyRuns
		}
		for range runs {
			all = append(all, sc)
		}
	}
	report, err := conformance.Suite{Scenarios: all, Parallel: 48, Hasty: true, OutDir: outDir}.Run(ctx, kfake, nil)
	if err = errors.Join(err, kfake.Close()); err != nil {
		return nil, err
	}
	var faults []string
	c := known.Compare(report)
	for _, f := range c.New {
		faults = append(faults, fmt.Sprintf("kfake differs where its register says nothing: %s", f))
	}
	for _, e := range c.Gone {
		faults = append(faults, fmt.Sprintf("kfake.txt:%d: %s no longer fails so", e.Line, e.Scenario))
	}
	for _, e := range c.OneSided {
		faults = append(faults, fmt.Sprintf("kfake.txt:%d: %s failed in each of %d runs; it is called unsteady", e.Line, e.Scenario, unsteadyRuns))
	}
	for _, e := range c.Unknown {
		faults = append(faults, fmt.Sprintf("kfake.txt:%d: there is no scenario %s", e.Line, e.Scenario))
	}
	return faults, nil
}
