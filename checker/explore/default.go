package explore

import "github.com/muster-kafka/muster/model/classic"

// Groups are the explorations that every verdict includes. Each has one expensive dimension on: together they cover more than one
// big run would. docs/exploration.md says what they are for.
func Groups() []Group {
	one, two, all := []string{"a"}, []string{"ab", "b"}, []string{"a", "ab", "ba", "b"}
	java, contract, scala := classic.Java, classic.Reference, classic.Scala
	return []Group{
		{Name: "2 members", Profile: java, Members: 2, Lists: all, Metadata: 2, Types: true, AnySubset: true, WriteFailures: true},
		{Name: "2 members, write in flight", Profile: java, Members: 2, Lists: all, AnySubset: true, WriteFailures: true, WriteInFlight: true, Offsets: true},
		{Name: "2 members, contract", Profile: contract, Members: 2, Lists: all, AnySubset: true, WriteFailures: true, Offsets: true},
		{Name: "2 members, Scala", Profile: scala, Members: 2, Lists: all, AnySubset: true, WriteFailures: true, Offsets: true},
		{Name: "3 members", Profile: java, Members: 3, Lists: all, WriteFailures: true},
		{Name: "3 members, write in flight", Profile: java, Members: 3, Lists: one, AnySubset: true, WriteFailures: true, WriteInFlight: true, Offsets: true},
		{Name: "3 members, contract", Profile: contract, Members: 3, Lists: two, AnySubset: true, WriteFailures: true, Offsets: true},

		{Name: "2 static members", Profile: java, Members: 2, Lists: all, Static: true, AnySubset: true, WriteFailures: true, Offsets: true},
		{Name: "2 static members, Scala", Profile: scala, Members: 2, Lists: two, Static: true, WriteFailures: true},
		{Name: "2 static members, contract", Profile: contract, Members: 2, Lists: two, Static: true, WriteFailures: true, Delay: true},
		{Name: "3 static members", Profile: java, Members: 3, Lists: one, Static: true, WriteFailures: true},
		{Name: "initial delay", Profile: java, Members: 2, Lists: two, Static: true, Delay: true, WriteFailures: true, WriteInFlight: true},
		{Name: "initial delay, Scala", Profile: scala, Members: 3, Lists: one, Delay: true, WriteFailures: true},
		{Name: "group.max.size", Profile: java, Members: 3, Lists: one, Static: true, MaxSize: 2, WriteFailures: true},
		{Name: "group.max.size, Scala", Profile: scala, Members: 3, Lists: two, MaxSize: 2, Failover: true, WriteFailures: true},
		{Name: "offsets", Profile: java, Members: 2, Lists: one, Types: true, Metadata: 3, Subscriptions: true, Offsets: true, Removal: true, WriteFailures: true},
		{Name: "offsets, Scala", Profile: scala, Members: 1, Lists: all, Metadata: 3, Subscriptions: true, Static: true, Offsets: true, Removal: true, WriteFailures: true},
		{Name: "failover", Profile: java, Members: 2, Lists: all, Static: true, Failover: true, WriteFailures: true, WriteInFlight: true},
		{Name: "failover, Scala", Profile: scala, Members: 2, Lists: two, Metadata: 2, Subscriptions: true, Offsets: true, Removal: true, Failover: true},
	}
}

// Deep are explorations for a quiet night or a big change: minutes, not seconds.
func Deep() []Group {
	one, two, all := []string{"a"}, []string{"ab", "b"}, []string{"a", "ab", "ba", "b"}
	return []Group{
		{Name: "3 static members, everything", Profile: classic.Java, Members: 3, Lists: two, Static: true, Delay: true, Failover: true, AnySubset: true, WriteFailures: true, WriteInFlight: true},
		{Name: "3 static members, Scala", Profile: classic.Scala, Members: 3, Lists: two, Static: true, Delay: true, Failover: true, WriteFailures: true},
		{Name: "3 members, group.max.size", Profile: classic.Java, Members: 3, Lists: two, Static: true, Delay: true, MaxSize: 2, Failover: true, WriteFailures: true},
		{Name: "2 members, offsets", Profile: classic.Java, Members: 2, Lists: two, Types: true, Metadata: 3, Subscriptions: true, Static: true, Offsets: true, Removal: true, WriteFailures: true},
		{Name: "4 static members", Profile: classic.Java, Members: 4, Lists: one, Static: true, AnySubset: true, WriteFailures: true},
		{Name: "3 members, everything", Profile: classic.Java, Members: 3, Lists: all, AnySubset: true, WriteFailures: true, WriteInFlight: true, Offsets: true},
		{Name: "4 members", Profile: classic.Java, Members: 4, Lists: all, AnySubset: true, WriteFailures: true},
		{Name: "4 members, write in flight", Profile: classic.Java, Members: 4, Lists: two, WriteFailures: true, WriteInFlight: true},
	}
}
