// Package traffic makes the load under which a coordinator is judged: clients that mostly behave like consumers, and now and then do
// what makes coordinators stumble. What they do is drawn from one seed; what they know comes from the answers.
package traffic

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/fuzz/gen"
)

// Setup is what all clients of a run share.
type Setup struct {
	Seed     uint64
	Groups   []string
	Clients  int
	Name     string // begins the clients' names, which are their client ids
	Topic    string // partitions 0 and 1 are committed
	Versions map[int16]target.VersionRange
	// MaxMetadata is offset.metadata.max.bytes of the target.
	MaxMetadata int

	// MinSession is the shortest session timeout that the target takes. Sessions are drawn from it to about five times as much,
	// never below 100 ms, so that silence ends them during the run.
	MinSession   time.Duration
	Long         bool // some sessions and rebalances are so long that twice as long is not excused by a machine that is slow
	Steady       bool // little happens but that members fall silent, for up to twice their sessions, which are long: whether timers are late is seen then
	Static       bool // some members have a group.instance.id
	OffsetDelete bool // offsets are deleted now and then

	MaxSession time.Duration // the longest session timeout that the target takes; 0 is any

	// Period is how long a group is busy before its clients let go of it, on average; then it is quiet until it is empty.
	Period time.Duration
}

// Step is one thing that a client does next.
type Step struct {
	Pause   time.Duration // before it, without a request
	Request kmsg.Request  // nil: only the pause
	Version int16
}

// Parks says whether the answer may be held back by the coordinator.
func (s Step) Parks() bool {
	switch s.Request.(type) {
	case *kmsg.JoinGroupRequest, *kmsg.SyncGroupRequest:
		return true
	}
	return false
}

// Client is one client's will, over what it knows (gen.Client). It is not safe for concurrent use.
type Client struct {
	*gen.Client

	setup      *Setup
	rand       *rand.Rand
	commits    int64 // drawn so far; makes offsets and assignments unique
	quietUntil time.Duration
	judged     int32 // the generation of which it is known whether it is idle
	lazy       bool
}

// New returns the n-th client of a run. Clients are spread over the groups in turn.
func New(setup *Setup, n int) *Client {
	c := &Client{
		Client: gen.NewClient(fmt.Sprintf("%sc%d", setup.Name, n), setup.Groups[n%len(setup.Groups)]),
		setup:  setup,
		rand:   rand.New(rand.NewPCG(setup.Seed, uint64(n)*0x9e3779b97f4a7c15+1)),
	}
	c.timeouts()
	c.List = lists[c.rand.IntN(2)]
	if setup.Static {
		c.Instance = instance(c.rand.IntN(6), n)
	}
	return c
}

// unit is what timeouts are drawn as multiples of.
func (s *Setup) unit() time.Duration { return max(s.MinSession, 100*time.Millisecond) / 2 }

// timeouts draws those of its next JoinGroup.
func (c *Client) timeouts() {
	unit := c.setup.unit()
	c.Session, c.Rebalance = unit*time.Duration(2+c.rand.IntN(4)), unit*time.Duration(2+c.rand.IntN(6))
	if c.setup.Steady {
		c.Session, c.Rebalance = unit*time.Duration(10+c.rand.IntN(11)), unit*time.Duration(10+c.rand.IntN(11))
		return
	}
	if c.setup.Long && c.rand.IntN(6) == 0 {
		c.Session, c.Rebalance = 20*unit, 20*unit
	}
}

// instance is a group.instance.id of a client's own, one that others have too, or none.
func instance(drawn, n int) *string {
	var id string
	switch drawn {
	case 0, 1:
		id = fmt.Sprintf("i%d", n)
	case 2:
		id = "shared"
	default:
		return nil
	}
	return &id
}

// lists are the protocol lists that clients join with. All but the last share a protocol, so that refusals are the exception.
var lists = [][]gen.Protocol{
	{{Name: "range", Metadata: "x"}},
	{{Name: "range", Metadata: "x"}, {Name: "sticky", Metadata: "s"}},
	{{Name: "sticky", Metadata: "s"}, {Name: "range", Metadata: "y"}},
	{{Name: "range", Metadata: "x"}, {Name: "lonely", Metadata: "z"}},
	{{Name: "range", Metadata: "y"}},
	{{Name: "lonely", Metadata: "z"}},
}

// joined says whether the client believes that it is a member of the generation that it knows.
func (c *Client) joined() bool { return c.JoinID != "" && !c.Rejoin && c.Generation >= 0 }

// former is an id that it had before the present one.
func (c *Client) former() string {
	if len(c.Ids) < 2 {
		return ""
	}
	return c.Ids[len(c.Ids)-2]
}

// Next draws what the client does at the given time since the start of the run, if it has no request that may be parked.
func (c *Client) Next(now time.Duration) Step {
	if step, quiet := c.season(now); quiet {
		return step
	}
	if c.setup.Steady {
		return c.steady()
	}
	pause := time.Duration(c.rand.IntN(12)) * time.Millisecond
	if c.rand.IntN(40) == 0 {
		pause = c.Session + time.Duration(c.rand.IntN(600))*time.Millisecond // silence, which may outlast the session
	}
	step := c.draw()
	if _, ok := step.Request.(*kmsg.SyncGroupRequest); ok && c.Leads() && c.rand.IntN(3) == 0 {
		pause += time.Duration(c.rand.IntN(80)) * time.Millisecond // an assignor that thinks, while the others wait
	}
	step.Pause = pause
	return step
}

// season lets a whole group go quiet after each period, so that it is emptied by its clients or by their silence.
func (c *Client) season(now time.Duration) (Step, bool) {
	if c.setup.Period <= 0 {
		return Step{}, false
	}
	quiet := c.setup.Period / 2
	cycle := c.setup.Period + quiet
	shift := cycle * time.Duration(slices.Index(c.setup.Groups, c.Group)) / time.Duration(len(c.setup.Groups))
	at := (now + shift) % cycle
	if at < c.setup.Period {
		return Step{}, false
	}
	rest := cycle - at
	switch {
	case c.quietUntil < now: // once a season
		c.quietUntil = now + rest
		if c.rand.IntN(2) == 0 && c.JoinID != "" {
			return c.leave(c.ID()), true
		}
		return Step{Pause: min(rest, c.Session)}, true
	case c.rand.IntN(6) == 0:
		return c.delete(), true
	case c.rand.IntN(3) == 0:
		return c.look(), true
	}
	return Step{Pause: rest/4 + time.Millisecond}, true
}

// steady draws what a consumer does in a group that nobody disturbs but those who fall silent.
func (c *Client) steady() Step {
	if !c.joined() || !c.Synced {
		return c.consume()
	}
	pause := time.Duration(20+c.rand.IntN(60)) * time.Millisecond
	if c.rand.IntN(60) == 0 {
		pause = c.Session + time.Duration(c.rand.Int64N(int64(c.Session)))
	}
	step := c.consume()
	if c.rand.IntN(10) == 0 {
		step = c.look()
	}
	step.Pause = pause
	return step
}

// draw is a request: two thirds of the time the one that a consumer would send next.
func (c *Client) draw() Step {
	switch n := c.rand.IntN(100); {
	case n < 66:
		return c.consume()
	case n < 72:
		return c.look()
	case n < 77: // a request of an older self
		return c.stale()
	case n < 81: // ask for a rebalance, or not, depending on the list and on who leads
		if c.rand.IntN(2) == 0 {
			c.List = lists[c.rand.IntN(len(lists))]
		}
		return c.join(c.JoinID)
	case n < 85:
		return c.commit(c.ID(), c.Generation)
	case n < 88: // like a consumer that was started again
		c.restart()
		return c.join("")
	case n < 91:
		member := c.ID()
		if c.rand.IntN(4) == 0 {
			member = c.former()
		}
		return c.leave(member)
	case n < 93:
		return c.sync(c.ID(), c.Generation, c.rand.IntN(2) == 0)
	case n < 95: // a tool that resets offsets
		return c.commit("", -1)
	case n < 96:
		return c.wrong()
	case n < 97:
		if c.setup.OffsetDelete && c.rand.IntN(2) == 0 {
			return c.deleteOffsets()
		}
		return c.delete()
	default:
		return c.heartbeat(c.ID(), c.Generation)
	}
}

// consume is what a consumer does.
func (c *Client) consume() Step {
	switch {
	case !c.joined():
		return c.join(c.JoinID)
	case !c.Synced && c.idle():
		return c.heartbeat(c.ID(), c.Generation)
	case !c.Synced:
		return c.sync(c.ID(), c.Generation, c.Leads())
	}
	switch c.rand.IntN(4) {
	case 0:
		return c.commit(c.ID(), c.Generation)
	case 1:
		return c.fetch()
	default:
		return c.heartbeat(c.ID(), c.Generation)
	}
}

// idle says whether the client is one that stays a member of this generation by heartbeats and never syncs: now and then one is.
func (c *Client) idle() bool {
	if c.judged != c.Generation {
		c.judged, c.lazy = c.Generation, c.rand.IntN(12) == 0
	}
	return c.lazy
}

// Meanwhile draws what the client does on another connection while a request of it is parked.
func (c *Client) Meanwhile() Step {
	pause := time.Duration(5+c.rand.IntN(40)) * time.Millisecond
	var step Step
	switch n := c.rand.IntN(20); {
	case n < 8:
		step = Step{}
	case n < 13:
		step = c.heartbeat(c.ID(), c.Generation)
	case n < 15:
		step = c.look()
	case n < 17: // the same request again, as after a lost connection
		if c.joined() && !c.Synced {
			step = c.sync(c.ID(), c.Generation, c.Leads())
		} else {
			step = c.join(c.JoinID)
		}
	case n < 18:
		step = c.leave(c.ID())
	case n < 19:
		step = c.commit(c.ID(), c.Generation)
	default:
		step = c.stale()
	}
	step.Pause = pause
	return step
}

func (c *Client) stale() Step {
	member, generation := c.ID(), c.Generation
	switch c.rand.IntN(4) {
	case 0:
		generation--
	case 1:
		generation++
	case 2:
		member = c.former()
	default:
		member = gen.Stranger
	}
	switch c.rand.IntN(4) {
	case 0:
		return c.commit(member, generation)
	case 1:
		return c.sync(member, generation, c.Leads())
	case 2:
		return c.join(member)
	default:
		return c.heartbeat(member, generation)
	}
}

// restart forgets the membership, like a consumer that was killed and started again, perhaps with other timeouts.
func (c *Client) restart() {
	c.JoinID, c.Rejoin, c.Synced = "", true, false
	if c.rand.IntN(3) == 0 {
		c.timeouts()
	}
}

// Answer takes up what an answer says. An answer may come at any time, whatever else has been sent since.
func (c *Client) Answer(req kmsg.Request, resp kmsg.Response) {
	c.Learn(req, resp)
	const inconsistentProtocol = 23
	if join, ok := resp.(*kmsg.JoinGroupResponse); ok && join.ErrorCode == inconsistentProtocol {
		c.List = lists[c.rand.IntN(2)]
	}
}
