package mutants

import (
	"context"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/conformance/target"
)

// tapped is a target that notes which groups are spoken of, and keeps them as they are left.
type tapped struct {
	target.Target
	mu     sync.Mutex
	groups []string
}

func (t *tapped) Capabilities() target.Capabilities {
	caps := t.Target.Capabilities()
	caps.Fleeting = true
	return caps
}

func (t *tapped) Dial(ctx context.Context, id string) (target.Conn, error) {
	c, err := t.Target.Dial(ctx, id)
	return &tappedConn{c, t}, err
}

type tappedConn struct {
	target.Conn
	of *tapped
}

func (c *tappedConn) Send(req kmsg.Request, version int16) *target.Call {
	c.of.mu.Lock()
	for _, p := range observe.SplitByGroup(req) {
		if !slices.Contains(c.of.groups, p.Group) {
			c.of.groups = append(c.of.groups, p.Group)
		}
	}
	c.of.mu.Unlock()
	return c.Conn.Send(req, version)
}
