// Package converge is the program that clients follow when nothing goes wrong any more, and says whether it has brought a group's clients
// together, or why it has not. A client
//
//   - joins where it has no generation: with its id if it has one, and without where it has none or was told that its id is unknown or fenced;
//   - syncs where it has a generation and not its assignment, and assigns to everybody where it leads;
//   - otherwise sends heartbeats in time; told to rejoin, or that its generation is illegal, it joins;
//   - starts anew, without its id, where others are refused for their protocols and it is why.
//
// Who drives it brings the time and the connections: package lockstep virtual time, package traffic real targets. Package clients has the same
// program in the terms of the specification, where it is followed from every reachable state.
package converge

import (
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/model/classic"
)

// Member is a client that follows the program.
type Member struct {
	*gen.Client
	Asked      time.Time // when it began to wait
	Unanswered int       // requests that it has given up

	makes assignment
	has   string // its assignment
	told  string // the last error that it was told, of which request
	tolds int    // errors that it was told
	full  bool   // it was told that there is no room for it
}

// assignment is what a leader gives the members of a generation, by their ids.
type assignment struct {
	generation int32
	to         map[string]string
}

// Waits says whether the client waits for an answer.
func (m *Member) Waits() bool { return m.Joins+m.Syncs > 0 }

// mustJoin says whether a client that waits for nothing is to join.
func (m *Member) mustJoin() bool {
	return m.JoinID == "" || m.Generation < 0 || m.Rejoin || m.JoinID != m.ID()
}

// Settled says whether it has all that it can have, as far as it knows.
func (m *Member) Settled() bool { return !m.Waits() && !m.mustJoin() && m.Synced }

// Request is what the client sends next. assigns is what it gives a member, where it leads; no two may be alike.
func (m *Member) Request(assigns func(member string) string) kmsg.Request {
	switch {
	case m.Waits() || m.Settled():
		return m.Heartbeat()
	case m.mustJoin():
		return m.JoinGroup()
	}
	m.makes = assignment{m.Generation, map[string]string{}}
	return m.SyncGroup(func(member string) string {
		m.makes.to[member] = assigns(member)
		return m.makes.to[member]
	})
}

// Knows is what a client knows, to be compared.
type Knows struct {
	id, next       string
	generation     int32
	synced, rejoin bool
	waiting        int
}

// Knows is what it knows now.
func (m *Member) Knows() Knows {
	return Knows{m.ID(), m.JoinID, m.Generation, m.Synced, m.Rejoin, m.Joins + m.Syncs}
}

// Group is a group whose clients follow the program.
type Group struct {
	Name     string
	Members  []*Member
	Patience time.Duration // longer than any coordinator holds a request back
	Crowded  bool          // who is told that there is no room (join.max-size) need not be in

	given     assignment // the latest that a leader has made and has been told of
	made      bool
	restarted time.Time // when members were last made to start anew
}

// Heard takes note of what a member is told, after the client itself has learned from it. It returns the members that start anew.
func (g *Group) Heard(m *Member, resp kmsg.Response, now time.Time) []*Member {
	switch r := resp.(type) {
	case *kmsg.JoinGroupResponse:
		m.hears("JoinGroup", r.ErrorCode)
		m.full = r.ErrorCode == classic.CodeGroupMaxSizeReached
		if r.ErrorCode == classic.CodeInconsistentGroupProtocol {
			return g.restart(now)
		}
	case *kmsg.HeartbeatResponse:
		m.hears("Heartbeat", r.ErrorCode)
	case *kmsg.SyncGroupResponse:
		m.hears("SyncGroup", r.ErrorCode)
		if r.ErrorCode != 0 {
			return nil
		}
		m.has = string(r.MemberAssignment)
		// One that was there already is not the one that the leader has made now.
		if own, made := m.makes.to[m.ID()]; made && own == m.has {
			g.given, g.made = m.makes, true
		}
	}
	return nil
}

// restart has the members start anew, unless they just have: whoever sees that others are refused for their protocols
// (join.protocol.inconsistent), and whose own are the odd ones, has to.
func (g *Group) restart(now time.Time) (anew []*Member) {
	if !g.restarted.IsZero() && now.Sub(g.restarted) < g.Patience {
		return nil
	}
	g.restarted = now
	for _, m := range g.Members {
		if m.Settled() {
			m.JoinID, m.Synced, m.Rejoin = "", false, true
			anew = append(anew, m)
		}
	}
	return anew
}

// hears takes note of an error.
func (m *Member) hears(api string, errorCode int16) {
	if errorCode != 0 {
		m.told = api + ": " + checker.ErrorName(errorCode)
		m.tolds++
	}
}

// inside are the members that have to be in.
func (g *Group) inside() []*Member {
	return slices.DeleteFunc(slices.Clone(g.Members), func(m *Member) bool { return g.Crowded && m.full })
}

// Settled says whether all members have all that they can have, as far as they know, in one generation.
func (g *Group) Settled() bool {
	in := g.inside()
	for _, m := range in {
		if !m.Settled() || m.Generation != in[0].Generation {
			return false
		}
	}
	return true
}

// Whole says whether the group is Stable by what DescribeGroups tells of it and has just its members, all of one generation, each with what
// its leader gave it.
func (g *Group) Whole(d *kmsg.DescribeGroupsResponseGroup) bool {
	in := g.inside()
	if len(in) == 0 {
		return Deserted(d)
	}
	if d == nil || d.State != "Stable" || len(d.Members) != len(in) {
		return false
	}
	for _, m := range in {
		i := slices.IndexFunc(d.Members, func(told kmsg.DescribeGroupsResponseGroupMember) bool { return told.MemberID == m.ID() })
		if i < 0 || m.Generation != in[0].Generation {
			return false
		}
		switch given, is := g.owed(m); {
		case is == passedOver, is == made && (given != string(d.Members[i].MemberAssignment) || given != m.has):
			return false
		}
	}
	return true
}

// Deserted says whether nobody is in the group by what DescribeGroups tells of it.
func Deserted(d *kmsg.DescribeGroupsResponseGroup) bool {
	return d != nil && (d.State == "Empty" || d.State == "Dead")
}

// owed is what the leader of a member's generation has given it, as far as that is known.
func (g *Group) owed(m *Member) (string, owing) {
	if !g.made || g.given.generation != m.Generation {
		return "", notMade
	}
	given, is := g.given.to[m.ID()]
	switch {
	case is:
		return given, made
	case m.Instance != nil:
		return "", notMade // it has replaced the one that the leader has heard of
	}
	return "", passedOver
}

type owing uint8

const (
	notMade    owing = iota // its generation is older than the healing, or its leader has not been told yet
	made                    // the leader has made it
	passedOver              // the leader has not heard of the client
)

// bytes are printed as text where they are some.
func bytes(b []byte) string { return fmt.Sprintf("%q", b) }
