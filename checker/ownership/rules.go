package ownership

// Rule is one thing that an owner of partitions relies on. All of them are contracts.
type Rule struct {
	ID       string
	Sentence string
	Suffers  string // what a client suffers where it is broken
}

// The rules. Their ids are never reused.
const (
	Once        = "ownership.once"
	Zombie      = "ownership.zombie"
	Orphan      = "ownership.orphan"
	Rest        = "ownership.rest"
	Cooperative = "ownership.cooperative"
	Plan        = "ownership.plan"
	OneLeader   = "ownership.leader"
	Gone        = "ownership.gone"
)

// Rules are all that there are.
func Rules() []Rule {
	return []Rule{
		{Once, "In one generation a partition belongs to one member.", "two consumers process the same records at the same time"},
		{Zombie, "A commit of an older generation is refused from when a member has its assignment of a newer one.", "a consumer that slept through a rebalance overwrites the progress of the one that took its partitions over: records are lost or processed again"},
		{Orphan, "Once a group is at rest each partition of the topics that its members subscribe to belongs to one of them.", "nobody consumes the partition, and its lag grows without an error anywhere"},
		{Rest, "A group to which nothing is done comes to rest: all its members have an assignment of one generation.", "the group rebalances in circles, or a member hangs"},
		{Cooperative, "In a cooperative rebalance a member keeps what it is to own afterwards, and nobody is given what another member has not given up yet.", "consumption stops that should have gone on, or two consumers process the same records"},
		{Plan, "A member's assignment is what the leader of that generation has given it.", "a consumer consumes what is another's, or nothing"},
		{OneLeader, "All members of a generation are told of one leader.", "two members assign the same partitions, each in its own way, or nobody does"},
		{Gone, "A member that has left is not in the next generation.", "partitions are given to a consumer that is gone, and nobody consumes them until its session ends"},
	}
}

// FindRule finds a rule by its id.
func FindRule(id string) (Rule, bool) {
	for _, r := range Rules() {
		if r.ID == id {
			return r, true
		}
	}
	return Rule{}, false
}
