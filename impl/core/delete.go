package core

import "github.com/twmb/franz-go/pkg/kmsg"

// deleteGroups is §2.12. A group goes when its tombstones are durable. Until then it can still be read, and what would change it
// waits, so that a deletion that fails has changed nothing.
func (c *Coordinator) deleteGroups(r Request, req *kmsg.DeleteGroupsRequest) kmsg.Response {
	if code := c.gate(); code != None {
		return deleteError(r.Version, req, code)
	}
	for _, id := range req.Groups {
		if c.postpone(c.groups[id], r) {
			return nil
		}
	}
	resp := kmsg.NewPtrDeleteGroupsResponse()
	resp.SetVersion(r.Version)
	batch := &deletion{request: r, answer: resp}
	seen := make(map[string]struct{}, len(req.Groups))
	for _, id := range req.Groups {
		if _, twice := seen[id]; twice {
			continue
		}
		seen[id] = struct{}{}
		rg := kmsg.NewDeleteGroupsResponseGroup()
		rg.Group = id
		switch g := c.groups[id]; {
		case g == nil:
			rg.ErrorCode, rg.ErrorMessage = GroupIDNotFound, notFound(id) // delete.unknown
		case g.state != Empty:
			rg.ErrorCode = NonEmptyGroup // delete.non-empty
		default: // delete.empty
			g.deleting = c.append(g, g.tombstones(), &deleting{g, len(resp.Groups), batch})
			batch.left++
		}
		resp.Groups = append(resp.Groups, rg)
	}
	if batch.left > 0 {
		return nil
	}
	return c.afterWrites(r, resp)
}

// postpone makes a request wait for the end of its group's deletion.
func (c *Coordinator) postpone(g *group, r Request) bool {
	if g == nil || g.deleting == 0 {
		return false
	}
	g.postponed = append(g.postponed, r)
	return true
}

// tombstones are the records that end a group, its offsets first.
func (g *group) tombstones() []Record {
	var records []Record
	for _, p := range g.knownPartitions() {
		records = append(records, g.offsetTombstone(p))
	}
	return append(records, Record{Kind: GroupTombstone, Group: g.id})
}

// deletion is a DeleteGroups on its way to the log.
type deletion struct {
	request Request
	answer  *kmsg.DeleteGroupsResponse
	left    int // groups whose write has not ended
}

// deleting is one group of it.
type deleting struct {
	group *group
	place int // in the answer
	of    *deletion
}

func (w *deleting) ended(c *Coordinator, _ AppendID, code int16) {
	if code != None {
		w.of.answer.Groups[w.place].ErrorCode = appendError(code)
	}
	if code != RequestTimedOut {
		c.deleted(w.group, code == None, Deleted)
	}
	if w.of.left--; w.of.left == 0 {
		c.answer(w.of.request.Ticket, w.of.answer)
	}
	c.resume(w.group)
}

func (w *deleting) settled(c *Coordinator, _ AppendID, written bool) {
	c.deleted(w.group, written, Deleted)
	c.resume(w.group)
}

func (w *deleting) blocked() *group { return w.group }

// deleted is the end of a group's tombstones.
func (c *Coordinator) deleted(g *group, written bool, reason Reason) {
	g.deleting = 0
	if written && g.state != Dead {
		c.reason = reason
		_ = c.transition(g, Dead)
	}
}

// resume takes up what has waited for the end of a deletion.
func (c *Coordinator) resume(g *group) {
	if g.deleting != 0 {
		return
	}
	postponed := g.postponed
	g.postponed = nil
	for _, r := range postponed {
		c.handle(r)
	}
}

// refusePostponed answers what waits for a deletion that is not done in time.
func (c *Coordinator) refusePostponed(g *group, code int16) {
	postponed := g.postponed
	g.postponed = nil
	for _, r := range postponed {
		c.answer(r.Ticket, errorAnswer(r, appendError(code)))
	}
}

func deleteError(version int16, req *kmsg.DeleteGroupsRequest, code int16) kmsg.Response {
	resp := kmsg.NewPtrDeleteGroupsResponse()
	resp.SetVersion(version)
	for _, id := range req.Groups {
		rg := kmsg.NewDeleteGroupsResponseGroup()
		rg.Group, rg.ErrorCode = id, code
		resp.Groups = append(resp.Groups, rg)
	}
	return resp
}
