package core

import "github.com/twmb/franz-go/pkg/kmsg"

// ErrorAnswer is how a request is told an error as a whole; nil where its API is none of a group coordinator.
func ErrorAnswer(r Request, code int16) kmsg.Response { return errorAnswer(r, code) }

// errorAnswer says the same error of everything that a request asks, in the shape that its API and version have for it (§5.3).
func errorAnswer(r Request, code int16) kmsg.Response {
	switch req := r.Message.(type) {
	case *kmsg.JoinGroupRequest:
		return joinError(r.Version, code, req.MemberID)
	case *kmsg.SyncGroupRequest:
		return syncError(r.Version, code)
	case *kmsg.HeartbeatRequest:
		return heartbeatAnswer(r.Version, code)
	case *kmsg.LeaveGroupRequest:
		return leaveError(r.Version, code)
	case *kmsg.OffsetCommitRequest:
		return commitError(r.Version, req, code)
	case *kmsg.OffsetFetchRequest:
		return fetchError(r.Version, req, code)
	case *kmsg.DescribeGroupsRequest:
		return describeError(r.Version, req, code)
	case *kmsg.ListGroupsRequest:
		resp := kmsg.NewPtrListGroupsResponse()
		resp.SetVersion(r.Version)
		resp.ErrorCode = code
		return resp
	case *kmsg.DeleteGroupsRequest:
		return deleteError(r.Version, req, code)
	case *kmsg.TxnOffsetCommitRequest:
		return txnCommitError(r.Version, req, code)
	case *kmsg.OffsetDeleteRequest:
		return offsetDeleteError(code)
	case *kmsg.FindCoordinatorRequest:
		return findError(r.Version, req, code)
	}
	return nil
}

// from is a field of a request that came with a version of its API.
func from(version, sent int16, field *string) *string {
	if sent < version {
		return nil
	}
	return field
}
