package differ

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/fuzz/gen"
)

// A sequence is drawn by letting the generator play with a scout: a coordinator in this process, whose answers tell the generator's clients
// how to go on, so that whole rounds of the protocol are frequent. The scout's word counts for nothing else.

// asks is what both targets can be asked.
type asks struct {
	versions map[kmsg.Key]gen.Versions
	pinned   []string // settings of the scenario, such as join=v3, where a side cannot be spoken to in all that it offers
	features map[target.Feature]bool
	topics   bool // t
	other    bool // u
	own      bool // both are the harness's own, so that a group which stands still for good troubles nobody
	alone    bool // of a commit for a group that is no part of the transaction there is one thing to say: see common
}

// limited are the requests of which a target may offer more than it can read, by the words of scenarios.
var limited = map[string]kmsg.Key{"join": kmsg.JoinGroup, "sync": kmsg.SyncGroup, "leave": kmsg.LeaveGroup}

// common is what both targets have.
func common(a, b target.Capabilities) asks {
	c := asks{versions: map[kmsg.Key]gen.Versions{}, features: map[target.Feature]bool{}}
	for key, v := range gen.Spoken() {
		for _, caps := range []target.Capabilities{a, b} {
			if offered, ok := caps.Versions[int16(key)]; ok {
				v.Min, v.Max = max(v.Min, offered.Min), min(v.Max, offered.Max)
			}
		}
		for _, caps := range []target.Capabilities{a, b} {
			if newest, ok := caps.Newest[int16(key)]; ok {
				v.Max = min(v.Max, newest)
			}
		}
		c.versions[key] = v
	}
	for _, verb := range slices.Sorted(maps.Keys(limited)) {
		key := limited[verb]
		_, x := a.Newest[int16(key)]
		_, y := b.Newest[int16(key)]
		if x || y { // the other side would speak a newer version, which is another request
			c.pinned = append(c.pinned, fmt.Sprintf("%s=v%d", verb, c.versions[key].Max))
		}
	}
	for _, f := range target.Features() {
		c.features[f] = a.Has(f) && b.Has(f)
	}
	c.topics = a.Topics["t"] != "" && b.Topics["t"] != ""
	c.own = a.MaxGroups == 0 && b.MaxGroups == 0
	c.other = a.Topics["u"] != "" && b.Topics["u"] != ""
	// A broker that knows TRANSACTION_ABORTABLE answers with that or with INVALID_TXN_STATE, whichever (scenario txn-verified): before, with the latter.
	const abortable = 4
	c.alone = true
	for _, caps := range []target.Capabilities{a, b} {
		offered, ok := caps.Versions[int16(kmsg.TxnOffsetCommit)]
		c.alone = c.alone && ok && offered.Max < abortable
	}
	return c
}

// swarm is what one sequence is about: kinds of events that are left out let others meet more often.
type swarm struct {
	setup  gen.Setup
	timed  bool   // time passes
	beats  bool   // while it does, members send heartbeats
	slow   bool   // members are slow to ask for their assignments: time passes in place of half of the SyncGroups
	spices int    // of so many events one is followed by input that is bad in itself; 0: of none
	tastes uint64 // which kinds of that, a bit each
	length int
}

func drawSwarm(c asks, r *rand.Rand) swarm {
	w := swarm{timed: r.IntN(10) < 4, spices: []int{0, 0, 0, 8, 8, 2}[r.IntN(6)], tastes: r.Uint64(), length: 6 + r.IntN(18)}
	if r.IntN(2) == 0 { // few kinds, so that two of them meet
		w.tastes &= r.Uint64()
	}
	if w.timed {
		w.beats, w.slow = r.IntN(2) == 0, r.IntN(2) == 0
	}
	w.setup = gen.Setup{
		Clients: 1 + r.IntN(4), MinSession: 10 * time.Millisecond,
		Static: c.features[target.Static] && r.IntN(2) == 0, Transactions: c.features[target.Transactions] && r.IntN(3) == 0,
		OffsetDelete: c.features[target.OffsetDelete] && r.IntN(3) == 0, Versions: map[kmsg.Key]gen.Versions{},
	}
	if c.other {
		w.setup.Other = "u"
	}
	old := r.IntN(2) == 0
	for key, v := range c.versions {
		if !old {
			v.Min = v.Max
		}
		w.setup.Versions[key] = v
	}
	w.setup.Sessions, w.setup.Rebalances = []time.Duration{5 * time.Minute}, []time.Duration{5 * time.Minute}
	if w.timed {
		w.setup.Sessions = []time.Duration{10 * time.Second, 10 * time.Second, 30 * time.Second}
		w.setup.Rebalances = []time.Duration{20 * time.Second, 20 * time.Second, 50 * time.Second}
	}
	return w
}

// drawer draws one sequence.
type drawer struct {
	swarm
	alone   bool // transactions may begin without the group
	rand    *rand.Rand
	scout   checker.Machine
	gen     *gen.Generator
	sent    map[checker.Ticket]gen.Event
	tickets checker.Ticket
	joined  []string // actors
	lines   []string
	unclear bool // time has stopped too near to a timer
	seen    map[checker.Timer]int
}

// draw draws the sequence of a seed.
func draw(c asks, newScout func(seed uint64) checker.Machine, seed uint64) Sequence {
	r := rand.New(rand.NewPCG(seed, 0x64696666))
	d := &drawer{swarm: drawSwarm(c, r), alone: c.alone, rand: r, scout: newScout(seed), sent: map[checker.Ticket]gen.Event{}, seen: map[checker.Timer]int{}}
	d.gen = gen.New(d.setup, chooser{r})
	d.lines = []string{"group session=5m rebalance=5m"}
	if d.timed {
		d.lines = []string{"group session=10s rebalance=20s"}
	}
	d.lines[0] = strings.Join(append(d.lines, c.pinned...), " ")
	for try := 0; len(d.lines) <= d.length && !d.unclear && try < 4*d.length; try++ {
		d.event()
		if d.spices > 0 && len(d.joined) > 0 && r.IntN(d.spices) == 0 {
			d.add(d.spice(c))
		}
	}
	if d.timed && !d.unclear && r.IntN(2) == 0 {
		d.passes(65 * time.Second)
	}
	d.add("describe")
	if c.topics {
		last := []string{"fetch - -all", "fetch - -all", "fetch - t/0 t/1"}[r.IntN(3)]
		if c.features[target.Transactions] && c.versions[kmsg.OffsetFetch].Max >= 7 && r.IntN(2) == 0 {
			last += " -stable" // what is pending shows
		}
		d.add(last)
	}
	return Sequence{Lines: d.lines, Seed: seed}
}

type chooser struct{ *rand.Rand }

func (c chooser) Intn(n int, _ string) int { return c.IntN(n) }

// add adds a line, if it can be said in a scenario.
func (d *drawer) add(line string) bool {
	c, err := conformance.Line(line)
	if err != nil {
		return false
	}
	if last := d.lines[len(d.lines)-1]; line == last && d.rand.IntN(4) > 0 {
		return false // a client that waits has little to do
	}
	nameless := strings.Contains(line, "group=none")
	switch c.Verb {
	case "commit", "fetch", "offset-delete", "txn-begin", "txn-commit":
		if nameless {
			return false // what is committed there stays
		}
	case "join":
		d.joined = append(d.joined, c.Words...)
	}
	d.lines = append(d.lines, line)
	return true
}

// event lets one thing happen.
func (d *drawer) event() {
	until := time.Duration(-1)
	if ts := d.scout.Timers(); d.timed && len(ts) > 0 {
		until = max(0, ts[0].Deadline.Sub(d.scout.Now()))
	}
	for _, t := range d.scout.Timers() {
		if _, ok := d.seen[t]; !ok {
			d.seen[t] = len(d.lines)
		}
	}
	e := d.gen.Next(until)
	switch {
	case e.Act == gen.BeginTxn:
		line := strings.TrimSuffix(e.Line, " -alone") // what a broker answers then depends on what it has heard of meanwhile
		if d.alone && d.rand.IntN(4) == 0 {
			line += " -alone"
		}
		d.add(line)
	case e.Act == gen.EndTxn:
		if d.add(e.Line) {
			if b, ok := d.scout.(checker.Broker); ok {
				b.EndTxn(e.Producer.ID, e.Producer.Epoch, e.Commit)
			}
		}
	case e.Request == nil:
		if d.timed {
			d.waits()
		}
	case d.slow && e.Request.Key() == int16(kmsg.SyncGroup) && d.rand.IntN(2) == 0:
		d.gen.Dropped(e)
		d.waits()
	default:
		d.send(e)
	}
	d.fire(d.scout.Now())
}

// send sends a request to the scout.
func (d *drawer) send(e gen.Event) {
	if !d.add(e.Line) {
		d.gen.Dropped(e)
		return
	}
	d.tickets++
	d.sent[d.tickets] = e
	d.scout.Request(checker.Request{Ticket: d.tickets, Message: e.Request, Version: e.Version, ClientID: e.ClientID, Verified: e.Verified})
}

// waits lets time pass. Where members send heartbeats it passes in short steps, after each of which all send one but those that wait for an answer; a
// random one may be late.
func (d *drawer) waits() {
	steps, times := []time.Duration{4, 7, 13, 15, 26, 40, 65}, 1
	if d.beats {
		steps, times = []time.Duration{4, 7, 7, 13}, 2+d.rand.IntN(5)
	}
	for range times {
		if len(d.lines) > d.length+8 {
			return // long enough
		}
		for range 6 {
			if d.passes(steps[d.rand.IntN(len(steps))] * time.Second) {
				break
			}
		}
		if !d.beats || d.unclear {
			continue
		}
		for _, c := range d.gen.Clients() {
			if c.ID() != "" && c.Joins == 0 && c.Syncs == 0 && d.rand.IntN(8) > 0 {
				d.send(d.gen.Beat(c))
				d.learn()
			}
		}
	}
}

// fire lets the scout's timers go off that are due by then.
func (d *drawer) fire(by time.Time) {
	for n := 0; n < 1000; n++ {
		ts := d.scout.Timers()
		if len(ts) == 0 || ts[0].Deadline.After(by) {
			break
		}
		d.scout.Fire(ts[0])
	}
	d.learn()
}

func (d *drawer) learn() {
	effects := d.scout.Drain()
	for _, a := range effects.Answers {
		d.gen.Answered(d.sent[a.Ticket], a.Message)
	}
	for _, t := range effects.Dropped {
		d.gen.Dropped(d.sent[t])
	}
}

// passes lets so much time pass, if that stops far enough from what any timer would do: on a network each request takes time as well, and
// a timer is noticed late.
func (d *drawer) passes(by time.Duration) bool {
	now := d.scout.Now()
	var due []checker.Timer
	for _, t := range d.scout.Timers() {
		rest := t.Deadline.Sub(now)
		if near(rest-by) < max(2*time.Second, by/5)+d.drift(t) {
			return false
		}
		if rest < by {
			for _, o := range due {
				if o.Kind != t.Kind && near(o.Deadline.Sub(t.Deadline)) < 2*time.Second+d.drift(t) {
					return false // which of them comes first, nobody knows
				}
			}
			due = append(due, t)
		}
	}
	d.add(fmt.Sprintf("advance %v", by))
	end := now.Add(by)
	d.fire(end)
	if rest := end.Sub(d.scout.Now()); rest > 0 {
		d.scout.Advance(rest)
	}
	for _, t := range d.scout.Timers() {
		if _, old := d.seen[t]; !old && t.Deadline.Sub(end) < 2*time.Second {
			d.unclear = true
		}
	}
	return true
}

func near(d time.Duration) time.Duration { return max(d, -d) }

// drift is by how much a timer may be nearer on a network, for the requests that were sent since it was armed.
func (d *drawer) drift(t checker.Timer) time.Duration {
	at, ok := d.seen[t]
	if !ok {
		return 0
	}
	return time.Duration(len(d.lines)-at) * 150 * time.Millisecond
}
