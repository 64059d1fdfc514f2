package coverage

import (
	"context"
	"fmt"
	"slices"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/model/classic"
)

// Releases are the brokers that cells are witnessed on: the release of the Java coordinator that scenarios are recorded from, and the last one
// of the Scala coordinator. The test suite runs every scenario on both, and holds each to its text.
var Releases = []string{"4.3.1", "3.9.2"}

// Row is what is known of a cell on one release.
type Row struct {
	Cell
	Reached   int      // how often exploration took it
	Gate      bool     // exploration does not reach it, the table of gates says that it is there
	Scenarios []string // that visit it
	Witness   string   // the first of them that a broker of the release can be asked, and so has been seen to follow
	Obstacle  Obstacle // why clients and clocks cannot bring it about, as far as exploration shows
}

// Table is all rows.
type Table struct {
	rows     map[string][]*Row  // by release, sorted by cell
	Explored map[string]*Counts // what exploration took, by release
	Visited  map[string]*Counts // what the scenarios took
	Visits   map[string][]Visit
}

// Of are the rows of a release.
func (t *Table) Of(release string) []*Row { return t.rows[release] }

// Find is the row of a cell, nil if the release does not have it.
func (t *Table) Find(release string, c Cell) *Row {
	for _, r := range t.rows[release] {
		if r.Cell == c {
			return r
		}
	}
	return nil
}

// Compute explores the specification of each release and runs the scenarios on it, on two processors for a few seconds.
func Compute(ctx context.Context, scenarios []*conformance.Scenario) (*Table, error) {
	t := &Table{rows: map[string][]*Row{}, Explored: map[string]*Counts{}, Visited: map[string]*Counts{}, Visits: map[string][]Visit{}}
	gates, err := Gates()
	if err != nil {
		return nil, err
	}
	for _, release := range Releases {
		if err := t.add(ctx, release, scenarios, gates); err != nil {
			return nil, fmt.Errorf("coverage of %s: %w", release, err)
		}
	}
	return t, nil
}

func (t *Table) add(ctx context.Context, release string, scenarios []*conformance.Scenario, gates []Gate) error {
	profile, err := classic.ProfileFor(release)
	if err != nil {
		return err
	}
	explored, obstacles, err := survey(ctx, shapes(profile, true))
	if err != nil {
		return err
	}
	visits, err := Visits(ctx, release, scenarios)
	if err != nil {
		return err
	}
	visited := &Counts{}
	rows := map[Cell]*Row{}
	for _, c := range explored.Cells() {
		rows[c] = &Row{Cell: c, Reached: explored.Seen(c), Obstacle: obstacles(c)}
	}
	for _, g := range gates {
		if rows[g.Cell] == nil && g.On(release) {
			rows[g.Cell] = &Row{Cell: g.Cell, Gate: true}
		}
	}
	for i := range visits {
		v := &visits[i]
		visited.Add(&v.Counts)
		for _, c := range v.Counts.Cells() {
			if rows[c] == nil {
				rows[c] = &Row{Cell: c}
			}
			rows[c].Scenarios = append(rows[c].Scenarios, v.Scenario.Name)
			if rows[c].Witness == "" && v.OnBroker {
				rows[c].Witness = v.Scenario.Name
			}
		}
	}
	for _, r := range rows {
		slices.Sort(r.Scenarios)
		t.rows[release] = append(t.rows[release], r)
	}
	slices.SortFunc(t.rows[release], func(a, b *Row) int { return compare(a.Cell, b.Cell) })
	t.Explored[release], t.Visited[release], t.Visits[release] = explored, visited, visits
	return nil
}

// enough are the explorations that reach all cells, whatever their profile is meant to be; a test holds that the others reach no more.
var enough = []string{
	"2 members", "2 members, write in flight", "3 members", "2 static members", "2 static members, contract", "initial delay", "group.max.size",
	"group.max.size, Scala", "offsets", "failover, Scala",
}

// shapes are the explorations that are enough, or the others, of a profile.
func shapes(p classic.Profile, those bool) (groups []explore.Group) {
	for _, g := range explore.Groups() {
		if slices.Contains(enough, g.Name) == those {
			g.Profile = p
			groups = append(groups, g)
		}
	}
	return groups
}
