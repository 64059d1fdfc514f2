package clients

import "github.com/muster-kafka/muster/model/classic"

// Runs are the explorations that are made for every change; docs/exploration.md says what each is for.
func Runs() []Run {
	one, two, apart := []string{"a"}, []string{"ab", "b"}, []string{"a", "b"}
	java, scala, contract := classic.Java, classic.Scala, classic.Reference
	return []Run{
		{Name: "2 clients", Profile: java, Clients: 2, Lists: one, Old: true, WriteInFlight: true, WriteFailures: true, Crash: Forget, Converge: true},
		{Name: "2 clients, Scala", Profile: scala, Clients: 2, Lists: one, Old: true, WriteInFlight: true, WriteFailures: true, Crash: Forget, Converge: true},
		{Name: "2 clients, contract", Profile: contract, Clients: 2, Lists: one, Old: true, WriteFailures: true, Crash: Forget, Converge: true},
		{Name: "2 clients, lists", Profile: java, Clients: 2, Lists: two, WriteInFlight: true, WriteFailures: true, Crash: Forget, Converge: true},
		{Name: "2 clients, lists apart", Profile: java, Clients: 2, Lists: apart, WriteFailures: true, Converge: true},
		{Name: "2 clients, room for 3 ids", Profile: java, Clients: 2, Room: 3, Lists: one, Old: true, WriteFailures: true, Crash: Forget, Converge: true},
		{Name: "2 clients, one static", Profile: java, Clients: 2, Static: 1, Lists: one, WriteInFlight: true, WriteFailures: true, Late: true, Crash: Forget, Converge: true},
		{Name: "2 static clients", Profile: java, Clients: 2, Static: 2, Lists: one, WriteInFlight: true, WriteFailures: true, Late: true, Crash: Forget, Converge: true},
		{Name: "2 static clients, Scala", Profile: scala, Clients: 2, Static: 2, Lists: one, WriteInFlight: true, WriteFailures: true, Late: true, Crash: Forget, Converge: true},
		{Name: "3 clients", Profile: java, Clients: 3, Lists: one, WriteFailures: true, Converge: true},
		{Name: "failover, 2 clients", Profile: java, Clients: 2, Lists: one, Crash: Log, Converge: true},
		{Name: "failover, one static client", Profile: java, Clients: 1, Static: 1, Lists: two, WriteFailures: true, Crash: Log, Converge: true},
		{Name: "failover, one of 2 clients static", Profile: java, Clients: 2, Static: 1, Lists: one, Crash: Log},
		{Name: "crash pairs, 2 ids", Profile: java, Room: 2, Static: 1, Lists: one, Old: true, WriteFailures: true, Crash: Log},
		{Name: "crash pairs, 2 ids, Scala", Profile: scala, Room: 2, Static: 1, Lists: one, Old: true, WriteFailures: true, Crash: Log},
		{Name: "crash pairs, 3 ids", Profile: java, Room: 3, Lists: one, Old: true, WriteFailures: true, Crash: Log},
	}
}

// Deep are explorations for a big change: some twenty seconds on two cores.
func Deep() []Run {
	one, two := []string{"a"}, []string{"ab", "b"}
	java, scala := classic.Java, classic.Scala
	return []Run{
		{Name: "3 clients, crashes", Profile: java, Clients: 3, Lists: one, Old: true, WriteInFlight: true, WriteFailures: true, Crash: Forget, Converge: true},
		{Name: "3 clients, one static", Profile: java, Clients: 3, Static: 1, Lists: one, WriteInFlight: true, WriteFailures: true, Late: true, Crash: Forget, Converge: true},
		{Name: "2 clients, lists, room for 3 ids", Profile: java, Clients: 2, Room: 3, Lists: two, WriteInFlight: true, WriteFailures: true, Crash: Forget, Converge: true},
		{Name: "failover, failing writes", Profile: java, Clients: 2, Lists: one, WriteFailures: true, Crash: Log, Converge: true},
		{Name: "failover, lists", Profile: java, Clients: 2, Lists: two, Crash: Log, Converge: true},
		{Name: "failover, one of 2 clients static, failing writes", Profile: java, Clients: 2, Static: 1, Lists: one, WriteFailures: true, Crash: Log, Converge: true},
		{Name: "failover, 2 static clients, Scala", Profile: scala, Clients: 2, Static: 2, Lists: one, WriteFailures: true, Crash: Log, Converge: true},
		{Name: "crash pairs, 2 ids, lists", Profile: java, Room: 2, Static: 1, Lists: two, Old: true, WriteFailures: true, Crash: Log},
		{Name: "crash pairs, 3 ids, static", Profile: java, Room: 3, Static: 1, Lists: one, Old: true, WriteFailures: true, Crash: Log},
	}
}
