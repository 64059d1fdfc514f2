package conformance

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/script"
)

func init() {
	register("delete", &verb{
		example: "delete group other v=2",
		keys:    []string{"v"},
		words:   groupNames,
		groups:  true,
		run:     runDelete,
	})
}

// runDelete sends one DeleteGroups, of the scenario's group if none is named.
func runDelete(r *run, c *script.Command) error {
	groups := c.Words
	if len(groups) == 0 {
		groups = []string{mainGroup}
	}
	msg := kmsg.NewPtrDeleteGroupsRequest()
	for _, g := range groups {
		msg.Groups = append(msg.Groups, r.group(g))
		r.acked.forget(r.group(g))
	}
	req := &request{verb: "delete", group: groups[0]}
	req.render = func(resp kmsg.Response) string {
		var parts []string
		for _, g := range resp.(*kmsg.DeleteGroupsResponse).Groups {
			parts = append(parts, r.names.group(g.Group)+":"+errName(g.ErrorCode))
		}
		return sortedBrackets(parts)
	}
	return r.send(req, msg, version(c))
}
