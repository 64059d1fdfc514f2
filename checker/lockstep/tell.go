package lockstep

import (
	"cmp"
	"slices"
	"strings"

	"github.com/muster-kafka/muster/model/classic"
)

// telling puts the rules of a prediction in order, the most telling first: contracts before the rest, since a divergence breaks all that was
// predicted and so the strictest of it; among equals those that are about what differs; else as they were cited. The rule of a timer that
// differs is no part of the step that arms it, and comes before all of them.
func (d *difference) telling() []classic.RuleID {
	rules := slices.DeleteFunc(slices.Clone(d.rules), func(id classic.RuleID) bool { return slices.Contains(d.timer, id) })
	slices.SortStableFunc(rules, func(a, b classic.RuleID) int {
		return cmp.Or(cmp.Compare(a.Rule().Class, b.Rule().Class), cmp.Compare(d.about(b), d.about(a)))
	})
	return append(slices.Clone(d.timer), rules...)
}

// ofTimers is the rule by which the timers fire that only one side has, if they are all of one kind that has one.
func ofTimers(expected, got []timer) []classic.RuleID {
	var kinds []classic.TimerKind
	for _, t := range slices.Concat(expected, got) {
		if slices.Contains(expected, t) != slices.Contains(got, t) {
			kinds = append(kinds, t.kind)
		}
	}
	slices.Sort(kinds)
	kinds = slices.Compact(kinds)
	if len(kinds) != 1 {
		return nil
	}
	if id, ok := fires[kinds[0]]; ok {
		return []classic.RuleID{id}
	}
	return nil
}

// fires are the rules of a group's timers; those of members are of several kinds, and the step that arms one cites its rule.
var fires = map[classic.TimerKind]classic.RuleID{classic.GroupSyncTimer: classic.SyncTimerExpels, classic.GroupJoinTimer: classic.JoinCompleteTimeout}

// about weighs how much a rule is about what differs.
func (d *difference) about(id classic.RuleID) int {
	rule := id.Rule()
	weight := 0
	if p := prefixes[d.api]; p != "" && strings.HasPrefix(rule.ID, p) {
		weight += 2
	}
	for _, word := range words[d.what] {
		if strings.Contains(rule.ID, word) {
			weight++
			break
		}
	}
	return weight
}

// prefixes begin the ids of the rules about an API.
var prefixes = map[string]string{
	"JoinGroup": "join.", "SyncGroup": "sync.", "Heartbeat": "heartbeat.", "LeaveGroup": "leave.", "OffsetCommit": "commit.",
	"OffsetFetch": "fetch.", "DescribeGroups": "describe.", "ListGroups": "list.", "DeleteGroups": "delete.",
}

// words are in the ids of rules about what is no answer.
var words = map[string][]string{
	"timers":    {"timer", "timeout", "session", "expires", "pending"},
	"dropped":   {".parked."},
	"no answer": {".parks", ".parked"},
	"records":   {"write", "empt", "tombstone", "record"},
}
