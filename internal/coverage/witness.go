package coverage

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/targets/model"
	"github.com/muster-kafka/muster/internal/retell"
	"github.com/muster-kafka/muster/model/classic"
)

// Witness is a way to cells that no scenario visits, as one group of a scenario.
type Witness struct {
	Cells   []Cell
	Setup   []string // commands that lead to the state
	Probes  []Probe  // what is done there, one after the other
	Profile string   // broker profile
	Timed   bool     // time passes

	same bool // everybody gives the same text
}

// Probe is the commands that visit cells, and the cells.
type Probe struct {
	Cells    []Cell
	Commands []string
}

// tries bounds how many ways to a cell are looked at.
const tries = 400

// candidate is a step that visits a cell: an event in a state that a walk has reached.
type candidate struct {
	walk  **explore.Walk
	shape *explore.Group
	at    int
	event classic.Event
	loops bool // it leaves the group as it is
}

// search looks for ways to cells on a release.
type search struct {
	release string
	same    []string // on which a way must leave no choice either, and best gives the same text
	ways    map[Cell][]candidate
	wanted  []Cell
	seen    Counts
}

// Witnesses finds ways to the wanted cells on a release: shortest first, by events that leave no choice and that clients and clocks can bring
// about. name says what the n-th way calls its group and how the names of its actors end. Cells to which no way was found are left over.
func Witnesses(ctx context.Context, release string, wanted []Cell, name func(n int) (group, tag string)) (found []Witness, left []Cell, err error) {
	profile, err := classic.ProfileFor(release)
	if err != nil {
		return nil, nil, err
	}
	f := &search{release: release, wanted: wanted, ways: map[Cell][]candidate{}}
	for _, r := range append([]string{"reference"}, Releases...) {
		if r != release {
			f.same = append(f.same, r)
		}
	}
	for _, shape := range clientShapes() {
		shape.Profile = profile
		f.look(&shape)
	}
	for _, cell := range wanted {
		if f.seen.Seen(cell) > 0 {
			continue
		}
		group, tag := name(len(found))
		if w := f.attempts(ctx, cell, group, tag); w != nil {
			found = append(found, *w)
		} else {
			left = append(left, cell)
		}
	}
	return found, left, ctx.Err()
}

// look notes the steps of an exploration that visit wanted cells.
func (f *search) look(shape *explore.Group) {
	walk := new(*explore.Walk)
	*walk = shape.Walk(tellable, func(at int, s *classic.State, e *classic.Event, t *classic.Transition) {
		one := &step{}
		one.transition(s, e, t)
		for _, cell := range f.wanted {
			if one.has(cell) && len(f.ways[cell]) < tries {
				f.ways[cell] = append(f.ways[cell], candidate{walk, shape, at, explore.Keep(e), classic.Canonical(t.Next) == *s})
			}
		}
	})
}

// attempts tells ways to a cell until one visits it, and does on the way what else is wanted in that state. One on which all releases, and the
// reference, give the same text is best: its scenario needs no further texts.
func (f *search) attempts(ctx context.Context, cell Cell, group, tag string) *Witness {
	const enough = 40 // ways that visit the cell
	var first *Witness
	n := 0
	for _, way := range f.ways[cell] {
		path := (*way.walk).Path(way.at)
		var probes []classic.Event
		for _, other := range f.wanted {
			if f.seen.Seen(other) > 0 || other == cell {
				continue
			}
			i := slices.IndexFunc(f.ways[other], func(c candidate) bool { return c.loops && c.walk == way.walk && c.at == way.at })
			if i >= 0 {
				probes = append(probes, f.ways[other][i].event)
			}
		}
		w := f.attempt(ctx, cell, way, path, append(probes, way.event), group, tag)
		if (w == nil || !w.same) && len(probes) > 0 {
			if alone := f.attempt(ctx, cell, way, path, []classic.Event{way.event}, group, tag); w == nil || alone != nil && alone.same {
				w = alone
			}
		}
		if w == nil {
			continue
		}
		if first == nil || w.same {
			first = w
		}
		if n++; w.same || n == enough {
			break
		}
	}
	if first != nil {
		for _, c := range first.Cells {
			f.seen.cells[c.Rule][c.State][c.Outcome]++
		}
	}
	return first
}

// attempt tells one way, with the timeouts that make it shortest.
func (f *search) attempt(ctx context.Context, cell Cell, way candidate, path, probes []classic.Event, group, tag string) *Witness {
	passes := func(e classic.Event) bool { return !e.Kind.Request() && e.Kind != classic.TxnMarker }
	timed := slices.ContainsFunc(path, passes) || slices.ContainsFunc(probes, passes)
	var best *Witness
	var took time.Duration
	for _, times := range retell.Lengths(timed) {
		l := retell.New(*way.walk, group, tag, timed, times)
		for i := range path {
			l.Take(&path[i], 0)
		}
		w := &Witness{Setup: l.Commands(), Profile: conformance.DefaultProfile, Timed: timed}
		for i := range probes {
			l.Take(&probes[i], 0)
			w.Probes = append(w.Probes, Probe{Commands: l.Commands()})
		}
		if way.shape.MaxSize > 0 {
			w.Profile = "size"
		}
		if l.Err() == nil && (best == nil || l.Took() < took) && f.check(ctx, cell, group, w) {
			best, took = w, l.Took()
		}
	}
	return best
}

// check runs a way on the specification, leaves out the probes that visit nothing new, and notes what the others do. It reports whether the way
// visits the cell.
func (f *search) check(ctx context.Context, cell Cell, group string, w *Witness) bool {
	commands := slices.Clone(w.Setup)
	visited, err := visit(ctx, f.release, w.Profile, commands)
	if err != nil {
		return false
	}
	fresh := func() (all []Cell) {
		for _, c := range f.wanted {
			if f.seen.Seen(c) == 0 && visited.Seen(c) > 0 && !slices.Contains(w.Cells, c) {
				all = append(all, c)
			}
		}
		w.Cells = append(w.Cells, all...)
		return all
	}
	fresh()
	var kept []Probe
	for i, p := range w.Probes {
		if visited, err = visit(ctx, f.release, w.Profile, append(slices.Clone(commands), p.Commands...)); err != nil {
			return false
		}
		if p.Cells = fresh(); len(p.Cells) > 0 || i == len(w.Probes)-1 && len(kept) == 0 {
			kept, commands = append(kept, p), append(commands, p.Commands...)
		}
	}
	w.Probes = kept
	if !slices.Contains(w.Cells, cell) {
		return false
	}
	commands = append(commands, "describe group="+group)
	own, err := run(ctx, f.release, w.Profile, commands)
	if err != nil {
		return false
	}
	w.same = true
	for _, release := range f.same {
		other, err := run(ctx, release, w.Profile, commands)
		if err != nil {
			return false
		}
		w.same = w.same && slices.Equal(own.text, other.text)
	}
	return true
}

// clientShapes are the explorations whose events clients can bring about.
func clientShapes() []explore.Group {
	var shapes []explore.Group
	for _, g := range explore.Groups() {
		if g.Delay {
			continue // the broker's own time
		}
		g.WriteFailures, g.WriteInFlight, g.Failover = false, false, false
		shapes = append(shapes, g)
	}
	return shapes
}

// tellable says whether clients, or the time that passes, can bring an event about.
func tellable(s *classic.State, e *classic.Event) bool {
	switch e.Kind {
	case classic.Unload, classic.LoadStarts, classic.Loaded, classic.WriteDone, classic.TopicsDeleted, classic.Cleanup:
		return false
	case classic.TxnMarker:
		return e.Taken.Pending && !e.Left.Pending
	case classic.MemberTimer:
		return !(s.Slots[e.Slot].New && s.Slots[e.Slot].Joining)
	}
	return e.Write == classic.WriteOK
}

// visit runs commands on the specification and says what they visit. Commands that leave it a choice are an error.
func visit(ctx context.Context, release, profile string, commands []string) (*Counts, error) {
	one, err := run(ctx, release, profile, commands)
	if err != nil {
		return nil, err
	}
	return &one.seen, nil
}

// run is a visit with the text that comes of it.
func run(ctx context.Context, release, profile string, commands []string) (*single, error) {
	tg, err := model.New(model.Options{Name: "model:" + release, Profile: profile}, nil)
	if err != nil {
		return nil, err
	}
	one := &single{Target: tg}
	tg.Watch(func(s *observe.Step) {
		if one.runs == 1 {
			one.seen.Step(s)
		}
	})
	// The text, which is none, is never what comes out: only what is done on the way counts.
	sc, err := conformance.Parse("way.txt", []byte("# A way.\n# rule: join.pending.joins\n\n"+strings.Join(slices.DeleteFunc(slices.Clone(commands), func(c string) bool { return c == retell.Pause }), "\n")+"\n----\n"))
	if err != nil {
		return nil, err
	}
	rep, err := conformance.Suite{Scenarios: []*conformance.Scenario{sc}, OutDir: os.DevNull}.Run(ctx, one, nil)
	if err != nil {
		return nil, err
	}
	switch res := rep.Results[0]; {
	case res.Status == conformance.Broken || res.Status == conformance.Skip:
		return nil, fmt.Errorf("%s", res.Reason)
	case one.runs != 1:
		return nil, fmt.Errorf("the specification leaves a choice")
	}
	if f := rep.Results[0].Failure; f != nil {
		one.text = f.Got
	}
	return one, nil
}

// single is a target of which the first run counts.
type single struct {
	*model.Target
	runs int
	seen Counts
	text []string
}

func (s *single) Reset(choose func(n int) int) {
	s.runs++
	s.Target.Reset(choose)
}
