package conformance

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/script"
)

func init() {
	register("list", &verb{
		example: "list states=stable,empty types=classic v=5",
		keys:    []string{"v", "states", "types"},
		run:     runList,
	})
}

// runList sends one ListGroups; of the answer only the scenario's own groups are shown.
func runList(r *run, c *script.Command) error {
	v, err := r.version(c, "list")
	if err != nil {
		return err
	}
	msg := kmsg.NewPtrListGroupsRequest()
	if s, ok := c.Arg("states"); ok {
		if v < 4 {
			return tooOld(r.caps, "list", 4, v, "has no states")
		}
		msg.StatesFilter = strings.Split(s, ",")
	}
	if s, ok := c.Arg("types"); ok {
		if v < 5 {
			return tooOld(r.caps, "list", 5, v, "has no types")
		}
		msg.TypesFilter = strings.Split(s, ",")
	}
	req := &request{verb: "list", group: mainGroup}
	req.render = func(resp kmsg.Response) string {
		list := resp.(*kmsg.ListGroupsResponse)
		var parts []string
		for _, g := range list.Groups {
			name, ours := r.names.groups[g.Group]
			if !ours {
				continue
			}
			entry := name + ":" + dash(g.ProtocolType)
			if v >= 4 {
				entry += "/" + dash(g.GroupState)
			}
			if v >= 5 {
				entry += "/" + dash(g.GroupType)
			}
			parts = append(parts, entry)
		}
		return more(errName(list.ErrorCode), sortedBrackets(parts))
	}
	return r.observe(req, msg, v)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return raw([]byte(s))
}
