package coverage

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// gatesText lists the cells that exploration cannot reach, because they are about what the explored alphabets leave out: versions, sizes,
// values, encodings.
//
//go:embed gates.txt
var gatesText string

// Gate is a cell that exploration cannot reach.
type Gate struct {
	Cell
	releases []string // nil: all
}

// On says whether the release has the cell.
func (g Gate) On(release string) bool {
	return g.releases == nil || slices.Contains(g.releases, release)
}

// Gates are those of gates.txt.
func Gates() ([]Gate, error) {
	var all []Gate
	for n, line := range strings.Split(gatesText, "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		g, err := parseGate(line)
		if err != nil {
			return nil, fmt.Errorf("gates.txt:%d: %w", n+1, err)
		}
		all = append(all, g)
	}
	return all, nil
}

// parseGate reads a cell, which may end in the only release that it is meant for.
func parseGate(line string) (g Gate, err error) {
	text, release, only := strings.Cut(line, "[")
	if only {
		release = strings.TrimSuffix(release, "]")
		if !slices.Contains(Releases, release) {
			return g, fmt.Errorf("%q: cells are counted on %s only", line, strings.Join(Releases, " and "))
		}
		g.releases = []string{release}
	}
	g.Cell, err = ParseCell(strings.TrimSpace(text))
	return g, err
}
