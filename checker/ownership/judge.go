package ownership

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Verdict is what a log amounts to.
type Verdict struct {
	Violations []Violation // by the instant at which each was complete, at most one for a rule and generation

	Generations int // that a member had an assignment in
	Claims      int
	Zombies     int // claims that were still held when another member had the partition in a later generation
	Refused     int // zombies that are known to have been told so: their claims were lost
	Rests       int // times at which the group was at rest, and all was owned
	Unrested    int // times at which it was looked at and had not come to rest, without having had all the time it may need
}

// Violation is one rule that was broken.
type Violation struct {
	Rule       string
	At         int64
	Generation int32
	Text       string // what happened, in a sentence or two
	Partitions []Partition
	Clients    []string // whose doings show it
}

// claim is a partition that a consumer owns in a generation.
type claim struct {
	generation int32
	member     string
	client     string
	partition  Partition
	from       int64
	until      int64 // openEnd while it is held
	end        string
}

const openEnd = int64(1<<63 - 1)

// consumer is what is known of one.
type consumer struct {
	name       string
	member     string
	generation int32 // of its latest assignment; 0 before
	joined     *Event
	synced     *Event
	holds      map[Partition]*claim
	moved      int64 // when it last joined, was assigned something or gave something up
	leaving    bool
	over       bool
}

// generation is what is known of one.
type generation struct {
	number   int32
	joined   map[string]*Event // by member
	synced   map[string]*Event
	plans    []*Event
	owners   map[Partition]*claim
	dropped  []Partition // that members had to give up in it
	evidence int64       // when a member first had its assignment
	witness  *Event
}

// judge replays a log.
type judge struct {
	ctx     context.Context //nolint:containedctx // what many loops ask whether it is over
	log     *Log
	verdict Verdict

	clients  map[string]*consumer
	names    map[string]string // of the client of a member
	statics  map[string]string // instance ids of static members
	gens     map[int32]*generation
	claims   []*claim
	newest   int32
	restarts []*Event
	topics   map[string]int32
	left     map[string]*Event // by member
	dropped  map[Partition]dropping
	blamed   map[string]bool
	plans    bool // the log tells what leaders send
	keep     bool // all claims, for a picture
}

// dropping is a partition that a member had to give up in a cooperative rebalance.
type dropping struct {
	from       *claim
	generation int32 // in which it was not assigned any more
}

// Judge judges a log. The events must be in the order of time.
func Judge(l *Log) Verdict {
	v, _ := JudgeWithin(context.Background(), l)
	return v
}

// JudgeWithin judges a log as long as the context lasts; its error is the context's. What is found by then is right, and may not be all.
func JudgeWithin(ctx context.Context, l *Log) (Verdict, error) {
	j := newJudge(l)
	j.ctx = ctx
	for i := range l.Events {
		if ctx.Err() != nil {
			return j.verdict, context.Cause(ctx)
		}
		j.take(&l.Events[i])
	}
	j.closeGenerations()
	slices.SortStableFunc(j.verdict.Violations, func(a, b Violation) int { return int(min(max(a.At-b.At, -1), 1)) })
	return j.verdict, context.Cause(ctx)
}

func newJudge(l *Log) *judge {
	j := &judge{
		ctx: context.Background(), log: l, clients: map[string]*consumer{}, names: map[string]string{}, statics: map[string]string{}, topics: map[string]int32{}, left: map[string]*Event{}, blamed: map[string]bool{},
		plans: slices.ContainsFunc(l.Events, func(e Event) bool { return e.Kind == Planned }),
	}
	j.anew()
	return j
}

// anew forgets the generations: their numbers begin again.
func (j *judge) anew() {
	j.gens, j.newest, j.dropped = map[int32]*generation{}, 0, map[Partition]dropping{}
}

func (j *judge) client(name string) *consumer {
	c := j.clients[name]
	if c == nil {
		c = &consumer{name: name, holds: map[Partition]*claim{}}
		j.clients[name] = c
	}
	return c
}

func (j *judge) generation(n int32) *generation {
	g := j.gens[n]
	if g == nil {
		g = &generation{number: n, joined: map[string]*Event{}, synced: map[string]*Event{}, owners: map[Partition]*claim{}}
		j.gens[n] = g
	}
	return g
}

func (j *judge) take(e *Event) {
	switch e.Kind {
	case Started:
		j.client(e.Client).moved = e.At
	case Leaving:
		j.client(e.Client).leaving = true
	case Closed, Crashed:
		c := j.client(e.Client)
		c.over = true
		j.drop(c, slices.Collect(maps.Keys(c.holds)), e.At, string(e.Kind))
	case Topic:
		j.topics[e.Topic] = e.Count
	case Restart:
		j.restarts = append(j.restarts, e)
	case Joined:
		j.join(e)
	case Planned:
		g := j.generation(e.Generation)
		g.plans = append(g.plans, e)
	case Synced:
		j.sync(e)
	case Commit:
		j.commit(e)
	case Left:
		if j.left[e.Member] == nil {
			j.left[e.Member] = e
		}
	case Assigned:
		j.assign(e)
	case Revoked, Lost:
		j.revoke(e)
	case Quiet:
		j.rest(e)
	case Beat, Stalled, Resumed, Note: // for people
	}
}

// assign takes partitions over, and what is kept into the new generation.
func (j *judge) assign(e *Event) {
	c := j.client(e.Client)
	if c.over {
		return
	}
	c.moved, c.generation, c.member = e.At, e.Generation, e.Member
	j.names[e.Member] = e.Client
	g := j.generation(e.Generation)
	j.settledIn(g, e)
	all := slices.Collect(maps.Keys(c.holds))
	for _, p := range e.Partitions {
		if c.holds[p] == nil {
			all = append(all, p)
		}
	}
	slices.Sort(all)
	for _, p := range all {
		if j.ctx.Err() != nil {
			return
		}
		if old := c.holds[p]; old != nil && old.generation == e.Generation && old.member == e.Member {
			continue
		} else if old != nil {
			old.until, old.end = e.At, "kept"
		}
		mine := &claim{generation: e.Generation, member: e.Member, client: e.Client, partition: p, from: e.At, until: openEnd}
		c.holds[p] = mine
		j.claims = append(j.claims, mine)
		j.verdict.Claims++
		j.own(g, mine)
	}
}

// own notes a claim, and looks who else has one.
func (j *judge) own(g *generation, mine *claim) {
	if other := g.owners[mine.partition]; other == nil {
		g.owners[mine.partition] = mine
	} else if !j.same(other.member, mine.member) {
		j.violate(Once, mine.from, g.number, []Partition{mine.partition}, []string{other.client, mine.client},
			"In generation %d %s was given to %s at %s and to %s at %s.", g.number, mine.partition, other.client, seconds(other.from), mine.client, seconds(mine.from))
	}
	for _, c := range j.clients {
		if old := c.holds[mine.partition]; old != nil && c.name != mine.client && old.generation < mine.generation {
			j.verdict.Zombies++
			old.end = "zombie"
		}
	}
	j.returned(g, mine)
}

// drop ends claims.
func (j *judge) drop(c *consumer, partitions []Partition, at int64, how string) {
	for _, p := range partitions {
		old := c.holds[p]
		if old == nil {
			continue
		}
		if old.end == "zombie" && how == string(Lost) {
			j.verdict.Refused++
		}
		old.until, old.end = at, how
		delete(c.holds, p)
	}
}

func (j *judge) revoke(e *Event) {
	c := j.client(e.Client)
	if c.over {
		return
	}
	c.moved = e.At
	j.taken(c, e)
	j.drop(c, e.Partitions, e.At, string(e.Kind))
	if e.Kind == Lost {
		j.drop(c, slices.Collect(maps.Keys(c.holds)), e.At, string(Lost))
	}
}

// restarted says whether the target was killed and started again meanwhile.
func (j *judge) restarted(from, to int64) bool {
	return slices.ContainsFunc(j.restarts, func(r *Event) bool { return r.Began <= to && r.At >= from })
}

// violate notes a violation. One for a rule and generation is enough: others follow from it.
func (j *judge) violate(rule string, at int64, generation int32, partitions []Partition, clients []string, format string, args ...any) {
	key := fmt.Sprintf("%s %d", rule, generation)
	if j.blamed[key] {
		return
	}
	j.blamed[key] = true
	var named []string
	for _, c := range clients {
		if c != "" && !slices.Contains(named, c) {
			named = append(named, c)
		}
	}
	j.verdict.Violations = append(j.verdict.Violations, Violation{rule, at, generation, fmt.Sprintf(format, args...), partitions, named})
}

// seconds is an instant as people read it.
func seconds(at int64) string { return fmt.Sprintf("%.3fs", time.Duration(at).Seconds()) }

// list are partitions as people read them.
func list(all []Partition) string { return listed(all, 0) }

// listed are partitions as people read them, of which there are more than are known by name.
func listed(all []Partition, more int) string {
	if len(all) == 0 {
		return "nothing"
	}
	const most = 6
	text := ""
	for i, p := range all[:min(most, len(all))] {
		if i > 0 {
			text += " "
		}
		text += string(p)
	}
	if more += max(0, len(all)-most); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
