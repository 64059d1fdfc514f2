package embedded

import (
	"time"

	"github.com/muster-kafka/muster/checker/lockstep"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/model/classic"
)

// WalkKinds are the kinds of coordinator that random walks are on: the walk of a seed is of kind seed modulo their number.
var WalkKinds = [...]string{"dynamic", "everything", "delay", "size"}

// Walk says how the reference coordinator is walked in lock-step with the specification: the machine's settings, for NewMachineWith, and the
// world that has them too. How long is the caller's affair. All that judge the reference by random walks walk it so.
//
// With dynamic members alone a walk goes deepest into the protocol itself; the others have static members, transactions and everything
// that can be done to a broker, one kind with an initial delay, one with a bound on groups. Writes fail in every other round of kinds. Of six
// rounds the third and fourth lose answers, or have them come late and in another order, and in the last two the clock jumps; in every third the
// coordinator crashes now and then while it writes, where it may crash at all.
func Walk(seed uint64) (Options, lockstep.Options) {
	machine := Options{Seed: seed, OffsetsRetention: 10 * time.Second} // short, so that offsets expire within a walk
	setup := gen.Setup{Static: true, OffsetDelete: true, Transactions: true, Other: otherTopic, Retention: true, TopicsDelete: true, Restarts: true}
	switch WalkKinds[seed%uint64(len(WalkKinds))] {
	case "dynamic":
		setup = gen.Setup{}
	case "delay":
		machine.InitialDelay = 12 * time.Second
	case "size":
		machine.MaxSize = 2
	}
	round := int(seed / uint64(len(WalkKinds)) % 6)
	setup.Groups, setup.Clients, setup.FailWrites = 1+round%2, 3+round%3, round%2 == 1
	setup.Network, setup.Jumps = round/2 == 1, round/2 == 2
	setup.Torn = setup.Restarts && round%3 == 0
	setup.MinSession, setup.MaxSession, setup.Topic = minSession, maxSession, topicName
	return machine, lockstep.Options{
		Seed: seed, Setup: setup,
		World: observe.Config{
			Profile: classic.Reference, MinSession: minSession, MaxSession: maxSession, Topics: machineTopic,
			TopicName: machineTopicName, TopicID: machineTopicID, InitialDelay: machine.InitialDelay, MaxSize: machine.MaxSize, OffsetsRetention: machine.OffsetsRetention, KeepLog: true,
		},
	}
}

// WalkEdges is Walk with all that clients seldom do and logs seldom say (gen.Edges), and timeouts that are no round numbers.
func WalkEdges(seed uint64) (Options, lockstep.Options) {
	machine, o := Walk(seed)
	o.Setup.FailWrites = true
	o.Setup.Sessions = []time.Duration{10 * time.Second, 10_789 * time.Millisecond, 6 * time.Second, 45 * time.Second}
	o.Setup.Rebalances = []time.Duration{30 * time.Second, 29_011 * time.Millisecond, 5 * time.Second, 45 * time.Minute, 0} // longer than any session
	o.Setup.Edges = gen.Edges{
		WriteErrors: logErrors, TopicIDs: machineTopics, Epochs: true, Subscriptions: o.Setup.OffsetDelete, Keys: true, Refused: true, Markers: o.Setup.Transactions,
	}
	return machine, o
}

// WalkForeign is Walk from a log that other brokers and older releases have written (gen.Generator.Foreign), with all that can be done to a broker. The machine starts on it again and
// again: it is never compacted.
func WalkForeign(seed uint64) (Options, lockstep.Options) {
	machine, o := Walk(uint64(len(WalkKinds))*(seed/uint64(len(WalkKinds)-1)) + 1 + seed%uint64(len(WalkKinds)-1)) // all kinds but the first
	o.Foreign, o.Setup.Torn, o.Setup.Network = true, false, false
	return machine, o
}

// logErrors are what the log says of writes that it refuses: one of each kind that Kafka answers in a way of its own, and one that it passes on.
var logErrors = []int16{
	core.NotEnoughReplicas, core.UnknownTopicOrPartition, core.NotLeaderOrFollower, core.KafkaStorageError, core.MessageTooLarge, core.RecordListTooLarge,
	core.InvalidFetchSize, corruptMessage,
}

const corruptMessage = 2
