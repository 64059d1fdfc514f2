package embedded

import (
	"time"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/record"
	"github.com/muster-kafka/muster/impl/sim"
	"github.com/muster-kafka/muster/model/classic"
)

// Machine is the reference coordinator driven step by step. It implements checker.Broker.
type Machine struct {
	options  Options
	sim      *sim.Sim
	fail     int16 // the error with which writes fail, if they are to
	tear     tear
	torn     bool
	dropping bool // nothing of what comes out of a crash has reached anybody
	reported []error
	armed    []core.Arm // room for them
}

var (
	_ checker.Broker   = (*Machine)(nil)
	_ checker.Replayer = (*Machine)(nil)
	_ checker.Jumper   = (*Machine)(nil)
	_ checker.Tearer   = (*Machine)(nil)
	_ checker.Refuser  = (*Machine)(nil)
	_ checker.Heir     = (*Machine)(nil)
)

// NewMachine returns the reference coordinator for lock-step. Partitions 0 to 2 of topics "t" and "u" exist.
func NewMachine(seed uint64) *Machine { return NewMachineWith(Options{Seed: seed}) }

// NewMachineWith returns one with settings of its own. It cleans up when it is told to; errors go to Reported too.
func NewMachineWith(o Options) *Machine {
	m := &Machine{options: o}
	tell := o.Report
	if o.CleanupInterval = 0; o.beats {
		o.CleanupInterval = never
	}
	o.Report = func(err error) {
		m.reported = append(m.reported, err)
		if tell != nil {
			tell(err)
		}
	}
	settings := o.settings()
	settings.TopicExists, settings.TopicName, settings.TopicID = machineTopic, machineTopicName, machineTopicID
	m.sim = sim.New(o.Seed, settings)
	return m
}

// NewBeating returns one whose heartbeats are answered by the way that a server has for them (core.Beat). It has a timer for cleaning up, though that never comes: so a heartbeat may
// be the first thing that the coordinator is asked, and then sets two timers.
func NewBeating(o Options) *Machine {
	o.beats = true
	m := NewMachineWith(o)
	m.sim.Beat()
	return m
}

// never is longer than any walk.
const never = 1 << 20 * time.Hour

// otherTopic is a second topic of machines.
const otherTopic = "u"

// machineTopic reports whether machines have that partition.
func machineTopic(topic string, partition int32) bool {
	return (topic == topicName || topic == otherTopic) && partition >= 0 && partition < partitions
}

// machineTopics are the ids of machines' topics.
var machineTopics = map[string][16]byte{topicName: {15: 1}, otherTopic: {15: 2}}

func machineTopicID(topic string) (id [16]byte, ok bool) {
	id, ok = machineTopics[topic]
	return id, ok
}

func machineTopicName(id [16]byte) (topic string, ok bool) {
	for name, known := range machineTopics {
		if known == id {
			return name, true
		}
	}
	return "", false
}

// Reported is what has gone wrong inside: a *core.InconsistencyError is a fault of the coordinator, a *core.WriteError the end of a
// write that FailWrites made fail.
func (m *Machine) Reported() []error { return m.reported }

func (m *Machine) Now() time.Time { return m.sim.Now() }

// tear is what becomes of the writes of the next request.
type tear uint8

const (
	whole tear = iota
	lost
	kept
)

// Tear makes the coordinator crash while the next request's writes are on their way.
func (m *Machine) Tear(keep bool) {
	if m.tear = lost; keep {
		m.tear = kept
	}
}

// Torn says whether it has.
func (m *Machine) Torn() bool { return m.torn }

func (m *Machine) Request(r checker.Request) {
	ev := core.Request{
		Ticket: core.Ticket(r.Ticket), Message: r.Message, Version: r.Version, ClientID: r.ClientID, ClientHost: "/127.0.0.1",
		Verified: r.Verified,
	}
	m.torn = false
	if m.tear == whole {
		m.step(func() { m.sim.Step(ev) })
		return
	}
	torn, err := m.sim.Tear(ev, m.tear == kept)
	if err != nil {
		m.reported = append(m.reported, err)
	}
	m.tear, m.torn, m.dropping = whole, torn, torn
}

func (m *Machine) Timers() []checker.Timer {
	armed := m.sim.AppendTimers(m.armed[:0])
	m.armed = armed
	timers := make([]checker.Timer, 0, len(armed))
	for _, a := range armed {
		if a.Timer.Kind == core.CleanupTimer {
			continue // off unless CleanupInterval is set; core.Cleanup{} does the same by hand
		}
		timers = append(timers, checker.Timer{Group: a.Timer.Group, Kind: timerKinds[a.Timer.Kind], Member: a.Timer.Member, Deadline: a.Deadline})
	}
	return timers
}

func (m *Machine) Fire(t checker.Timer) {
	m.step(func() {
		for _, a := range m.sim.Timers() {
			if a.Timer.Group == t.Group && timerKinds[a.Timer.Kind] == t.Kind && a.Timer.Member == t.Member {
				m.sim.Fire(a.Timer)
				return
			}
		}
	})
}

func (m *Machine) Advance(d time.Duration) { m.sim.Advance(d) }

// Jump moves the clock, also past deadlines.
func (m *Machine) Jump(d time.Duration) { m.sim.Jump(d) }

// FailWrites makes the writes of one step fail as a log does that has lost its replicas.
func (m *Machine) FailWrites(fail bool) {
	if m.fail = core.None; fail {
		m.fail = core.NotEnoughReplicas
	}
}

// RefuseWrites makes them fail with any error.
func (m *Machine) RefuseWrites(code int16) { m.fail = code }

// step makes the writes of one step fail if that has been asked for.
func (m *Machine) step(do func()) {
	m.sim.FailWrites(m.fail)
	do()
	m.sim.FailWrites(core.None)
	m.fail = core.None
}

// EndTxn writes the marker that ends a producer's transaction.
func (m *Machine) EndTxn(producer int64, epoch int16, commit bool) {
	m.step(func() { m.sim.Step(core.Marker{Producer: core.Producer{ID: producer, Epoch: epoch}, Commit: commit}) })
}

// DeleteTopics says that topics are gone.
func (m *Machine) DeleteTopics(topics ...string) {
	m.step(func() { m.sim.Step(core.TopicsDeleted{Topics: topics}) })
}

// Cleanup looks for what has expired.
func (m *Machine) Cleanup() { m.step(func() { m.sim.Step(core.Cleanup{}) }) }

// Unload gives up all groups.
func (m *Machine) Unload(epoch int32) { m.step(func() { m.sim.Step(core.Unload{Epoch: epoch}) }) }

// Load begins to read the log.
func (m *Machine) Load(epoch int32) { m.step(func() { m.sim.Step(core.LoadBegin{Epoch: epoch}) }) }

// Loaded ends that.
func (m *Machine) Loaded() {
	m.step(func() {
		if err := m.sim.EndLoad(); err != nil {
			m.reported = append(m.reported, err)
		}
	})
}

// Inherit makes a log that others have written the beginning of this one's.
func (m *Machine) Inherit(log []gen.Logged) {
	raws := make([]record.Raw, len(log))
	for i, r := range log {
		raws[i] = record.Raw{Position: int64(i), Key: r.Key, Value: r.Value, Marker: r.Marker, Commit: r.Commit}
		if r.Producer != gen.NoProducer {
			raws[i].Producer = &core.Producer{ID: r.Producer, Epoch: r.Epoch}
		}
	}
	m.sim.Inherit(raws)
}

// Replay is a coordinator that has read what this one has written. It has no limit, which a group may have outgrown (max-size.load).
func (m *Machine) Replay() (checker.Machine, error) {
	o := m.options
	o.MaxSize = 0
	again := NewMachineWith(o)
	return again, again.sim.Take(m.sim.Log())
}

func (m *Machine) Drain() checker.Effects {
	out := m.sim.Drain()
	var e checker.Effects
	if m.dropping {
		m.dropping = false
		for _, a := range out.Answers {
			e.Dropped = append(e.Dropped, checker.Ticket(a.Ticket))
		}
		return e
	}
	for _, a := range out.Answers {
		e.Answers = append(e.Answers, checker.Answer{Ticket: checker.Ticket(a.Ticket), Message: a.Message})
	}
	for _, r := range out.Rejects {
		e.Dropped = append(e.Dropped, checker.Ticket(r.Ticket))
	}
	for _, m := range out.Marked {
		e.Marked = append(e.Marked, m.Code)
	}
	for _, w := range out.Appends {
		for i, r := range w.Records {
			if r.Kind == core.CommitMarker || r.Kind == core.AbortMarker {
				continue // of no group
			}
			if i > 0 && r.Kind == w.Records[i-1].Kind && r.Group == w.Records[i-1].Group {
				continue // the offsets of a request are one record here
			}
			kind := recordKinds[r.Kind]
			if r.Kind == core.OffsetRecord && r.Producer != nil {
				kind = classic.TxnOffsetRecords
			}
			e.Records = append(e.Records, checker.Record{Group: r.Group, Kind: kind})
		}
	}
	return e
}

var timerKinds = [core.CleanupTimer + 1]classic.TimerKind{
	core.SessionTimer: classic.SessionTimer, core.NewMemberTimer: classic.SessionTimer, core.PendingTimer: classic.SessionTimer,
	core.JoinTimer: classic.GroupJoinTimer, core.SyncTimer: classic.GroupSyncTimer,
}

var recordKinds = [core.AbortMarker + 1]classic.RecordKind{
	core.GroupRecord: classic.GroupRecord, core.GroupTombstone: classic.GroupTombstone,
	core.OffsetRecord: classic.OffsetRecords, core.OffsetTombstone: classic.OffsetTombstones,
}
