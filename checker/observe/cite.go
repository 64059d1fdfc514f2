package observe

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/model/classic"
)

// cites are the rules that this package follows where the model leaves an answer to its driver. Without a transition the group was not
// asked.
func (c *call) cites(w *World, t *classic.Transition) (rules []classic.RuleID) {
	add := func(is bool, rule classic.RuleID) {
		if is && !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	version := c.request.Version
	any := func(code int16) bool {
		return slices.ContainsFunc(c.entries, func(e entry) bool { return e.code == code })
	}
	add(any(errUnknownTopic), classic.CommitUnknownTopic)
	add(any(errUnknownTopicID), classic.CommitTopicID)
	if t == nil {
		return rules
	}
	present := t.Next.Phase != classic.Absent
	switch m := c.request.Message.(type) {
	case *kmsg.SyncGroupRequest:
		add(c.strangers && slices.Contains(t.Rules, classic.SyncLeaderAssigns), classic.SyncAssignsMembersOnly)
	case *kmsg.JoinGroupRequest:
		add(version == 0 && t.Updated >= 0, classic.JoinZeroVersion)
		add(t.Rekeyed >= 0, classic.StaticReplacedClient)
	case *kmsg.OffsetCommitRequest:
		add(version >= commitIDs, classic.CommitTopicID)
		add(m.Group == "", classic.CommitGroupIDFree)
		add(t.Offsets == classic.StoreOffsets && slices.ContainsFunc(c.put, func(o offset) bool { return o.explicit }), classic.CommitRetention)
		add(c.twice, classic.CommitDuplicates)
	case *kmsg.TxnOffsetCommitRequest:
		add(version >= txnIDs, classic.CommitTopicID)
	case *kmsg.OffsetDeleteRequest:
		add(c.twice, classic.CommitDuplicates)
	case *kmsg.OffsetFetchRequest:
		add(c.askedAll, classic.FetchAll)
		add(version >= 8, classic.FetchEachGroup)
		add(version >= fetchIDs, classic.CommitTopicID)
		add(version == 1 && t.Replies[0].Error != 0, classic.FetchOldErrors)
	case *kmsg.DescribeGroupsRequest:
		add(!present && version >= 6 && t.Replies[0].Error == 0, classic.DescribeUnknownCode)
	case *kmsg.ListGroupsRequest:
		add(version >= 4 && len(m.StatesFilter) > 0 || version >= 5 && len(m.TypesFilter) > 0, classic.ListFilters)
	}
	for _, r := range t.Replies {
		add(r.Error != 0 && !r.Filled && (r.To.Kind == classic.ParkedJoin || r.To.Kind == classic.Caller && c.event.Kind == classic.JoinGroup), classic.JoinReplyError)
		for i := range t.Next.Slots {
			add(r.Members && t.Next.Slots[i].Static, classic.StaticListed)
		}
	}
	return rules
}
