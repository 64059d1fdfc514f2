package observe

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/model/classic"
)

// Match says whether an answer is the predicted one: nil, or what differs. Members, topics, partitions and groups may come in any order;
// only fields that the answer's version has count, and of these not the throttle time, hosts, ports, messages and authorized
// operations. Where the prediction has a ghost's id, any id that it does not have otherwise will do (see MatchGhosts).
//
// A predicted classic.CodeWriteFailed stands for any error that a failed append is mapped to.
func Match(predicted, actual kmsg.Response) error { return MatchFailing(predicted, actual, 0) }

// MatchFailing is Match where it is known with which error of the log writes fail: then classic.CodeWriteFailed is the one error that Kafka 4.0 and later
// answer for it. 0 is any error.
func MatchFailing(predicted, actual kmsg.Response, logError int16) error {
	if !mentionsGhost(predicted) {
		return match(predicted, actual, nil, logError)
	}
	var first error
	matched := false
	matchGhosts(predicted, actual, logError, func(_ Binding, err error) bool {
		matched = matched || err == nil
		if first == nil {
			first = err
		}
		return !matched
	})
	if matched {
		return nil
	}
	return first
}

// MatchGhosts yields each way to give the prediction's ghosts the ids of the answer, with nil if the answer is the predicted one then.
func MatchGhosts(predicted, actual kmsg.Response, yield func(Binding, error) bool) {
	matchGhosts(predicted, actual, 0, yield)
}

func matchGhosts(predicted, actual kmsg.Response, logError int16, yield func(Binding, error) bool) {
	ghosts, known := responseIDs(predicted)
	if len(ghosts) == 0 {
		yield(nil, match(predicted, actual, nil, logError))
		return
	}
	_, ids := responseIDs(actual)
	ids = slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(known, id) })
	if len(ids) < len(ghosts) {
		yield(nil, fmt.Errorf("expected %d more members than it has ids for", len(ghosts)-len(ids)))
		return
	}
	injections(ghosts, ids, true, func(names Binding) bool { return yield(names, match(predicted, actual, names, logError)) })
}

// mentionsGhost says whether a ghost is among the member ids of an answer.
func mentionsGhost(resp kmsg.Response) bool {
	switch m := resp.(type) {
	case *kmsg.JoinGroupResponse:
		return isGhost(m.MemberID) || isGhost(m.LeaderID) ||
			slices.ContainsFunc(m.Members, func(one kmsg.JoinGroupResponseMember) bool { return isGhost(one.MemberID) })
	case *kmsg.DescribeGroupsResponse:
		for _, g := range m.Groups {
			if slices.ContainsFunc(g.Members, func(one kmsg.DescribeGroupsResponseGroupMember) bool { return isGhost(one.MemberID) }) {
				return true
			}
		}
	}
	return false
}

// responseIDs are the member ids of an answer, each once, ghosts apart.
func responseIDs(resp kmsg.Response) (ghosts, ids []string) {
	add := func(id string) {
		switch {
		case id == "":
		case isGhost(id):
			ghosts = appendNew(ghosts, id)
		default:
			ids = appendNew(ids, id)
		}
	}
	switch m := resp.(type) {
	case *kmsg.JoinGroupResponse:
		add(m.MemberID)
		add(m.LeaderID)
		for _, one := range m.Members {
			add(one.MemberID)
		}
	case *kmsg.DescribeGroupsResponse:
		for _, g := range m.Groups {
			for _, one := range g.Members {
				add(one.MemberID)
			}
		}
	}
	return ghosts, ids
}

func match(predicted, actual kmsg.Response, names Binding, logError int16) error {
	if predicted.Key() != actual.Key() {
		return fmt.Errorf("expected an answer to %s, got one to %s", kmsg.NameForKey(predicted.Key()), kmsg.NameForKey(actual.Key()))
	}
	d := &diff{version: predicted.GetVersion(), names: names, logError: logError}
	switch p := predicted.(type) {
	case *kmsg.JoinGroupResponse:
		d.join(p, actual.(*kmsg.JoinGroupResponse))
	case *kmsg.SyncGroupResponse:
		d.sync(p, actual.(*kmsg.SyncGroupResponse))
	case *kmsg.HeartbeatResponse:
		d.code("error", p.ErrorCode, actual.(*kmsg.HeartbeatResponse).ErrorCode)
	case *kmsg.LeaveGroupResponse:
		d.leave(p, actual.(*kmsg.LeaveGroupResponse))
	case *kmsg.OffsetCommitResponse:
		d.commit(p, actual.(*kmsg.OffsetCommitResponse))
	case *kmsg.TxnOffsetCommitResponse:
		d.txnCommit(p, actual.(*kmsg.TxnOffsetCommitResponse))
	case *kmsg.OffsetDeleteResponse:
		d.offsetDelete(p, actual.(*kmsg.OffsetDeleteResponse))
	case *kmsg.OffsetFetchResponse:
		d.fetch(p, actual.(*kmsg.OffsetFetchResponse))
	case *kmsg.DescribeGroupsResponse:
		d.describe(p, actual.(*kmsg.DescribeGroupsResponse))
	case *kmsg.ListGroupsResponse:
		d.list(p, actual.(*kmsg.ListGroupsResponse))
	case *kmsg.DeleteGroupsResponse:
		d.delete(p, actual.(*kmsg.DeleteGroupsResponse))
	case *kmsg.FindCoordinatorResponse:
		d.find(p, actual.(*kmsg.FindCoordinatorResponse))
	default:
		return fmt.Errorf("answers to %s cannot be compared", kmsg.NameForKey(predicted.Key()))
	}
	return d.err
}

// diff keeps the first difference.
type diff struct {
	version  int16
	names    Binding
	logError int16 // see MatchFailing; 0 where it is not known
	err      error
}

func (d *diff) say(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

func (d *diff) code(what string, p, a int16) {
	if p == classic.CodeWriteFailed {
		if d.logError == 0 && writeError(a) {
			return
		}
		if d.logError != 0 {
			p = WriteError(d.logError)
		}
	}
	if p == a {
		return
	}
	d.say("%s: expected %s, got %s", what, checker.ErrorName(p), checker.ErrorName(a))
}

// WriteError is what Kafka 4.0 and later answer to a request that the log has refused with an error (§2.6.3, §4.3 of the facts).
func WriteError(log int16) int16 {
	switch log {
	case 3, 7, 19: // the partition is not there, the write takes too long, too few replicas
		return 15
	case 6, 56: // another broker leads, or the disk is gone
		return 16
	case 4, 10, 18: // the records are too large
		return -1
	}
	return log
}

// MarkerError is what a transaction's coordinator is told of a marker that the log has refused: one that is worth another attempt sends it to look for
// the group's coordinator again (§2.9.2).
func MarkerError(log int16) int16 {
	switch code := WriteError(log); code {
	case 14, 15, 16:
		return 6
	default:
		return code
	}
}

// writeError says whether a failed append may be answered so (§2.6.3, §4.3 of the facts).
func writeError(code int16) bool {
	switch code {
	case -1, 7, 14, 15, 16, 27, 28:
		return true
	}
	return false
}

func (d *diff) number(what string, p, a int64) {
	if p != a {
		d.say("%s: expected %d, got %d", what, p, a)
	}
}

func (d *diff) text(what, p, a string) {
	if p != a {
		d.say("%s: expected %s, got %q", what, quoted(p), a)
	}
}

// quoted is a predicted text for people, who know nothing of ghosts.
func quoted(text string) string {
	if isGhost(text) {
		return ShowID(text)
	}
	return strconv.Quote(text)
}

func (d *diff) nullable(what string, p, a *string) {
	switch {
	case p == nil && a == nil:
	case p == nil:
		d.say("%s: expected null, got %q", what, *a)
	case a == nil:
		d.say("%s: expected %q, got null", what, *p)
	default:
		d.text(what, *p, *a)
	}
}

func (d *diff) bytes(what string, p, a []byte) {
	if !bytes.Equal(p, a) {
		d.say("%s: expected %q, got %q", what, p, a)
	}
}

// name is an id of the prediction, with ghosts named.
func (d *diff) name(id string) string {
	if n, ok := d.names[id]; ok {
		return n
	}
	return id
}

// pairs matches two lists by key, in any order.
func pairs[T any](d *diff, what string, p, a []T, key func(T) string, compare func(what string, p, a T)) {
	if d.err != nil || inOrder(d, p, a, key, compare) {
		return
	}
	expected, got := keys(d, p, key), keys(d, a, key)
	for _, k := range expected {
		if !slices.Contains(got, k) {
			d.say("%s: %s is missing", what, ShowID(k))
			return
		}
	}
	for _, k := range got {
		if !slices.Contains(expected, k) {
			d.say("%s: %s is not expected", what, k)
			return
		}
	}
	if len(p) != len(a) {
		d.say("%s: expected %d, got %d", what, len(p), len(a))
		return
	}
	used := make([]bool, len(a))
	for i, k := range expected { // of equal keys the first goes with the first
		for j := range got {
			if !used[j] && got[j] == k {
				used[j] = true
				compare(strings.TrimSuffix(what, "s")+" "+k, p[i], a[j])
				break
			}
		}
	}
}

// inOrder says whether two lists are the same in their order, as they mostly are. That takes no words.
func inOrder[T any](d *diff, p, a []T, key func(T) string, compare func(what string, p, a T)) bool {
	if len(p) != len(a) {
		return false
	}
	for i := range p {
		if d.name(key(p[i])) != key(a[i]) {
			return false
		}
		if compare("", p[i], a[i]); d.err != nil {
			d.err = nil // to be told in words
			return false
		}
	}
	return true
}

func keys[T any](d *diff, list []T, key func(T) string) []string {
	ks := make([]string, len(list))
	for i, t := range list {
		ks[i] = d.name(key(t))
	}
	return ks
}
