package ownership

import "slices"

// owes notes what a member has to give up in a cooperative rebalance: what it owned when it joined and is not assigned any more.
func (j *judge) owes(c *consumer, e *Event) {
	if c.joined == nil || !c.joined.Cooperative || c.joined.Generation != e.Generation {
		return
	}
	for _, p := range c.joined.Owned {
		if held := c.holds[p]; held != nil && !slices.Contains(e.Partitions, p) {
			j.dropped[p] = dropping{held, e.Generation}
			g := j.generation(e.Generation)
			g.dropped = append(g.dropped, p)
		}
	}
}

// taken looks for what a member gave up in a cooperative rebalance although it was assigned it again: between the answer to its SyncGroup and
// the end of the rebalance.
func (j *judge) taken(c *consumer, e *Event) {
	if e.Kind != Revoked || c.leaving || c.joined == nil || !c.joined.Cooperative || c.synced == nil {
		return
	}
	if c.synced.Generation != c.joined.Generation || c.generation == c.synced.Generation {
		return
	}
	for _, p := range e.Partitions {
		if c.holds[p] != nil && slices.Contains(c.synced.Partitions, p) {
			j.violate(Cooperative, e.At, c.synced.Generation, []Partition{p}, []string{c.name},
				"%s owned %s and was assigned it again in generation %d, and still it was taken from it at %s.", c.name, p, c.synced.Generation, seconds(e.At))
			return
		}
	}
}

// returned looks for a partition that was taken from a member in a cooperative rebalance and given back to it in the next, although nothing had
// changed that could be the reason: the members, what they subscribe to, the partitions that there are.
func (j *judge) returned(g *generation, mine *claim) {
	d, ok := j.dropped[mine.partition]
	if !ok || g.number <= d.generation {
		return
	}
	delete(j.dropped, mine.partition)
	before := j.gens[d.generation]
	if d.from.client != mine.client || before == nil || before.owners[mine.partition] != nil || before.contested(mine.partition) || g.number != d.generation+1 || !j.alike(before, g) {
		return
	}
	j.violate(Cooperative, mine.from, g.number, []Partition{mine.partition}, []string{mine.client},
		"%s was taken from %s in the cooperative rebalance to generation %d and given back to it in generation %d, with the same members, subscriptions and partitions.",
		mine.partition, mine.client, d.generation, g.number)
}

// again says whether the generation that a member has joined may have been forgotten, and its number given again: what nobody had an assignment of yet is not
// stored, and gone if the target is killed. What the member said when it joined, it then did not say of this one.
func (j *judge) again(g *generation, joined *Event) bool {
	return g.witness == nil || j.restarted(joined.Began, g.evidence)
}

// alike says whether two generations have the same members with one and the same subscription, and the same partitions to give away. What is
// not known is not alike.
func (j *judge) alike(a, b *generation) bool {
	var lists [2][]string
	var sums [2][]Partition
	for n, g := range []*generation{a, b} {
		for _, e := range g.joined {
			if j.again(g, e) || !e.Cooperative || !slices.Equal(e.Topics, anyOf(g.joined).Topics) {
				return false
			}
			if len(e.Members) > 0 {
				lists[n] = slices.Sorted(slices.Values(e.Members))
			}
		}
		if len(g.plans) != 1 || len(lists[n]) == 0 || len(lists[n]) != len(g.joined) {
			return false
		}
		for _, some := range g.plans[0].Plan {
			sums[n] = append(sums[n], some...)
		}
	}
	sums[0] = append(sums[0], a.dropped...)
	slices.Sort(sums[0])
	slices.Sort(sums[1])
	return slices.Equal(lists[0], lists[1]) && slices.Equal(sums[0], sums[1]) && slices.Equal(anyOf(a.joined).Topics, anyOf(b.joined).Topics)
}

func anyOf(all map[string]*Event) *Event {
	for _, e := range all {
		return e
	}
	return nil
}

// contested says whether more than one member of a generation says to own a partition. A consumer that has slept through a rebalance may do so
// (franz-go's does where the group forgot it: it joins anew and still names what it had), and then it is for the leader to choose. That
// two consumers have the partition for a while is no fault of the group's.
func (g *generation) contested(p Partition) bool {
	n := 0
	for _, e := range g.joined {
		if slices.Contains(e.Owned, p) {
			n++
		}
	}
	return n > 1
}

// closeGenerations looks back at all generations: under a cooperative protocol nobody may have been given what another member of the
// generation still had when it joined, and said so.
func (j *judge) closeGenerations() {
	claims := map[Partition][]*claim{}
	for _, c := range j.claims {
		claims[c.partition] = append(claims[c.partition], c)
	}
	for _, g := range j.gens {
		for _, p := range sorted(g.owners) {
			if j.ctx.Err() != nil {
				return
			}
			mine := g.owners[p]
			held := before(claims[p], g.number)
			if held == nil || held.client == mine.client {
				continue
			}
			joined := g.joined[held.member]
			if joined == nil || j.again(g, joined) || !joined.Cooperative || !slices.Contains(joined.Owned, p) || held.from > joined.Began || held.until <= joined.Began || g.contested(p) {
				continue
			}
			j.violate(Cooperative, mine.from, g.number, []Partition{p}, []string{held.client, mine.client},
				"%s owned %s and said so when it joined generation %d at %s. In that generation already it was given to %s: a cooperative rebalance waits until it is given up.",
				held.client, p, g.number, seconds(joined.Began), mine.client)
		}
	}
	if !j.keep {
		j.claims = nil
	}
}

// before is the latest of a partition's claims in an earlier generation.
func before(claims []*claim, generation int32) (latest *claim) {
	for _, c := range claims {
		if c.generation < generation && (latest == nil || c.generation >= latest.generation) {
			latest = c
		}
	}
	return latest
}

func sorted(owners map[Partition]*claim) []Partition {
	all := make([]Partition, 0, len(owners))
	for p := range owners {
		all = append(all, p)
	}
	slices.Sort(all)
	return all
}
