package embedded

import (
	"fmt"

	"github.com/muster-kafka/muster/impl/core"
)

// refusals are errors of the log, and what a request is told that waits for the write: a commit of its own, a Heartbeat behind it, and a stable OffsetFetch behind it.
var refusals = []struct {
	code                int16
	commit, beat, fetch string
}{
	{core.UnknownTopicOrPartition, "15", "15", "16"},
	{core.NotEnoughReplicas, "15", "15", "16"},
	{core.NotLeaderOrFollower, "16", "16", "16"},
	{core.KafkaStorageError, "16", "16", "16"},
	{core.MessageTooLarge, "-1", "-1", "-1"},
	{core.RecordListTooLarge, "-1", "-1", "-1"},
	{core.InvalidFetchSize, "-1", "-1", "-1"},
	{core.NetworkException, "14", "13", "13"},
	{corruptMessage, "2", "2", "2"},
	{core.RequestTimedOut, "15", "15", "16"},
}

// groupOf is a group for a refusal.
func groupOf(code int16) string { return fmt.Sprint("of", code) }

// Commits, and what waits behind them.
var waitingCommits = []play{
	{name: "a commit that is late", play: func(w *played) {
		w.atOnce(commits("g", 1), "0")
		w.slow()
		commit, txn := w.ask(commits("g", 2)), w.ask(txnCommits("u", 1, 5))
		w.open(commit, txn)
		w.atOnce(fetches("g", false), "0 0@1")
		behind := w.ask(fetches("g", true))
		w.open(behind)
		w.ends(0, core.RequestTimedOut)
		w.says(commit, "15")
		w.open(txn, behind)
		w.ends(1, core.RequestTimedOut)
		w.says(txn, "15")
		w.says(behind, "16")
		later := w.ask(fetches("g", true))
		w.open(later)
		w.ends(1, core.RequestTimedOut) // once more
		w.says(later, "16")
		w.atOnce(fetches("g", false), "0 0@1")
		w.ends(0, core.None)
		w.ends(1, core.None)
		w.atOnce(fetches("g", true), "0 0@2")
		w.atOnce(fetches("u", true), "0 88@-1")
	}},
	{name: "a commit that is late and lost", play: func(w *played) {
		w.atOnce(commits("g", 1), "0")
		w.slow()
		w.ask(commits("g", 2))
		w.ask(commits("new", 3))
		w.ends(1, core.RequestTimedOut) // and the one before it, which is of the same log
		w.atOnce(describes("new"), "Empty0")
		w.ends(0, core.NotLeaderOrFollower)
		w.ends(1, core.NotLeaderOrFollower)
		w.atOnce(fetches("g", true), "0 0@1")
		w.atOnce(describes("g"), "Empty0")
		w.atOnce(describes("new"), "Dead0")
	}},
	{name: "what is said of a write goes for those before it that are late", play: func(w *played) {
		w.slow()
		first, second, third := w.ask(commits("g", 1)), w.ask(commits("h", 2)), w.ask(commits("i", 3))
		w.ends(1, core.RequestTimedOut)
		w.says(first, "15")
		w.says(second, "15")
		w.open(third)
		w.ends(2, core.None)
		w.says(third, "0")
		w.atOnce(fetches("g", true), "0 0@1")
		w.atOnce(fetches("h", true), "0 0@2")
	}},
	{name: "a failure is of its own write alone", play: func(w *played) {
		w.slow()
		w.ask(commits("g", 1))
		w.ask(commits("h", 2))
		w.ends(0, core.RequestTimedOut)
		w.ends(1, core.NotEnoughReplicas)
		w.atOnce(describes("g"), "Empty0")
		w.atOnce(describes("h"), "Dead0")
		w.ends(0, core.None)
		w.atOnce(fetches("g", true), "0 0@1")
	}},
	{name: "offsets outlive the group that they were to be of", play: func(w *played) {
		w.slow()
		w.says(w.ask(join("g", "")), "79")
		commit := w.ask(commits("g", 4))
		w.ends(0, core.MessageTooLarge)
		w.atOnce(describes("g"), "Dead0")
		w.ends(1, core.None)
		w.says(commit, "0")
		w.atOnce(describes("g"), "Empty0")
		w.atOnce(fetches("g", true), "0 0@4")
	}},
	{name: "an offset that is durable keeps its group when a commit fails", play: func(w *played) {
		w.slow()
		w.ask(commits("g", 1))
		w.ends(0, core.None)
		w.ask(deletesOffset("g"))
		w.ask(txnCommits("g", 1, 2))
		w.ends(1, core.None)
		w.ends(2, core.MessageTooLarge)
		w.atOnce(describes("g"), "Empty0") // until the next cleanup
	}},
	{name: "who waits behind a commit", play: func(w *played) {
		for _, r := range append(refusals, struct {
			code                int16
			commit, beat, fetch string
		}{core.None, "0", "0", "0 0@7"}) {
			w.sim.Release()
			group := groupOf(r.code)
			id := w.stable(group)
			w.slow()
			commit := w.ask(commitsAs(group, id, 1, 7))
			beat, fetch, leave, offsets, remove := w.ask(beats(group, id, 1)), w.ask(fetches(group, true)), w.ask(leaves(group, "stranger")), w.ask(deletesOffset("g")), w.ask(deletes("nosuch"))
			w.open(commit, beat, fetch, leave, remove)
			w.says(offsets, "69")
			w.atOnce(beats(group, "stranger", 1), "25")
			w.atOnce(beats(group, id, 3), "22")
			w.atOnce(join(group, ""), "79")
			w.atOnce(syncs(group, id, 1), "0x")
			w.atOnce(describes(group), "Stable1")
			w.atOnce(fetches(group, false), "0 0@-1")
			w.wrote(1)
			w.ends(0, r.code)
			w.says(commit, r.commit)
			w.says(beat, r.beat)
			w.says(fetch, r.fetch)
			if r.code == core.None {
				w.says(leave, "0 25")
				w.says(remove, "69")
			} else {
				w.says(leave, r.beat)
				w.says(remove, r.beat)
			}
			if r.code == core.RequestTimedOut {
				w.ends(0, core.None)
			}
			w.ask(leaves(group, id))
			w.ends(len(w.writes)-1, core.None)
			w.ask(deletes(group))
			w.ends(len(w.writes)-1, core.None)
		}
	}},
	{name: "what a commit refuses is answered behind others", play: func(w *played) {
		w.slow()
		w.ask(commits("g", 1))
		long := commits("h", 2)
		note := string(make([]byte, 5000))
		long.Topics[0].Partitions[0].Metadata = &note
		refused := w.ask(long)
		unknown := commits("h", 2)
		unknown.Topics[0].Topic = "nosuch"
		w.atOnce(unknown, "3")
		w.open(refused)
		w.ends(0, core.None)
		w.says(refused, "12")
	}},
	{name: "a marker", play: func(w *played) {
		end := func(commit bool) { w.event(core.Marker{Producer: core.Producer{ID: 1}, Commit: commit}) }
		marked := func(codes ...int16) {
			if len(w.marked) != len(codes) || len(codes) > 0 && w.marked[0] != codes[0] {
				w.blame("markers: %v, not %v", w.marked, codes)
			}
			w.marked = nil
		}
		w.atOnce(txnCommits("g", 1, 5), "0")
		for code, told := range map[int16]int16{
			core.NotEnoughReplicas: core.NotLeaderOrFollower, core.MessageTooLarge: core.UnknownServerError, core.NotLeaderOrFollower: core.NotLeaderOrFollower, corruptMessage: corruptMessage,
		} {
			w.slow()
			end(true)
			marked()
			w.ends(0, code)
			marked(told)
		}
		w.slow()
		end(true)
		w.ends(0, core.RequestTimedOut)
		marked(core.NotLeaderOrFollower)
		w.atOnce(fetches("g", false), "0 0@-1")
		w.ends(0, core.None)
		marked()
		w.atOnce(fetches("g", true), "0 0@5")
		w.slow()
		end(true)
		w.ends(0, core.None)
		marked(core.None)
		w.event(core.Unload{})
		end(true)
		marked(core.NotLeaderOrFollower)
		w.wrote(1)
		w.loads()
		marked() // once is enough
	}},
	{name: "who waits when the coordinator gives up", play: func(w *played) {
		w.atOnce(commits("e", 1), "0")
		id := w.stable("g")
		w.slow()
		commit, late := w.ask(commits("g2", 1)), w.ask(commits("g3", 1))
		beat, fetch, remove := w.ask(beats("g", id, 1)), w.ask(fetches("g", true)), w.ask(deletes("e"))
		w.ends(0, core.RequestTimedOut)
		w.says(commit, "15")
		w.event(core.Unload{})
		w.says(late, "16")
		w.says(beat, "16")
		w.says(fetch, "16")
		w.says(remove, "16")
		for i := range w.writes { // which nobody waits for any more
			w.ends(i, core.None)
		}
		w.wrote(3)
		w.atOnce(commits("g2", 1), "16")
	}},
}
