package traffic

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// filled is a group in which every place is taken by an id that was handed out at instant 0, for a session of a second.
func filled(t *testing.T) *room {
	t.Helper()
	r := &room{}
	for call := range int64(most) {
		if !r.enters("g", asks(""), call+1, 0) {
			t.Fatalf("no room for id %d of %d", call+1, most)
		}
		r.ended("g", asks(""), given(fmt.Sprint("m", call), kerr.MemberIDRequired.Code), call+1, 0)
	}
	if r.enters("g", asks(""), most+1, 0) {
		t.Fatal("there is room for one more than a group has places")
	}
	return r
}

func asks(member string) *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.MemberID, req.SessionTimeoutMillis = member, 1000
	return req
}

func given(member string, code int16) kmsg.Response {
	resp := kmsg.NewPtrJoinGroupResponse()
	resp.MemberID, resp.ErrorCode = member, code
	return resp
}

// TestRoom holds that ids keep their places as long as the group may keep them, and no longer.
func TestRoom(t *testing.T) {
	const session = int64(time.Second)
	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.MemberID = "m0"
	for name, test := range map[string]struct {
		happens func(r *room)
		at      int64
		fits    bool
	}{
		"sessions have not ended": {func(*room) {}, session, false},
		"sessions have ended":     {func(*room) {}, session + late + 1, true},
		"another group":           {func(r *room) { delete(r.groups, "g") }, 0, true},
		"one has left":            {func(r *room) { r.ended("g", leave, kmsg.NewPtrLeaveGroupResponse(), 90, 0) }, 0, true},
		"its leaving is unknown":  {func(r *room) { r.ended("g", leave, nil, 90, 0) }, 0, false},
		"one is not known": {func(r *room) {
			r.ended("g", asks("m0"), given("m0", kerr.UnknownMemberID.Code), 90, 0)
		}, 0, true},
		"one is parked": {func(r *room) {
			for i := range most {
				r.enters("g", asks(fmt.Sprint("m", i)), 90, 0)
			}
		}, 9 * session, false},
		"all have heartbeated": {func(r *room) {
			for i := range most {
				beat := kmsg.NewPtrHeartbeatRequest()
				beat.MemberID = fmt.Sprint("m", i)
				r.ended("g", beat, kmsg.NewPtrHeartbeatResponse(), 90, session)
			}
		}, session + late + 1, false},
		"an id was lost with its answer": {func(r *room) {
			r.ended("g", leave, kmsg.NewPtrLeaveGroupResponse(), 90, 0)
			r.enters("g", asks(""), 91, 0)
			r.ended("g", asks(""), nil, 91, 0)
		}, 0, false},
	} {
		r := filled(t)
		test.happens(r)
		if got := r.enters("g", asks(""), 100, test.at); got != test.fits {
			t.Errorf("%s: room for another one is %v, want %v", name, got, test.fits)
		}
		if !r.enters("g", asks("m1"), 101, 0) {
			t.Errorf("%s: who has a place has no room", name)
		}
	}
}
