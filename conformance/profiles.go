package conformance

import (
	"cmp"
	"slices"
)

// DefaultProfile is the broker profile of scenarios that name none.
const DefaultProfile = "default"

// ProfileSet is the scenarios that want the same broker settings.
type ProfileSet struct {
	Profile   string
	Scenarios []*Scenario
}

// ByProfile sorts scenarios by the broker profile that they need, the default one first: for targets that can be opened with each.
func ByProfile(all []*Scenario) []ProfileSet {
	var sets []ProfileSet
	for _, s := range all {
		name := cmp.Or(s.File.Profile, DefaultProfile)
		i := slices.IndexFunc(sets, func(p ProfileSet) bool { return p.Profile == name })
		if i < 0 {
			i = len(sets)
			sets = append(sets, ProfileSet{Profile: name})
		}
		sets[i].Scenarios = append(sets[i].Scenarios, s)
	}
	slices.SortStableFunc(sets, func(a, b ProfileSet) int {
		if (a.Profile == DefaultProfile) != (b.Profile == DefaultProfile) {
			if a.Profile == DefaultProfile {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Profile, b.Profile)
	})
	return sets
}
