package runs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/muster-kafka/muster/checker/clients"
	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/checker/joint"
	"github.com/muster-kafka/muster/internal/nearest"
	"github.com/muster-kafka/muster/model/classic"
)

// MostMembers is how many members a run can have.
const MostMembers = classic.MaxNarrow

// At are the runs of the catalogue that are made on an occasion.
func At(when When) []Run {
	return slices.DeleteFunc(All(), func(r Run) bool { return r.When < when })
}

// On are the runs that the tests make, those of make test-judges too, or those that are left for the night: the small ones first, last those whose size nobody knows.
func On(night bool) []Run {
	all := slices.DeleteFunc(All(), func(r Run) bool { return (r.When < Judges) != night })
	if night {
		slices.SortStableFunc(all, func(a, b Run) int {
			x, knownX := a.Known()
			y, knownY := b.Known()
			switch {
			case knownX && knownY:
				return cmp.Compare(x.Transitions, y.Transitions)
			case knownX:
				return -1
			case knownY:
				return 1
			}
			return 0
		})
	}
	return all
}

// Find returns the runs of a name: that run, or of a set those with so many members (0 is any). Of a set's runs those are taken that the tests
// make, unless there are none or the number of members is given. Where the set has no run of that many members, its own is made for it.
func Find(name string, members int) ([]Run, error) {
	var found []Run
	for _, r := range All() {
		if r.Name == name && (members == 0 || members == r.Members) {
			return []Run{r}, nil
		}
		if r.Name == name {
			return nil, fmt.Errorf("the run %q has %d members; leave --members out", name, r.Members)
		}
		if r.Set == name && (members == 0 || members == r.Members) {
			found = append(found, r)
		}
	}
	at := slices.IndexFunc(Sets(), func(s Set) bool { return s.Name == name })
	if at < 0 {
		var names []string
		for _, r := range All() {
			names = append(names, r.Name)
		}
		return nil, fmt.Errorf("there is no run %q; there are the sets %s, and the runs that muster explore --list shows%s", name, strings.Join(SetNames(), ", "), meant(name, append(SetNames(), names...)))
	}
	if members == 0 {
		if tested := slices.DeleteFunc(slices.Clone(found), func(r Run) bool { return r.When < Judges }); len(tested) > 0 {
			return tested, nil
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	sized := Sets()[at].sized
	if sized == nil {
		return nil, fmt.Errorf("no run of %s has %d members; muster explore --list shows which there are", name, members)
	}
	r := sized(members)
	r.asked = Asked{Run: name, Members: members}
	return []Run{r}, r.check()
}

// SetNames are the names of all sets.
func SetNames() (names []string) {
	for _, s := range Sets() {
		names = append(names, s.Name)
	}
	return names
}

// check says what is wrong with a run that is not of the catalogue.
func (r Run) check() error {
	if r.Joint != nil {
		j := *r.Joint
		j.Name = r.Name
		return j.Check()
	}
	if r.Clients != nil {
		c := *r.Clients
		c.Name = r.Name
		return c.Check()
	}
	if r.Members < 1 || r.Members > MostMembers {
		return fmt.Errorf("%s: a state has room for 1 to %d members", r.Name, MostMembers)
	}
	if lists := len(r.Group.Lists) * max(r.Group.Metadata, 1); r.Members > classic.MaxPacked && lists > 3 {
		return fmt.Errorf("%s: a state has no room for %d members that have one of %d lists each; up to %d members have it", r.Name, r.Members, lists, classic.MaxPacked)
	}
	return nil
}

// Profiles are what Profile takes beside releases.
var Profiles = []string{"Java", "Scala", "contract"}

// ProfileOf is the coordinator of a name: one of Profiles, in any case, or a release such as 3.9.2.
func ProfileOf(name string) (classic.Profile, error) {
	switch strings.ToLower(name) {
	case "java":
		return classic.Java, nil
	case "scala":
		return classic.Scala, nil
	case "contract":
		return classic.Reference, nil
	}
	p, err := classic.ProfileFor(name)
	if err != nil {
		return p, fmt.Errorf("%q is no coordinator: %w; or say %s", name, err, strings.Join(Profiles, ", "))
	}
	return p, nil
}

// with is the run on another coordinator.
func (r Run) with(p classic.Profile) Run {
	if r.profile() == p {
		return r
	}
	r.altered, r.Name = true, r.Name+", "+p.Name
	r.change(func(g *explore.Group) { g.Profile = p }, func(c *clients.Run) { c.Profile = p }, nil)
	return r
}

func (r Run) profile() classic.Profile {
	switch {
	case r.Group != nil:
		return r.Group.Profile
	case r.Joint != nil:
		return classic.Reference
	}
	return r.Clients.Profile
}

// change changes the run's own copy of its settings.
func (r *Run) change(group func(*explore.Group), run func(*clients.Run), beside func(*joint.Run)) {
	if r.Group != nil {
		g := *r.Group
		group(&g)
		r.Group = &g
		return
	}
	if r.Joint != nil {
		j := *r.Joint
		beside(&j)
		r.Joint = &j
		return
	}
	c := *r.Clients
	run(&c)
	r.Clients = &c
}

// breaking is the run with a rule that the specification violates.
func (r Run) breaking(rule classic.RuleID) Run {
	r.altered = true
	r.change(func(g *explore.Group) { g.Broken = append(slices.Clip(g.Broken), rule) },
		func(c *clients.Run) { c.Broken = append(slices.Clip(c.Broken), rule) },
		func(j *joint.Run) { j.Broken = append(slices.Clip(j.Broken), rule) })
	return r
}

// without is the run without events of these kinds. Runs with clients cannot do without.
func (r Run) without(kinds []classic.EventKind) (Run, error) {
	if r.Clients != nil {
		return r, fmt.Errorf("%s: what clients do cannot be left out", r.Name)
	}
	r.altered = true
	r.change(func(g *explore.Group) { g.Without = kinds }, nil, func(j *joint.Run) { j.Without = kinds })
	return r, nil
}

// asking is the run with the properties alone that a name stands for: the name of one, the id of a rule that some stand for, or part of names.
func (r Run) asking(names []string) (Run, error) {
	for _, name := range names {
		if !slices.ContainsFunc(r.Properties(), func(p string) bool { return strings.Contains(p, name) }) {
			return r, fmt.Errorf("%s judges no property whose name has %q in it; %s --list shows all %d that it judges%s",
				r.Name, name, r.command(), len(r.Properties()), near(name, r.Properties()))
		}
	}
	r.properties = func(p string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(p, name) })
	}
	return r, nil
}

// near are names that may have been meant by one of which there is only part: all of them would push the error off the screen.
func near(name string, all []string) string {
	found := nearest.Sentences(name, all, 5)
	if len(found) == 0 {
		return ""
	}
	return "; do you mean one of these?\n  " + strings.Join(found, "\n  ")
}

// meant is a hint at the name that may have been meant.
func meant(name string, all []string) string {
	if n := nearest.To(name, all); n != "" {
		return "; do you mean " + n + "?"
	}
	return ""
}

// command is how the run is asked for on the command line, without what changes it.
func (r Run) command() string {
	text := "muster explore --run '" + r.asked.Run + "'"
	if r.asked.Members > 0 {
		text += fmt.Sprintf(" --members %d", r.asked.Members)
	}
	return text
}

// Judged are the names of the properties that are asked for: all of them if none were.
func (r Run) Judged() []string {
	return slices.DeleteFunc(slices.Clone(r.Properties()), func(p string) bool { return r.properties != nil && !r.properties(p) })
}

// Properties are the names of what the run can judge.
func (r Run) Properties() []string {
	switch {
	case r.Clients != nil:
		return clients.Properties()
	case r.Joint != nil:
		return joint.Properties()
	}
	return explore.Properties()
}

// Kind finds a kind of events by its name.
func Kind(name string) (classic.EventKind, error) {
	var all []string
	for _, k := range explore.EventKinds() {
		if strings.EqualFold(explore.EventName(k), name) {
			return k, nil
		}
		all = append(all, explore.EventName(k))
	}
	return 0, fmt.Errorf("there is no event %q; there are %s%s", name, strings.Join(all, ", "), meant(name, all))
}
