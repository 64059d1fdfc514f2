package gen

import (
	"fmt"
	"maps"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Versions is a range of API versions, both ends included.
type Versions struct{ Min, Max int16 }

// Setup says what the generator may ask of the coordinator.
type Setup struct {
	Groups  int // default 1
	Clients int // a group; default 3

	MinSession, MaxSession time.Duration // bounds of session timeouts; default 6 s and 30 min
	MaxMetadata            int           // default 4096
	Topic                  string        // a topic with at least two partitions; default "t"

	// Sessions and Rebalances are the timeouts that members join with; by default some that differ, the latter with 0 among them.
	Sessions, Rebalances []time.Duration

	// Versions are what is asked of an API; those not named have all that the spine knows.
	Versions map[kmsg.Key]Versions

	// FailWrites lets some events come with writes that fail.
	FailWrites bool

	// What the coordinator has of what not every one has. Other is a second topic with at least two partitions.
	Static       bool // group.instance.id
	OffsetDelete bool // and members whose metadata are a consumer's subscription
	Transactions bool // TxnOffsetCommit, and OffsetFetch that requires stable offsets
	Other        string

	// Instances is how many instance ids the static clients of a group share; by default nearly each has its own.
	Instances int

	// Network lets answers get lost on their way, or come late and in another order.
	Network bool

	// Jumps lets the clock jump past deadlines, so that timers fire late and race with requests; this needs a checker.Jumper.
	Jumps bool

	// Torn lets the coordinator crash while it writes; this needs a checker.Tearer.
	Torn bool

	// What can be done to its broker; this needs a checker.Broker.
	Retention    bool // offsets expire: cleanups, and OffsetCommit with a retention time of its own
	TopicsDelete bool
	Restarts     bool // the coordinator gives groups up and loads them

	Edges // all of which are off by default
}

var spine = map[kmsg.Key]Versions{
	kmsg.JoinGroup: {0, 9}, kmsg.SyncGroup: {0, 5}, kmsg.Heartbeat: {0, 4}, kmsg.LeaveGroup: {0, 5}, kmsg.OffsetCommit: {2, 9},
	kmsg.OffsetFetch: {1, 9}, kmsg.DescribeGroups: {0, 6}, kmsg.ListGroups: {0, 5}, kmsg.DeleteGroups: {0, 2}, kmsg.FindCoordinator: {0, 6},
	kmsg.TxnOffsetCommit: {0, 5}, kmsg.OffsetDelete: {0, 0},
}

func (s Setup) withDefaults() Setup {
	if s.Groups == 0 {
		s.Groups = 1
	}
	if s.Clients == 0 {
		s.Clients = 3
	}
	if s.MinSession == 0 {
		s.MinSession = 6 * time.Second
	}
	if s.MaxSession == 0 {
		s.MaxSession = 30 * time.Minute
	}
	if s.MaxMetadata == 0 {
		s.MaxMetadata = 4096
	}
	if s.Topic == "" {
		s.Topic = "t"
	}
	if s.Sessions == nil {
		s.Sessions = []time.Duration{10 * time.Second, 10 * time.Second, 6 * time.Second, 45 * time.Second}
	}
	if s.Rebalances == nil {
		s.Rebalances = []time.Duration{30 * time.Second, 30 * time.Second, 5 * time.Second, time.Minute, 0}
	}
	return s
}

// apis is more than the key of each API that is spoken here.
const apis = 64

// Generator draws the events of one run.
type Generator struct {
	setup        Setup
	src          Source
	clients      []*Client
	groups       []string
	shown        map[string]string // what scenario text calls a group
	off          [kinds]bool       // kinds that this run does without
	words        map[string]string // what scenario text calls some metadata
	payload      int               // makes assignments and offsets unique
	total        int               // of the weights
	fails, tears int               // one in so many writes fails, or is cut off by a crash
	asked        [apis]Versions    // of each API
	long         string            // metadata of an offset that are one byte too long
	mute         bool              // events come without their lines

	producers []*Producer
	epoch     int32 // the leader epoch
	serving   Act   // 0 where the coordinator serves; else Unload or Load, the last thing that was done to it
	loaded    bool  // and has not looked for what has expired since
}

// New returns a generator. It draws at once which kinds of events the run has: a random few are left out, so that runs differ in more
// than order.
func New(setup Setup, src Source) *Generator {
	g := &Generator{setup: setup.withDefaults(), src: src, shown: map[string]string{"": "none", unused: unused}, words: map[string]string{}}
	for _, all := range []map[kmsg.Key]Versions{spine, g.setup.Versions} {
		for k, v := range all {
			g.asked[k] = v
		}
	}
	subscribes := setup.OffsetDelete && src.Intn(3, "subscriptions") > 0
	other := setup.OffsetDelete && src.Intn(8, "protocol type") == 7
	for i := range g.setup.Groups {
		name, shown := fmt.Sprintf("g%d", i+1), fmt.Sprintf("g%d", i+1)
		if i == 0 {
			shown = "group"
		}
		g.groups = append(g.groups, name)
		g.shown[name] = shown
		for range g.setup.Clients {
			c := NewClient(actorName(len(g.clients)), name)
			c.Session, c.Rebalance = g.setup.Sessions[0], g.setup.Rebalances[0]
			if g.setup.Network {
				c.shown = NewClient(c.Name, name)
			}
			c.lists = g.lists(c, subscribes)
			c.List = c.lists[0]
			if other {
				c.Type = "connect"
			}
			g.clients = append(g.clients, c)
			g.instances(c)
		}
	}
	if g.setup.Transactions {
		g.producers = []*Producer{{Name: "P", ID: 4001}, {Name: "Q", ID: 4002}}
	}
	for k := range kinds {
		if g.off[k] = k >= optional && src.Intn(3, "without a kind") == 2; g.has(k) {
			g.total += weights[k]
		}
	}
	// Faults that are seldom in one run are frequent in another: some bugs take several of them close together.
	if g.fails = 30; setup.FailWrites && src.Intn(4, "writes fail often") == 3 {
		g.fails = 5
	}
	if g.tears = 40; setup.Torn && src.Intn(4, "crashes are frequent") == 3 {
		g.tears = 8
	}
	g.preferences()
	return g
}

// unused is the name of a group that no client joins.
const unused = "unused"

// actorName is A..Z, then A1, B1 and so on.
func actorName(n int) string {
	name := string(rune('A' + n%26))
	if n >= 26 {
		name += fmt.Sprint(n / 26)
	}
	return name
}

// Clients are the clients of all groups.
func (g *Generator) Clients() []*Client { return g.clients }

// Groups are the names of the groups. Requests for the group with the empty name come as well.
func (g *Generator) Groups() []string { return g.groups }

// kind is what the generator may do next.
type kind uint8

const (
	progress    kind = iota // what the client would do by itself
	advance                 // let time pass
	ping                    // a heartbeat
	look                    // describe, list, fetch
	repeat                  // a JoinGroup unasked
	again                   // a parked request, on another connection
	change                  // a JoinGroup with another list
	leave                   // of one member
	leaveBatch              // of several
	stale                   // a request that is wrong in one way
	anonymous               // a commit of nobody
	deletion                // of the group
	replacement             // of a static member
	offsetDeletion
	transaction
	broker // what happens to the broker
	kinds
)

// optional is the first of the kinds that a run may do without.
const optional = ping

// weights are out of their sum; a kind that the run does without leaves its share to progress.
var weights = [kinds]int{
	progress: 52, advance: 9, ping: 4, look: 6, repeat: 3, again: 3, change: 4, leave: 4, leaveBatch: 2, stale: 9, anonymous: 2, deletion: 2,
	replacement: 5, offsetDeletion: 4, transaction: 12, broker: 9,
}

func (k kind) String() string {
	return [...]string{
		"progress", "advance", "ping", "look", "repeat", "again", "change", "leave", "leave-batch", "stale", "anonymous", "deletion",
		"replacement", "offset-deletion", "transaction", "broker",
	}[k]
}

// Next draws the next event. until is how long it is until the next timer is due, negative where none is armed.
func (g *Generator) Next(until time.Duration) Event {
	n, k := g.src.Intn(g.total, "kind"), progress
	for !g.has(k) || n >= weights[k] {
		if g.has(k) {
			n -= weights[k]
		}
		k++
	}
	if g.off[k] {
		k = progress
	}
	e := Event{}
	switch {
	case g.serving != NoAct && g.src.Intn(8, "serves again") == 0:
		e = g.servesAgain()
	case g.loaded && g.src.Intn(6, "what has expired while it was loaded") == 5: // before clients do much: what a log says of times shows only then
		g.loaded, e = false, cleanup()
	default:
		e = g.draw(k, until)
	}
	g.edge(&e)
	if e.Request != nil {
		strip(e.Request, e.Version)
		if g.setup.Refused {
			g.refused(&e)
		}
		e.ClientID = "nobody"
		if e.Client != nil {
			e.ClientID = e.Client.Name
		}
		g.send(&e)
	}
	if g.setup.Torn && e.Request != nil && g.src.Intn(g.tears, "torn") == g.tears-1 {
		e.Torn, e.Kept = true, g.src.Intn(2, "kept") == 1
	} else if g.setup.FailWrites && !e.FailWrites && g.src.Intn(g.fails, "write fails") == g.fails-1 {
		g.fail(&e)
	}
	g.tellFaults(&e)
	return e
}

// tellFaults adds to an event's line what goes wrong with its write.
func (g *Generator) tellFaults(e *Event) {
	switch {
	case g.mute:
	case e.Torn:
		e.Line = "# the coordinator crashes while it writes what this asks for, which is " + map[bool]string{false: "not ", true: ""}[e.Kept] + "in the log\n" + e.Line
	case e.FailWrites && e.WriteError != 0:
		e.Line = g.line("# the next write fails, with error %d of the log\n", e.WriteError) + e.Line
	case e.FailWrites:
		e.Line = "# the next write fails\n" + e.Line
	}
}

// has says whether the coordinator has what the kind is about.
func (g *Generator) has(k kind) bool {
	switch k {
	case replacement:
		return g.setup.Static
	case offsetDeletion:
		return g.setup.OffsetDelete
	case transaction:
		return g.setup.Transactions
	case broker:
		return g.setup.Retention || g.setup.TopicsDelete || g.setup.Restarts
	}
	return true
}

// Answered takes in the answer to an event's request.
func (g *Generator) Answered(e Event, resp kmsg.Response) {
	if e.Client != nil {
		e.Client.Learn(e.Request, resp)
	}
}

// Arrived takes in that an event's request has been answered, whether or not the answer reaches the client.
func (g *Generator) Arrived(e Event, resp kmsg.Response) {
	if e.Client != nil && e.Client.shown != nil {
		e.Client.shown.Learn(e.Request, resp)
	}
}

// Forgone takes in that an answer does not reach the client.
func (g *Generator) Forgone(e Event) { e.Client.Lost(e.Request) }

// Dropped takes in that an event's request will not be answered.
func (g *Generator) Dropped(e Event) {
	if e.Client == nil {
		return
	}
	e.Client.Lost(e.Request)
	if e.Client.shown != nil {
		e.Client.shown.Lost(e.Request)
	}
}

// Head is the scenario text that must come before the events' lines.
func Head() string { return "group session=10s rebalance=30s type=consumer" }

func (g *Generator) draw(k kind, until time.Duration) Event {
	if k == advance {
		return g.pass(until)
	}
	c := g.clients[g.src.Intn(len(g.clients), "client")]
	switch k {
	case ping:
		r := c.Heartbeat()
		r.Group = g.anyGroup(c)
		return g.request(c, r)
	case look:
		return g.looks(c)
	case repeat:
		return g.join(c)
	case again:
		return g.repeats(c)
	case change:
		c.List = c.lists[g.src.Intn(len(c.lists), "list")]
		return g.join(c)
	case leave:
		r := c.LeaveGroup(c.ID())
		r.Group = g.anyGroup(c)
		return g.request(c, r)
	case leaveBatch:
		return g.leavesBatch(c)
	case stale:
		return g.stales(c)
	case anonymous:
		return g.commits(c, nil)
	case deletion:
		r := kmsg.NewPtrDeleteGroupsRequest()
		r.Groups = []string{g.anyGroup(c)}
		return g.request(nil, r)
	case replacement:
		return g.replaces(c)
	case offsetDeletion:
		return g.deletesOffsets(c)
	case transaction:
		return g.transacts(c)
	case broker:
		return g.acts()
	}
	return g.progresses(c, until)
}

// pass lets time pass: until the next timer, to just before it, or half the way.
func (g *Generator) pass(until time.Duration) Event {
	e := Event{Fire: until >= 0}
	how := g.src.Intn(4, "how long")
	if g.setup.Jumps && until >= 0 && g.src.Intn(4, "jump") == 3 {
		e.Fire, e.Jump, e.By = false, true, until+[]time.Duration{0, 0, time.Second, time.Minute}[how]
		g.tellTime(&e, until)
		return e
	}
	switch {
	case until < 0 && g.setup.Retention:
		e.By = []time.Duration{time.Second, 12 * time.Second, time.Minute}[g.src.Intn(3, "how far")]
	case until < 0:
		e.By = time.Second
	case how == 2 && until > time.Millisecond:
		e.Fire, e.By = false, until-time.Millisecond
	case how == 3 && until > 2*time.Millisecond:
		e.Fire, e.By = false, (until / 2).Truncate(time.Millisecond)
	}
	g.tellTime(&e, until)
	return e
}

// tellTime gives an event in which time passes its line.
func (g *Generator) tellTime(e *Event, until time.Duration) {
	d := e.By
	if e.Fire {
		d = until
	}
	switch {
	case g.mute:
	case e.Jump:
		e.Line = fmt.Sprintf("# the clock jumps by %v, and no timer has fired yet\nadvance %v", d, d)
	case d == 0:
		e.Line = "# timers that are due now"
	default:
		e.Line = "advance " + d.String()
	}
}

// progresses is what a client does by itself. One that waits for an answer leaves its turn to the next that does not.
func (g *Generator) progresses(c *Client, until time.Duration) Event {
	first := c
	for i := 0; c.Joins > 0 || c.Syncs > 0; i++ {
		if i == len(g.clients) {
			if until >= 0 {
				return g.pass(until)
			}
			return g.request(first, first.Heartbeat())
		}
		c = g.clients[(indexOf(g.clients, c)+1)%len(g.clients)]
	}
	switch {
	case c.JoinID == "" || c.Generation < 0 || c.Rejoin || c.JoinID != c.ID():
		return g.join(c)
	case !c.Synced:
		return g.syncs(c)
	}
	switch g.src.Intn(4, "settled") {
	case 0:
		if len(g.producers) > 0 && g.src.Intn(3, "in a transaction") == 2 {
			return g.transacts(c)
		}
		return g.commits(c, c)
	case 1:
		return g.request(c, c.Heartbeat())
	case 2:
		return g.fetches(c)
	default:
		if c.Leads() {
			return g.join(c) // so clients ask for a new assignment
		}
		return g.request(c, c.Heartbeat())
	}
}

func indexOf(all []*Client, c *Client) int {
	for i := range all {
		if all[i] == c {
			return i
		}
	}
	return -1
}

// request is an event of a client, at a version that is mostly the newest. A client's first request is a JoinGroup.
func (g *Generator) request(c *Client, req kmsg.Request) Event {
	if _, joins := req.(*kmsg.JoinGroupRequest); c != nil && !joins && c.lastGroup == "" {
		req = c.JoinGroup()
	}
	v := g.asked[req.Key()]
	version := v.Max
	if g.src.Intn(5, "old version") == 4 {
		version -= int16(g.src.Intn(int(v.Max-v.Min)+1, "version"))
	}
	if l, ok := req.(*kmsg.LeaveGroupRequest); ok && version < 3 && (c == nil || len(l.Members) != 1) {
		version = max(3, v.Min) // older versions carry one member
	}
	return Event{Client: c, Request: req, Version: version}
}

// Spoken are the versions that the generator knows of each API.
func Spoken() map[kmsg.Key]Versions { return maps.Clone(spine) }
