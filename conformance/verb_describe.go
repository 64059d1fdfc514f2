package conformance

import (
	"fmt"
	"math"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/script"
)

func init() {
	register("describe", &verb{
		example: "describe v=6 group=other -operations",
		keys:    []string{"v", "group"},
		flags:   []string{"operations"},
		run:     runDescribe,
	})
}

// runDescribe sends one DescribeGroups of one group.
func runDescribe(r *run, c *script.Command) error {
	group := groupArg(c, nil)
	msg := kmsg.NewPtrDescribeGroupsRequest()
	msg.Groups = []string{r.group(group)}
	msg.IncludeAuthorizedOperations = c.Flag("operations")
	req := &request{verb: "describe", group: group}
	// Kafka 2.4 calls it no operations where they were not asked for; a scenario that names the version is told.
	unasked := !msg.IncludeAuthorizedOperations && version(c) < 0
	req.render = func(resp kmsg.Response) string { return r.renderDescribe(resp.(*kmsg.DescribeGroupsResponse), unasked) }
	return r.observe(req, msg, version(c))
}

func (r *run) renderDescribe(resp *kmsg.DescribeGroupsResponse, unasked bool) string {
	if len(resp.Groups) != 1 {
		return fmt.Sprintf("%d groups", len(resp.Groups))
	}
	g := resp.Groups[0]
	parts := make([]string, 1, 5)
	if g.ErrorCode != 0 {
		parts[0] = errName(g.ErrorCode)
	}
	parts = append(parts, g.State)
	if g.ProtocolType != "" {
		parts = append(parts, "type="+raw([]byte(g.ProtocolType)))
	}
	if g.Protocol != "" {
		parts = append(parts, "protocol="+raw([]byte(g.Protocol)))
	}
	members := make([]string, len(g.Members))
	for i, m := range g.Members {
		members[i] = r.describeMember(m)
	}
	if len(members) > 0 {
		parts = append(parts, "members="+sortedBrackets(members))
	}
	if g.AuthorizedOperations != math.MinInt32 && (g.AuthorizedOperations != 0 || !unasked) {
		parts = append(parts, "operations="+operations(g.AuthorizedOperations))
	}
	return more(parts...)
}

// operations names the bits of authorizedOperations that groups have.
func operations(bits int32) string {
	names := []struct {
		bit  int32
		name string
	}{{3, "read"}, {6, "delete"}, {8, "describe"}, {10, "describe-configs"}, {11, "alter-configs"}}
	var out []string
	for _, n := range names {
		if bits&(1<<n.bit) != 0 {
			out = append(out, n.name)
			bits &^= 1 << n.bit
		}
	}
	if bits != 0 {
		out = append(out, fmt.Sprintf("%#x", bits))
	}
	return brackets(out)
}

// describeMember is A:metadata->assignment, without what is empty. The client id must be the actor's.
func (r *run) describeMember(m kmsg.DescribeGroupsResponseGroupMember) string {
	var b strings.Builder
	b.WriteString(r.names.memberOf(m.MemberID, m.InstanceID))
	if len(m.ProtocolMetadata) > 0 {
		b.WriteString(":" + r.names.blob(m.ProtocolMetadata))
	}
	if len(m.MemberAssignment) > 0 {
		b.WriteString("->" + raw(m.MemberAssignment))
	}
	if h, ok := r.names.byID[m.MemberID]; ok && h.actor.name != m.ClientID {
		b.WriteString("(client-id " + raw([]byte(m.ClientID)) + ")")
	}
	return b.String()
}
