package coverage

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// exemptText lists the cells that no broker of the harness has been seen in, one by one, with the reason.
//
//go:embed exempt.txt
var exemptText string

// Exemption is a reason, and the cells that it is the reason for.
type Exemption struct {
	Line   int
	Reason string
	Kind   Obstacle // what exploration has to say of each of its cells
	Cells  []Gate
}

// Exemptions are those of exempt.txt.
//
//	# No write of a broker can be made to fail from outside.
//	kind: write
//	commit.write.fails Empty answer
//	delay.waits absent answer [4.3.1]
func Exemptions() ([]Exemption, error) { return parseExemptions(exemptText) }

func parseExemptions(text string) (all []Exemption, err error) {
	var e Exemption
	var kind bool
	for n, line := range append(strings.Split(text, "\n"), "") {
		line = strings.TrimSpace(line)
		fail := func(format string, args ...any) error {
			return fmt.Errorf("exempt.txt:%d: %w", n+1, fmt.Errorf(format, args...))
		}
		switch word, value, _ := strings.Cut(line, ":"); {
		case line == "":
			if len(e.Cells) > 0 {
				if !kind || e.Reason == "" {
					return nil, fail("cells need a reason above them, and a kind: write as in \"kind: write\"; none where exploration knows of no obstacle")
				}
				all = append(all, e)
			}
			e, kind = Exemption{}, false
		case strings.HasPrefix(line, "#"):
			e.Reason = strings.TrimSpace(e.Reason + " " + strings.TrimSpace(line[1:]))
		case word == "kind":
			if e.Kind, kind = Obstacle(strings.TrimSpace(value)), true; e.Kind == "none" {
				e.Kind = None
			}
			if !slices.Contains(obstacles, e.Kind) {
				return nil, fail("there is no kind %q", e.Kind)
			}
		default:
			g, err := parseGate(line)
			if err != nil {
				return nil, fail("%w", err)
			}
			if e.Line == 0 {
				e.Line = n + 1
			}
			e.Cells = append(e.Cells, g)
		}
	}
	return all, nil
}

// obstacles are all there are.
var obstacles = []Obstacle{None, Unserved, LoadsFast, GivesUp, NoTopic, Writes}

// exemption finds why a cell of a release may be unwitnessed.
func exemption(all []Exemption, release string, c Cell) *Exemption {
	for i := range all {
		if slices.ContainsFunc(all[i].Cells, func(g Gate) bool { return g.Cell == c && g.On(release) }) {
			return &all[i]
		}
	}
	return nil
}

// Judge lists what is wrong with the coverage: cells that are neither witnessed nor exempt, exemptions that are none, and cells that scenarios
// visit though nothing says that they exist.
func (t *Table) Judge(exempt []Exemption) []string {
	var faults []string
	used := map[string]bool{}
	for _, release := range Releases {
		for _, r := range t.Of(release) {
			e := exemption(exempt, release, r.Cell)
			if e != nil {
				used[r.Cell.String()] = true
			}
			switch {
			case r.Reached == 0 && !r.Gate:
				faults = append(faults, fmt.Sprintf("%s: %s is visited by %s, but neither exploration reaches it nor gates.txt lists it", release, r.Cell, r.Scenarios[0]))
			case r.Witness == "" && e == nil:
				faults = append(faults, fmt.Sprintf("%s: %s is neither witnessed on a broker nor exempt: add a scenario (muster witness makes one where it can), or the reason to exempt.txt", release, r.Cell))
			case r.Witness != "" && e != nil:
				faults = append(faults, fmt.Sprintf("%s: %s is exempt (exempt.txt:%d), but %s witnesses it", release, r.Cell, e.Line, r.Witness))
			case e != nil && e.Kind != r.Obstacle:
				faults = append(faults, fmt.Sprintf("%s: %s is exempt of kind %q (exempt.txt:%d), but exploration says %q", release, r.Cell, kindName(e.Kind), e.Line, kindName(r.Obstacle)))
			}
		}
	}
	for _, e := range exempt {
		for _, g := range e.Cells {
			if !used[g.Cell.String()] {
				faults = append(faults, fmt.Sprintf("exempt.txt: %s is no cell of any release", g.Cell))
			}
		}
	}
	return faults
}

func kindName(o Obstacle) string {
	if o == None {
		return "none"
	}
	return string(o)
}

// Why is the reason for which a cell of a release may be unwitnessed; "" if there is none.
func Why(all []Exemption, release string, c Cell) string {
	if e := exemption(all, release, c); e != nil {
		return e.Reason
	}
	return ""
}
