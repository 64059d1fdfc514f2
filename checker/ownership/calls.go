package ownership

import (
	"fmt"
	"slices"
)

// join notes a member of a generation. A number that is smaller than one that was known before the request was sent begins a new count: the
// group was empty and forgotten, or the target has lost what it did not store.
func (j *judge) join(e *Event) {
	if g := j.gens[j.newest]; g != nil && e.Generation < j.newest && g.evidence < e.Began {
		j.closeGenerations()
		j.anew()
	}
	c := j.client(e.Client)
	c.member, c.joined, c.moved = e.Member, e, e.At
	j.names[e.Member] = e.Client
	if e.Instance != "" {
		j.statics[e.Member] = e.Instance
	}
	g := j.generation(e.Generation)
	if g.joined[e.Member] == nil || len(e.Members) > 0 {
		g.joined[e.Member] = e
	}
	for _, member := range e.Members {
		// A leave that was answered before this request was sent comes before it in any order of the two.
		if left := j.left[member]; left != nil && left.At < e.Began && !j.restarted(left.Began, e.At) {
			j.violate(Gone, e.At, e.Generation, nil, []string{j.names[member], e.Client},
				"%s (%s) left at %s and was told so. %s asked to join at %s, and its list of the members of generation %d has %s all the same.",
				j.called(member), member, seconds(left.At), e.Client, seconds(e.Began), e.Generation, j.called(member))
		}
	}
	j.leaders(g, e)
}

// same says whether two member ids are one member's: a static member that comes back has a fresh one, and the place that it had.
func (j *judge) same(a, b string) bool {
	return a == b || j.statics[a] != "" && j.statics[a] == j.statics[b]
}

// leaders compares whom members are told to be led by. A generation of which no member had an assignment yet is forgotten in a crash, and its
// number is given again.
func (j *judge) leaders(g *generation, e *Event) {
	for _, other := range g.joined {
		if j.same(other.Leader, e.Leader) || e.Leader == "" || other.Leader == "" || j.restarted(min(other.Began, e.Began), e.At) {
			continue
		}
		j.violate(OneLeader, e.At, e.Generation, nil, []string{other.Client, e.Client},
			"In generation %d %s was told that %s leads, and %s that %s does.", e.Generation, other.Client, j.led(other), e.Client, j.led(e))
		return
	}
}

func (j *judge) led(e *Event) string {
	if e.Leader == e.Member {
		return "it"
	}
	return j.called(e.Leader)
}

// called is how a member is called: by the name of its client.
func (j *judge) called(member string) string {
	if name := j.names[member]; name != "" {
		return name
	}
	return member
}

func (j *judge) sync(e *Event) {
	c := j.client(e.Client)
	c.synced, c.moved = e, e.At
	j.owes(c, e)
	g := j.generation(e.Generation)
	if g.synced[e.Member] == nil {
		g.synced[e.Member] = e
	}
	j.settledIn(g, e)
	j.planned(g, e)
}

// settledIn notes that a generation has begun for good.
func (j *judge) settledIn(g *generation, e *Event) {
	if g.witness == nil {
		g.witness, g.evidence = e, e.At
		j.verdict.Generations++
	}
	j.newest = max(j.newest, g.number)
}

// planned compares an assignment with what the leader has sent. The leader's request is in the log from when it was sent.
func (j *judge) planned(g *generation, e *Event) {
	if !j.plans {
		return
	}
	if len(g.plans) == 0 {
		leader := ""
		if joined := g.joined[e.Member]; joined != nil {
			leader = j.names[joined.Leader]
		}
		if leader == "" || j.clients[leader] == nil || len(e.Partitions) == 0 && j.restarted(0, e.At) {
			return // who leads has not been seen: its plan may be known to others
		}
		j.violate(Plan, e.At, g.number, e.Partitions, []string{e.Client, leader},
			"%s was given %s in generation %d before %s, which leads, had sent any assignment.", e.Client, list(e.Partitions), g.number, leader)
		return
	}
	for _, plan := range g.plans {
		if mine := j.share(plan, e.Member); slices.Equal(mine, e.Partitions) || len(mine)+len(e.Partitions) == 0 {
			return
		}
	}
	plan := g.plans[len(g.plans)-1]
	j.violate(Plan, e.At, g.number, e.Partitions, []string{e.Client, plan.Client},
		"%s, which leads generation %d, gave %s to %s. What %s was answered is %s.", plan.Client, g.number, list(j.share(plan, e.Member)), e.Client, e.Client, list(e.Partitions))
}

// share is what a plan gives to a member, under whichever of its ids.
func (j *judge) share(plan *Event, member string) []Partition {
	if mine, ok := plan.Plan[member]; ok {
		return mine
	}
	for id, some := range plan.Plan {
		if j.same(id, member) {
			return some
		}
	}
	return nil
}

// commit looks for a member with the assignment of a newer generation, known before the request was sent.
func (j *judge) commit(e *Event) {
	if e.Generation <= 0 { // nobody's member
		return
	}
	var newer *generation
	for _, g := range j.gens {
		if g.number > e.Generation && g.witness != nil && g.evidence < e.Began && (newer == nil || g.number < newer.number) {
			newer = g
		}
	}
	if newer == nil {
		return
	}
	text := fmt.Sprintf("%s committed %s with generation %d at %s, and that was accepted, although %s had its assignment of generation %d at %s.",
		e.Client, list(e.Partitions), e.Generation, seconds(e.Began), newer.witness.Client, newer.number, seconds(newer.evidence))
	clients := []string{e.Client, newer.witness.Client}
	for _, p := range e.Partitions {
		if owner := newer.owners[p]; owner != nil && !j.same(owner.member, e.Member) {
			text += fmt.Sprintf(" %s was %s's by then.", p, owner.client)
			clients = append(clients, owner.client)
			break
		}
	}
	j.violate(Zombie, e.At, e.Generation, e.Partitions, clients, "%s", text)
}
