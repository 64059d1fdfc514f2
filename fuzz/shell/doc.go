// Package shell simulates all of muster serve in one process, as if in one thread: its nodes, connections, groups, log and disk are the real ones, but the
// network, the disk's syncs and time are queues that a seed decides on. What happens next is one thing: some bytes arrive, a sync ends, a timer is due, a
// connection is cut, the machine crashes. Nothing else happens until everybody waits again (testing/synctest), so a run is the same, bit for bit, for the same seed.
// (Not with the race detector: it has the runtime mix the order of goroutines.)
//
// Bytes arrive in pieces, late, or never; a machine that crashes loses what was on its way and what had not been synced, and what of a log's end is left is torn
// anywhere. Clients are those of a campaign, and what they were told is judged as a campaign's histories are. There are tests alone:
//
//	go test ./fuzz/shell -v -args -runs 200    # more of them
//	go test ./fuzz/shell -v -args -seed 17     # that one, and what happened in it, in muster-out
package shell
