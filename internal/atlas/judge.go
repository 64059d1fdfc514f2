package atlas

import (
	"fmt"
	"slices"
	"strings"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/script"
)

// Difference is a block that some releases answer otherwise than Kafka 4.3.1.
type Difference struct {
	Place
	Texts []*script.Variant // the base text first, then the others in the order of the file
	Of    map[string]int    // which text a release gives
}

// Differences finds them in the scenarios.
func Differences(releases []string, scenarios []*conformance.Scenario) []Difference {
	var all []Difference
	for _, sc := range scenarios {
		for i, b := range sc.File.Blocks {
			d := Difference{Place: Place{sc.Name, i + 1}, Texts: []*script.Variant{&b.Variants[0]}, Of: map[string]int{}}
			for _, release := range releases {
				v := b.For(release)
				n := slices.Index(d.Texts, v)
				if n < 0 {
					n = len(d.Texts)
					d.Texts = append(d.Texts, v)
				}
				if n > 0 {
					d.Of[release] = n
				}
			}
			if len(d.Of) > 0 {
				all = append(all, d)
			}
		}
	}
	return all
}

// Unexplained lists, for a person, what the explanations do not cover and what they say of nothing. It looks at texts alone; no
// broker is asked.
func Unexplained(releases []string, scenarios []*conformance.Scenario, explained []Explanation) []string {
	var faults []string
	differences := Differences(releases, scenarios)
	for _, d := range differences {
		var bare []string
		for _, release := range releases {
			if d.Of[release] > 0 && explains(explained, d.Place, release) == nil {
				bare = append(bare, release)
			}
		}
		if len(bare) > 0 {
			faults = append(faults, fmt.Sprintf("%s differs on %s, which no explanation covers", d.Place, strings.Join(bare, ", ")))
		}
	}
	for _, e := range explained {
		for _, at := range e.At {
			i := slices.IndexFunc(differences, func(d Difference) bool { return d.Place == at })
			if i < 0 {
				faults = append(faults, fmt.Sprintf("explanation %s: %s differs on no release", e.Name, at))
				continue
			}
			for _, release := range releases {
				if e.Releases.Holds(release) > 0 && differences[i].Of[release] == 0 {
					faults = append(faults, fmt.Sprintf("explanation %s: %s does not differ on %s", e.Name, at, release))
				}
			}
		}
	}
	return faults
}

func explains(all []Explanation, at Place, release string) *Explanation {
	for i := range all {
		if all[i].Releases.Holds(release) > 0 && slices.Contains(all[i].At, at) {
			return &all[i]
		}
	}
	return nil
}

// Judge lists what was seen otherwise than written: texts, and scenarios that a release was not asked without an explanation.
func (r *Run) Judge(releases []string, scenarios []*conformance.Scenario, explained []Explanation) []string {
	var faults []string
	for _, release := range releases {
		for _, sc := range scenarios {
			c, ok := r.Find(release, sc.Name)
			switch {
			case !ok:
				faults = append(faults, fmt.Sprintf("%s was not run on %s", sc.Name, release))
			case c.Status == conformance.Pass:
			case c.Status == conformance.Skip:
				excused := slices.ContainsFunc(explained, func(e Explanation) bool { return e.excuses(release, c.Lacks) })
				if !excused && !everywhere(sc) {
					faults = append(faults, fmt.Sprintf("%s was not asked of %s: %s; no explanation covers it", sc.Name, release, c.Reason))
				}
			case c.Failure != "":
				faults = append(faults, fmt.Sprintf("%s answers otherwise than its text says: %s", release, c.Failure))
			default:
				faults = append(faults, fmt.Sprintf("%s could not be run on %s: %s", sc.Name, release, c.Reason))
			}
		}
	}
	return faults
}

// Idle lists explanations of versions and faults that no release of the run was found without.
func (r *Run) Idle(explained []Explanation) []string {
	var faults []string
	for _, e := range explained {
		used := slices.ContainsFunc(r.Cells, func(c Cell) bool {
			return c.Status == conformance.Skip && e.excuses(c.Release, c.Lacks)
		})
		if e.unasked() && !used {
			faults = append(faults, fmt.Sprintf("explanation %s: no release was found without %s", e.Name, e.lacks()))
		}
	}
	return faults
}

// everywhere reports whether the scenario's own header keeps it from every broker.
func everywhere(sc *conformance.Scenario) bool {
	return sc.File.Slow != "" || slices.Contains(sc.File.Requires, "virtual")
}
