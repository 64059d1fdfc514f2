package classic

// servingRules are the rules of a coordinator that loads a group, gives it up, or does not have it.
var servingRules = map[RuleID]Rule{
	LoadingRefuses:   {"loading.refuses", Contract, "While the group's partition is loading, every request but Heartbeat is answered COORDINATOR_LOAD_IN_PROGRESS (TxnOffsetCommit up to version 1 COORDINATOR_NOT_AVAILABLE) and changes nothing.", all, "§2.0.3", "a client takes offsets that have not been read yet for none"},
	LoadingHeartbeat: {"loading.heartbeat", Compat, "While the group's partition is loading, a Heartbeat is answered NONE, whoever sends it.", all, "§2.0.3", "every failover makes all members rejoin"},
	LoadingSync:      {"loading.sync", Compat, "While the group's partition is loading, SyncGroup is answered COORDINATOR_LOAD_IN_PROGRESS (up to 3.9 REBALANCE_IN_PROGRESS).", java, "§5.1 DF2", "a client rejoins where it could have waited"},
	LoadingList:      {"loading.list", Quirk, "ListGroups is answered COORDINATOR_LOAD_IN_PROGRESS with no groups while any partition is loading (up to 3.9 with those that are loaded).", java, "§5.1 DF24", "tools see no groups for a moment"},
	NotCoordinator:   {"not-coordinator.refuses", Contract, "A broker that is not the group's coordinator answers NOT_COORDINATOR and changes nothing; ListGroups leaves the group out.", all, "§2.0.3", "two brokers serve one group"},
	GateSession:      {"gate.session-first", Quirk, "A JoinGroup whose session timeout is out of bounds is answered INVALID_SESSION_TIMEOUT also where the broker is loading or not the coordinator (up to 3.9 the latter comes first).", java, "§5.1 DF1", "nothing"},
	GateEcho:         {"gate.echo", Quirk, "A JoinGroup that is answered COORDINATOR_LOAD_IN_PROGRESS or NOT_COORDINATOR carries an empty member id (up to 3.9 the request's).", java, "§5.1 DF3", "nothing: clients keep their id"},
	UnloadJoin:       {"unload.join", Contract, "When a coordinator gives up a group, every waiting JoinGroup is answered NOT_COORDINATOR with its member's id.", all, "§4.6", "a consumer hangs in poll"},
	UnloadSync:       {"unload.sync", Contract, "When a coordinator gives up a group, every waiting SyncGroup is answered NOT_COORDINATOR.", all, "§4.6", "a consumer hangs in poll"},
	UnloadForgets:    {"unload.forgets", Contract, "A coordinator that has given up a group keeps nothing of it, timers included: what it serves later is what it loads.", all, "§4.6, §4.4", "old state of a group overwrites its new one"},
	LoadState:        {"load.state", Contract, "A loaded group is Stable with the generation, protocol, leader, members and assignments of its last record, or Empty where that has none; pending ids, an open rebalance and waiting requests are lost; offsets and pending transactional offsets are there.", all, "§4.4", "members of a Stable group lose their partitions in a failover, or two have the same"},
	LoadSessions:     {"load.sessions", Contract, "Every member of a loaded group has its full session timeout from then on.", all, "§4.4-5", "a failover expels living members, or dead ones stay for ever"},
	LoadNoSync:       {"load.no-sync", Compat, "Nobody owes a SyncGroup in a loaded group.", all, "§4.4-5", "a failover costs a rebalance"},
	LoadOneProtocol:  {"load.one-protocol", Quirk, "A member of a loaded group has only the protocol of its generation on its list, so that a JoinGroup with its full list counts as changed.", all, "§4.4-6", "a rebalance after a failover"},
	LoadEpoch:        {"load.epoch", Contract, "Of loading and giving up a partition the one with the later leader epoch counts, in whatever order they are heard of.", "2.8.1-4.4", "§4.4-10", "groups vanish until the next change of leader"},
}
