package embedded

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// postponed are requests that wait while their group "g" is deleted, and what they are told when it is gone, and when it stays. Some write something then.
var postponed = []struct {
	name                   string
	of                     func(pending string) kmsg.Request
	gone, stays            string
	writesGone, writesThen bool
}{
	{"JoinGroup of nobody", func(string) kmsg.Request { return join("g", "") }, "79", "79", false, false},
	{"JoinGroup of an id that was handed out", func(id string) kmsg.Request { return join("g", id) }, "25", "0 gen=1 of 1", false, false},
	{"SyncGroup", func(string) kmsg.Request { return syncs("g", "stranger", 1) }, "25", "25", false, false},
	{"Heartbeat", func(string) kmsg.Request { return beats("g", "stranger", 1) }, "25", "25", false, false},
	{"LeaveGroup", func(id string) kmsg.Request { return leaves("g", id) }, "0 25", "0 0", false, false},
	{"OffsetCommit", func(string) kmsg.Request { return commits("g", 9) }, "0", "0", true, true},
	{"TxnOffsetCommit", func(string) kmsg.Request { return txnCommits("g", 1, 9) }, "0", "0", true, true},
	{"OffsetDelete", func(string) kmsg.Request { return deletesOffset("g") }, "69", "0 0", false, true},
	{"DeleteGroups", func(string) kmsg.Request { return deletes("h", "g") }, "69 69", "69 0", false, true},
}

// Deletions on their way.
var waitingDeletions = []play{
	{name: "what waits for a deletion", play: func(w *played) {
		for _, p := range postponed {
			for _, how := range []string{"gone", "stays", "late and gone", "late and stays"} {
				pending := beingDeleted(w)
				r := w.ask(p.of(pending))
				w.open(r)
				w.atOnce(describes("g"), "Empty0")
				w.atOnce(fetches("g", false), "0 0@1")
				w.wrote(1)
				want, writes, code := p.gone, p.writesGone, core.None
				if how == "stays" || how == "late and stays" {
					want, writes, code = p.stays, p.writesThen, core.NotEnoughReplicas
				}
				if len(how) > len("stays") {
					w.ends(0, core.RequestTimedOut)
					if got := said(w.answers[r]); got != "15" && got != "15 15" {
						w.blame("%s, late: %s", p.name, got)
					}
					w.atOnce(describes("g"), "Empty0")
					r = w.ask(p.of(pending))
					w.open(r)
				}
				w.ends(0, code)
				if len(w.writes) > 1 && !writes { // of a group that has been made anew
					w.ends(1, core.None)
				}
				if writes {
					w.open(r)
					w.ends(1, core.None)
				}
				if got := said(w.answers[r]); got != want {
					w.blame("%s, %s: %q, not %q", p.name, how, got, want)
				}
				if code != core.None && p.name == "Heartbeat" {
					w.atOnce(fetches("g", true), "0 0@1")
				}
			}
		}
	}},
	{name: "deletions in one request", play: func(w *played) {
		for _, group := range []string{"a", "b", "c"} {
			w.atOnce(commits(group, 1), "0")
		}
		w.slow()
		several := w.ask(deletes("a", "nosuch", "b", "a"))
		w.wrote(2)
		w.ends(0, core.None)
		w.open(several)
		w.ends(1, core.MessageTooLarge)
		w.says(several, "0 69 -1")
		w.atOnce(describes("a"), "Dead0")
		w.atOnce(describes("b"), "Empty0")
		for _, r := range refusals {
			w.slow()
			one := w.ask(deletes("b"))
			w.ends(0, r.code)
			w.says(one, r.beat)
			if r.code == core.RequestTimedOut {
				w.atOnce(describes("b"), "Empty0")
				w.ends(0, core.None)
			}
		}
		w.atOnce(describes("b"), "Dead0")
	}},
	{name: "a group is deleted that could not be made", play: func(w *played) {
		w.slow()
		w.ask(join("g", ""))
		remove := w.ask(deletes("g"))
		w.ends(0, core.MessageTooLarge)
		w.atOnce(describes("g"), "Dead0")
		w.ends(1, core.None)
		w.says(remove, "0")
	}},
	{name: "a topic is deleted", play: func(w *played) {
		w.atOnce(commits("g", 1), "0")
		for _, code := range []int16{core.NotEnoughReplicas, core.RequestTimedOut} {
			w.slow()
			w.reported = nil
			w.event(core.TopicsDeleted{Topics: []string{topicName}})
			w.wrote(1)
			w.atOnce(fetches("g", false), "0 0@1")
			w.ends(0, code)
			w.atOnce(fetches("g", false), "0 0@1")
			if told := len(w.reported) == 1; told != (code == core.NotEnoughReplicas) {
				w.blame("told: %v", w.reported)
			}
			if code == core.RequestTimedOut {
				w.ends(0, core.None)
			}
		}
		w.atOnce(fetches("g", true), "0 0@-1")
	}},
	{name: "a topic is deleted while something is committed to it", play: func(w *played) {
		w.slow()
		commit, txn := w.ask(commits("g", 1)), w.ask(txnCommits("h", 1, 1))
		w.event(core.TopicsDeleted{Topics: []string{topicName}})
		w.wrote(4)
		for i := range 4 {
			w.ends(i, core.None)
		}
		w.says(commit, "0")
		w.says(txn, "0")
		w.atOnce(fetches("g", true), "0 0@-1")
		w.atOnce(fetches("h", true), "0 0@-1")
	}},
	{name: "offsets are deleted", play: func(w *played) {
		w.atOnce(commits("g", 1), "0")
		for _, r := range refusals {
			w.slow()
			one := w.ask(deletesOffset("g"))
			w.open(one)
			w.ends(0, r.code)
			w.says(one, r.beat)
			w.atOnce(fetches("g", false), "0 0@1")
			if r.code == core.RequestTimedOut {
				w.ends(0, core.None)
				w.atOnce(fetches("g", false), "0 0@-1")
			}
		}
	}},
}

// beingDeleted is group "g", with an offset and an id that was handed out, while its tombstones are on their way.
func beingDeleted(w *played) (pending string) {
	w.loads()
	pending = w.id(w.ask(join("g", "")))
	w.atOnce(commits("g", 1), "0")
	w.slow()
	w.open(w.ask(deletes("g")))
	w.wrote(1)
	return pending
}

// Cleanups on their way.
var waitingCleanups = []play{
	{name: "a cleanup leaves alone what is about to be replaced", play: func(w *played) {
		w.atOnce(commits("g", 1), "0")
		w.atOnce(commits("h", 1), "0")
		w.advance(11 * time.Second)
		w.slow()
		w.ask(commits("g", 2))
		w.event(core.Cleanup{})
		w.wrote(2) // the commit, and the end of h
		if end := w.writes[len(w.writes)-1]; end.Group != "h" || len(end.Records) != 2 {
			w.blame("%+v", end)
		}
		w.event(core.Cleanup{}) // h is on its way already
		w.wrote(2)
		w.ends(0, core.None)
		w.ends(1, core.None)
		w.atOnce(fetches("g", true), "0 0@2")
		w.atOnce(describes("h"), "Dead0")
		if len(w.reported) > 0 {
			w.blame("told: %v", w.reported)
		}
	}},
	{name: "a cleanup of a group with a transaction and a commit that are open", play: func(w *played) {
		w.atOnce(txnCommits("g", 1, 1), "0")
		w.slow()
		w.ask(commits("g", 2))
		w.advance(11 * time.Second)
		w.event(core.Cleanup{})
		w.wrote(1)
	}},
	{name: "a cleanup of one offset, while another one comes", play: func(w *played) {
		other := commits("g", 1)
		other.Topics[0].Topic = otherTopic
		w.atOnce(other, "0")
		w.advance(11 * time.Second)
		w.slow()
		commit := w.ask(commits("g", 2))
		w.event(core.Cleanup{})
		w.wrote(2)
		if end := w.writes[len(w.writes)-1]; len(end.Records) != 1 || end.Records[0].Topic != otherTopic {
			w.blame("%+v", end)
		}
		w.ends(0, core.None)
		w.ends(1, core.None)
		w.says(commit, "0")
		w.atOnce(fetches("g", true), "0 0@2")
	}},
	{name: "a cleanup of a group that is being made, or deleted", play: func(w *played) {
		w.atOnce(commits("h", 1), "0")
		w.slow()
		id := w.id(w.ask(join("g", "")))
		w.ask(deletes("h"))
		w.advance(11 * time.Second)
		w.event(core.Cleanup{})
		w.wrote(2)
		w.ends(0, core.None)
		w.says(w.ask(join("g", id)), "0 gen=1 of 1")
	}},
	{name: "a cleanup that takes too long, or fails", play: func(w *played) {
		w.atOnce(commits("g", 1), "0")
		w.advance(11 * time.Second)
		for _, code := range []int16{core.NotEnoughReplicas, core.RequestTimedOut} {
			w.slow()
			w.reported = nil
			w.event(core.Cleanup{})
			w.wrote(1)
			first := w.ask(commits("g", 2))
			w.open(first)
			w.ends(0, code)
			if code == core.RequestTimedOut {
				w.says(first, "15")
				w.atOnce(describes("g"), "Empty0")
				second := w.ask(commits("g", 3))
				w.open(second)
				w.ends(0, core.None)
				w.open(second) // it is a group of its own
				w.ends(1, core.None)
				w.says(second, "0")
				w.atOnce(fetches("g", true), "0 0@3")
				continue
			}
			if len(w.reported) != 1 {
				w.blame("told: %v", w.reported)
			}
			w.open(first)
			w.ends(1, core.MessageTooLarge)
			w.says(first, "-1")
		}
	}},
	{name: "a late cleanup that fails after all", play: func(w *played) {
		w.atOnce(commits("g", 1), "0")
		w.advance(11 * time.Second)
		w.slow()
		w.event(core.Cleanup{})
		w.ends(0, core.RequestTimedOut)
		first := w.ask(commits("g", 2))
		w.ends(0, core.NotLeaderOrFollower)
		w.open(first)
		w.ends(1, core.None)
		w.says(first, "0")
		w.atOnce(fetches("g", true), "0 0@2")
	}},
}
