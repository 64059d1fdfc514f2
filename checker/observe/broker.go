package observe

import (
	"fmt"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/model/classic"
)

// What a broker does to its coordinator: checker.Broker.

// each lets something happen to every group, and chooses among its outcomes.
func (m *Machine) each(happen func(b *Branch, yield func(Outcome) bool) error) {
	for _, g := range m.names() {
		b := m.groups[g]
		o, err := m.pick(func(yield func(Outcome) bool) error { return happen(b, yield) })
		if err != nil {
			panic(fmt.Sprintf("observe: group %s: %v", g, err)) // times are exact, and nothing here adds a member
		}
		m.tell(b, o)
		m.take(o)
	}
}

// EndTxn writes the marker that ends a producer's transaction. All epochs of a producer are one here.
func (m *Machine) EndTxn(producer int64, _ int16, commit bool) {
	m.fails()
	m.each(func(b *Branch, yield func(Outcome) bool) error {
		m.world.EndTxn(b, producer, commit, At(m.now), yield)
		return nil
	})
}

// DeleteTopics says that topics are gone.
func (m *Machine) DeleteTopics(topics ...string) {
	fails := m.fails()
	m.each(func(b *Branch, yield func(Outcome) bool) error {
		m.world.DeleteTopics(b, topics, fails, At(m.now), yield)
		return nil
	})
}

// Cleanup is one round of the periodic cleanup.
func (m *Machine) Cleanup() {
	fails := m.fails()
	m.each(func(b *Branch, yield func(Outcome) bool) error { return m.world.Cleanup(b, fails, At(m.now), yield) })
}

// Unload gives up all groups.
func (m *Machine) Unload(epoch int32) {
	m.fails()
	if !m.follows(epoch) || m.serving == classic.NoCoordinator {
		return
	}
	m.serving = classic.NoCoordinator
	m.each(func(b *Branch, yield func(Outcome) bool) error {
		m.world.Unload(b, At(m.now), yield)
		return nil
	})
}

// Load begins to read all groups from the log (Config.KeepLog). What is still there is given up first.
func (m *Machine) Load(epoch int32) {
	m.fails()
	if !m.follows(epoch) {
		return
	}
	m.Unload(epoch)
	m.serving = classic.Loading
	m.each(func(b *Branch, yield func(Outcome) bool) error {
		m.world.LoadStarts(b, At(m.now), yield)
		return nil
	})
}

// LoseLog forgets all that has been written, as where the partition is deleted that it was written to. The groups have been given up.
func (m *Machine) LoseLog() {
	for _, g := range m.names() {
		if b := *m.groups[g]; b.state.Phase == classic.Absent {
			delete(m.groups, g)
		} else { // only where a rule is broken
			b.log = nil
			m.groups[g] = &b
		}
	}
}

// Loaded ends that.
func (m *Machine) Loaded() {
	m.fails()
	if m.serving != classic.Loading {
		return
	}
	m.serving = classic.Active
	m.each(func(b *Branch, yield func(Outcome) bool) error {
		m.world.Loaded(b, At(m.now), yield)
		return nil
	})
}

// follows takes up a leader epoch, unless a later one has been heard of (load.epoch).
func (m *Machine) follows(epoch int32) bool {
	if epoch < m.epoch {
		return false
	}
	m.epoch = epoch
	return true
}

// Replay is a machine that has read what this one has written (Config.KeepLog).
func (m *Machine) Replay() (checker.Machine, error) {
	again := NewMachine(m.world, nil)
	again.now, again.serving = m.now, classic.Active
	for name, b := range m.groups {
		again.groups[name] = b
	}
	again.Load(1)
	again.Loaded()
	again.Drain()
	return again, nil
}
