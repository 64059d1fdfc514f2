package core_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// A copy does about everything what the coordinator does that it was made of, and neither notices the other. One coordinator is copied over
// all the time, so that nothing of what it was shows.
func TestACopyGoesOnAlike(t *testing.T) {
	copies, held := 0, 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		made := 0
		settings := core.Settings{NewMemberID: func(string) string { return fmt.Sprint("m", made) }, Choose: func(n int) int { return (made + n) % n }}
		c, n := core.New(settings), core.New(settings)
		now := time.Unix(1_000_000, 0)
		var timers core.TimerQueue
		var open []core.AppendID
		for step := range 300 {
			made = step
			var ev core.Event
			switch next, ok := timers.Next(); {
			case len(open) > 0 && rng.IntN(2) == 0:
				ev = core.Appended{ID: open[0], Code: []int16{core.None, core.None, core.NotEnoughReplicas}[rng.IntN(3)]}
				open = open[1:]
			case ok && rng.IntN(4) == 0:
				if next.Deadline.After(now) {
					now = next.Deadline
				}
				ev, _ = timers.Take(next.Timer)
			default:
				req, version := someRequest(rng, step)
				ev = core.Request{Ticket: core.Ticket(step + 1), Message: req, Version: version, ClientID: "c", ClientHost: "h"}
			}
			if err := c.CopyTo(n); err == nil {
				copies++
				held += len(open)
				var a, b core.View
				if there := c.View("g", &a); there != n.View("g", &b) || !reflect.DeepEqual(a, b) {
					t.Fatalf("seed %d, step %d: the copy differs:\n%s", seed, step, cmp.Diff(a, b))
				}
				effects := n.Step(now, ev)
				if again := c.Step(now, ev); !reflect.DeepEqual(effects, again) {
					t.Fatalf("seed %d, step %d: the copy does something else about %+v:\n%s", seed, step, ev, cmp.Diff(effects, again))
				} else {
					effects = again
				}
				if err := n.CheckInvariants(); err != nil {
					t.Fatalf("seed %d, step %d: the copy: %v", seed, step, err)
				}
				c.View("g", &a)
				if n.View("g", &b); !reflect.DeepEqual(a, b) {
					t.Fatalf("seed %d, step %d: after %+v the copy differs:\n%s", seed, step, ev, cmp.Diff(a, b))
				}
				open = carryOut(effects, &timers, open)
			} else {
				open = carryOut(c.Step(now, ev), &timers, open)
			}
		}
	}
	if copies < 5000 || held == 0 {
		t.Errorf("%d copies, %d writes open in them: too few to say anything", copies, held)
	}
}

func carryOut(effects []core.Effect, timers *core.TimerQueue, open []core.AppendID) []core.AppendID {
	for _, e := range effects {
		timers.Apply(e)
		if w, ok := e.(core.Append); ok {
			open = append(open, w.ID)
		}
	}
	return open
}

// someRequest is one of a few members, of which each id was made in an earlier step.
func someRequest(rng *rand.Rand, step int) (kmsg.Request, int16) {
	id := fmt.Sprint("m", max(0, step-1-rng.IntN(12)))
	switch rng.IntN(9) {
	case 0, 1:
		return joinReq("g", ""), int16(3 + rng.IntN(7))
	case 2:
		return joinReq("g", id), 9
	case 3:
		return staticReq("g", "", []string{"i", "j"}[rng.IntN(2)]), 9
	case 4, 5:
		return syncReq("g", id, int32(rng.IntN(4)), id+"=x"), 3
	case 6:
		return leaveReq("g", id), 5
	case 7:
		return commitReq("g", "", -1, "t", 5), 9
	}
	r := kmsg.NewPtrHeartbeatRequest()
	r.Group, r.MemberID, r.Generation = "g", id, int32(rng.IntN(4))
	return r, 4
}

// What a view leaves out of a group, and why.
var notViewed = map[string]string{
	"group.id": "who asks knows it", "group.since": "an age", "group.members": "Members, by id", "group.static": "Members, by instance",
	"group.offsets": "counted", "group.unstable": "counted", "group.commits": "counted",
	"member.clientHost": "only shown to those who describe the group",
}

// A view says all that a group is: a field that is added is viewed, or has a reason not to be.
func TestAViewIsWhole(t *testing.T) {
	known := map[string]string{
		"group.state": "State", "group.previous": "Previous", "group.generation": "Generation", "group.protocolType": "ProtocolType",
		"group.protocol": "Protocol", "group.leader": "Leader", "group.order": "Members", "group.support": "Support", "group.pending": "Pending",
		"group.joining": "Joining", "group.unsynced": "Syncing", "group.initial": "Initial", "group.joinedDuringDelay": "JoinedDuringDelay",
		"group.wait": "Wait", "group.rest": "Rest", "group.proposed": "Proposes", "group.writing": "Writing", "group.creating": "Creating",
		"group.recorded": "Recorded", "group.kept": "Kept", "group.subscribed": "Subscribed", "group.deleting": "Deleting", "group.postponed": "Postponed",
		"member.id": "ID", "member.clientID": "ClientID", "member.instance": "Instance", "member.sessionTimeout": "SessionTimeout",
		"member.rebalanceTimeout": "RebalanceTimeout", "member.protocols": "Protocols", "member.assignment": "Assignment", "member.join": "Join",
		"member.sync": "Sync", "member.isNew": "New", "member.unsynced": "OwesSync",
	}
	viewed := map[string]reflect.Type{"group": reflect.TypeFor[core.View](), "member": reflect.TypeFor[core.MemberView]()}
	for of, fields := range core.Fields() {
		for _, f := range fields {
			name := of + "." + f
			if notViewed[name] != "" {
				continue
			}
			if _, ok := viewed[of].FieldByName(known[name]); !ok {
				t.Errorf("no field of a view says what %s is; nor is there a reason for that", name)
			}
		}
	}
}
