package core

import "github.com/twmb/franz-go/pkg/kmsg"

// offsetDelete is §2.8. The group is asked even where no partition is left to delete, and what it says as a whole outranks what is said
// of partitions.
func (c *Coordinator) offsetDelete(r Request, req *kmsg.OffsetDeleteRequest) kmsg.Response {
	if req.Group == "" {
		return offsetDeleteError(InvalidGroupID)
	}
	if code := c.gate(); code != None {
		return offsetDeleteError(code)
	}
	g := c.groups[req.Group]
	if c.postpone(g, r) {
		return nil
	}
	if code := mayDeleteOffsets(g); code != None {
		return offsetDeleteError(code)
	}
	resp := kmsg.NewPtrOffsetDeleteResponse()
	resp.SetVersion(r.Version)
	asked := map[partition]struct{}{}
	for _, t := range req.Topics {
		rt := kmsg.NewOffsetDeleteResponseTopic()
		rt.Topic = t.Topic
		for _, p := range t.Partitions {
			rp := kmsg.NewOffsetDeleteResponseTopicPartition()
			rp.Partition = p.Partition
			switch {
			case !c.settings.TopicExists(t.Topic, p.Partition):
				rp.ErrorCode = UnknownTopicOrPartition
			case g.state != Empty && g.consumes(t.Topic):
				rp.ErrorCode = GroupSubscribedToTopic // offset-delete.subscribed
			default:
				asked[partition{t.Topic, p.Partition}] = struct{}{}
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	var gone []partition
	for _, p := range g.knownPartitions() { // also those of open transactions (offset-delete.pending)
		if _, ok := asked[p]; ok {
			gone = append(gone, p)
		}
	}
	c.forget(g, gone)
	return c.afterWrites(r, resp)
}

func mayDeleteOffsets(g *group) int16 {
	switch {
	case g == nil:
		return GroupIDNotFound
	case g.state != Empty && g.protocolType != consumerType:
		return NonEmptyGroup // offset-delete.other-type: nobody knows what its members consume
	}
	return None
}

// consumes reports whether the members of the generation consume a topic; where that is not known, they may consume any.
func (g *group) consumes(topic string) bool {
	if g.subscribed == nil {
		return true
	}
	_, ok := g.subscribed[topic]
	return ok
}

func offsetDeleteError(code int16) kmsg.Response {
	resp := kmsg.NewPtrOffsetDeleteResponse()
	resp.ErrorCode = code
	return resp
}
