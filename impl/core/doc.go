// Package core is the reference group coordinator for Kafka's classic protocol, without any I/O: events go in, effects come out,
// and the caller says what time it is. It has no goroutine, reads no clock and depends on no map order, so the same events in the
// same order give the same effects, bit for bit. A shell (impl/server, impl/sim) owns it and carries out its effects.
//
// It behaves like the coordinator of Apache Kafka 4.4 with each accident of that release replaced by what the protocol needs:
//
//   - a JoinGroup or SyncGroup that the same member repeats while the first is parked: the first is answered REBALANCE_IN_PROGRESS;
//   - the parked SyncGroup of a member that is removed is answered UNKNOWN_MEMBER_ID;
//   - LeaveGroup of an id that has not joined yet does not start a rebalance;
//   - nothing but its completed join ends the five minutes of a new member, not even its own heartbeat or commit;
//   - a protocol name that a member lists twice counts once;
//   - the leader's second SyncGroup while its first is being written does not write again, so that log and memory agree;
//   - the extension flag of the initial rebalance delay does not outlive its rebalance.
//
// Rule ids and sections (§) in comments name the entries of model/classic and of the fact sheet that a branch restates.
//
// Not supported yet: static members. A request or LeaveGroup entry with a group.instance.id is answered UNSUPPORTED_VERSION.
// Neither are transactions, OffsetDelete, group.max.size, offset retention and loading from the log.
package core
