// Package embedded offers the reference coordinator (impl) to judges: in process on virtual time (New), over TCP (NewTCP), and step by
// step (NewMachine).
//
// Its release is "reference": it is judged by what Kafka 4.4.0 answers, with each accident of that release replaced by what the protocol
// demands (see package impl/core). Where a scenario has a block for the contract beside what Kafka answers, the reference matches
// that one.
package embedded

import (
	"fmt"
	"time"

	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/server"
)

// Release is how the reference coordinator is judged.
const Release = "reference"

// Options are the settings of the embedded coordinator. The zero value is good.
type Options struct {
	// Seed is what choices and member ids are drawn from, on virtual time: the same seed and calls give the same answers.
	Seed uint64

	// Profile names the broker profile whose settings these are; see the function Profile.
	Profile string

	// InitialDelay is group.initial.rebalance.delay.ms, 0 by default.
	InitialDelay time.Duration

	// MaxSize is group.max.size, no limit by default.
	MaxSize int

	// OffsetsRetention is offsets.retention.minutes, 7 days by default. CleanupInterval is offsets.retention.check.interval.ms; by default
	// never on virtual time, 10 minutes over TCP.
	OffsetsRetention, CleanupInterval time.Duration

	// Data is the folder that NewServed keeps everything in, and CompactAfter is how many records a partition grows by before it is compacted. By
	// default all is in memory.
	Data         string
	CompactAfter int

	// Report is told of whatever goes wrong inside; by default nobody is.
	Report func(error)

	// Watch is told of every step that the coordinator takes, in their order, over TCP alone. What the log has acknowledged within a step is part of it.
	Watch func(Step)

	beats bool // heartbeats go by core.Beat
	alone bool // nobody coordinates transactions beside it
}

// The settings of the brokers that the harness starts itself: sessions may be short, so that scenarios can be scaled down.
const (
	minSession = 10 * time.Millisecond
	maxSession = 30 * time.Minute
	partitions = 3 // of topic "t"
	topicName  = "t"
)

func (o Options) settings() core.Settings {
	return core.Settings{
		MinSessionTimeout: minSession, MaxSessionTimeout: maxSession, InitialRebalanceDelay: o.InitialDelay,
		MaxSize: o.MaxSize, OffsetsRetention: o.OffsetsRetention, CleanupInterval: o.CleanupInterval, Transactions: !o.alone,
		Node:   core.Node{ID: 1, Host: "127.0.0.1", Port: 9092},
		Report: o.Report,
	}
}

// Profile returns the options of a broker profile of scenarios: default (also if empty), delay, size, retention, restart or faults.
func Profile(name string) (Options, error) {
	switch name {
	case "", "default", "restart", "faults":
		return Options{Profile: name}, nil
	case "delay":
		return Options{Profile: name, InitialDelay: 2 * time.Second}, nil
	case "size":
		return Options{Profile: name, MaxSize: 2}, nil
	case "retention":
		return Options{Profile: name, OffsetsRetention: time.Minute, CleanupInterval: time.Second}, nil
	}
	return Options{}, fmt.Errorf("no broker profile %q; there are default, delay, size, retention, restart and faults", name)
}

func (o Options) profile() string {
	switch {
	case o.Profile != "":
		return o.Profile
	case o.InitialDelay > 0:
		return "delay"
	}
	return "default"
}

func topics() map[string]int32 {
	return map[string]int32{topicName: partitions, otherTopic: partitions}
}

func capabilities(o Options) target.Capabilities {
	c := target.Capabilities{
		Release: Release, Profile: o.profile(), MinSession: minSession, MaxSession: maxSession, InitialDelay: o.InitialDelay,
		Versions: map[int16]target.VersionRange{}, Topics: map[string]string{topicName: topicName, otherTopic: otherTopic},
		Features: target.Features(),
	}
	for key, r := range server.Versions() {
		c.Versions[int16(key)] = target.VersionRange{Min: r.Min, Max: r.Max}
	}
	return c
}
