package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// lists are the protocol lists that a client may have. Metadata are its own, so that a mix-up shows, or a consumer's subscription.
func (g *Generator) lists(c *Client, subscribes bool) [][]Protocol {
	m := strings.ToLower(c.Name)
	if !subscribes {
		return [][]Protocol{
			{{"range", m}},
			{{"range", m}, {"sticky", m}},
			{{"sticky", m}, {"range", m}},
			{{"range", m + "2"}},
			{{"sticky", m}},
			{{"rr", m}, {"range", m}, {"sticky", m + "3"}},
		}
	}
	none, one, other := g.topics(), g.topics(g.setup.Topic), g.topics("nosuch")
	if g.setup.Other != "" {
		other = g.topics(g.setup.Other)
	}
	return [][]Protocol{
		{{"range", one}},
		{{"range", none}},
		{{"range", one}, {"sticky", none}},
		{{"sticky", none}, {"range", one}},
		{{"range", other}},
		{{"range", m}}, // which cannot be read
	}
}

// preferences gives clients different lists to begin with, in one of two runs: otherwise they would all prefer the same protocol in runs that do
// without changes of lists. All know the protocol that everybody has where they are alike, so that nobody is kept out for the whole run.
func (g *Generator) preferences() {
	if g.src.Intn(2, "preferences") == 0 {
		return
	}
	for _, c := range g.clients {
		list := c.lists[g.src.Intn(len(c.lists), "first list")]
		if slices.ContainsFunc(list, func(p Protocol) bool { return p.Name == c.List[0].Name }) {
			c.List = list
		}
	}
}

// topics is a subscription to topics.
func (g *Generator) topics(names ...string) string {
	m := kmsg.NewConsumerMemberMetadata()
	m.Topics = names
	bytes := string(m.AppendTo(nil))
	g.words[bytes] = "topics(" + strings.Join(names, ",") + ")"
	return bytes
}

// metadata is what scenario text calls the bytes.
func (g *Generator) metadata(bytes []byte) string {
	if w, ok := g.words[string(bytes)]; ok {
		return w
	}
	return string(bytes)
}

// instances makes a client a static member, or not; now and then one that has an instance id with another in common.
func (g *Generator) instances(c *Client) {
	if !g.setup.Static {
		return
	}
	id := strings.ToLower(c.Name)
	if n := g.setup.Instances; n > 0 {
		id = fmt.Sprintf("i%d", len(g.clients)%n)
	}
	switch g.src.Intn(5, "instance") {
	case 0, 1:
		c.Instance = &id
	case 2:
		if first := g.clients[0]; first != c && first.Group == c.Group && first.Instance != nil {
			c.Instance = first.Instance
		}
	}
}

// replaces is the JoinGroup of a client that has forgotten its id: a static member's replaces it.
func (g *Generator) replaces(c *Client) Event {
	for i := range g.clients {
		if o := g.clients[(indexOf(g.clients, c)+i)%len(g.clients)]; o.Instance != nil {
			c = o
			break
		}
	}
	if g.src.Intn(3, "another list") == 2 {
		c.List = c.lists[g.src.Intn(len(c.lists), "list")]
	}
	r := g.joinRequest(c)
	r.MemberID = ""
	return g.request(c, r)
}

// anyInstance is an instance id that somebody has, or nobody.
func (g *Generator) anyInstance(c *Client) *string {
	switch n := g.src.Intn(4, "whose instance"); n {
	case 0:
		return nil
	case 1:
		nobody := "nobody"
		return &nobody
	default:
		return g.clients[g.src.Intn(len(g.clients), "instance of")].Instance
	}
}

// spoilInstance gives a request another instance id, now and then.
func (g *Generator) spoilInstance(c *Client, id **string) {
	if g.setup.Static && g.src.Intn(3, "instance too") == 2 {
		*id = g.anyInstance(c)
	}
}

// leaveByInstance gives entries of a LeaveGroup instance ids.
func (g *Generator) leaveByInstance(c *Client, r *kmsg.LeaveGroupRequest) *kmsg.LeaveGroupRequest {
	for i := range r.Members {
		if one := &r.Members[i]; g.setup.Static && g.src.Intn(2, "by instance") == 1 {
			one.InstanceID = g.anyInstance(c)
			if g.src.Intn(2, "without id") == 1 {
				one.MemberID = ""
			}
		}
	}
	return r
}

// strip takes away what the version does not carry.
func strip(req kmsg.Request, version int16) {
	switch m := req.(type) {
	case *kmsg.JoinGroupRequest:
		if version < 5 {
			m.InstanceID = nil
		}
	case *kmsg.SyncGroupRequest:
		if version < 3 {
			m.InstanceID = nil
		}
	case *kmsg.HeartbeatRequest:
		if version < 3 {
			m.InstanceID = nil
		}
	case *kmsg.LeaveGroupRequest:
		for i := range m.Members {
			if version < 3 {
				m.Members[i].InstanceID = nil
			}
		}
	case *kmsg.OffsetCommitRequest:
		if version < 7 {
			m.InstanceID = nil
		}
		if version < 2 || version > 4 {
			m.RetentionTimeMillis = -1
		}
	case *kmsg.TxnOffsetCommitRequest:
		if version < 3 {
			m.InstanceID, m.MemberID, m.Generation = nil, "", -1
		}
	case *kmsg.OffsetFetchRequest:
		if version < 7 {
			m.RequireStable = false
		}
	}
}

// staticText names the instance id where it is not the one of the client's last JoinGroup, which the runner takes.
func (g *Generator) staticText(l *line, c *Client, id *string) {
	var own *string
	if c != nil {
		own = c.lastInstance
	}
	switch {
	case id == nil && own == nil || id != nil && own != nil && *id == *own:
	case id == nil:
		l.add("static=none")
	default:
		l.add("static=%s", word(*id))
	}
}

// word is what scenario text calls an instance id.
func word(id string) string {
	if id == "" {
		return "empty"
	}
	return id
}
