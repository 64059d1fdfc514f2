package wire

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
)

// Conn is an actor's connection. On one broker it is one TCP connection; on a cluster it has one to each broker that coordinates
// a group named on it, opened when first needed. It implements target.Conn.
type Conn struct {
	target   *Target
	clientID string

	mu     sync.Mutex
	links  map[int32]*link
	last   int32 // the node of the last request
	closed bool
}

// seedNode is the broker at the address that was given, whatever its node id.
const seedNode int32 = -1

// Send implements target.Conn. It has written the request when it returns, so that requests on several connections arrive in the
// order of the calls. A request of a group goes to the group's coordinator; one without a group goes where the last one went.
// Nothing is sent again: a refusal is an answer, and a dead connection stays dead.
func (c *Conn) Send(req kmsg.Request, version int16) *target.Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return failed(req, version, target.ErrClosed)
	}
	if limit := c.target.pacer(); limit != nil {
		if err := limit.Wait(context.Background()); err != nil {
			return failed(req, version, err)
		}
	}
	group := GroupOf(req)
	if group != "" {
		c.target.noteGroup(group)
	}
	l, err := c.route(group)
	if err != nil {
		return failed(req, version, err)
	}
	return l.send(req, version)
}

// route picks the link for a group, and opens it if need be.
func (c *Conn) route(group string) (*link, error) {
	node := c.last
	if group != "" && c.target.table.many() {
		ctx, cancel := context.WithTimeout(context.Background(), c.target.opts.Timeout)
		defer cancel()
		control := control{target: c.target}
		defer control.close()
		var err error
		if node, err = c.target.coordinator(ctx, &control, group); err != nil {
			return nil, fmt.Errorf("finding the coordinator of %s: %w", group, err)
		}
	}
	if l, ok := c.links[node]; ok {
		c.last = node
		return l, nil
	}
	addr, ok := c.target.table.addr(node)
	if !ok {
		return nil, fmt.Errorf("the coordinator of %s is node %d, of which no address is known", group, node)
	}
	l, err := c.target.actors().dial(context.Background(), addr, c.clientID) // bounded by the dialer's timeout
	if err != nil {
		return nil, err
	}
	c.links[node], c.last = l, node
	return l, nil
}

// Close implements target.Conn.
func (c *Conn) Close() error {
	c.mu.Lock()
	c.closed = true
	links := c.links
	c.links = map[int32]*link{}
	c.mu.Unlock()
	var errs []error
	for _, l := range links {
		errs = append(errs, l.close())
	}
	c.target.forget(c)
	return errors.Join(errs...)
}

func failed(req kmsg.Request, version int16, err error) *target.Call {
	now := time.Now()
	call := target.NewCall(req, version, now)
	call.Finish(nil, err, now)
	return call
}

// GroupOf is the group that a request is for, which decides who must get it; "" if it is for none, or for any broker to answer.
func GroupOf(req kmsg.Request) string {
	switch r := req.(type) {
	case *kmsg.JoinGroupRequest:
		return r.Group
	case *kmsg.SyncGroupRequest:
		return r.Group
	case *kmsg.HeartbeatRequest:
		return r.Group
	case *kmsg.LeaveGroupRequest:
		return r.Group
	case *kmsg.OffsetCommitRequest:
		return r.Group
	case *kmsg.OffsetFetchRequest:
		if r.Group == "" && len(r.Groups) > 0 {
			return r.Groups[0].Group
		}
		return r.Group
	case *kmsg.OffsetDeleteRequest:
		return r.Group
	case *kmsg.TxnOffsetCommitRequest:
		return r.Group
	case *kmsg.ConsumerGroupHeartbeatRequest:
		return r.Group
	case *kmsg.ShareGroupHeartbeatRequest:
		return r.GroupID
	case *kmsg.DescribeGroupsRequest:
		return first(r.Groups)
	case *kmsg.DeleteGroupsRequest:
		return first(r.Groups)
	case *kmsg.ConsumerGroupDescribeRequest:
		return first(r.Groups)
	case *kmsg.ShareGroupDescribeRequest:
		return first(r.GroupIDs)
	}
	return ""
}

func first(groups []string) string {
	if len(groups) == 0 {
		return ""
	}
	return groups[0]
}
