package observe

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/model/classic"
)

// cites are the rules that this package follows where the model leaves an answer to its driver.
func (c *call) cites(t *classic.Transition) (rules []classic.RuleID) {
	switch m := c.request.Message.(type) {
	case *kmsg.SyncGroupRequest:
		if c.strangers && slices.Contains(t.Rules, classic.SyncLeaderAssigns) {
			rules = append(rules, classic.SyncAssignsMembersOnly)
		}
	case *kmsg.OffsetCommitRequest:
		for _, code := range c.errors {
			if code == errUnknownTopic {
				return append(rules, classic.CommitUnknownTopic)
			}
		}
	case *kmsg.OffsetFetchRequest:
		if _, all := askedOffsets(m, c.request.Version); all {
			rules = append(rules, classic.FetchAll)
		}
	case *kmsg.DescribeGroupsRequest:
		if t.Next.Phase == classic.Absent && c.request.Version >= 6 {
			rules = append(rules, classic.DescribeUnknownCode)
		}
	case *kmsg.ListGroupsRequest:
		if c.request.Version >= 4 && len(m.StatesFilter) > 0 || c.request.Version >= 5 && len(m.TypesFilter) > 0 {
			rules = append(rules, classic.ListFilters)
		}
	}
	for _, r := range t.Replies {
		if r.Error != 0 && (r.To.Kind == classic.ParkedJoin || r.To.Kind == classic.Caller && c.event.Kind == classic.JoinGroup) {
			return append(rules, classic.JoinReplyError)
		}
	}
	return rules
}
