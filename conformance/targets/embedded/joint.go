package embedded

import (
	"math/bits"
	"slices"
	"time"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/joint"
	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/sim"
)

// JointBench makes reference coordinators for joint exploration with the specification.
func JointBench(h *joint.Hooks, s joint.Settings) joint.Bench {
	settings := Options{InitialDelay: s.InitialDelay}.settings()
	settings.Choose, settings.Report = h.Choose, func(err error) {
		if _, fault := err.(*core.InconsistencyError); fault { //nolint:errorlint // the core wraps none
			h.Report(err)
		}
	}
	settings.NewMemberID = func(string) string { return h.Mint() }
	settings.TopicExists = machineTopic
	return &jointBench{settings: settings.WithDefaults()}
}

// jointBench is one worker's. What comes out of the coordinators that it steps, one after the other, waits here.
type jointBench struct {
	settings core.Settings
	view     core.View
	out      joint.Effects
}

func (b *jointBench) New() joint.Coordinator {
	return &jointCore{bench: b, core: core.New(b.settings), now: sim.Epoch}
}

// Copy uses the memory of a coordinator of its own again.
func (b *jointBench) Copy(of, over joint.Coordinator) (joint.Coordinator, error) {
	from := of.(*jointCore)
	to, own := over.(*jointCore)
	if !own || to.bench != b {
		to = &jointCore{bench: b, core: core.New(b.settings)}
	}
	to.now, to.writes = from.now, from.writes
	to.armed, to.timers, to.held = append(to.armed[:0], from.armed...), append(to.timers[:0], from.timers...), append(to.held[:0], from.held...)
	return to, from.core.CopyTo(to.core)
}

// jointCore is a coordinator with what a shell keeps for it: which timers are armed, and which writes are open.
type jointCore struct {
	bench  *jointBench
	core   *core.Coordinator
	now    time.Time
	armed  []core.Arm
	timers []joint.Timer // the same, as judges have it
	held   []core.AppendID
	writes joint.Writes
}

func (c *jointCore) Writes(w joint.Writes) { c.writes = w }

func (c *jointCore) Request(r checker.Request) {
	c.step(core.Request{Ticket: core.Ticket(r.Ticket), Message: r.Message, Version: r.Version, ClientID: r.ClientID, ClientHost: "/127.0.0.1"})
}

func (c *jointCore) Fire(t joint.Timer) {
	if i := slices.Index(c.timers, t); i >= 0 {
		c.fire(i)
	}
}

// fire lets an armed timer be due; the clock follows.
func (c *jointCore) fire(i int) {
	a := c.armed[i]
	c.disarm(i)
	if a.Deadline.After(c.now) {
		c.now = a.Deadline
	}
	c.step(core.TimerDue{Timer: a.Timer, Seq: a.Seq})
}

func (c *jointCore) disarm(i int) {
	c.armed, c.timers = slices.Delete(c.armed, i, i+1), slices.Delete(c.timers, i, i+1)
}

func (c *jointCore) Unload() {
	c.held = c.held[:0] // the coordinator ends them itself
	c.step(core.Unload{})
}

func (c *jointCore) BeginLoad() {
	c.held = c.held[:0]
	c.step(core.LoadBegin{})
}

func (c *jointCore) Loaded(log []joint.Record) {
	for _, r := range log {
		c.step(core.Replay{Records: []core.Record{r.Raw.(core.Record)}})
	}
	c.step(core.LoadEnd{})
}

func (c *jointCore) Open() bool { return len(c.held) > 0 }

func (c *jointCore) EndWrite(failed bool) {
	id := c.held[0]
	c.held = c.held[1:]
	c.step(core.Appended{ID: id, Code: writeCode(failed)})
}

func writeCode(failed bool) int16 {
	if failed {
		return core.NotEnoughReplicas
	}
	return core.None
}

// step lets an event happen, and what follows of it at once: the ends of writes, and timers of no length.
func (c *jointCore) step(ev core.Event) {
	var ended []core.AppendID
	for _, e := range c.core.Step(c.now, ev) {
		switch e := e.(type) {
		case core.Answer:
			c.bench.out.Answers = append(c.bench.out.Answers, checker.Answer{Ticket: checker.Ticket(e.Ticket), Message: e.Message})
		case core.Reject:
			c.bench.out.Dropped = append(c.bench.out.Dropped, checker.Ticket(e.Ticket))
		case core.Append:
			c.record(e)
			if c.writes == joint.Hold || len(c.held) > 0 {
				c.held = append(c.held, e.ID)
			} else {
				ended = append(ended, e.ID)
			}
		case core.Arm:
			c.cancel(e.Timer)
			c.armed, c.timers = append(c.armed, e), append(c.timers, jointTimer(e.Timer))
			c.bench.out.Armed = append(c.bench.out.Armed, joint.Armed{Timer: jointTimer(e.Timer), After: e.After})
		case core.Cancel:
			c.cancel(e.Timer)
		}
	}
	for _, id := range ended {
		c.step(core.Appended{ID: id, Code: writeCode(c.writes == joint.Fail)})
	}
	for len(c.held) == 0 {
		i := slices.IndexFunc(c.armed, func(a core.Arm) bool { return a.After == 0 })
		if i < 0 {
			return
		}
		c.fire(i)
	}
}

func (c *jointCore) cancel(id core.TimerID) {
	if i := slices.IndexFunc(c.armed, func(a core.Arm) bool { return a.Timer == id }); i >= 0 {
		c.disarm(i)
	}
}

func jointTimer(id core.TimerID) joint.Timer {
	return joint.Timer{Kind: timerKinds[id.Kind], Member: id.Member}
}

func (c *jointCore) Timers() []joint.Timer { return c.timers }

func (c *jointCore) Drain(e *joint.Effects) {
	out := &c.bench.out
	e.Answers, e.Dropped = append(e.Answers, out.Answers...), append(e.Dropped, out.Dropped...)
	e.Records, e.Armed = append(e.Records, out.Records...), append(e.Armed, out.Armed...)
	out.Reset()
}

// record notes what a write says.
func (c *jointCore) record(w core.Append) {
	for i, r := range w.Records {
		if i > 0 && r.Kind == w.Records[i-1].Kind {
			continue // the offsets of a request are one record here
		}
		of := joint.Record{Kind: recordKinds[r.Kind], Raw: r}
		if v := r.Metadata; r.Kind == core.GroupRecord && v != nil {
			of.Generation, of.Type, of.Protocol, of.Leader = v.Generation, v.ProtocolType, orNone(v.Protocol), orNone(v.Leader)
			for _, m := range v.Members {
				of.Members = append(of.Members, joint.Member{ID: m.MemberID, Instance: orNone(m.InstanceID), Metadata: m.Subscription, Assignment: m.Assignment})
			}
		}
		c.bench.out.Records = append(c.bench.out.Records, of)
	}
}

func orNone(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// View hashes what is in memory.
func (b *jointBench) View(of joint.Coordinator, v *joint.View) {
	c := of.(*jointCore)
	v.Rows = v.Rows[:0]
	w := &b.view
	there := c.core.View(joint.Group, w)
	serves, loads := c.core.Serves()
	var h digest
	h.flags(there, serves, loads, w.Previous == core.Empty, w.Initial, w.JoinedDuringDelay, w.Writing != 0, w.Creating != 0, w.Proposes, w.Recorded, w.Kept)
	h.numbers(int(w.State), w.Joining, w.Syncing, int(w.Wait), int(w.Rest), w.Offsets, w.Unstable, w.Committing, len(c.held))
	h.text(w.ProtocolType)
	h.text(orNone(w.Protocol))
	for _, s := range w.Support {
		h.text(s.Name)
		h.numbers(s.Count)
	}
	v.Group, v.Generation = uint64(h), w.Generation
	for i := range w.Members {
		v.Rows = append(v.Rows, c.row(w, &w.Members[i]))
	}
	for _, id := range w.Pending {
		var h digest
		c.timersOf(&h, id)
		v.Rows = append(v.Rows, joint.Row{ID: id, Bits: uint64(h) >> 1})
	}
}

func (c *jointCore) row(w *core.View, m *core.MemberView) joint.Row {
	var h digest
	h.flags(true, m.ID == w.Leader, m.Instance != nil, m.New, m.OwesSync, m.Join != 0, m.Sync != 0)
	h.numbers(int(m.SessionTimeout), int(m.RebalanceTimeout))
	for _, p := range m.Protocols {
		h.text(p.Name)
		h.bytes(p.Metadata)
	}
	h.bytes(m.Assignment)
	h.bytes(m.Proposed)
	c.timersOf(&h, m.ID)
	return joint.Row{
		ID: m.ID, Instance: orNone(m.Instance), Bits: uint64(h) >> 1, Join: checker.Ticket(m.Join), Sync: checker.Ticket(m.Sync),
	}
}

// timersOf adds which timers of a member run.
func (c *jointCore) timersOf(h *digest, id string) {
	var on [core.CleanupTimer]bool
	for i := range c.armed {
		if t := &c.armed[i].Timer; t.Member == id {
			on[t.Kind] = true
		}
	}
	h.flags(on[:]...)
}

// digest is a hash of what has been added.
type digest uint64

func (d *digest) numbers(list ...int) {
	for _, v := range list {
		hi, lo := bits.Mul64(uint64(*d)^uint64(v)^0xa0761d6478bd642f, 0x9e3779b97f4a7c15)
		*d = digest(hi ^ lo)
	}
}

func (d *digest) flags(list ...bool) {
	v := 1
	for _, on := range list {
		v <<= 1
		if on {
			v |= 1
		}
	}
	d.numbers(v)
}

func (d *digest) text(s string) {
	for i := range len(s) {
		d.numbers(int(s[i]))
	}
	d.numbers(-1)
}

func (d *digest) bytes(b []byte) {
	for _, c := range b {
		d.numbers(int(c))
	}
	d.numbers(-1)
}
