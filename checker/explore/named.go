package explore

import "github.com/muster-kafka/muster/model/classic"

// Invariant is what a broken invariant of the model is called.
func Invariant(v classic.Violation) string { return "invariant " + v.Invariant + ": " + v.Sentence }

// Properties are the names of all that is judged in a Group, invariants first.
func Properties() (names []string) {
	for _, v := range classic.Invariants() {
		names = append(names, Invariant(v))
	}
	names = append(names, neverAnswered, mayHang, allJoined)
	for _, list := range everyProperty() {
		for _, p := range list {
			names = append(names, p.name)
		}
	}
	return names
}

func everyProperty() [][]property {
	return append([][]property{
		stepProperties, removalProperties, endProperties, completionProperties, answerProperties, gateProperties,
		instanceJoinProperties, instanceRequestProperties, instanceTimerProperties, instanceLeaveProperties, rekeyProperties, replacedProperties,
		delayProperties, sizeProperties, subscriptionProperties,
	}, byKind[:]...)
}

// EventName is what a kind of event is called where one word has to do.
func EventName(k classic.EventKind) string { return kindNames[k] }

// EventKinds are all kinds of events.
func EventKinds() (kinds []classic.EventKind) {
	for k := range kindNames {
		kinds = append(kinds, classic.EventKind(k))
	}
	return kinds
}

var kindNames = [...]string{
	classic.JoinGroup: "JoinGroup", classic.SyncGroup: "SyncGroup", classic.Heartbeat: "Heartbeat", classic.LeaveGroup: "LeaveGroup",
	classic.OffsetCommit: "OffsetCommit", classic.OffsetFetch: "OffsetFetch", classic.DescribeGroups: "DescribeGroups", classic.ListGroups: "ListGroups",
	classic.DeleteGroups: "DeleteGroups", classic.TxnOffsetCommit: "TxnOffsetCommit", classic.OffsetDelete: "OffsetDelete",
	classic.MemberTimer: "member-timer", classic.JoinTimer: "join-timer", classic.SyncTimer: "sync-timer", classic.WriteDone: "write-done",
	classic.TxnMarker: "transaction-end", classic.TopicsDeleted: "topics-deleted", classic.Cleanup: "cleanup",
	classic.Unload: "unload", classic.LoadStarts: "load-starts", classic.Loaded: "failover",
}
