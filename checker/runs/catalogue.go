package runs

import (
	"fmt"
	"slices"

	"github.com/muster-kafka/muster/checker/clients"
	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/checker/joint"
	"github.com/muster-kafka/muster/model/classic"
)

// Set is runs that have the same expensive dimension on.
type Set struct {
	Name string
	For  string

	// sized makes the set's own run for a number of members that the catalogue has none for; nil where there is no such run.
	sized func(members int) Run
}

// Sets are all sets. Several runs, each with one expensive dimension on, cover more than one big run would.
func Sets() []Set {
	return []Set{
		{"core", "members: static ones, the initial delay, writes that fail or take time, crashes", core},
		{"subscriptions", "the same with protocol lists and what members subscribe to", subscriptions},
		{"offsets+txn", "committed offsets, transactions, and all ways in which offsets go", offsets},
		{"replacement", "static members: replacement in every phase, fencing, members that are kept though they have not joined", nil},
		{"limits", "group.max.size: refusals, evictions, a limit that has been lowered", nil},
		{"failover", "the coordinator gives the group up and another one loads it; clients that live on, generations that are lost", nil},
		{"crash-pairs", "what memory may be like for each state of the log, requests from anywhere", crashPairs},
		{"clients", "clients that are followed one by one, and get together again from everywhere", following},
		{"joint-core", "the reference coordinator beside the specification: static members, the initial delay, writes that fail or take time, crashes", jointCore},
		{"joint-lists", "the same with protocol lists, and a leader that may leave out anybody", jointLists},
		{"joint-offsets", "the same with protocol lists and committed offsets", jointOffsets},
	}
}

// note is what the catalogue says of a run that packages explore and clients define.
type note struct{ name, set, why string }

var notes = []note{
	{"2 members", "core", "all lists of two protocols with two metadata each, a second protocol type"},
	{"2 members, write in flight", "core", "the leader's assignment takes time to be written, and may fail; offsets"},
	{"2 members, contract", "core", "the contract: no release's quirks"},
	{"2 members, Scala", "core", "the coordinator of Kafka 3.9 and before"},
	{"3 members", "core", "leader loss with a choice, votes that tie with a third"},
	{"3 members, write in flight", "core", "the same while the assignment is being written"},
	{"3 members, contract", "core", "the same under the contract"},
	{"initial delay", "core", "waiting, extension, who may end it early"},
	{"initial delay, Scala", "core", "the same before 4.0"},
	{"3 static members, everything", "core", "two lists on top of the core"},
	{"3 static members, Scala", "core", "the same before 4.0"},
	{"3 members, everything", "core", "four lists, any assignment, offsets"},
	{"4 members", "core", "four lists"},
	{"4 members, write in flight", "core", "two lists"},
	{"2 static members", "replacement", "all lists, offsets"},
	{"2 static members, Scala", "replacement", "before 4.0"},
	{"2 static members, contract", "replacement", "the contract, with an initial delay"},
	{"3 static members", "replacement", "one list"},
	{"4 static members", "replacement", "one list, any assignment"},
	{"group.max.size", "limits", "static members"},
	{"group.max.size, Scala", "limits", "a lowered limit after a failover, before 4.0"},
	{"3 members, group.max.size", "limits", "static members, initial delay, failover"},
	{"offsets", "offsets+txn", "subscriptions of two topics and unreadable ones, expiry, cleanup"},
	{"offsets, Scala", "offsets+txn", "before 4.0, static members"},
	{"2 members, offsets", "offsets+txn", "static members, two lists, a second protocol type"},
	{"failover", "failover", "giving up, loading, the answers meanwhile"},
	{"failover, Scala", "failover", "before 4.0, with offsets"},

	{"2 clients", "clients", "old and new JoinGroup, writes in flight and failing, crashes after which clients have no ids"},
	{"2 clients, Scala", "clients", "before 4.0"},
	{"2 clients, contract", "clients", "the contract"},
	{"2 clients, lists", "clients", "two lists with a protocol in common"},
	{"2 clients, lists apart", "clients", "two lists without one"},
	{"2 clients, room for 3 ids", "clients", "ids that are left behind"},
	{"2 clients, one static", "clients", "late answers"},
	{"2 static clients", "clients", "replacement, fencing, late answers"},
	{"2 static clients, Scala", "clients", "before 4.0"},
	{"3 clients", "clients", "leader loss with a choice"},
	{"3 clients, crashes", "clients", "the same with old JoinGroups, writes in flight and crashes"},
	{"3 clients, one static", "clients", "late answers"},
	{"2 clients, lists, room for 3 ids", "clients", "ids that are left behind, with lists"},
	{"failover, 2 clients", "failover", "memory and log, clients that live on over a crash"},
	{"failover, one static client", "failover", "two lists, failing writes"},
	{"failover, one of 2 clients static", "failover", "who may act in a generation that a crash has lost"},
	{"failover, failing writes", "failover", "what has failed may be in the log all the same"},
	{"failover, lists", "failover", "loaded members are known by one protocol"},
	{"failover, one of 2 clients static, failing writes", "failover", "both"},
	{"failover, 2 static clients, Scala", "failover", "before 4.0"},
	{"crash pairs, 2 ids", "crash-pairs", "static members"},
	{"crash pairs, 2 ids, Scala", "crash-pairs", "before 4.0"},
	{"crash pairs, 3 ids", "crash-pairs", "dynamic members"},
	{"crash pairs, 2 ids, lists", "crash-pairs", "two lists"},
	{"crash pairs, 3 ids, static", "crash-pairs", "with static members"},
}

// tested are those of the deep runs that the tests have time for.
var tested = []string{"crash pairs, 3 ids, static", "3 clients, crashes"}

// within is the run all of which is in another one of the tests, "3 clients, crashes".
const within = "3 clients"

// All is the catalogue, in the order of the sets.
func All() []Run {
	var all []Run
	for _, g := range explore.Groups() {
		all = append(all, ofGroup(g, Verdict))
	}
	for _, g := range explore.Deep() {
		all = append(all, ofGroup(g, Night))
	}
	for _, c := range clients.Runs() {
		all = append(all, ofClients(c, Test))
	}
	for _, c := range clients.Deep() {
		all = append(all, ofClients(c, Night))
	}
	for i := range all {
		switch {
		case slices.Contains(tested, all[i].Name):
			all[i].When = Test
		case all[i].Name == within:
			all[i].When = Night
		}
		at := slices.IndexFunc(notes, func(n note) bool { return n.name == all[i].Name })
		if at < 0 {
			panic(fmt.Sprintf("runs: %q has no place in the catalogue", all[i].Name))
		}
		all[i].Set, all[i].For = notes[at].set, notes[at].why
	}
	all = append(all, larger()...)
	for i := range all {
		all[i].asked = Asked{Run: all[i].Name}
	}
	order := map[string]int{}
	for i, s := range Sets() {
		order[s.Name] = i
	}
	slices.SortStableFunc(all, func(a, b Run) int { return order[a.Set] - order[b.Set] })
	return all
}

func ofGroup(g explore.Group, when When) Run {
	return Run{Name: g.Name, Members: g.Members, When: when, Group: &g}
}

func ofClients(c clients.Run, when When) Run {
	return Run{Name: c.Name, Members: max(c.Clients, c.Room), When: when, Clients: &c}
}

// larger are the runs that only this package has: each set's own, at the sizes that are worth it.
func larger() []Run {
	at := func(when When, r Run) Run {
		r.When = when
		return r
	}
	return []Run{
		at(Test, core(3)), at(Night, core(4)), at(Night, core(5)), at(Test, lean(core(4))),
		at(Night, subscriptions(3)), at(Judges, lean(subscriptions(3))), at(Night, everything(3)), at(Night, lean(everything(3))),
		at(Night, subscriptions(4)), at(Night, lean(subscriptions(4))),
		at(Night, offsets(2)), at(Judges, lean(offsets(2))),
		at(Night, crashPairs(4)),
		at(Verdict, jointCore(2)), at(Night, jointCore(3)), at(Test, jointLists(2)), at(Test, jointOffsets(2)),
		at(Night, jointAny(3)), at(Night, jointDynamic(3)),
	}
}

// The lists that clients send.
var (
	oneList  = []string{"a"}
	twoLists = []string{"ab", "b"}
	allLists = []string{"a", "ab", "ba", "b"}
)

// entitled is the name of a set's own run.
func entitled(set string, members int) string {
	if members == 1 {
		return set + ", 1 member"
	}
	return fmt.Sprintf("%s, %d members", set, members)
}

// core is what every other large run is built on. Crashes cost nothing: a group is loaded from each state that is just what its record says.
func core(members int) Run {
	return Run{
		Name: entitled("core", members), Set: "core", For: "one list, the leader assigns to any of them", Members: members,
		Group: &explore.Group{
			Profile: classic.Java, Members: members, Lists: oneList, Static: true, Delay: true, Failover: true, AnySubset: true,
			WriteFailures: true, WriteInFlight: true,
		},
	}
}

// subscriptions has two lists and two subscriptions. From four members on the leader assigns to all: any assignment would be seven times as much.
func subscriptions(members int) Run {
	r := core(members)
	r.Name, r.Set, r.For = entitled("subscriptions", members), "subscriptions", "two lists, two subscriptions"
	r.Group.Lists, r.Group.Metadata, r.Group.Subscriptions = twoLists, 2, true
	if members > 3 {
		r.Group.AnySubset = false
		r.For += "; the leader assigns to all"
	}
	return r
}

// everything is everything about members.
func everything(members int) Run {
	r := subscriptions(members)
	r.Name, r.For = entitled("everything", members), "everything about members: all lists of two protocols, two subscriptions; the leader assigns to all"
	r.Group.Lists, r.Group.AnySubset = allLists, false
	return r
}

func offsets(members int) Run {
	r := subscriptions(members)
	r.Name, r.Set, r.For = entitled("offsets+txn", members), "offsets+txn", "everything: all lists of two protocols, two subscriptions, any assignment, offsets, transactions"
	r.Group.Lists, r.Group.AnySubset, r.Group.Offsets, r.Group.Removal = allLists, true, true, true
	return r
}

// lean is a run without requests that can change nothing: the same states, judged on a third of the transitions.
func lean(r Run) Run {
	r.Name, r.For = r.Name+", no refusals", r.For+"; without requests that are refused, or only read"
	r.change(func(g *explore.Group) { g.Lean = true }, nil, nil)
	return r
}

func crashPairs(members int) Run {
	return Run{
		Name: entitled("crash-pairs", members), Set: "crash-pairs", For: "static and dynamic members", Members: members,
		Clients: &clients.Run{Profile: classic.Java, Room: members, Static: 1, Lists: oneList, Old: true, WriteFailures: true, Crash: clients.Log},
	}
}

func following(members int) Run {
	return Run{
		Name: entitled("clients", members), Set: "clients", For: "old JoinGroups, writes in flight and failing, crashes", Members: members,
		Clients: &clients.Run{
			Profile: classic.Java, Clients: members, Lists: oneList, Old: true, WriteInFlight: true, WriteFailures: true, Crash: clients.Forget, Converge: true,
		},
	}
}

func jointCore(members int) Run {
	j := joint.Core(members)
	return Run{Name: entitled("joint-core", members), Set: "joint-core", For: "one list, the leader assigns to all", Members: members, Joint: &j}
}

func jointLists(members int) Run {
	j := joint.Lists(members)
	return Run{Name: entitled("joint-lists", members), Set: "joint-lists", For: "two lists, any assignment", Members: members, Joint: &j}
}

func jointOffsets(members int) Run {
	j := joint.Offsets(members)
	return Run{Name: entitled("joint-offsets", members), Set: "joint-offsets", For: "two lists, commits", Members: members, Joint: &j}
}

func jointAny(members int) Run {
	r := jointCore(members)
	r.Name, r.For = r.Name+", any assignment", "one list, the leader may leave out anybody"
	r.Joint.AnySubset = true
	return r
}

func jointDynamic(members int) Run {
	r := jointOffsets(members)
	r.Name, r.For = fmt.Sprintf("joint-offsets, %d dynamic members", members), "two lists, commits, no static members"
	r.Joint.Static = false
	return r
}
