package variant

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/model/classic"
)

// runs are the explorations that are done: several tests ask for the same.
var runs = map[Setting]explore.Report{}

func run(t testing.TB, s Setting) explore.Report {
	t.Helper()
	r, done := runs[s]
	if !done {
		r = explore.Run(context.Background(), "variant", s.Machine, explore.Options{})
		runs[s] = r
	}
	if !r.Complete {
		t.Fatal(r)
	}
	return r
}

// broken are the names of the properties that a setting breaks.
func broken(r explore.Report) map[string]bool {
	names := map[string]bool{}
	for _, v := range r.Violations {
		names[v.Property] = true
	}
	return names
}

// described is the whole description with everything on.
var described = Setting{Reading: Described(), Restarts: true, Commits: true}

// With every sentence repaired that breaks something nothing is broken, whatever is explored besides.
func TestRepairedBreaksNothing(t *testing.T) {
	for _, s := range []Setting{{}, {Restarts: true}, {Commits: true}, {Restarts: true, Commits: true}, {Restarts: true, Generations: 7}} {
		s.Reading = Repaired()
		if r := run(t, s); !r.Ok() || r.States < 500 {
			t.Errorf("%+v: %s", s, r.Violations)
		}
	}
}

// Each property is broken by a reading of one sentence, while the rest of the description is repaired; so it can fail, and holds again
// when that sentence is repaired (TestRepairedBreaksNothing).
func TestEachPropertyCanFail(t *testing.T) {
	by := map[string]string{}
	for _, c := range Choices() {
		for i := range c.Readings {
			names := broken(run(t, c.Alone(i)))
			if i != c.Repair && len(names) == 0 {
				t.Errorf("%q, read as %q, breaks nothing", c.Title, c.Readings[i].Text)
			}
			if i == c.Repair && len(names) > 0 {
				t.Errorf("%q is not repaired: %v", c.Title, names)
			}
			for name := range names {
				by[name] = c.Title
			}
		}
	}
	for _, p := range Properties() {
		if by[p.Name] == "" {
			t.Errorf("no reading breaks %q", p.Name)
		}
		if _, known := classic.FindRule(p.Rule); !known && p.Rule != "" {
			t.Errorf("%q speaks of the rule %q, which there is not", p.Name, p.Rule)
		}
	}
}

// Each reading leads somewhere of its own; one that does not is no reading.
func TestReadingsDiffer(t *testing.T) {
	for _, c := range Choices() {
		by := map[string]string{}
		for i, o := range c.Readings {
			r := run(t, c.Alone(i))
			r.Elapsed = 0
			var b bytes.Buffer
			if err := r.Print(&b); err != nil {
				t.Fatal(err)
			}
			if same := by[b.String()]; same != "" {
				t.Errorf("%q: it is the same to read %q and %q", c.Title, same, o.Text)
			}
			by[b.String()] = o.Text
		}
	}
}

// What is known to be wrong with the description is found. The list was made by hand, from the text.
func TestTheKnownContradictionsAreFound(t *testing.T) {
	for _, known := range []struct {
		title      string // of the choice; "" is the description as a whole
		properties []int
	}{
		{"", []int{tableStable}},                          // the last member goes in Stable
		{"", []int{tablePreparing}},                       // a leave in PreparingRebalance
		{"", []int{tableCompleting}},                      // the last member goes in CompletingRebalance
		{"JoinGroup of a Dead group", []int{actionsDead}}, // Dead to Empty
		{"When all have joined", []int{completesAtOnce}},
		{"A member that expires in CompletingRebalance", []int{syncAnswered, rebalanceEnds}},
		{"Empty and the generation", []int{firstIsOne, onlyOnce, neverBack, fence}},
		{"A member's heartbeat in PreparingRebalance", []int{heartbeatPreparing, toldToRejoin}},
		{"", []int{heartbeatUnknown}},
		{"", []int{heartbeatDead, leaveDead, joinDead}},
		{"", []int{repeatStable, repeatCompleting}},
		{"What a restart loads", []int{loadsCompleted, loadsTimers, rebalanceEnds, joinAnswered}},
		{"The offsets of a group that is cleaned up", []int{deletedOffsets}},
	} {
		settings := []Setting{described}
		for _, c := range Choices() {
			if c.Title != known.title {
				continue
			}
			settings = nil
			for i := range c.Readings {
				settings = append(settings, c.Alone(i))
			}
		}
		names := map[string]bool{}
		for _, s := range settings {
			for name := range broken(run(t, s)) {
				names[name] = true
			}
		}
		for _, p := range known.properties {
			if !names[properties[p].Name] {
				t.Errorf("%q: %q is not found", known.title, properties[p].Name)
			}
		}
	}
}

// The bound hides nothing: with more generations the same properties break.
func TestMoreGenerationsBreakNothingMore(t *testing.T) {
	settings := []Setting{described}
	for _, c := range Choices() {
		for i := range c.Readings {
			settings = append(settings, c.Alone(i))
		}
	}
	for _, s := range settings {
		wide := s
		wide.Generations = 5
		few, more := broken(run(t, s)), broken(run(t, wide))
		for name := range more {
			if !few[name] {
				t.Errorf("%+v breaks %q only with generations beyond %d", s, name, MaxGeneration)
			}
		}
		if len(few) != len(more) {
			t.Errorf("%+v breaks %d properties, with more generations %d", s, len(few), len(more))
		}
	}
}

// Fingerprints are as good as states, and any number of workers finds the same.
func TestFingerprints(t *testing.T) {
	m := described.Machine()
	seen := map[explore.Key]bool{m.Initial(): true}
	queue := []explore.Key{m.Initial()}
	for len(queue) > 0 {
		s := unpack(queue[0])
		if s.key() != queue[0] {
			t.Fatalf("%+v comes back with another fingerprint", s)
		}
		m.(*machine).transitions(&s, func(x *execution) {
			k := x.s.key()
			if unpack(k) != x.s {
				t.Fatalf("%+v comes back as %+v", x.s, unpack(k))
			}
			if !seen[k] {
				seen[k] = true
				queue = append(queue, k)
			}
		})
		queue = queue[1:]
	}
	var want string
	for workers := 1; workers <= 3; workers++ {
		r := explore.Run(context.Background(), "variant", described.Machine, explore.Options{Workers: workers})
		r.Elapsed = 0
		var b bytes.Buffer
		if err := r.Print(&b); err != nil {
			t.Fatal(err)
		}
		if workers == 1 {
			want = b.String()
		}
		if b.String() != want || r.States != int64(len(seen)) {
			t.Errorf("%d workers find something else", workers)
		}
	}
}

// Each transition that the table has is taken, and by a sound group no other.
func TestTransitionsTaken(t *testing.T) {
	taken := map[move]bool{}
	s := Setting{Reading: Repaired(), Restarts: true, Commits: true}
	m := s.Machine().(*machine)
	r := &s.Reading
	seen := map[explore.Key]bool{m.Initial(): true}
	queue := []explore.Key{m.Initial()}
	for len(queue) > 0 {
		from := unpack(queue[0])
		queue = queue[1:]
		m.transitions(&from, func(x *execution) {
			for _, each := range x.moves {
				taken[each] = true
			}
			if k := x.s.key(); !seen[k] {
				seen[k] = true
				queue = append(queue, k)
			}
		})
	}
	var missing []string
	for from := Empty; from <= Dead; from++ {
		for to := Empty; to <= Dead; to++ {
			if r.allows(from, to) && !taken[move{from: from, to: to}] {
				missing = append(missing, from.String()+"-"+to.String())
			}
		}
	}
	// Only an Empty group is deleted.
	if want := "PreparingRebalance-Dead CompletingRebalance-Dead Stable-Dead"; strings.Join(missing, " ") != want {
		t.Errorf("never taken: %v", missing)
	}
	for m := range taken {
		if m.outside || m.refused {
			t.Errorf("taken: %v to %v", m.from, m.to)
		}
	}
}

// A walk by hand through the cells of the description, without the explorer: what the text says is what the machine does.
func TestAWalkByHand(t *testing.T) {
	r := Described()
	r.Forbidden = ForbiddenPasses
	m := Setting{Reading: r}.Machine().(*machine)
	s := initial()
	for i, step := range []struct {
		happens event
		is      string
	}{
		{event{joinGroup, 0}, "PreparingRebalance 2"}, // leaving Empty sets 1, entering adds 1
		{event{joinTimeout, stranger}, "CompletingRebalance 2"},
		{event{syncGroup, 0}, "Stable 2"},
		{event{joinGroup, 1}, "PreparingRebalance 3"},
		{event{leaveGroup, 1}, "PreparingRebalance 4"}, // the entry action runs again
		{event{joinGroup, 0}, "CompletingRebalance 4"},
		{event{syncGroup, 0}, "Stable 4"},
		{event{expiry, 0}, "Empty 0"},
		{event{joinGroup, 1}, "PreparingRebalance 2"},
		{event{deleteGroup, stranger}, "Dead"},
		{event{joinGroup, 0}, "Dead"},
	} {
		outcomes := 0
		m.happen(&s, step.happens, func(x *execution) {
			s = x.s
			outcomes++
		})
		if s.short() != step.is || outcomes != 1 {
			t.Fatalf("step %d: after %v the group is %s (%d outcomes), the text says %s", i+1, step.happens, s.short(), outcomes, step.is)
		}
	}
}
