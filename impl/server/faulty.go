package server

import (
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/faults"
)

// faulty answers a request to which what has been asked for happens: first what concerns the request, in the order of the lines, then what
// concerns its answer.
func (v *visit) faulty(h header, req kmsg.Request, frame []byte) ([]byte, error) {
	c := v.node.cluster
	if c.options.Faults == nil {
		return v.reply(h, req, frame)
	}
	v.conn.first() // what happens here may take its time, and be the end of the connection
	met := faults.Request{API: kmsg.Key(h.key), Groups: groupsOf(req), Client: h.clientID, Node: v.node.ID}
	hits := c.options.Faults.Meet(met)
	for _, f := range hits {
		c.options.Report(errors.New(f.Hit(met)))
	}
	for _, f := range hits {
		switch f.Action {
		case faults.DelayRequest:
			c.pause(f.Delay)
		case faults.Move:
			c.relocate(req, f)
		case faults.DropRequest:
			v.deaf = true
			return nil, nil
		case faults.CloseBefore:
			return nil, errGone
		case faults.Answer:
			r := core.Request{Message: req, Version: h.version, ClientID: h.clientID}
			return v.after(hits, appendResponse(nil, h.correlation, core.ErrorAnswer(r, f.Code)))
		}
	}
	reply, err := v.reply(h, req, frame)
	if err != nil {
		return nil, err
	}
	return v.after(hits, reply)
}

// after is what happens to an answer.
func (v *visit) after(hits []faults.Fault, reply []byte) ([]byte, error) {
	for _, f := range hits {
		switch f.Action {
		case faults.DelayReply:
			v.node.cluster.pause(f.Delay)
		case faults.DropReply:
			v.mute = true
		case faults.CloseAfter:
			return nil, errGone
		}
	}
	return reply, nil
}

// pause lets time pass, or the cluster end.
func (c *Cluster) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.quit:
	}
}

// relocate moves the groups of a request: to the node that the fault names, or to the one after theirs.
func (c *Cluster) relocate(req kmsg.Request, f faults.Fault) {
	for _, g := range groupsOf(req) {
		if f.Group != nil && *f.Group != g {
			continue
		}
		at, _ := c.Coordinator(g)
		to := (at + 1) % int32(len(c.nodes))
		if f.To != nil {
			to = *f.To
		}
		if err := c.Move(g, to, f.Loading); err != nil {
			c.options.Report(fmt.Errorf("%v: %w", f, err))
		}
	}
}

// failing says of the writes of a group whether they shall fail.
func (c *Cluster) failing(group string) int16 {
	f, fails := c.options.Faults.Append(group)
	if !fails {
		return core.None
	}
	c.options.Report(errors.New(f.HitWrite(group)))
	return f.Code
}
