package conformance

import (
	"context"

	"github.com/muster-kafka/muster/conformance/target"
)

// actor is a client of a scenario. It remembers what the coordinator told it, as a client would, and uses it for its next request.
type actor struct {
	name     string
	group    string   // the scenario's name of the group that it joined
	groups   []string // all that it ever joined
	ids      []string // every id that it was handed, oldest first
	joinID   string   // the id of its next JoinGroup: empty again once the coordinator does not know it any more
	gen      int32
	typ      string
	protocol string
	leader   string
	instance *string           // group.instance.id of its last JoinGroup, nil for a dynamic member
	producer *producer         // what it needs for transactions, nil before its first
	list     []protocol        // the list of its last JoinGroup
	asks     map[string]string // session, rebalance and type, where its JoinGroups named others than the scenario's
	conns    []*conn
}

// protocol is one entry of a JoinGroup's list.
type protocol struct{ name, metadata string }

// conn is a connection of an actor with its last call.
type conn struct {
	target.Conn
	last *target.Call
}

// id is the member id that the actor was handed last, empty if none.
func (a *actor) id() string {
	if len(a.ids) == 0 {
		return ""
	}
	return a.ids[len(a.ids)-1]
}

// idle returns a connection without an outstanding call: a coordinator serves the requests of a connection one after the other, so
// that a parked one would hold the next.
func (a *actor) idle(ctx context.Context, tg target.Target) (*conn, error) {
	kept := a.conns[:0]
	var found *conn
	for _, c := range a.conns {
		if c.last != nil && c.last.Ended() {
			if _, err := c.last.Answer(); err != nil {
				_ = c.Close() // a connection that failed once is not used again
				continue
			}
		}
		kept = append(kept, c)
		if found == nil && (c.last == nil || c.last.Ended()) {
			found = c
		}
	}
	a.conns = kept
	if found != nil {
		return found, nil
	}
	raw, err := tg.Dial(ctx, a.name)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw}
	a.conns = append(a.conns, c)
	return c, nil
}

func (a *actor) close() {
	for _, c := range a.conns {
		_ = c.Close()
	}
	a.conns = nil
}
