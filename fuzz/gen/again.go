package gen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Kept is an event apart from the run that it was drawn in: it says whose ids it names, not which, and how far its generation is from the one that
// its client knows. So it can be made again in a run in which other things have happened, and still be the same deed of the same client.
type Kept struct {
	event    Event // of nobody, with symbols for member ids
	client   int   // the place of whose it is; -1 is nobody
	producer Producer
	ahead    int32 // its generation less the client's
	protocol bool  // a SyncGroup has the protocol that the client knows
	leads    bool  // a SyncGroup of the leader with something for every member
	payload  int   // of what a leader assigns
}

// Client is the place of the client whose event this is, -1 for nobody's.
func (k *Kept) Client() int { return k.client }

// Joins says whether the event is a JoinGroup, and whether in a version in which one is enough: from version 4 on a new member needs two.
func (k *Kept) Joins() (joins, once bool) {
	_, joins = k.event.Request.(*kmsg.JoinGroupRequest)
	return joins, joins && k.event.Version < 4
}

// Once is the JoinGroup in a version in which one is enough.
func (k Kept) Once() Kept {
	k.event.Version = 3
	return k
}

// Symbols for member ids begin with a byte that no id has.
const (
	symbol  = "\x00"
	joinID  = symbol + "join" // what the client would join with
	ownID   = symbol + "own"
	someone = symbol + "of " // followed by the place of a client and how many ids it has been given since
)

// Keep keeps an event that has just been drawn, before it is made.
func (g *Generator) Keep(e Event) Kept {
	k := Kept{event: e, client: -1, payload: g.payload}
	c := e.Client
	if k.event.Client = nil; c != nil {
		k.client = indexOf(g.clients, c)
	}
	if e.Producer != nil {
		k.producer, k.event.Producer = *e.Producer, nil
	}
	if e.Request == nil {
		return k
	}
	_, joins := e.Request.(*kmsg.JoinGroupRequest)
	k.event.Request = changed(e.Request, func(id string) (string, bool) { return g.symbolOf(c, id, joins), true }, func(n int32) int32 {
		if c != nil {
			k.ahead = n - c.Generation
		}
		return n
	})
	if m, ok := e.Request.(*kmsg.SyncGroupRequest); ok {
		k.protocol = m.Protocol != nil && *m.Protocol == c.Protocol
		k.leads = c.Leads() && !slices.ContainsFunc(c.Members, func(id string) bool {
			return !slices.ContainsFunc(m.GroupAssignment, func(a kmsg.SyncGroupRequestGroupAssignment) bool { return a.MemberID == id })
		})
	}
	return k
}

func (g *Generator) symbolOf(c *Client, id string, joins bool) string {
	switch {
	case joins && c != nil && id == c.JoinID:
		return joinID
	case id == "" || id == Stranger:
		return id
	case c != nil && id == c.ID():
		return ownID
	}
	for i, o := range g.clients {
		if n := slices.Index(o.Ids, id); n >= 0 {
			return fmt.Sprintf("%s%d %d", someone, i, len(o.Ids)-1-n)
		}
	}
	return id // of whoever has not been told yet
}

// idOf is what a symbol stands for now; false where it stands for nothing yet.
func (g *Generator) idOf(c *Client, id string) (string, bool) {
	switch {
	case !strings.HasPrefix(id, symbol):
		return id, id == "" || id == Stranger
	case id == joinID:
		return c.JoinID, true
	case id == ownID:
		return c.ID(), true
	}
	place, since, _ := strings.Cut(strings.TrimPrefix(id, someone), " ")
	i, _ := strconv.Atoi(place)
	n, _ := strconv.Atoi(since)
	ids := g.clients[i].Ids
	if n >= len(ids) {
		return "", false
	}
	return ids[len(ids)-1-n], true
}

// Again makes a kept event one of this run, as Next does with one that it draws; until is as there. It is false where there is nothing to be made: a
// client's first request is a JoinGroup, an id has not been handed out, a transaction has not begun.
func (g *Generator) Again(k *Kept, until time.Duration) (Event, bool) {
	e := k.event
	ok := true
	switch {
	case e.Act != NoAct:
		ok = g.actAgain(k, &e)
	case e.Request != nil:
		ok = g.requestAgain(k, &e)
	case e.Fire && until < 0:
		ok = false
	case !e.Fire && !e.Jump && until >= 0:
		e.By = min(e.By, until-time.Millisecond)
		ok = e.By > 0
	}
	if e.Act == NoAct && ok { // what happens to the broker reads as it did
		if e.Request == nil {
			g.tellTime(&e, until)
		}
		g.tellFaults(&e)
	}
	return e, ok
}

func (g *Generator) requestAgain(k *Kept, e *Event) bool {
	if k.client >= 0 {
		e.Client = g.clients[k.client]
	}
	c := e.Client
	_, joins := e.Request.(*kmsg.JoinGroupRequest)
	if c != nil && !joins && c.lastGroup == "" {
		return false
	}
	all := true
	e.Request = changed(e.Request, func(id string) (string, bool) {
		now, is := g.idOf(c, id)
		all = all && is
		return now, is
	}, func(n int32) int32 {
		if c == nil || n < 0 || k.ahead+c.Generation < 0 {
			return n
		}
		return c.Generation + k.ahead
	})
	switch m := e.Request.(type) {
	case *kmsg.SyncGroupRequest:
		all = true // who is not there any more is given nothing
		g.assignAgain(k, c, m)
	case *kmsg.TxnOffsetCommitRequest:
		p := g.named(k.producer.Name)
		if !p.open || p.group != m.Group && m.Group != "" {
			return false
		}
		p.verify(e)
	}
	if all {
		strip(e.Request, e.Version)
		g.send(e)
	}
	return all
}

// assignAgain has whoever leads give something to every member, and others nothing, where it was so.
func (g *Generator) assignAgain(k *Kept, c *Client, m *kmsg.SyncGroupRequest) {
	if k.protocol {
		protocol := c.Protocol
		m.Protocol = &protocol
	}
	if !k.leads {
		return
	}
	given := m.GroupAssignment
	if m.GroupAssignment = nil; !c.Leads() {
		return
	}
	for _, id := range c.Members {
		if i := slices.IndexFunc(given, func(a kmsg.SyncGroupRequestGroupAssignment) bool { return a.MemberID == id }); i >= 0 {
			m.GroupAssignment, given = append(m.GroupAssignment, given[i]), slices.Delete(given, i, i+1)
		} else {
			Assign(m, id, fmt.Sprintf("%s.%d", g.Who(id), k.payload))
		}
	}
	m.GroupAssignment = append(m.GroupAssignment, given...)
}

// named is this run's producer of that name.
func (g *Generator) named(name string) *Producer {
	return g.producers[slices.IndexFunc(g.producers, func(p *Producer) bool { return p.Name == name })]
}

// actAgain says whether what is to happen to the broker can happen now.
func (g *Generator) actAgain(k *Kept, e *Event) bool {
	can := true
	switch e.Act {
	case BeginTxn:
		e.Producer = g.named(k.producer.Name)
		if can = !e.Producer.open; can {
			*e.Producer = k.producer
		}
	case EndTxn:
		e.Producer = g.named(k.producer.Name)
		if can = e.Producer.open && e.Producer.wrote && g.serving == NoAct; can {
			e.Producer.open = false
		}
	case Unload:
		if e.Epoch > g.epoch {
			g.serving = Unload
		}
	case Load:
		if can = g.serving == Unload; can {
			g.serving = Load
		}
	case Loaded:
		if can = g.serving == Load; can {
			g.serving = NoAct
		}
	case Restart:
		g.serving = NoAct
	}
	if can {
		g.epoch = max(g.epoch, e.Epoch)
	}
	return can
}

// changed is the request with other member ids and another generation. What has no id then is left out of lists.
func changed(req kmsg.Request, id func(string) (string, bool), generation func(int32) int32) kmsg.Request {
	one := func(s *string) { *s, _ = id(*s) }
	switch m := req.(type) {
	case *kmsg.JoinGroupRequest:
		r := *m
		one(&r.MemberID)
		return &r
	case *kmsg.SyncGroupRequest:
		r := *m
		r.Generation, r.GroupAssignment = generation(r.Generation), nil
		one(&r.MemberID)
		for _, a := range m.GroupAssignment {
			if now, is := id(a.MemberID); is {
				a.MemberID = now
				r.GroupAssignment = append(r.GroupAssignment, a)
			}
		}
		return &r
	case *kmsg.HeartbeatRequest:
		r := *m
		r.Generation = generation(r.Generation)
		one(&r.MemberID)
		return &r
	case *kmsg.LeaveGroupRequest:
		r := *m
		r.Members = slices.Clone(m.Members)
		one(&r.MemberID)
		for i := range r.Members {
			one(&r.Members[i].MemberID)
		}
		return &r
	case *kmsg.OffsetCommitRequest:
		r := *m
		r.Generation = generation(r.Generation)
		one(&r.MemberID)
		return &r
	case *kmsg.TxnOffsetCommitRequest:
		r := *m
		r.Generation = generation(r.Generation)
		one(&r.MemberID)
		return &r
	}
	return req
}
