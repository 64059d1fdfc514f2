package conformance

import "slices"

// Comparison is what a register says of one or several reports on a target.
type Comparison struct {
	Known    []KnownFailure
	New      []*Failure // failures that no entry lists
	Gone     []Entry    // entries whose scenario ran and did not fail so: fixed, or failing in another way
	OneSided []Entry    // entries of status sometimes that showed in every one of several runs
	Unknown  []Entry    // entries of scenarios that do not exist in the reports
}

// KnownFailure is a failure with the entry that lists it.
type KnownFailure struct {
	*Failure
	Entry Entry
}

// Holds reports whether target and register agree in both directions.
func (c Comparison) Holds() bool {
	return len(c.New)+len(c.Gone)+len(c.OneSided)+len(c.Unknown) == 0
}

// Find returns the entry that lists the failure: same scenario, same block, same text.
func (r *Register) Find(f *Failure) (Entry, bool) {
	for _, e := range r.Entries {
		if e.lists(f) {
			return e, true
		}
	}
	return Entry{}, false
}

// Lists reports whether any failure of the scenario is listed; nil lists none.
func (r *Register) Lists(scenario string) bool {
	return r != nil && slices.ContainsFunc(r.Entries, func(e Entry) bool { return e.Scenario == scenario })
}

func (e *Entry) lists(f *Failure) bool {
	return f != nil && e.Scenario == f.Scenario && e.Block == f.Block && slices.Equal(e.Text, f.Got)
}

// Compare holds the reports against the register; a scenario may have run several times, in one report or in several. An entry of status
// always must show in every run of its scenario. One of status sometimes must show in some and not in all; a single run proves neither.
func (r *Register) Compare(reports ...Report) Comparison {
	var c Comparison
	ran, shown := make([]int, len(r.Entries)), make([]int, len(r.Entries))
	exists := make([]bool, len(r.Entries))
	for _, rep := range reports {
		for _, res := range rep.Results {
			listed := map[*Failure]bool{}
			for i, e := range r.Entries {
				if e.Scenario != res.Scenario {
					continue
				}
				exists[i] = true
				if res.Status != Pass && res.Status != Fail {
					continue
				}
				ran[i]++
				for _, f := range res.Failures() {
					if e.lists(f) {
						shown[i]++
						listed[f] = true
						c.Known = append(c.Known, KnownFailure{f, e})
					}
				}
			}
			for _, f := range res.Failures() {
				if !listed[f] {
					c.New = append(c.New, f)
				}
			}
		}
	}
	for i, e := range r.Entries {
		switch {
		case !exists[i]:
			c.Unknown = append(c.Unknown, e)
		case ran[i] == 0:
		case shown[i] == 0 || e.Status == Always && shown[i] < ran[i]:
			if e.Status == Sometimes && ran[i] == 1 {
				continue // one run proves nothing
			}
			c.Gone = append(c.Gone, e)
		case e.Status == Sometimes && ran[i] > 1 && shown[i] == ran[i]:
			c.OneSided = append(c.OneSided, e)
		}
	}
	return c
}
