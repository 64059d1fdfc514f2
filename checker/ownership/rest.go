package ownership

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// rest looks at a group to which nothing was done for a while.
func (j *judge) rest(e *Event) {
	live := j.live()
	if len(live) == 0 {
		return
	}
	restless := j.restless(live, e)
	orphans, more := j.orphans(live)
	switch {
	case restless == "" && len(orphans) == 0:
		j.verdict.Rests++
	case !e.Patient:
		j.verdict.Unrested++
	case restless != "":
		j.violate(Rest, e.At, j.newest, nil, names(live), "Nothing was done to the group from %s to %s, and it is not at rest: %s.", seconds(e.Began), seconds(e.At), restless)
	default:
		j.violate(Orphan, e.At, j.newest, orphans, names(live),
			"Nothing was done to the group from %s to %s. All its members have their assignment of generation %d, and nobody owns %s.",
			seconds(e.Began), seconds(e.At), j.newest, listed(orphans, more))
	}
}

// live are the consumers that have begun and not ended, in order.
func (j *judge) live() (live []*consumer) {
	for _, name := range slices.Sorted(maps.Keys(j.clients)) {
		if c := j.clients[name]; !c.over && !c.leaving {
			live = append(live, c)
		}
	}
	return live
}

func names(all []*consumer) (out []string) {
	for _, c := range all {
		out = append(out, c.name)
	}
	return out
}

// restless says which members are not at rest, and why; it is empty where all are.
func (j *judge) restless(live []*consumer, e *Event) string {
	var why []string
	for _, c := range live {
		switch {
		case c.joined == nil:
			why = append(why, c.name+" has never joined")
		case c.generation != j.newest || c.joined.Generation != j.newest:
			why = append(why, fmt.Sprintf("%s joined generation %d at %s and has an assignment of generation %d, while the newest is %d",
				c.name, c.joined.Generation, seconds(c.joined.At), c.generation, j.newest))
		case c.moved > e.At-int64(j.log.Header.Calm):
			why = append(why, fmt.Sprintf("%s still joined, or was given or gave up something, at %s", c.name, seconds(c.moved)))
		}
	}
	return strings.Join(why, "; ")
}

// mostOrphans of a topic are looked up by name; the others are counted.
const mostOrphans = 100

// orphans are the first partitions of subscribed topics that no live consumer owns, and how many more there are. It does not look at each partition
// that there is said to be: a line of a few bytes can say that there are two thousand million.
func (j *judge) orphans(live []*consumer) (orphans []Partition, more int) {
	owned := map[Partition]bool{}
	var topics []string
	for _, c := range live {
		for p := range c.holds {
			owned[p] = true
		}
		if c.joined == nil {
			continue
		}
		for _, t := range c.joined.Topics {
			if !slices.Contains(topics, t) {
				topics = append(topics, t)
			}
		}
	}
	slices.Sort(topics)
	for _, t := range topics {
		missing := int(j.topics[t])
		for p := range owned {
			if topic, n, ok := p.split(); ok && topic == t && n < j.topics[t] {
				missing--
			}
		}
		found := 0
		for n := int32(0); found < min(missing, mostOrphans); n++ {
			if p := PartitionOf(t, n); !owned[p] {
				orphans = append(orphans, p)
				found++
			}
		}
		more += missing - found
	}
	return orphans, more
}
