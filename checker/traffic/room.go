package traffic

import (
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/model/classic"
)

// room keeps the groups of a run so small that they can be judged. An id that was handed out takes up a place in the specification's group, pending or a member, until its session
// has ended, and there are classic.MaxSlots of them: a group with more is not wrong, but nobody can say so.
type room struct {
	mu     sync.Mutex
	groups map[string]map[place]*hold
}

// place is what a group has a slot for: a member id, or the id that a JoinGroup without one may be given.
type place struct {
	member string
	call   int64
}

// hold is until when it may have it.
type hold struct {
	until   int64 // since the start of the run
	session int64
	waiting int // requests that may be parked: sessions do not end meanwhile
}

// most is how many ids may have a place at a time. One is left for an id that lives a little longer than its clients can know.
const most = classic.MaxSlots - 1

// late is by how much longer than its session timeout an id may live.
const late = int64(200 * time.Millisecond)

// enters says whether there is room for what a request may take up, and keeps it.
func (r *room) enters(group string, req kmsg.Request, call, now int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	held := r.groups[group]
	if held == nil {
		held = map[place]*hold{}
		if r.groups == nil {
			r.groups = map[string]map[place]*hold{}
		}
		r.groups[group] = held
	}
	member, parks := memberOf(req), Step{Request: req}.Parks()
	if h := held[place{member: member}]; member != "" && h != nil {
		if parks {
			h.waiting++
		}
		return true
	}
	join, ok := req.(*kmsg.JoinGroupRequest)
	if !ok {
		return true
	}
	for at, h := range held {
		if h.waiting == 0 && h.until < now {
			delete(held, at)
		}
	}
	if len(held) >= most {
		return false
	}
	held[place{call: call}] = &hold{session: int64(join.SessionTimeoutMillis) * int64(time.Millisecond), waiting: 1}
	return true
}

// ended takes up how a call ended; resp is nil where there is no answer.
func (r *room) ended(group string, req kmsg.Request, resp kmsg.Response, call, now int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	held := r.groups[group]
	if leave, ok := req.(*kmsg.LeaveGroupRequest); ok {
		for _, member := range left(leave, resp) {
			delete(held, place{member: member})
		}
		return
	}
	member, parks := memberOf(req), Step{Request: req}.Parks()
	at := place{member: member}
	h := held[at]
	if own, ok := held[place{call: call}]; ok {
		at, h = place{call: call}, own
	}
	if h == nil {
		return
	}
	if parks || at.call != 0 {
		h.waiting = max(0, h.waiting-1)
	}
	h.until = max(h.until, now+h.session+late)
	if resp == nil {
		return // its effect is unknown
	}
	if given := idIn(resp); given != "" && at.call != 0 {
		delete(held, at)
		held[place{member: given}] = h
		return
	}
	if at.call != 0 || refused(resp) {
		delete(held, at)
	}
}

// memberOf is the member id of a request that is of one member.
func memberOf(req kmsg.Request) string {
	switch r := req.(type) {
	case *kmsg.JoinGroupRequest:
		return r.MemberID
	case *kmsg.SyncGroupRequest:
		return r.MemberID
	case *kmsg.HeartbeatRequest:
		return r.MemberID
	case *kmsg.OffsetCommitRequest:
		return r.MemberID
	}
	return ""
}

// idIn is the id that an answer hands out.
func idIn(resp kmsg.Response) string {
	if join, ok := resp.(*kmsg.JoinGroupResponse); ok && (join.ErrorCode == 0 || join.ErrorCode == kerr.MemberIDRequired.Code) {
		return join.MemberID
	}
	return ""
}

// refused says whether an answer shows that the group does not have the id.
func refused(resp kmsg.Response) bool {
	code := int16(0)
	switch r := resp.(type) {
	case *kmsg.JoinGroupResponse:
		code = r.ErrorCode
	case *kmsg.SyncGroupResponse:
		code = r.ErrorCode
	case *kmsg.HeartbeatResponse:
		code = r.ErrorCode
	}
	return code == kerr.UnknownMemberID.Code
}

// left are the ids that have left the group by a request.
func left(req *kmsg.LeaveGroupRequest, resp kmsg.Response) (members []string) {
	answer, ok := resp.(*kmsg.LeaveGroupResponse)
	if !ok || answer.ErrorCode != 0 {
		return nil
	}
	if req.MemberID != "" {
		members = append(members, req.MemberID)
	}
	for i, m := range answer.Members {
		if m.ErrorCode == 0 && i < len(req.Members) {
			members = append(members, m.MemberID)
		}
	}
	return members
}
