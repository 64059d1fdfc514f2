package gen

import (
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Beat is a Heartbeat of a client, drawn by nobody: what consumers send while time passes.
func (g *Generator) Beat(c *Client) Event {
	e := g.request(c, c.Heartbeat())
	strip(e.Request, e.Version)
	e.ClientID = c.Name
	g.send(&e)
	return e
}

// join is a JoinGroup with the client's own list; now and then with other timeouts.
func (g *Generator) join(c *Client) Event {
	return g.request(c, g.joinRequest(c))
}

func (g *Generator) joinRequest(c *Client) *kmsg.JoinGroupRequest {
	r := c.JoinGroup()
	r.SessionTimeoutMillis = int32(g.setup.Sessions[g.src.Intn(len(g.setup.Sessions), "session")] / time.Millisecond)
	r.RebalanceTimeoutMillis = int32(g.setup.Rebalances[g.src.Intn(len(g.setup.Rebalances), "rebalance")] / time.Millisecond)
	return r
}

// syncs is a SyncGroup; the leader gives each member bytes that no other assignment has, and now and then leaves one out or names
// somebody who is no member.
func (g *Generator) syncs(c *Client) Event {
	return g.request(c, g.syncRequest(c))
}

func (g *Generator) syncRequest(c *Client) *kmsg.SyncGroupRequest {
	if !c.Leads() {
		r := c.SyncGroup(nil)
		if g.src.Intn(12, "follower assigns") == 11 {
			g.payload++
			Assign(r, c.ID(), fmt.Sprintf("f%d", g.payload))
		}
		return r
	}
	g.payload++
	r := c.SyncGroup(func(member string) string { return fmt.Sprintf("%s.%d", g.Who(member), g.payload) })
	switch g.src.Intn(10, "assignment") {
	case 7:
		r.GroupAssignment = nil
	case 8:
		if n := len(r.GroupAssignment); n > 0 {
			r.GroupAssignment = r.GroupAssignment[:n-1]
		}
	case 9:
		Assign(r, Stranger, fmt.Sprintf("x.%d", g.payload))
	}
	return r
}

// commits is an OffsetCommit about the group of c, by the given client or nobody. Offsets are unique.
func (g *Generator) commits(c, by *Client) Event {
	r := g.commitRequest(c, by)
	if by == nil && g.src.Intn(3, "group of its own") == 2 {
		r.Group = unused // which may not exist yet, as clients' groups do most of the time
		if g.src.Intn(4, "too long a note") == 3 {
			r.Topics = nil
			Commit(r, g.setup.Topic, 0, int64(g.payload), g.longNote())
		}
	}
	e := g.request(by, r)
	if v := g.asked[kmsg.OffsetCommit]; e.Request == r && r.RetentionTimeMillis >= 0 && v.Min <= 4 && g.src.Intn(2, "version with retention") == 1 {
		e.Version = max(v.Min, 2) // to 4 carry it
	}
	return e
}

func (g *Generator) commitRequest(c, by *Client) *kmsg.OffsetCommitRequest {
	r := kmsg.NewPtrOffsetCommitRequest()
	r.Group, r.Generation = c.Group, -1
	if by != nil {
		r = by.OffsetCommit()
	}
	g.payload++
	p := int32(g.src.Intn(2, "partition"))
	note := ""
	if g.src.Intn(3, "metadata") == 2 {
		note = fmt.Sprintf("n%d", g.payload)
	}
	Commit(r, g.setup.Topic, p, int64(g.payload), note)
	if g.setup.Other != "" && g.src.Intn(4, "other topic") == 3 {
		g.payload++
		Commit(r, g.setup.Other, p, int64(g.payload), "")
	}
	if g.src.Intn(16, "twice") == 15 {
		Commit(r, g.setup.Topic, p, int64(g.payload)+2000, "")
	}
	if g.setup.Retention && (by == nil || g.src.Intn(3, "retention") == 2) { // where there are members, offsets stay anyway
		r.RetentionTimeMillis = []int64{5_000, 0, 2_200_000_000}[g.src.Intn(3, "how long")] // the last is more than 32 bits hold
	}
	switch g.src.Intn(10, "more offsets") {
	case 6:
		Commit(r, g.setup.Topic, 1-p, int64(g.payload)+1000, "")
	case 7:
		Commit(r, g.setup.Topic, 1-p, int64(g.payload)+1000, g.longNote())
	case 8:
		Commit(r, "nosuch", 0, int64(g.payload), "")
	case 9:
		r.Topics = nil
		switch g.src.Intn(3, "nothing that can be stored") {
		case 0:
			Commit(r, "nosuch", p, int64(g.payload), "")
		case 1:
			Commit(r, g.setup.Topic, p, int64(g.payload), g.longNote())
		}
	}
	return r
}

func (g *Generator) longNote() string {
	if g.long == "" {
		g.long = strings.Repeat("x", g.setup.MaxMetadata+1)
	}
	return g.long
}

// fetches is an OffsetFetch of both partitions, of a topic that does not exist, or of all there are.
func (g *Generator) fetches(c *Client) Event {
	r := kmsg.NewPtrOffsetFetchRequest()
	one := kmsg.NewOffsetFetchRequestGroup()
	r.Group = g.anyGroup(c)
	one.Group = r.Group
	if g.setup.Transactions {
		r.RequireStable = g.src.Intn(2, "stable") == 1
	}
	if what := g.src.Intn(6, "all"); what < 4 {
		topic, ps := g.setup.Topic, []int32{0, 1}
		if what == 3 {
			topic = "nosuch"
		}
		r.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: topic, Partitions: ps}}
		one.Topics = []kmsg.OffsetFetchRequestGroupTopic{{Topic: topic, Partitions: ps}}
	}
	r.Groups = append(r.Groups, one)
	e := g.request(c, r)
	if e.Request == r && e.Version < 2 && r.Topics == nil {
		e.Version = 2 // version 1 cannot ask for all
	}
	if e.Request == r && r.Topics != nil && g.serving != NoAct && g.src.Intn(3, "oldest version") == 2 {
		e.Version = g.asked[kmsg.OffsetFetch].Min // whose errors have a place of their own
	}
	return e
}

// looks is a request that changes nothing.
func (g *Generator) looks(c *Client) Event {
	switch g.src.Intn(7, "look at") {
	case 0, 1:
		r := kmsg.NewPtrDescribeGroupsRequest()
		r.Groups = []string{g.anyGroup(c)}
		return g.request(nil, r)
	case 2:
		r := kmsg.NewPtrFindCoordinatorRequest()
		r.CoordinatorKey, r.CoordinatorKeys = c.Group, []string{c.Group}
		return g.request(nil, r)
	case 3, 4:
		r := kmsg.NewPtrListGroupsRequest()
		switch g.src.Intn(4, "filter") {
		case 1:
			r.StatesFilter = []string{"stable", "Empty"}
		case 2:
			r.StatesFilter = []string{"preparingRebalance", "nosuch"}
		case 3:
			r.TypesFilter = []string{[]string{"Classic", "consumer"}[g.src.Intn(2, "type filter")]}
		}
		return g.request(nil, r)
	default:
		return g.fetches(c)
	}
}

// repeats sends what the client waits for a second time; where it waits for nothing, what it did last.
func (g *Generator) repeats(c *Client) Event {
	for i := range g.clients {
		if o := g.clients[(indexOf(g.clients, c)+i)%len(g.clients)]; o.Joins > 0 || o.Syncs > 0 {
			c = o
			break
		}
	}
	if c.Joins == 0 && c.Generation >= 0 {
		return g.syncs(c)
	}
	return g.join(c)
}

// anyGroup is mostly the client's, seldom one that nobody uses.
func (g *Generator) anyGroup(c *Client) string {
	if g.src.Intn(8, "unused group") == 7 {
		return unused
	}
	return c.Group
}

func (g *Generator) leavesBatch(c *Client) Event {
	var ids []string
	if g.src.Intn(2, "everyone") == 1 {
		for _, o := range g.clients {
			if o.Group == c.Group && o.ID() != "" {
				ids = append(ids, o.ID())
			}
		}
		return g.request(nil, g.leaveByInstance(c, c.LeaveGroup(ids...)))
	}
	for range 1 + g.src.Intn(4, "entries") {
		ids = append(ids, g.anyID(c))
	}
	return g.request(nil, g.leaveByInstance(c, c.LeaveGroup(ids...)))
}

// anyID is an id that belongs, or belonged, to somebody, or to nobody.
func (g *Generator) anyID(c *Client) string {
	var mine []*Client
	for _, o := range g.clients {
		if o.Group == c.Group {
			mine = append(mine, o)
		}
	}
	switch n := g.src.Intn(len(mine)+3, "whose id"); {
	case n < len(mine):
		return mine[n].ID()
	case n == len(mine):
		return Stranger
	case n == len(mine)+1:
		return ""
	default:
		o := g.clients[g.src.Intn(len(g.clients), "owner")]
		if len(o.Ids) == 0 {
			return ""
		}
		return o.Ids[g.src.Intn(len(o.Ids), "older id")]
	}
}

// stales is a request that is wrong in one way, or in two.
func (g *Generator) stales(c *Client) Event {
	switch g.src.Intn(7, "wrong") {
	case 0:
		r := c.Heartbeat()
		g.spoil(c, &r.MemberID, &r.Generation)
		g.spoilInstance(c, &r.InstanceID)
		return g.request(c, r)
	case 1:
		r := g.syncRequest(c)
		if c.Joins > 0 && g.src.Intn(2, "too early") == 1 { // it has not heard of the generation that it waits for
			r.Generation = max(r.Generation, 0)
			return g.request(c, r)
		}
		r.Group = g.anyGroup(c)
		if g.src.Intn(3, "protocol too") == 2 {
			g.spoilProtocol(r)
		} else {
			g.spoil(c, &r.MemberID, &r.Generation)
		}
		g.spoilInstance(c, &r.InstanceID)
		return g.request(c, r)
	case 2:
		r := g.commitRequest(c, c)
		r.Group = g.anyGroup(c)
		g.spoil(c, &r.MemberID, &r.Generation)
		g.spoilInstance(c, &r.InstanceID)
		return g.request(c, r)
	case 3:
		r := c.LeaveGroup(g.anyID(c))
		g.spoilInstance(c, &r.Members[0].InstanceID)
		return g.request(c, r)
	case 4:
		return g.request(c, g.nameless(c))
	default:
		r := g.joinRequest(c)
		g.spoilJoin(c, r)
		return g.request(c, r)
	}
}

// nameless is a request for the group whose id is empty.
func (g *Generator) nameless(c *Client) kmsg.Request {
	switch g.src.Intn(5, "nameless") {
	case 0:
		r := c.Heartbeat()
		r.Group = ""
		return r
	case 1:
		r := c.JoinGroup()
		r.Group = ""
		return r
	case 2:
		r := c.SyncGroup(nil)
		r.Group = ""
		return r
	case 3:
		r := c.LeaveGroup(c.ID())
		r.Group = ""
		return r
	default:
		r := g.commitRequest(c, c)
		r.Group = ""
		return r
	}
}

func (g *Generator) spoil(c *Client, id *string, gen *int32) {
	how := g.src.Intn(3, "spoil")
	if how != 1 {
		*id = g.anyID(c)
	}
	if how != 0 {
		switch g.src.Intn(4, "generation") {
		case 0:
			*gen = max(0, *gen-1)
		case 1:
			*gen++
		case 2:
			*gen = -1
		case 3:
			*gen = 0
		}
	}
}

func (g *Generator) spoilProtocol(r *kmsg.SyncGroupRequest) {
	other := "other"
	switch g.src.Intn(4, "which") {
	case 0:
		r.Protocol = &other
	case 1:
		r.ProtocolType = &other
	case 2:
		r.Protocol = nil
	case 3:
		r.ProtocolType = nil
	}
}

func (g *Generator) spoilJoin(c *Client, r *kmsg.JoinGroupRequest) {
	g.spoilInstance(c, &r.InstanceID)
	switch g.src.Intn(9, "spoil join") {
	case 0:
		r.MemberID = g.anyID(c)
	case 1:
		r.ProtocolType = "connect"
	case 2:
		r.ProtocolType = ""
	case 3:
		r.Protocols = nil
	case 4:
		for i := range r.Protocols {
			r.Protocols[i].Name = "lonely"
		}
		r.Protocols = r.Protocols[:1]
	case 5:
		r.SessionTimeoutMillis = int32(g.setup.MinSession.Milliseconds()) - 1
	case 6:
		r.SessionTimeoutMillis = int32(g.setup.MaxSession.Milliseconds()) + 1
	default:
		r.Group, r.MemberID, r.ProtocolType = unused, "", "" // refused, and creates the group all the same
		return
	}
	if g.src.Intn(3, "and the id") == 2 {
		r.MemberID = g.anyID(c)
	}
}
