package core

import "github.com/twmb/franz-go/pkg/kmsg"

// txnOffsetCommit is §2.9.1: offsets that count once their producer's transaction is committed.
func (c *Coordinator) txnOffsetCommit(r Request, req *kmsg.TxnOffsetCommitRequest) kmsg.Response {
	g := c.groups[req.Group]
	if c.postpone(g, r) {
		return nil
	}
	resp := txnCommitAnswer(r.Version, req, None)
	entries := txnEntries(r.Version, req, resp)
	if c.resolve(entries, r.Version >= 6) == 0 {
		return resp
	}
	if code := c.mayCommitTxn(r, req, g); code != None {
		refuse(entries, code)
		return resp
	}
	return c.commit(r, resp, req.Group, g, entries, &Producer{req.ProducerID, req.ProducerEpoch}, func(code int16) int16 {
		return txnCode(r.Version, commitAppendError(code))
	})
}

// txnEntries are the partitions of a TxnOffsetCommit, in order.
func txnEntries(version int16, req *kmsg.TxnOffsetCommitRequest, resp *kmsg.TxnOffsetCommitResponse) (entries []entry) {
	for t := range req.Topics {
		for i := range req.Topics[t].Partitions {
			sent := &req.Topics[t].Partitions[i]
			e := entry{
				partition: partition{req.Topics[t].Topic, sent.Partition}, offset: offset{at: sent.Offset, leaderEpoch: -1, expires: noExpiry},
				metadata: sent.Metadata, code: &resp.Topics[t].Partitions[i].ErrorCode,
			}
			if version >= 2 {
				e.offset.leaderEpoch = sent.LeaderEpoch
			}
			if version >= 6 {
				e.offset.topicID = req.Topics[t].TopicID
			}
			entries = append(entries, e)
		}
	}
	return entries
}

// mayCommitTxn is the order of the checks: the coordinator, the transaction, the member. Whoever names no member at all is let in,
// whatever the group is doing, and no session is renewed.
func (c *Coordinator) mayCommitTxn(r Request, req *kmsg.TxnOffsetCommitRequest, g *group) int16 {
	generation, id, instance := req.Generation, req.MemberID, from(3, r.Version, req.InstanceID)
	if r.Version < 3 {
		generation, id = -1, ""
	}
	switch {
	case req.Group == "":
		return InvalidGroupID // txn-commit.group-id.empty
	case c.gate() != None:
		return txnCode(r.Version, c.gate())
	case r.Verified != None:
		return r.Verified // txn-commit.verified
	case g == nil && generation < 0:
		return None // txn-commit.simple.creates
	case g == nil:
		return IllegalGeneration // txn-commit.group.unknown
	case generation < 0 && g.state == Empty:
		return None // txn-commit.empty.accepted
	case generation < 0 && id == "" && instance == nil:
		return None // txn-commit.anonymous.accepted
	}
	if _, code := g.validate(id, instance); code != None {
		return code // txn-commit.member.unknown
	}
	if generation != g.generation {
		return IllegalGeneration // txn-commit.generation.illegal
	}
	return None // txn-commit.any-phase, txn-commit.keeps-timer
}

// txnCode hides loading from clients of old versions, which do not retry it (§2.0.3).
func txnCode(version, code int16) int16 {
	if version < 2 && code == CoordinatorLoadInProgress {
		return CoordinatorNotAvailable
	}
	return code
}

// marker is §2.9.2.
func (c *Coordinator) marker(ev Marker) {
	if c.gate() != None {
		c.emit(Marked{ev, markerError(c.gate())})
		return
	}
	kind := AbortMarker
	if ev.Commit {
		kind = CommitMarker
	}
	producer := ev.Producer
	c.put("", []Record{{Kind: kind, Producer: &producer}}, &marking{ev})
}

// marking is a marker on its way to the log.
type marking struct{ marker Marker }

func (w *marking) ended(c *Coordinator, id AppendID, code int16) {
	if code != RequestTimedOut {
		w.settled(c, id, code == None)
	}
	if code != None {
		code = markerError(code)
	}
	c.emit(Marked{w.marker, code})
}

func (w *marking) settled(c *Coordinator, _ AppendID, written bool) {
	if written {
		c.endTransaction(w.marker.Producer.ID, w.marker.Commit)
	}
}

// endTransaction commits or drops what a producer has pending, in every group. An offset that was committed later, by whatever way, stays:
// the position of the commit in the log counts, not that of the marker.
func (c *Coordinator) endTransaction(producer int64, commit bool) {
	for _, id := range sortedKeys(c.groups) {
		g := c.groups[id]
		for p, o := range g.unstable[producer] { // txn.commits, txn.aborts, txn.newer-wins
			if last, ok := g.offsets[p]; commit && (!ok || last.position < o.position) {
				g.offsets[p] = o
			}
		}
		delete(g.unstable, producer)
	}
}

// isUnstable reports whether a transaction is open that has an offset of this partition.
func (g *group) isUnstable(p partition) bool {
	for _, offsets := range g.unstable {
		if _, ok := offsets[p]; ok {
			return true
		}
	}
	return false
}

// forgetStable drops the producers that have nothing pending any more.
func (g *group) forgetStable() {
	for id, offsets := range g.unstable {
		if len(offsets) == 0 {
			delete(g.unstable, id)
		}
	}
}

func txnCommitAnswer(version int16, req *kmsg.TxnOffsetCommitRequest, code int16) *kmsg.TxnOffsetCommitResponse {
	resp := kmsg.NewPtrTxnOffsetCommitResponse()
	resp.SetVersion(version)
	for _, t := range req.Topics {
		rt := kmsg.NewTxnOffsetCommitResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			rp := kmsg.NewTxnOffsetCommitResponseTopicPartition()
			rp.Partition, rp.ErrorCode = p.Partition, code
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}

func txnCommitError(version int16, req *kmsg.TxnOffsetCommitRequest, code int16) kmsg.Response {
	return txnCommitAnswer(version, req, txnCode(version, code))
}
