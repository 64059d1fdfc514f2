package coverage

import (
	"context"
	"slices"

	"github.com/muster-kafka/muster/conformance"
)

// Generate makes scenarios for the cells that no broker has been seen in and that clients and clocks can bring about, on each of the
// releases. Cells to which no way was found are left over, by release.
func Generate(ctx context.Context, t *Table, scenarios []*conformance.Scenario) ([]File, map[string][]Cell, error) {
	var all []Witness
	left := map[string][]Cell{}
	for _, release := range Releases {
		var wanted []Cell
		for _, row := range t.Of(release) {
			if row.Reached > 0 && row.Witness == "" && row.Obstacle == None {
				wanted = append(wanted, row.Cell)
			}
		}
		for _, w := range all { // those of the releases before do for this one too
			seen, err := visit(ctx, release, w.Profile, w.commands())
			if err != nil {
				return nil, nil, err
			}
			wanted = slices.DeleteFunc(wanted, func(c Cell) bool { return seen.Seen(c) > 0 })
		}
		before := len(all)
		found, rest, err := Witnesses(ctx, release, wanted, func(n int) (string, string) { return placeholder(before + n) })
		if err != nil {
			return nil, nil, err
		}
		all, left[release] = append(all, found...), rest
	}
	taken := func(name string) bool {
		return slices.ContainsFunc(scenarios, func(s *conformance.Scenario) bool { return s.Name == name })
	}
	return Files(all, taken), left, nil
}
