package linearize

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
)

// TestByHand judges small histories whose verdict a person can tell.
func TestByHand(t *testing.T) {
	for _, test := range []struct {
		name    string
		profile string // default reference
		write   func(b *book)
		want    Result
	}{
		{"alone", "", func(b *book) { b.alone() }, Legal},
		{"heartbeat in time", "", func(b *book) { b.alone(); b.heartbeat("a", 50, 51, "A", 1, 0) }, Legal},
		{"expiry too early", "", func(b *book) { b.alone(); b.heartbeat("a", 60, 61, "A", 1, 25) }, Illegal},
		{"expiry at its time", "", func(b *book) { b.alone(); b.heartbeat("a", 110, 111, "A", 1, 25) }, Legal},
		{"late timer within the slack", "", func(b *book) { b.alone(); b.heartbeat("a", 150, 151, "A", 1, 0) }, Legal},
		{"expiry too late", "", func(b *book) { b.alone(); b.heartbeat("a", 200, 201, "A", 1, 0) }, Illegal},
		{"renewed by a heartbeat", "", func(b *book) {
			b.alone()
			b.heartbeat("a", 90, 91, "A", 1, 0)
			b.heartbeat("a", 180, 181, "A", 1, 0)
			b.heartbeat("a", 190, 191, "A", 1, 0)
		}, Legal},
		{"expiry too early after a heartbeat", "", func(b *book) {
			b.alone()
			b.heartbeat("a", 90, 91, "A", 1, 0)
			b.heartbeat("a", 140, 141, "A", 1, 25)
		}, Illegal},
		{"not renewed by a refused heartbeat", "", func(b *book) {
			b.alone()
			b.heartbeat("a", 90, 91, "A", 7, 22)
			b.heartbeat("a", 180, 181, "A", 1, 0)
		}, Illegal},

		{"wrong generation refused", "", func(b *book) { b.alone(); b.heartbeat("a", 10, 11, "A", 2, 22) }, Legal},
		{"wrong generation accepted", "", func(b *book) { b.alone(); b.heartbeat("a", 10, 11, "A", 2, 0) }, Illegal},
		{"generation skipped", "", func(b *book) {
			b.join("a", 0, 1, "", refusedJoin(79, "A"))
			b.join("a", 2, 3, "A", joined(2, "A", "A", "A"))
		}, Illegal},

		{"two members", "", func(b *book) {
			b.alone()
			b.second()
			b.sync("b", 26, 31, "B", 2, nil, 0, "B")
			b.sync("a", 30, 31, "A", 2, []string{"A", "B"}, 0, "A")
		}, Legal},
		{"two leaders", "", func(b *book) {
			b.alone()
			b.join("b", 10, 11, "", refusedJoin(79, "B"))
			b.join("b", 12, 25, "B", joined(2, "B", "B", "A", "B"))
			b.join("a", 20, 25, "A", joined(2, "A", "A", "A", "B"))
		}, Illegal},
		{"another's assignment", "", func(b *book) {
			b.alone()
			b.second()
			b.sync("b", 26, 31, "B", 2, nil, 0, "A")
			b.sync("a", 30, 31, "A", 2, []string{"A", "B"}, 0, "A")
		}, Illegal},
		{"assignment before the leader gave one", "", func(b *book) {
			b.alone()
			b.second()
			b.sync("b", 26, 28, "B", 2, nil, 0, "B")
			b.sync("a", 30, 31, "A", 2, []string{"A", "B"}, 0, "A")
		}, Illegal},

		{"commit refused after fencing", "", func(b *book) { b.alone(); b.second(); b.commit("a", 26, 27, "A", 1, 5, 22) }, Legal},
		{"commit accepted after fencing", "", func(b *book) { b.alone(); b.second(); b.commit("a", 26, 27, "A", 1, 5, 0) }, Illegal},
		{"commit accepted while the fence falls", "", func(b *book) {
			b.alone()
			b.second()
			b.commit("c", 13, 27, "A", 1, 5, 0)
		}, Legal},

		{"either of two commits", "", func(b *book) {
			b.commit("a", 0, 10, "", -1, 1, 0)
			b.commit("b", 5, 15, "", -1, 2, 0)
			b.fetch("c", 20, 21, 1)
		}, Legal},
		{"the commit before", "", func(b *book) {
			b.commit("a", 0, 10, "", -1, 1, 0)
			b.commit("b", 11, 15, "", -1, 2, 0)
			b.fetch("c", 20, 21, 1)
		}, Illegal},
		{"offsets go back", "", func(b *book) {
			b.commit("a", 0, 10, "", -1, 1, 0)
			b.commit("b", 5, 15, "", -1, 2, 0)
			b.fetch("c", 20, 21, 1)
			b.fetch("c", 22, 23, 2)
		}, Illegal},
		{"a lost commit that happened", "", func(b *book) {
			b.commit("a", 0, 1, "", -1, 1, 0)
			lost(b.commit("b", 5, 9, "", -1, 2, 0))
			b.fetch("c", 20, 21, 2)
		}, Legal},
		{"a lost commit that did not happen", "", func(b *book) {
			b.commit("a", 0, 1, "", -1, 1, 0)
			lost(b.commit("b", 5, 9, "", -1, 2, 0))
			b.fetch("c", 20, 21, 1)
			b.fetch("c", 300, 301, 1)
		}, Legal},
		{"a lost commit that happened and did not", "", func(b *book) {
			b.commit("a", 0, 1, "", -1, 1, 0)
			lost(b.commit("b", 5, 9, "", -1, 2, 0))
			b.fetch("c", 20, 21, 2)
			b.fetch("c", 22, 23, 1)
		}, Illegal},
		{"a commit that is never answered", "", func(b *book) { lost(b.commit("a", 0, 900, "", -1, 1, 0)) }, Illegal},

		{"a join that waits for A", "", func(b *book) {
			b.alone()
			b.join("b", 10, 11, "", refusedJoin(79, "B"))
			b.join("b", 12, 150, "B", nil) // until 100 ms silence is right: A's session ends at 104 ms at the earliest
		}, Legal},
		{"a join that is never answered", "", func(b *book) {
			b.alone()
			b.join("b", 10, 11, "", refusedJoin(79, "B"))
			b.join("b", 12, 900, "B", nil) // A's session has ended long since
		}, Illegal},
		{"a join that A's heartbeats hold up", "", func(b *book) {
			b.alone()
			b.join("b", 10, 11, "", refusedJoin(79, "B"))
			b.join("b", 12, 290, "B", nil)
			for at := 50; at < 280; at += 50 {
				b.heartbeat("a", at, at+1, "A", 1, 27)
			}
		}, Legal},
		{"a join that the rebalance timeout must end", "", func(b *book) {
			b.alone()
			b.join("b", 10, 11, "", refusedJoin(79, "B"))
			b.join("b", 12, 900, "B", nil)
			for at := 50; at < 300; at += 50 {
				b.heartbeat("a", at, at+1, "A", 1, 27)
			}
			b.heartbeat("a", 420, 421, "A", 1, 25)
		}, Illegal},
		{"a join that a leave may have ended in time", "", func(b *book) {
			b.alone()
			b.join("b", 10, 11, "", refusedJoin(79, "B"))
			b.join("b", 12, 130, "B", nil) // until 80 ms silence is right
			b.leave("a", 60, 99, "A")
		}, Legal},
		{"a join that a leave has ended too early", "", func(b *book) {
			b.alone()
			b.join("b", 10, 11, "", refusedJoin(79, "B"))
			b.join("b", 12, 130, "B", nil)
			b.leave("a", 60, 99, "A")
			b.heartbeat("a", 70, 71, "A", 1, 25) // A had left by then, so B's answer was due by then
		}, Illegal},

		{"a commit outlives a crash", "", func(b *book) { b.commit("a", 0, 1, "", -1, 1, 0); b.restart(20, 21, 40); b.fetch("a", 50, 51, 1) }, Legal},
		{"a commit does not outlive a crash", "", func(b *book) { b.commit("a", 0, 1, "", -1, 1, 0); b.restart(20, 21, 40); b.fetch("a", 50, 51, -1) }, Illegal},
		{"a commit that a crash met, kept", "", func(b *book) {
			b.commit("a", 0, 1, "", -1, 1, 0)
			eaten(b.commit("a", 19, 21, "", -1, 2, 0))
			b.restart(20, 21, 40)
			b.fetch("a", 50, 51, 2)
		}, Legal},
		{"a commit that a crash met, not kept", "", func(b *book) {
			b.commit("a", 0, 1, "", -1, 1, 0)
			eaten(b.commit("a", 19, 21, "", -1, 2, 0))
			b.restart(20, 21, 40)
			b.fetch("a", 50, 51, 1)
		}, Legal},
		{"a commit that a crash met cannot come later", "", func(b *book) {
			b.commit("a", 0, 1, "", -1, 1, 0)
			eaten(b.commit("a", 19, 21, "", -1, 2, 0))
			b.restart(20, 21, 40)
			b.fetch("a", 50, 51, 1)
			b.fetch("a", 52, 53, 2)
		}, Illegal},
		{"a member outlives a crash", "", func(b *book) { b.alone(); b.restart(20, 21, 40); b.heartbeat("a", 50, 51, "A", 1, 0) }, Legal},
		{"a member does not outlive a crash", "", func(b *book) { b.alone(); b.restart(20, 21, 40); b.heartbeat("a", 50, 51, "A", 1, 25) }, Illegal},
		{"a group that was only asked for outlives a crash", "4.3.1", func(b *book) { b.askedFor(); b.restart(20, 21, 40); b.describe(50, 51, "Empty", "") }, Legal},
		{"a group that was only asked for does not outlive a crash", "4.3.1", func(b *book) { b.askedFor(); b.restart(20, 21, 40); b.describe(50, 51, "Dead", "") }, Legal},
		{"the reference has written it before it answers, but where writes hang", "", func(b *book) { b.askedFor(); b.restart(20, 21, 40); b.describe(50, 51, "Dead", "") }, Illegal},
		{"a group with a member does not outlive a crash", "4.3.1", func(b *book) {
			b.alone()
			b.restart(20, 21, 40)
			b.describe(50, 51, "Dead", "")
		}, Illegal},
		{"sessions begin anew after a crash", "", func(b *book) { b.alone(); b.restart(80, 81, 120); b.heartbeat("a", 215, 216, "A", 1, 0) }, Legal},
		{"sessions begin anew when it is surely over", "", func(b *book) { b.alone(); b.restart(80, 90, 120); b.heartbeat("a", 185, 186, "A", 1, 25) }, Illegal},
		{"sessions end after a crash", "", func(b *book) { b.alone(); b.restart(20, 21, 40); b.heartbeat("a", 250, 251, "A", 1, 0) }, Illegal},
		{"a crash forgets an id that was handed out", "", func(b *book) {
			b.join("a", 0, 1, "", refusedJoin(79, "A"))
			b.restart(20, 21, 40)
			b.join("a", 50, 51, "A", refusedJoin(25, "A"))
		}, Legal},
		{"a crash does not forget an id that was handed out", "", func(b *book) {
			b.join("a", 0, 1, "", refusedJoin(79, "A"))
			b.restart(20, 21, 40)
			b.join("a", 50, 51, "A", joined(1, "A", "A", "A"))
		}, Illegal},
		{"a parked join that a crash met", "", func(b *book) {
			b.alone()
			b.join("b", 10, 11, "", refusedJoin(79, "B"))
			eaten(b.join("b", 12, 21, "B", nil))
			b.restart(20, 21, 40)
			b.heartbeat("a", 50, 51, "A", 1, 0) // the rebalance that B had begun is forgotten
		}, Legal},
		{"a generation that a crash loses", "", func(b *book) {
			b.alone()
			b.second() // generation 2, without its assignment
			b.restart(26, 27, 40)
			b.heartbeat("a", 50, 51, "A", 2, 22)
			b.heartbeat("a", 52, 53, "A", 1, 0)
		}, Legal},
		{"an answer that a coordinator gives while it loads", "", func(b *book) {
			b.commit("a", 0, 1, "", -1, 1, 0)
			b.restart(20, 21, 40)
			b.commit("a", 30, 31, "", -1, 2, 14)
			b.fetch("a", 50, 51, 1)
		}, Legal},
		{"a parked join that a shutdown answers", "", func(b *book) { b.movedJoin(); b.shutdown(20, 30, 40); b.heartbeat("a", 50, 51, "A", 1, 0) }, Legal},
		{"a parked join that nobody's shutdown answers", "", func(b *book) { b.movedJoin(); b.heartbeat("a", 50, 51, "A", 1, 27) }, Illegal},
		{"a member does not outlive a shutdown", "", func(b *book) { b.movedJoin(); b.shutdown(20, 30, 40); b.heartbeat("a", 50, 51, "A", 1, 25) }, Illegal},
		{"the same answer without a crash", "", func(b *book) { b.commit("a", 30, 31, "", -1, 2, 14) }, Illegal},
		{"a timer that is late by a pause", "", func(b *book) { b.alone(); b.pause(20, 220); b.heartbeat("a", 265, 266, "A", 1, 0) }, Legal},
		{"a timer that is later than a pause", "", func(b *book) { b.alone(); b.pause(20, 220); b.heartbeat("a", 290, 291, "A", 1, 0) }, Illegal},
		{"a timer that is late after a pause was over", "", func(b *book) { b.alone(); b.pause(20, 80); b.heartbeat("a", 190, 191, "A", 1, 0) }, Illegal},
		{"a timer that is early, after a pause", "", func(b *book) { b.alone(); b.pause(20, 60); b.heartbeat("a", 80, 81, "A", 1, 25) }, Illegal},
		{"a request that was not sent", "", func(b *book) {
			b.commit("a", 0, 1, "", -1, 1, 0)
			c := b.commit("a", 5, 6, "", -1, 2, 0)
			c.Outcome, c.Response = history.NotSent, nil
			b.fetch("a", 50, 51, 2)
		}, Illegal},
		{"an answer that was thrown away, of a commit that happened", "", func(b *book) {
			b.commit("a", 0, 1, "", -1, 1, 0)
			eaten(b.commit("a", 5, 900, "", -1, 2, 0)) // however long the client has waited
			b.fetch("a", 950, 951, 2)
		}, Legal},
		{"an answer that was thrown away, of a commit that did not", "", func(b *book) {
			b.commit("a", 0, 1, "", -1, 1, 0)
			eaten(b.commit("a", 5, 900, "", -1, 2, 0))
			b.fetch("a", 950, 951, 1)
		}, Legal},
		{"a static member that is replaced while it is written", "4.3.1", func(b *book) { fencedTwice(b, 20, 30) }, Legal},
		{"a static member that is replaced after it was written", "4.3.1", func(b *book) { fencedTwice(b, 32, 33) }, Illegal},
		{"a static member that is replaced while it is written, by one whose client was cut off", "4.3.1", func(b *book) { fencedTwice(b, 18, 19); eaten(&b.Calls[len(b.Calls)-1]) }, Legal},
		{"a static member that is replaced while it is written, by one whose client gave it up at once", "4.3.1", func(b *book) { fencedTwice(b, 18, 19); lost(&b.Calls[len(b.Calls)-1]) }, Legal},
		{"a static member that is replaced while it is written, by one that was cut off before", "4.3.1", func(b *book) {
			fencedTwice(b, 66, 67) // nothing is taken up later than 50 ms
			b.Calls[len(b.Calls)-1].Call, b.Calls[len(b.Calls)-1].Return = 6e6, 7e6
			b.Calls[len(b.Calls)-2].Call, b.Calls[len(b.Calls)-2].Return = 65e6, 71e6
			eaten(&b.Calls[len(b.Calls)-1])
		}, Illegal},
		{"a static member that is fenced as if it had been replaced", "4.3.1", func(b *book) { fencedTwice(b, 20, 30); b.heartbeat("b", 40, 41, "B", 1, 0) }, Illegal},
		{"a static member that is fenced by one that it has replaced", "4.3.1", func(b *book) {
			fencedTwice(b, 18, 25)
			b.Calls[len(b.Calls)-1].Response = history.EncodeResponse(joined(1, "A", "C"), versions[kmsg.JoinGroup])
		}, Illegal},
		{"a static member that is fenced by one that was cut off, and is still there", "4.3.1", func(b *book) {
			fencedTwice(b, 18, 19)
			eaten(&b.Calls[len(b.Calls)-1])
			b.heartbeat("b", 40, 41, "B", 1, 0)
		}, Illegal},
		{"a static member that is fenced, and is loaded by the next life of the target", "4.3.1", func(b *book) {
			fencedTwice(b, 20, 30)
			eaten(&b.Calls[len(b.Calls)-1])
			b.restart(32, 36, 40)
			b.heartbeat("b", 50, 51, "B", 1, 0)
		}, Legal},
		{"a static member that is replaced while it is written, by contract", "", func(b *book) { fencedTwice(b, 20, 30) }, Illegal},
		{"a request that finds its group dead, on 3.9", "3.9.2", func(b *book) { foundDead(b, 20) }, Legal},
		{"a request that finds its group dead, after it was removed, on 3.9", "3.9.2", func(b *book) { foundDead(b, 36) }, Illegal},
		{"a request that finds its group dead, which was not to be deleted, on 3.9", "3.9.2", func(b *book) {
			b.alone()
			r, resp := kmsg.NewPtrDeleteGroupsRequest(), kmsg.NewPtrDeleteGroupsResponse()
			r.Groups, resp.Groups = []string{"g"}, []kmsg.DeleteGroupsResponseGroup{{Group: "g", ErrorCode: 68}}
			b.call("b", 10, 35, r, resp)
			b.heartbeat("a", 20, 30, "A", 1, 15)
		}, Illegal},
		{"a request that finds its group dead, on 4.3", "4.3.1", func(b *book) { foundDead(b, 20) }, Illegal},
		{"a group that is seen before its first member, on 3.9", "3.9.2", func(b *book) { seenEmpty(b, 5) }, Legal},
		{"a group that is seen before its first member asks to join, on 3.9", "3.9.2", func(b *book) { seenEmpty(b, 12) }, Illegal},
		{"a group that is seen before its first member, on 4.3", "4.3.1", func(b *book) { seenEmpty(b, 5) }, Illegal},
		{"a session that ends although the member is back, on 3.9", "3.9.2", func(b *book) { backTooLate(b, 110) }, Legal},
		{"a session that ends although the member was back in time, on 3.9", "3.9.2", func(b *book) { backTooLate(b, 60) }, Illegal},
		{"a session that ends although the member is back, on 4.3", "4.3.1", func(b *book) { backTooLate(b, 110) }, Illegal},
		{"a leader's SyncGroup that is repeated while it is written, on Kafka", "4.3.1", func(b *book) { syncTwice(b, 20) }, Legal},
		{"a leader's SyncGroup that is never answered, on Kafka", "4.3.1", func(b *book) { syncTwice(b, 0) }, Illegal},
		{"a leader's SyncGroup that is repeated while it is written, by contract", "", func(b *book) { syncTwice(b, 20) }, Illegal},
		{"a superseded join, on Kafka", "java", func(b *book) { superseded(b) }, Legal},
		{"a superseded join, by contract", "", func(b *book) { superseded(b) }, Illegal},
	} {
		t.Run(test.name, func(t *testing.T) {
			profile := test.profile
			if profile == "" {
				profile = "reference"
			}
			b := newBook(profile)
			test.write(b)
			v, err := Check(t.Context(), &b.History, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if v.Result != test.want {
				t.Errorf("%v %s, want %v", v.Result, v.Reason, test.want)
				if v.Result == Illegal {
					f, _ := Explain(t.Context(), &b.History, "g", Explaining{Out: t.TempDir()})
					t.Log(f.Text)
				}
			}
		})
	}
}

// foundDead: the group is deleted between 10 and 35 ms, and a heartbeat from then on finds it dead.
func foundDead(b *book, from int) {
	b.commit("a", 0, 1, "", -1, 1, 0)
	r, resp := kmsg.NewPtrDeleteGroupsRequest(), kmsg.NewPtrDeleteGroupsResponse()
	r.Groups, resp.Groups = []string{"g"}, []kmsg.DeleteGroupsResponseGroup{{Group: "g"}}
	b.call("a", 10, 35, r, resp)
	b.heartbeat("b", from, 40, "B", 1, 15)
}

// seenEmpty: somebody looks at the group until 15 ms and sees it Empty, and its first JoinGroup begins then or before.
func seenEmpty(b *book, from int) {
	r, resp := kmsg.NewPtrDescribeGroupsRequest(), kmsg.NewPtrDescribeGroupsResponse()
	r.Groups = []string{"g"}
	g := kmsg.NewDescribeGroupsResponseGroup()
	g.Group, g.State = "g", "Empty"
	resp.Groups = append(resp.Groups, g)
	b.call("b", from-4, 11, r, resp)
	b.joinStatic("a", from, 20, joined(1, "A", "A", "A"))
}

// backTooLate: A's session of 100 ms ends at 104 ms, or a little later; a heartbeat renews it, and shortly after A is no member.
func backTooLate(b *book, at int) {
	b.alone()
	b.heartbeat("a", at, at+1, "A", 1, 0)
	b.heartbeat("a", at+10, at+11, "A", 1, 25)
}

// syncTwice: A's SyncGroup is never answered; A repeats it, unless at is 0.
func syncTwice(b *book, at int) {
	b.join("a", 0, 1, "", refusedJoin(79, "A"))
	b.join("a", 2, 3, "A", joined(1, "A", "A", "A"))
	b.sync("a", 10, 900, "A", 1, []string{"A"}, 0, "A")
	lost(&b.Calls[len(b.Calls)-1])
	if at > 0 {
		b.sync("a", at, at+1, "A", 1, []string{"A"}, 0, "A")
	}
}

// joinStatic is a JoinGroup of static member i without a member id.
func (b *book) joinStatic(client string, from, to int, resp *kmsg.JoinGroupResponse) {
	r := kmsg.NewPtrJoinGroupRequest()
	r.Group, r.ProtocolType, r.InstanceID = "g", "consumer", kmsg.StringPtr("i")
	r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = 100, 300
	r.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte("x")}}
	for i := range resp.Members {
		resp.Members[i].InstanceID = kmsg.StringPtr("i")
	}
	b.call(client, from, to, r, resp)
}

// fencedTwice: static member i is replaced twice in a Stable group, by a second process between 20 and 31 ms, which is fenced, and by a third.
func fencedTwice(b *book, from, to int) {
	b.joinStatic("a", 0, 3, joined(1, "A", "A", "A"))
	b.sync("a", 4, 5, "A", 1, []string{"A"}, 0, "A")
	fenced := refusedJoin(82, "B")
	b.joinStatic("b", 20, 31, fenced)
	b.joinStatic("c", from, to, joined(1, "B", "C")) // of such a version the leader is the one before
}

// superseded: B repeats its JoinGroup on another connection, and only the second is answered.
func superseded(b *book) {
	b.alone()
	b.join("b", 10, 11, "", refusedJoin(79, "B"))
	b.join("b", 12, 900, "B", nil)
	b.join("b", 20, 41, "B", joined(2, "A", "B"))
	b.join("a", 40, 41, "A", joined(2, "A", "A", "A", "B"))
}

// eaten takes the answer of a call away, on purpose.
func eaten(c *history.Call) { c.Outcome, c.Response = history.Lost, nil }

// askedFor is a group that a JoinGroup has made, and that nobody has joined.
func (b *book) askedFor() { b.join("a", 0, 1, "", refusedJoin(79, "A")) }

func (b *book) restart(at, gone, until int64) {
	b.Faults = append(b.Faults, history.Fault{Kind: history.Restart, At: at * 1e6, Gone: gone * 1e6, Until: until * 1e6})
}

func (b *book) shutdown(at, gone, until int64) {
	b.Faults = append(b.Faults, history.Fault{Kind: history.Shutdown, At: at * 1e6, Gone: gone * 1e6, Until: until * 1e6})
}

// movedJoin: B's JoinGroup waits for A until it is told that the coordinator is another.
func (b *book) movedJoin() {
	b.alone()
	b.join("b", 10, 11, "", refusedJoin(79, "B"))
	b.join("b", 12, 25, "B", refusedJoin(16, "B"))
}

func (b *book) pause(at, until int64) {
	b.Faults = append(b.Faults, history.Fault{Kind: history.Pause, At: at * 1e6, Until: until * 1e6})
}

// lost takes the answer of a call away.
func lost(c *history.Call) { c.Outcome, c.Response = history.GivenUp, nil }
