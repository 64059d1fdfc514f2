package gen

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// What a run needs that ends with healing: from then on its clients do what clients do, and nothing is drawn any more.

// Heal readies the clients for it: they all send a list that has what any other has, and see Ready.
func (g *Generator) Heal() {
	for _, c := range g.clients {
		for _, l := range c.lists {
			if len(l) > len(c.List) {
				c.List = l
			}
		}
	}
	Ready(g.clients)
}

// Ready puts right what would keep clients apart for good: nobody takes another's id for its own, and of several with one instance id all but
// the first get another.
func Ready(clients []*Client) {
	taken := map[string]bool{}
	for _, c := range clients {
		if c.JoinID != c.ID() { // it has joined as somebody else
			c.JoinID, c.Synced, c.Rejoin = "", false, true
		}
		if c.Instance == nil {
			continue
		}
		if taken[c.Group+"/"+*c.Instance] {
			own := strings.ToLower(c.Name) + "-own"
			c.Instance, c.JoinID, c.Synced, c.Rejoin = &own, "", false, true
		}
		taken[c.Group+"/"+*c.Instance] = true
	}
}

// Ask is the event of a request of a client, or of nobody, at its newest version.
func (g *Generator) Ask(c *Client, req kmsg.Request) Event {
	e := Event{Client: c, ClientID: "nobody", Request: req, Version: g.asked[req.Key()].Max}
	strip(req, e.Version)
	if c != nil {
		e.ClientID = c.Name
	}
	g.send(&e)
	return e
}

// Serve is what brings a coordinator that has given its groups up a step nearer to serving them, if it has.
func (g *Generator) Serve() (Event, bool) {
	if g.serving == NoAct {
		return Event{}, false
	}
	return g.servesAgain(), true
}
