package explore

import c "github.com/muster-kafka/muster/model/classic"

// gateProperties are asked about everything that a broker meets without having the group.
var gateProperties = []property{
	{"a coordinator that loads answers so, and nothing comes of it", c.LoadingRefuses, always, func(v *view) bool {
		if !v.turned() || v.s.Serving != c.Loading || v.e.Kind == c.Heartbeat || v.e.Kind == c.SyncGroup {
			return true
		}
		if v.e.Kind == c.TxnOffsetCommit && v.e.CommitVersion < 2 {
			return v.refused(c.CodeCoordinatorNotAvailable)
		}
		return v.refused(c.CodeCoordinatorLoadInProgress)
	}},
	{"a Heartbeat while loading succeeds", c.LoadingHeartbeat, always, func(v *view) bool {
		return !v.turned() || v.s.Serving != c.Loading || v.e.Kind != c.Heartbeat || v.refused(c.CodeNone)
	}},
	{"a SyncGroup while loading is answered as the profile says", c.LoadingSync, always, func(v *view) bool {
		if !v.turned() || v.s.Serving != c.Loading || v.e.Kind != c.SyncGroup {
			return true
		}
		if v.profile.LoadingSync27 {
			return v.refused(c.CodeRebalanceInProgress)
		}
		return v.refused(c.CodeCoordinatorLoadInProgress)
	}},
	{"a broker that is not the coordinator says so, and nothing comes of it", c.NotCoordinator, always, func(v *view) bool {
		if !v.turned() || v.s.Serving != c.NoCoordinator {
			return true
		}
		return v.refused(c.CodeNotCoordinator) || v.e.Kind == c.ListGroups && v.refused(c.CodeNone)
	}},
	{"bad session timeouts are refused in the profile's order", c.GateSession, always, func(v *view) bool {
		bad := v.e.Kind == c.JoinGroup && v.e.BadSession && !v.e.BadGroup
		return !bad || v.refused(c.CodeInvalidSessionTimeout) == v.profile.SessionBeforeGate
	}},
	{"a JoinGroup that is turned away is echoed as the profile says", c.GateEcho, always, func(v *view) bool {
		return !v.turned() || v.e.Kind != c.JoinGroup || (v.reply.Echo == c.EchoRequest) == v.profile.GateEchoes
	}},
	{"a request without group id is refused before anything else", c.NotCoordinator, always, func(v *view) bool {
		return !v.e.BadGroup || v.refused(c.CodeInvalidGroupID)
	}},
	{"a broker without the group has nothing of it", c.UnloadForgets, always, func(v *view) bool {
		return v.e.Kind == c.Loaded || v.t.Next == c.State{Serving: v.t.Next.Serving} && v.t.Next.Serving != c.Active
	}},
}

// turned says whether a request comes as far as the gate.
func (v *view) turned() bool {
	sessionFirst := v.e.BadSession && v.profile.SessionBeforeGate
	return v.e.Kind.Request() && !v.e.BadGroup && !v.e.NoProtocol && !sessionFirst
}

// unloadProperties are asked when the coordinator gives the group up.
var unloadProperties = []property{
	{"whoever waits in JoinGroup is told that the coordinator has gone", c.UnloadJoin, always, func(v *view) bool {
		return v.allTold(c.ParkedJoin, func(s *c.Slot) bool { return s.Joining })
	}},
	{"whoever waits in SyncGroup is told that the coordinator has gone", c.UnloadSync, always, func(v *view) bool {
		return v.allTold(c.ParkedSync, func(s *c.Slot) bool { return s.Syncing })
	}},
	{"what the coordinator gives up it forgets", c.UnloadForgets, always, func(v *view) bool {
		for i := range v.of(v.s) {
			if d, ok := v.effect(c.SessionTimer, int8(i)); v.s.Slots[i].Timed && (!ok || d != c.Cancel) {
				return false
			}
		}
		return v.t.Next == c.State{Serving: c.NoCoordinator} && v.t.Generation == c.SameGeneration && len(v.t.Records) == 0
	}},
}

func (v *view) allTold(kind c.AddressKind, waits func(*c.Slot) bool) bool {
	for i := range v.of(v.s) {
		if code, n := v.answerTo(kind, int8(i)); waits(&v.s.Slots[i]) && (n != 1 || code != c.CodeNotCoordinator) {
			return false
		}
	}
	return true
}

// loadProperties are asked when a group is loaded.
var loadProperties = []property{
	{"a loaded group is what its record says", c.LoadState, always, func(v *view) bool {
		r, n := v.e.Record, &v.t.Next
		if r == nil {
			return *n == c.State{}
		}
		for i := range v.of(n) {
			is, was := &n.Slots[i], &r.Slots[i]
			same := is.Kind == was.Kind && is.Leader == was.Leader && is.Static == was.Static && is.List == was.List && is.Given == was.Given
			if !same || is.Joining || is.Syncing || is.New {
				return false
			}
		}
		resized := v.group.MaxSize > 0 && v.members(r) > v.group.MaxSize
		return (n.Phase == r.Phase || resized) && n.Type == r.Type && n.Protocol == r.Protocol && n.Offsets == r.Offsets && n.Open == r.Open
	}},
	{"a loaded group's members have their whole session", c.LoadSessions, always, func(v *view) bool {
		for i := range v.of(&v.t.Next) {
			if v.t.Next.Slots[i].Kind == c.Member && !v.armed(int8(i)) {
				return false
			}
		}
		return true
	}},
	{"nobody owes a SyncGroup in a loaded group", c.LoadNoSync, always, func(v *view) bool {
		for i := range v.of(&v.t.Next) {
			if v.t.Next.Slots[i].OwesSync {
				return false
			}
		}
		return !v.t.Next.SyncTimer && !v.t.Next.StaleSync
	}},
	{"a loaded group that is too large rebalances", c.MaxSizeLoad, always, func(v *view) bool {
		large := v.e.Record != nil && v.group.MaxSize > 0 && v.members(v.e.Record) > v.group.MaxSize
		return (v.t.Next.Phase == c.PreparingRebalance) == large
	}},
}
