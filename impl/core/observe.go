package core

import "time"

// Change tells an observer of a group that has entered a state, or has got or lost a member in the state it is in. It is no effect:
// nothing depends on it.
type Change struct {
	Group        string
	ProtocolType string
	From, To     State // the same where only the members changed; a group that is created comes from Dead
	Generation   int32
	Members      int
	Reason       Reason
	At           time.Time
}

// Reason says why a group changed. The set is small and fixed, so that it can be counted by.
type Reason string

// The reasons.
const (
	Created          Reason = "created"
	MemberJoined     Reason = "a member joined"
	LeaderRejoined   Reason = "the leader rejoined"
	ProtocolsChanged Reason = "a member changed its protocols"
	MemberRejoined   Reason = "a member rejoined"
	MemberLeft       Reason = "a member left"
	SessionExpired   Reason = "a session expired"
	JoinNotCompleted Reason = "a new member did not complete its join"
	IDNotUsed        Reason = "a member id expired before its join"
	AllJoined        Reason = "all members joined"
	JoinTimedOut     Reason = "the rebalance timeout is over"
	DelayOver        Reason = "the initial delay is over"
	SyncTimedOut     Reason = "members did not sync in time"
	LeaderSynced     Reason = "the leader synced"
	WriteFailed      Reason = "a write failed"
	Deleted          Reason = "deleted"
	Replaced         Reason = "a static member was replaced"
	Loaded           Reason = "loaded with more members than group.max.size"
	TakenOver        Reason = "loaded"
	NoOffsetsLeft    Reason = "no offsets left"
	Inconsistent     Reason = "an inconsistency"
)

// Reasons are all of them.
var Reasons = []Reason{
	Created, MemberJoined, LeaderRejoined, ProtocolsChanged, MemberRejoined, MemberLeft, SessionExpired, JoinNotCompleted, IDNotUsed,
	AllJoined, JoinTimedOut, DelayOver, SyncTimedOut, LeaderSynced, WriteFailed, Deleted, Replaced, Loaded, TakenOver, NoOffsetsLeft, Inconsistent,
}

// observe tells the observer, if there is one.
func (c *Coordinator) observe(g *group, from State) {
	if c.settings.Observe == nil {
		return
	}
	c.settings.Observe(Change{
		Group: g.id, ProtocolType: g.protocolType, From: from, To: g.state,
		Generation: g.generation, Members: len(g.members), Reason: c.reason, At: c.now,
	})
}
