package core

import "github.com/twmb/franz-go/pkg/kmsg"

// The key types of FindCoordinator; the coordinators of share groups (2) are not here, those of transactions with the caller at best.
const (
	groupKey       int8 = 0
	transactionKey int8 = 1
)

// findCoordinator is §2.1: this node, for every group (find-coordinator.group).
func (c *Coordinator) findCoordinator(r Request, req *kmsg.FindCoordinatorRequest) kmsg.Response {
	transaction := c.settings.Transactions && req.CoordinatorType == transactionKey
	if r.Version >= 1 && req.CoordinatorType != groupKey && !transaction {
		return findError(r.Version, req, InvalidRequest)
	}
	node := c.settings.Node
	resp := kmsg.NewPtrFindCoordinatorResponse()
	resp.SetVersion(r.Version)
	if r.Version >= 4 { // find-coordinator.batch
		for _, key := range req.CoordinatorKeys {
			rc := kmsg.NewFindCoordinatorResponseCoordinator()
			rc.Key, rc.NodeID, rc.Host, rc.Port, rc.ErrorMessage = key, node.ID, node.Host, node.Port, kmsg.StringPtr("")
			resp.Coordinators = append(resp.Coordinators, rc)
		}
		return resp
	}
	resp.NodeID, resp.Host, resp.Port = node.ID, node.Host, node.Port
	if r.Version >= 1 {
		resp.ErrorMessage = kmsg.StringPtr("NONE")
	}
	return resp
}

func findError(version int16, req *kmsg.FindCoordinatorRequest, code int16) kmsg.Response {
	resp := kmsg.NewPtrFindCoordinatorResponse()
	resp.SetVersion(version)
	if version >= 4 {
		for _, key := range req.CoordinatorKeys {
			rc := kmsg.NewFindCoordinatorResponseCoordinator()
			rc.Key, rc.NodeID, rc.Port, rc.ErrorCode = key, -1, -1, code
			rc.ErrorMessage = kmsg.StringPtr("this node coordinates classic groups only")
			resp.Coordinators = append(resp.Coordinators, rc)
		}
		return resp
	}
	resp.NodeID, resp.Port, resp.ErrorCode = -1, -1, code
	if version >= 1 {
		resp.ErrorMessage = kmsg.StringPtr("this node coordinates classic groups only")
	}
	return resp
}
