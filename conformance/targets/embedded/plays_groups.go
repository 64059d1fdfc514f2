package embedded

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// Groups whose records are on their way.
var waitingGroups = []play{
	{name: "a group that cannot be made", options: Options{InitialDelay: 5 * time.Second}, play: func(w *played) {
		for code, told := range map[int16]string{core.MessageTooLarge: "-1", core.NotEnoughReplicas: "15", core.NotLeaderOrFollower: "16"} {
			w.slow()
			first, second, third := w.ask(join("g", ""), 3), w.ask(join("g", ""), 3), w.ask(join("g", ""))
			w.open(first, second)
			w.says(third, "79")
			w.atOnce(describes("g"), "PreparingRebalance2")
			w.ends(0, code)
			w.says(first, told)
			w.says(second, told)
			w.atOnce(describes("g"), "Dead0")
			w.atOnce(join("g", w.id(third)), "25")
			w.wrote(1)
		}
	}},
	{name: "a group whose making is late", options: Options{InitialDelay: 5 * time.Second}, play: func(w *played) {
		w.slow()
		first, second, third := w.ask(join("g", ""), 3), w.ask(join("g", ""), 3), w.ask(join("g", ""))
		w.ends(0, core.RequestTimedOut)
		w.says(first, "15")
		w.open(second)
		w.atOnce(describes("g"), "PreparingRebalance2")
		w.ends(0, core.None)
		fourth := w.ask(join("g", w.id(third)))
		w.advance(9 * time.Second)
		w.open(second, fourth)
		w.advance(2 * time.Second) // the delay has been extended once; the first, which has not come again, is not waited for
		if w.id(second) == w.id(fourth) || w.answers[second].(*kmsg.JoinGroupResponse).Generation != 1 {
			w.blame("%+v", w.answers[second])
		}
		w.atOnce(describes("g"), "CompletingRebalance2")
		fifth := w.ask(join("g", ""), 3) // and whoever is there is waited for
		w.ask(join("g", w.id(second)), 3)
		w.open(fifth)
		w.ask(join("g", w.id(fourth)), 3)
		if w.answers[fifth] == nil {
			w.blame("the join does not complete")
		}
	}},
	{name: "a group whose making is late, and whose first join has completed", options: Options{InitialDelay: 5 * time.Second}, play: func(w *played) {
		w.slow()
		first := w.ask(join("g", ""), 3)
		w.advance(6 * time.Second)
		w.says(first, "0 gen=1 of 1")
		w.ends(0, core.RequestTimedOut)
		w.atOnce(describes("g"), "CompletingRebalance1")
	}},
	{name: "nobody but a static member that was told that the making is late", options: Options{InitialDelay: 5 * time.Second}, play: func(w *played) {
		w.slow()
		w.says(w.ask(joinAs("g", "", "i")), "no answer")
		w.ends(0, core.RequestTimedOut)
		w.advance(6 * time.Second)
		w.atOnce(describes("g"), "PreparingRebalance1") // static.nobody-joined
		w.says(w.ask(joinAs("g", "", "i")), "0 gen=1 of 1")
	}},
	{name: "an id that was handed out while the making is late", play: func(w *played) {
		w.slow()
		id := w.id(w.ask(join("g", "")))
		w.ends(0, core.RequestTimedOut)
		w.says(w.ask(join("g", id)), "0 gen=1 of 1")
	}},
	{name: "an assignment that cannot be written", play: func(w *played) {
		for _, r := range refusals {
			w.sim.Release()
			group := groupOf(r.code)
			leader, follower := w.pair(group)
			w.slow()
			waits, leads := w.ask(syncs(group, follower, 2)), w.ask(syncs(group, leader, 2, leader, follower))
			w.open(waits, leads)
			w.ends(0, r.code)
			w.says(waits, r.beat)
			w.says(leads, r.beat)
			w.atOnce(describes(group), "PreparingRebalance2")
			if r.code == core.RequestTimedOut {
				w.ends(0, core.None)
				w.atOnce(describes(group), "PreparingRebalance2")
			}
			w.ask(join(group, follower), 3)
			w.says(w.ask(join(group, leader), 3), "0 gen=3 of 2")
			again := w.ask(syncs(group, leader, 3, leader))
			w.ends(len(w.writes)-1, core.None)
			w.says(again, "0x")
		}
	}},
	{name: "a leader that repeats itself while its assignment is written", play: func(w *played) {
		leader, follower := w.pair("g")
		w.slow()
		waits, first := w.ask(syncs("g", follower, 2)), w.ask(syncs("g", leader, 2, leader, follower))
		second := w.ask(syncs("g", leader, 2))
		w.says(first, "27")
		w.open(waits, second)
		w.wrote(1)
		w.ends(0, core.None)
		w.says(waits, "0x")
		w.says(second, "0x")
		w.atOnce(syncs("g", leader, 2), "0x")
	}},
	{name: "a rebalance that begins while an assignment is written", play: func(w *played) {
		for i, code := range []int16{core.None, core.NotEnoughReplicas} {
			w.sim.Release()
			group := []string{"g", "h"}[i]
			leader, follower := w.pair(group)
			w.slow()
			waits, leads := w.ask(syncs(group, follower, 2)), w.ask(syncs(group, leader, 2, leader, follower))
			third := w.ask(join(group, ""), 3)
			w.says(waits, "27")
			w.says(leads, "27")
			if i == 0 {
				w.ends(0, code)
				w.atOnce(describes(group), "PreparingRebalance3")
			}
			w.ask(join(group, follower), 3)
			w.says(w.ask(join(group, leader), 3), "0 gen=3 of 3")
			if i == 1 {
				w.ends(0, code)
			}
			w.atOnce(describes(group), "CompletingRebalance3")
			of := w.id(third)
			newest, next := w.ask(syncs(group, of, 3)), w.ask(syncs(group, leader, 3, of))
			w.ends(1, core.None)
			w.says(newest, "0x")
			w.says(next, "0")
		}
	}},
	{name: "the end of a group's last member", play: func(w *played) {
		for _, r := range refusals {
			w.sim.Release()
			group := groupOf(r.code)
			id := w.stable(group)
			w.slow()
			w.reported = nil
			leave := w.ask(leaves(group, id))
			w.open(leave)
			w.atOnce(describes(group), "Empty0")
			w.ends(0, r.code)
			w.says(leave, r.beat)
			if len(w.reported) != 1 {
				w.blame("what is not written is not told: %v", w.reported)
			}
			w.atOnce(describes(group), "Empty0")
			if r.code == core.RequestTimedOut {
				w.ends(0, core.None)
			}
		}
		w.sim.Release()
		w.stable("silent")
		w.slow()
		w.reported = nil
		w.advance(time.Minute) // its session ends, and then the join timer
		w.advance(time.Minute)
		w.atOnce(describes("silent"), "Empty0")
		w.ends(0, core.None)
		if len(w.reported) != 0 {
			w.blame("%v", w.reported)
		}
	}},
	{name: "a replacement", play: replacements},
	{name: "a replacement of a leader, told in an old version", play: func(w *played) {
		w.sim.Release()
		leader, _ := staticPair(w, "g")
		w.slow()
		old := w.ask(joinAs("g", "", "i1"), 8)
		w.open(old)
		w.ends(0, core.None)
		if m, ok := w.answers[old].(*kmsg.JoinGroupResponse); !ok || m.LeaderID != leader || len(m.Members) > 0 || m.SkipAssignment {
			w.blame("%+v", w.answers[old])
		}
	}},
}

// staticPair is a Stable group of i1, which leads, and i2, in generation 2.
func staticPair(w *played, group string) (leader, follower string) {
	leader = w.id(w.ask(joinAs(group, "", "i1")))
	w.ask(joinAs(group, "", "i2"))
	second := w.asked
	w.says(w.ask(joinAs(group, leader, "i1")), "0 gen=2 of 2")
	follower = w.id(second)
	w.atOnce(syncs(group, leader, 2, leader, follower), "0x")
	w.atOnce(syncs(group, follower, 2), "0x")
	return leader, follower
}

// replacements are of static members, one after the other, each in a group of its own.
func replacements(w *played) {
	for _, r := range refusals { // the former self is there again
		w.sim.Release()
		group := groupOf(r.code)
		leader, follower := staticPair(w, group)
		w.slow()
		changed := joinAs(group, "", "i2")
		changed.SessionTimeoutMillis = 10_000
		replaced := w.ask(changed)
		w.open(replaced)
		w.atOnce(beats(group, follower, 2), "25")
		w.ends(0, r.code)
		w.says(replaced, r.beat)
		if r.code == core.RequestTimedOut {
			w.ends(0, core.None) // which changes nothing in memory
		}
		w.atOnce(beats(group, follower, 2), "0")
		w.advance(20 * time.Second) // less than the session that it had
		w.atOnce(beats(group, leader, 2), "0")
		w.advance(9 * time.Second)
		w.atOnce(describes(group), "Stable2")
		w.advance(2 * time.Second)
		w.atOnce(describes(group), "PreparingRebalance1")
		w.ask(leaves(group, leader))
		for i := range w.writes[1:] {
			w.ends(1+i, core.None)
		}
	}
	for i, code := range []int16{core.None, core.NotEnoughReplicas} { // a rebalance begins meanwhile: all is written anew
		w.sim.Release()
		group := []string{"g1", "g2"}[i]
		leader, _ := staticPair(w, group)
		w.slow()
		replaced := w.ask(joinAs(group, "", "i2"))
		third := w.ask(joinAs(group, "", "i3"))
		w.ends(0, code)
		w.open(replaced, third)
		w.says(w.ask(joinAs(group, leader, "i1")), "0 gen=3 of 3")
		w.says(replaced, "0 gen=3 of 0")
		w.says(third, "0 gen=3 of 0")
	}
	for i, code := range []int16{core.None, core.NotEnoughReplicas} { // another replacement comes meanwhile
		w.sim.Release()
		group := []string{"g3", "g4"}[i]
		staticPair(w, group)
		w.slow()
		first, second := w.ask(joinAs(group, "", "i2")), w.ask(joinAs(group, "", "i2"))
		w.says(first, "82")
		w.ends(0, code)
		w.open(second)
		w.ends(1, core.None)
		w.says(second, "0 gen=2 of 0")
		w.atOnce(beats(group, w.id(second), 2), "0")
	}
	w.sim.Release() // it leaves meanwhile
	leader, _ := staticPair(w, "g5")
	w.slow()
	replaced := w.ask(joinAs("g5", "", "i2"))
	gone := leaves("g5", "")
	gone.Members[0].InstanceID = kmsg.StringPtr("i2")
	w.ask(gone)
	w.says(replaced, "25")
	w.ends(0, core.None)
	w.says(w.ask(joinAs("g5", leader, "i1")), "0 gen=3 of 1")

	w.sim.Release() // its session runs out meanwhile, and begins anew with the answer
	leader, _ = staticPair(w, "g6")
	w.slow()
	replaced = w.ask(joinAs("g6", "", "i2"))
	w.advance(20 * time.Second)
	w.ask(beats("g6", leader, 2))
	w.advance(15 * time.Second)
	w.ends(0, core.None)
	w.says(replaced, "0 gen=2 of 0")
	w.advance(10 * time.Second)
	w.ask(beats("g6", leader, 2))
	w.advance(10 * time.Second)
	w.atOnce(describes("g6"), "Stable2")
	w.advance(15 * time.Second)
	w.atOnce(describes("g6"), "PreparingRebalance1")
}
