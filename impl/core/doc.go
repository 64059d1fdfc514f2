// Package core is the reference group coordinator for Kafka's classic protocol, without any I/O: events go in, effects come out,
// and the caller says what time it is. It has no goroutine, reads no clock and depends on no map order, so the same events in the
// same order give the same effects, bit for bit. A shell (impl/server, impl/sim) owns it and carries out its effects.
//
// A Coordinator is one partition of __consumer_offsets: all its groups share one log, one order of writes, and one fate when that log is
// loaded or given up. Transactions are coordinated elsewhere: the shell says whether a TxnOffsetCommit belongs to one, and sends the
// marker that ends it.
//
// It behaves like the coordinator of Apache Kafka 4.4 with each accident of that release replaced by what the protocol needs:
//
//   - a JoinGroup or SyncGroup that the same member repeats while the first is parked: the first is answered REBALANCE_IN_PROGRESS;
//   - the parked SyncGroup of a member that is removed is answered UNKNOWN_MEMBER_ID;
//   - LeaveGroup of an id that has not joined yet does not start a rebalance;
//   - nothing but its completed join ends the five minutes of a new member, not even its own heartbeat or commit;
//   - a protocol name that a member lists twice counts once;
//   - the leader's second SyncGroup while its first is being written does not write again, so that log and memory agree;
//   - the SyncGroup that a static member owes when it is replaced is owed by its new id;
//   - a replacement that a rebalance overtakes while it is being written is answered by that rebalance, whatever becomes of the write;
//   - an id that is pending and comes back with an instance id is UNKNOWN_MEMBER_ID;
//   - an eviction by group.max.size after which nobody is missing completes the join;
//   - a join that waits for static members with no rebalance timeout looks again each second, not without pause;
//   - a DeleteGroups behind a write that is late is no different from one that is not;
//   - a member id made from a client id that is too long for an answer has less of it;
//   - a retention time that does not fit into a timestamp is for ever.
//
// The extension flag of the initial rebalance delay does not outlive its rebalance (delay.flag).
//
// Rule ids and sections (§) in comments name the entries of model/classic and of the fact sheet that a branch restates.
package core
