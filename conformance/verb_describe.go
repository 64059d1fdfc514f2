package conformance

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/script"
)

func init() {
	register("describe", &verb{
		example: "describe v=6 group=other",
		keys:    []string{"v", "group"},
		run:     runDescribe,
	})
}

// runDescribe sends one DescribeGroups of one group.
func runDescribe(r *run, c *script.Command) error {
	group := groupArg(c, nil)
	msg := kmsg.NewPtrDescribeGroupsRequest()
	msg.Groups = []string{r.group(group)}
	req := &request{verb: "describe", group: group}
	req.render = func(resp kmsg.Response) string { return r.renderDescribe(resp.(*kmsg.DescribeGroupsResponse)) }
	return r.observe(req, msg, version(c))
}

func (r *run) renderDescribe(resp *kmsg.DescribeGroupsResponse) string {
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
	return more(parts...)
}

// describeMember is A:metadata->assignment, without what is empty. The client id must be the actor's.
func (r *run) describeMember(m kmsg.DescribeGroupsResponseGroupMember) string {
	var b strings.Builder
	b.WriteString(r.names.member(m.MemberID))
	if len(m.ProtocolMetadata) > 0 {
		b.WriteString(":" + raw(m.ProtocolMetadata))
	}
	if len(m.MemberAssignment) > 0 {
		b.WriteString("->" + raw(m.MemberAssignment))
	}
	if h, ok := r.names.byID[m.MemberID]; ok && h.actor.name != m.ClientID {
		b.WriteString("(client-id " + raw([]byte(m.ClientID)) + ")")
	}
	return b.String()
}
