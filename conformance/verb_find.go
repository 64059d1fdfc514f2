package conformance

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/script"
)

func init() {
	register("find-coordinator", &verb{
		example: "find-coordinator group other v=4",
		keys:    []string{"v"},
		words:   groupNames,
		groups:  true,
		run:     runFind,
	})
}

// runFind sends one FindCoordinator, for the scenario's group if none is named.
func runFind(r *run, c *script.Command) error {
	groups := c.Words
	if len(groups) == 0 {
		groups = []string{mainGroup}
	}
	v, err := r.version(c, "find-coordinator")
	if err != nil {
		return err
	}
	msg := kmsg.NewPtrFindCoordinatorRequest()
	for _, g := range groups {
		msg.CoordinatorKeys = append(msg.CoordinatorKeys, r.group(g))
	}
	if v < 4 { // find-coordinator.batch
		if len(groups) > 1 {
			return tooOld(r.caps, "find-coordinator", 4, v, "has one key")
		}
		msg.CoordinatorKey = msg.CoordinatorKeys[0]
	}
	req := &request{verb: "find-coordinator", group: groups[0]}
	req.render = func(resp kmsg.Response) string {
		find := resp.(*kmsg.FindCoordinatorResponse)
		if v < 4 {
			return more(errName(find.ErrorCode), nodeFault(find.ErrorCode, find.NodeID, find.Host, find.Port))
		}
		var parts []string
		for _, k := range find.Coordinators {
			entry := r.names.group(k.Key) + ":" + errName(k.ErrorCode)
			if fault := nodeFault(k.ErrorCode, k.NodeID, k.Host, k.Port); fault != "" {
				entry += "(" + fault + ")"
			}
			parts = append(parts, entry)
		}
		return sortedBrackets(parts)
	}
	return r.send(req, msg, v)
}

// nodeFault says what is wrong with the node of an answer: find-coordinator.group wants one that can be reached.
func nodeFault(code int16, node int32, host string, port int32) string {
	switch {
	case code == 0 && (node < 0 || host == "" || port <= 0):
		return "no-node"
	case code != 0 && (node != -1 || host != "" || port != -1):
		return "a-node"
	}
	return ""
}
