package server

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// visit is a client's connection to a node of a cluster.
type visit struct {
	node *node
	conn *conn
	peer string
	line *line                 // to the node's broker of kfake; nil until it is needed
	mute bool                  // a fault has lost an answer, and with it all that would come after
	deaf bool                  // a fault has lost a request, and with it all that would come after
	beat kmsg.HeartbeatRequest // the one at hand
	room []byte                // for the answer at hand
	at   int64                 // the period of its last request; see gate
}

func (n *node) session(c *conn) (session, error) {
	return &visit{node: n, conn: c, peer: "/" + host(c)}, nil
}

func (v *visit) close() {
	if v.line != nil {
		v.line.close()
	}
}

// handle answers a request. A parked one holds the ones after it, as one of kfake does that waits for records.
func (v *visit) handle(frame []byte) error {
	if v.deaf {
		return nil
	}
	if done, err := v.heartbeat(frame); done || err != nil {
		return err
	}
	h, req, err := parseRequest(frame, v.node.cluster.offered)
	if err != nil {
		return err
	}
	reply, err := v.faulty(h, req, frame)
	if err == nil && !v.mute {
		v.conn.out = append(v.conn.out, reply...)
	}
	return err
}

// heartbeat answers a Heartbeat to which nothing happens without allocation: it is what is asked most. False where it is something else.
func (v *visit) heartbeat(frame []byte) (done bool, err error) {
	c := v.node.cluster
	if len(frame) < 2 || kmsg.Key(binary.BigEndian.Uint16(frame)) != kmsg.Heartbeat || c.options.Faults != nil {
		return false, nil
	}
	h, rest, err := skimHeader(frame)
	if err != nil || !c.offered[kmsg.Heartbeat].Has(h.version) {
		return false, nil // to be told of there
	}
	if v.beat.SetVersion(h.version); v.beat.IsFlexible() {
		if rest, err = skipTags(rest); err != nil {
			return false, nil
		}
	}
	if v.beat.UnsafeReadFrom(rest) != nil {
		return false, nil
	}
	o, ok := c.shardOf(v.beat.Group).beat(v.node.ID, core.Request{Message: &v.beat, Version: h.version, ClientHost: v.peer})
	if !ok {
		return false, nil
	}
	if o.err != nil || o.resp == nil {
		return true, o.err
	}
	v.conn.out = appendResponse(v.conn.out, h.correlation, o.resp)
	core.Reuse(o.resp)
	return true, nil
}

// reply answers a request to which nothing happens. The answer is good until the next one.
func (v *visit) reply(h header, req kmsg.Request, frame []byte) ([]byte, error) {
	c := v.node.cluster
	if req, ok := req.(*kmsg.ApiVersionsRequest); ok {
		return appendResponse(nil, h.correlation, apiVersions(req, h.version, c.offered, c.backing.hello)), nil
	}
	if find, ok := req.(*kmsg.FindCoordinatorRequest); !groupAPIs[kmsg.Key(h.key)] || ok && h.version >= 1 && find.CoordinatorType == transactionCoordinator {
		v.conn.first()
		return v.forward(h, req, frame)
	}
	resp, err := c.coordinate(v, core.Request{Message: req, Version: h.version, ClientID: h.clientID, ClientHost: v.peer})
	if err != nil {
		return nil, fmt.Errorf("%s v%d: %w", kmsg.NameForKey(h.key), h.version, err)
	}
	reply := appendResponse(v.room[:0], h.correlation, resp)
	if cap(reply) <= maxTogether {
		v.room = reply
	}
	return reply, nil
}

// transactionCoordinator is the kind that FindCoordinator asks for.
const transactionCoordinator int8 = 1

// groupAPIs are those that groups are coordinated by.
var groupAPIs = func() map[kmsg.Key]bool {
	all := map[kmsg.Key]bool{}
	for key := range core.Versions() {
		all[key] = true
	}
	return all
}()

// forward lets kfake answer. Where the cluster is being closed kfake goes before it has answered all, which is no fault.
func (v *visit) forward(h header, req kmsg.Request, frame []byte) ([]byte, error) {
	c := v.node.cluster
	end := c.topics.exclude(req)
	reply, err := v.pass(h, req, frame)
	end()
	if remove, ok := req.(*kmsg.DeleteTopicsRequest); ok && err == nil {
		err = c.forgotten(time.Duration(remove.TimeoutMillis) * time.Millisecond)
	}
	if err == nil {
		return reply, nil
	}
	select {
	case <-c.quit:
		return nil, errStopped
	default:
		return nil, fmt.Errorf("%s v%d: %w", kmsg.NameForKey(h.key), h.version, err)
	}
}

// pass passes a request on to kfake, but for what is better kept from it, and its answer back.
func (v *visit) pass(h header, req kmsg.Request, frame []byte) ([]byte, error) {
	if v.line == nil {
		line, err := v.node.cluster.backing.dial(v.node.ID)
		if err != nil {
			return nil, errStopped
		}
		v.line = line
	}
	if reply, ok, err := v.guarded(h, req); ok || err != nil {
		return reply, err
	}
	if err := v.line.send(frame); err != nil {
		return nil, err
	}
	if p, ok := req.(*kmsg.ProduceRequest); ok && p.Acks == 0 {
		return nil, nil
	}
	reply, err := v.line.receive()
	if err != nil {
		return nil, err
	}
	return reply, v.node.cluster.learn(req, reply)
}

// metadata asks for what Kafka does and kfake does not: the first versions make topics too, version 0 asks for all by naming none, and no topic
// gets an illegal name. Without room no topic is made.
func (v *visit) metadata(h header, req *kmsg.MetadataRequest, room bool) ([]byte, error) {
	ask := *req
	ask.Version = max(h.version, 4)
	ask.AllowAutoTopicCreation = room && makesTopics(h, req)
	if h.version == 0 && len(req.Topics) == 0 {
		ask.Topics = nil
	} else if req.Topics != nil {
		ask.Topics = slices.DeleteFunc(slices.Clone(req.Topics), illegal)
		if ask.Topics == nil {
			ask.Topics = []kmsg.MetadataRequestTopic{}
		}
	}
	resp, err := v.line.ask(&ask)
	if err != nil {
		return nil, err
	}
	m := resp.(*kmsg.MetadataResponse)
	m.SetVersion(h.version)
	if err := v.node.cluster.learnOfTopics(&ask); err != nil {
		return nil, err
	}
	for _, t := range req.Topics {
		if illegal(t) {
			rt := kmsg.NewMetadataResponseTopic()
			rt.Topic, rt.ErrorCode, rt.AuthorizedOperations = t.Topic, invalidTopic, noTopicOperations
			m.Topics = append(m.Topics, rt)
		}
	}
	return appendResponse(nil, h.correlation, m), nil
}

// makesTopics says whether topics are made that are not there; the first versions have no word for it.
func makesTopics(h header, req *kmsg.MetadataRequest) bool {
	return h.version < 4 || req.AllowAutoTopicCreation
}

func illegal(t kmsg.MetadataRequestTopic) bool { return t.Topic != nil && !legal(*t.Topic) }

// Faultable are the APIs that a cluster serves.
func Faultable() []kmsg.Key {
	all := slices.Concat(slices.Collect(maps.Keys(groupAPIs)), served, []kmsg.Key{kmsg.ApiVersions})
	slices.Sort(all)
	return all
}
