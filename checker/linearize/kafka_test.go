package linearize

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
)

// TestBetweenSteps judges what Kafka does between two steps of a request: right on a Kafka that does so, wrong on others, and wrong there too where
// nothing else was going on.
func TestBetweenSteps(t *testing.T) {
	for _, test := range []struct {
		name    string
		profile string
		write   func(b *book)
		want    Result
	}{
		{"the last has left, others are pending", "4.3.1", func(b *book) { lastLeft(b, "B"); b.describe(22, 23, "PreparingRebalance", "consumer") }, Legal},
		{"the last has left, others are pending", "3.9.2", func(b *book) { lastLeft(b, "B"); b.describe(22, 23, "PreparingRebalance", "consumer") }, Legal},
		{"the last has left, others are pending", "reference", func(b *book) { lastLeft(b, "B"); b.describe(22, 23, "PreparingRebalance", "consumer") }, Illegal},
		{"the last has left, nobody is pending", "4.3.1", func(b *book) { lastLeft(b, ""); b.describe(22, 23, "PreparingRebalance", "consumer") }, Illegal},
		{"the last has left long since", "4.3.1", func(b *book) { lastLeft(b, "B"); b.describe(95, 96, "PreparingRebalance", "consumer") }, Illegal},
		{"a join before the empty one has ended", "4.3.1", func(b *book) { lastLeft(b, "B"); b.join("b", 22, 23, "B", joined(2, "B", "B", "B")) }, Legal},
		{"a join after the empty one has ended", "4.3.1", func(b *book) { lastLeft(b, "B"); b.join("b", 22, 23, "B", joined(3, "B", "B", "B")) }, Legal},
		{"a join that takes no generation", "4.3.1", func(b *book) { lastLeft(b, "B"); b.join("b", 22, 23, "B", joined(1, "B", "B", "B")) }, Illegal},
		{"a join long after the empty one", "4.3.1", func(b *book) { lastLeft(b, "B"); b.join("b", 95, 96, "B", joined(2, "B", "B", "B")) }, Illegal},
		{"a join before the empty one has ended", "reference", func(b *book) { lastLeft(b, "B"); b.join("b", 22, 23, "B", joined(2, "B", "B", "B")) }, Illegal},

		{"a pending id that expires while it joins", "3.9.2", func(b *book) { expiredJoining(b, 102) }, Legal},
		{"a pending id that joins in time", "3.9.2", func(b *book) { expiredJoining(b, 40) }, Illegal},
		{"a pending id that expires while it joins", "4.3.1", func(b *book) { expiredJoining(b, 102) }, Illegal},
		{"a pending id that expires while it joins", "reference", func(b *book) { expiredJoining(b, 102) }, Illegal},

		{"a pending id that is removed after it has joined", "3.9.2", func(b *book) { expiredJoined(b, 102); b.sync("a", 125, 126, "A", 2, []string{"A"}, 0, "A") }, Legal},
		{"and the group rebalances", "3.9.2", func(b *book) { expiredJoined(b, 102); b.sync("a", 125, 126, "A", 2, []string{"A"}, 27, "") }, Illegal},
		{"a pending id that joins in time is removed", "3.9.2", func(b *book) { expiredJoined(b, 40); b.sync("a", 125, 126, "A", 2, []string{"A"}, 0, "A") }, Illegal},
		{"a pending id that is removed after it has joined", "4.3.1", func(b *book) { expiredJoined(b, 102); b.sync("a", 125, 126, "A", 2, []string{"A"}, 0, "A") }, Illegal},

		{"a member whose session had ended as it was renewed", "3.9.2", func(b *book) { expiredRenewed(b, 27) }, Legal},
		{"and the group does not rebalance", "3.9.2", func(b *book) { expiredRenewed(b, 0) }, Illegal},

		{"an OffsetDelete that a JoinGroup overtakes", "3.9.2", func(b *book) { deletedJoining(b, 9) }, Legal},
		{"an OffsetDelete that no JoinGroup overtakes", "3.9.2", func(b *book) { deletedJoining(b, 12) }, Illegal},

		{"a look at a dead group", "3.9.2", func(b *book) { seenDead(b, 20) }, Legal},
		{"a look at a group that was dead before", "3.9.2", func(b *book) { seenDead(b, 36) }, Illegal},
		{"a look at a dead group", "4.3.1", func(b *book) { seenDead(b, 20) }, Illegal},

		{"a look before the group is written", "4.3.1", func(b *book) { begun(b); b.describe(2, 3, "Dead", "") }, Legal},
		{"a look before the group is written", "3.9.2", func(b *book) { begun(b); b.describe(2, 3, "Dead", "") }, Illegal},
		{"a look before the group is written", "reference", func(b *book) { begun(b); b.describe(2, 3, "Dead", "") }, Illegal},
		{"a look when the group is seen", "4.3.1", func(b *book) { begun(b); b.describe(2, 3, "Empty", ""); b.describe(4, 5, "Dead", "") }, Illegal},
		{"a look when the group must be written", "4.3.1", func(b *book) { begun(b); b.describe(60, 61, "Dead", "") }, Illegal},
		{"a look before the group is written, which has members", "4.3.1", func(b *book) {
			begun(b)
			b.join("b", 2, 3, "B", joined(1, "B", "B", "B"))
			b.describe(4, 5, "Dead", "")
		}, Legal},
		{"a look when its assignment is written", "4.3.1", func(b *book) {
			begun(b)
			b.join("b", 2, 3, "B", joined(1, "B", "B", "B"))
			b.sync("b", 4, 5, "B", 1, []string{"B"}, 0, "B")
			b.describe(6, 7, "Dead", "")
		}, Illegal},
		{"a look when its member has gone, which nobody has waited for", "4.3.1", func(b *book) {
			b.pause(0, 400)
			begun(b)
			b.join("b", 2, 3, "B", joined(1, "B", "B", "B"))
			b.heartbeat("b", 300, 301, "B", 1, 25)
			b.describe(310, 311, "Dead", "")
		}, Legal},
		{"a look when its member has gone, which it has waited for", "4.3.1", func(b *book) {
			b.pause(0, 400)
			begun(b)
			b.join("b", 2, 3, "B", joined(1, "B", "B", "B"))
			b.leave("b", 300, 301, "B")
			b.describe(310, 311, "Dead", "")
		}, Illegal},
		{"a look after an offset is written", "4.3.1", func(b *book) { b.commit("a", 0, 1, "", -1, 1, 0); b.describe(2, 3, "Dead", "") }, Illegal},

		{"a list with a dead group", "3.9.2", func(b *book) { listedDead(b, 20, 1) }, Legal},
		{"a list with a group that was dead before", "3.9.2", func(b *book) { listedDead(b, 36, 1) }, Illegal},
		{"a list with a dead group that is Empty", "3.9.2", func(b *book) { listedDead(b, 20, 4) }, Illegal},
		{"a list with a dead group", "4.3.1", func(b *book) { listedDead(b, 20, 1) }, Illegal},

		{"a leader that leaves while it assigns", "4.3.1", func(b *book) { leftAssigning(b, 5) }, Legal},
		{"a leader that leaves while it assigns", "3.9.2", func(b *book) { leftAssigning(b, 5) }, Legal},
		{"a leader that leaves while it assigns", "reference", func(b *book) { leftAssigning(b, 5) }, Illegal},
		{"a leader that has left before it assigns", "4.3.1", func(b *book) { leftAssigning(b, 12) }, Illegal},

		{"a join that was taken up late", "4.3.1", func(b *book) { // it was answered, and waited for nobody
			b.commit("a", 0, 1, "", -1, 1, 0)
			b.join("b", 0, 400, "", refusedJoin(79, "B"))
			b.join("b", 401, 402, "B", joined(1, "B", "B", "B"))
		}, Legal},
	} {
		t.Run(test.profile+" "+test.name, func(t *testing.T) {
			b := newBook(test.profile)
			if test.profile != "reference" {
				b.Header.InitialDelay = 1
			}
			test.write(b)
			v, err := Check(t.Context(), &b.History, Limits{})
			if err != nil || v.Result != test.want {
				t.Errorf("%v %s (%v), want %v", v.Result, v.Reason, err, test.want)
			}
		})
	}
}

// begun: a JoinGroup has made the group by 1 ms.
func begun(b *book) { b.join("b", 0, 1, "", refusedJoin(79, "B")) }

// lastLeft: A, the only member, leaves at 20 ms, while another's id is pending, if there is one.
func lastLeft(b *book, pending string) {
	b.alone()
	if pending != "" {
		b.join("b", 10, 11, "", refusedJoin(79, pending))
	}
	b.leave("a", 20, 21, "A")
}

// expiredJoining: B's id is pending until 101 to 111 ms, or somewhat later. Its JoinGroup is never answered.
func expiredJoining(b *book, at int) {
	b.join("b", 0, 1, "", refusedJoin(79, "B"))
	b.join("b", at, 900, "B", nil)
	b.heartbeat("c", at+10, at+11, "B", 0, 25)
}

// expiredJoined: B, whose id was handed out by 8 ms, joins from at on, which completes generation 2, and is not known 15 ms later.
func expiredJoined(b *book, at int) {
	b.alone()
	b.join("b", 7, 8, "", refusedJoin(79, "B"))
	b.heartbeat("a", 30, 31, "A", 1, 0)
	b.join("a", at, at+3, "A", joined(2, "A", "A", "A", "B"))
	b.join("b", at, at+3, "B", joined(2, "A", "B"))
	b.heartbeat("b", at+15, at+16, "B", 2, 25)
}

// expiredRenewed: B, whose session begins by 33 ms, sends a heartbeat from 134 ms on and is not known 15 ms later; then A is told whether the group rebalances.
func expiredRenewed(b *book, told int16) {
	b.alone()
	b.second()
	b.sync("a", 30, 31, "A", 2, []string{"A", "B"}, 0, "A")
	b.sync("b", 32, 33, "B", 2, nil, 0, "B")
	b.heartbeat("a", 120, 121, "A", 2, 0)
	b.heartbeat("b", 134, 137, "B", 2, 0)
	b.heartbeat("b", 150, 151, "B", 2, 25)
	b.heartbeat("a", 155, 156, "A", 2, told)
}

// deletedJoining: offsets of a group that has none and nobody but an id that is pending are deleted between 5 and 10 ms; the id joins from then on.
func deletedJoining(b *book, from int) {
	b.join("a", 0, 1, "", refusedJoin(79, "A"))
	r, resp := kmsg.NewPtrOffsetDeleteRequest(), kmsg.NewPtrOffsetDeleteResponse()
	r.Group = "g"
	r.Topics = []kmsg.OffsetDeleteRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetDeleteRequestTopicPartition{{}}}}
	resp.Topics = []kmsg.OffsetDeleteResponseTopic{{Topic: "t", Partitions: []kmsg.OffsetDeleteResponseTopicPartition{{}}}}
	b.call("b", 5, 10, r, resp)
	b.join("a", from, 20, "A", joined(1, "A", "A", "A"))
}

// leftAssigning: the SyncGroup of A, the leader, is never answered. A leaves between 5 and 10 ms.
func leftAssigning(b *book, from int) {
	b.join("a", 0, 1, "", refusedJoin(79, "A"))
	b.join("a", 2, 3, "A", joined(1, "A", "A", "A"))
	r := kmsg.NewPtrSyncGroupRequest()
	r.Group, r.MemberID, r.Generation = "g", "A", 1
	b.call("a", from, 900, r, nil)
	b.leave("a2", 5, 10, "A")
}

// seenDead: the group is deleted between 10 and 35 ms, and looked at from then on.
func seenDead(b *book, from int) {
	b.commit("a", 0, 1, "", -1, 1, 0)
	r, resp := kmsg.NewPtrDeleteGroupsRequest(), kmsg.NewPtrDeleteGroupsResponse()
	r.Groups, resp.Groups = []string{"g"}, []kmsg.DeleteGroupsResponseGroup{{Group: "g"}}
	b.call("a", 10, 35, r, resp)
	b.describe(from, 40, "Dead", "consumer")
}

// listedDead: the group is deleted between 10 and 35 ms, its offsets are gone by 19 ms, and a list has it from then on.
func listedDead(b *book, from int, version int16) {
	b.commit("a", 0, 1, "", -1, 1, 0)
	r, resp := kmsg.NewPtrDeleteGroupsRequest(), kmsg.NewPtrDeleteGroupsResponse()
	r.Groups, resp.Groups = []string{"g"}, []kmsg.DeleteGroupsResponseGroup{{Group: "g"}}
	b.call("a", 10, 35, r, resp)
	b.fetch("b", 18, 19, -1)
	lr, list := kmsg.NewPtrListGroupsRequest(), kmsg.NewPtrListGroupsResponse()
	g := kmsg.NewListGroupsResponseGroup()
	g.Group, g.GroupState = "g", "Empty"
	list.Groups = append(list.Groups, g)
	c := b.call("d", from, 40, lr, list)
	c.Version, c.Request = version, history.EncodeRequest(lr, version)
	c.Response = history.EncodeResponse(list, version)
}

// describe is a look at a group without members.
func (b *book) describe(from, to int, state, protocolType string) {
	r, resp := kmsg.NewPtrDescribeGroupsRequest(), kmsg.NewPtrDescribeGroupsResponse()
	r.Groups = []string{"g"}
	g := kmsg.NewDescribeGroupsResponseGroup()
	g.Group, g.State, g.ProtocolType = "g", state, protocolType
	resp.Groups = append(resp.Groups, g)
	b.call("d", from, to, r, resp)
}

// TestKafkaHistories judges histories of real Kafka that were called wrong once. Their names begin with the release. Each is right on it, and wrong
// by then where a JoinGroup has brought another generation.
func TestKafkaHistories(t *testing.T) {
	files, err := filepath.Glob("testdata/kafka/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	illegal := 0
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			v, h, err := CheckFile(t.Context(), file, Limits{})
			if err != nil || len(v.Problems) > 0 {
				t.Fatal(err, v.Problems)
			}
			if !strings.HasPrefix(filepath.Base(file), h.Header.Profile+"-") {
				t.Errorf("it is a history of %s", h.Header.Profile)
			}
			if v.Result != Legal {
				t.Errorf("%v %s", v.Result, v.Reason)
			}
			changed := 0
			for i := range h.Calls {
				resp, err := h.Calls[i].DecodeResponse()
				join, ok := resp.(*kmsg.JoinGroupResponse)
				if changed == 3 || h.Calls[i].Outcome != history.Answered || err != nil || !ok || join.ErrorCode != 0 {
					continue
				}
				join.Generation += 5
				wrong := h.Keep(func(*history.Call) bool { return true })
				wrong.Calls[i].Response = history.EncodeResponse(join, h.Calls[i].Version)
				changed++
				switch v, err := Check(t.Context(), wrong.Cut(h.Calls[i].Return+1), Limits{Timeout: time.Second}); {
				case err != nil || v.Result == Legal:
					t.Errorf("with another generation in call %d: %v %s %v", h.Calls[i].ID, v.Result, v.Reason, err)
				case v.Result == Illegal:
					illegal++
				}
			}
		})
	}
	if illegal < len(files)/2 { // some are small, and no JoinGroup in them has brought a generation
		t.Errorf("only %d changed ones were found wrong", illegal)
	}
}

// TestSmallAndWrongForTheSameReason makes real histories small under a profile that does not explain them. What is left is wrong by itself, shows
// where each id comes from.
func TestSmallAndWrongForTheSameReason(t *testing.T) {
	for file, profile := range map[string]string{
		"3.9.2-join-after-the-last-left.jsonl": "reference",
	} {
		t.Run(file, func(t *testing.T) {
			h, _, err := history.ReadFile(t.Context(), filepath.Join("testdata/kafka", file))
			if err != nil {
				t.Fatal(err)
			}
			h.Header.Profile, h.Header.InitialDelay = profile, 0 // of which timers of no length take none
			group := h.Header.Groups[0]
			m := &minimiser{group: group, limits: Limits{}.withDefaults()}
			small, found := minimise(t.Context(), h, group, Limits{}, 20*time.Second)
			if found == nil || len(small.Calls) >= len(h.Calls) {
				t.Fatalf("%d of %d calls are left: %v", len(small.Calls), len(h.Calls), found)
			}
			if result := m.check(t.Context(), small); result != Illegal {
				t.Errorf("by itself it is %v", result)
			}
			kept := map[int64]bool{}
			for i := range small.Calls {
				kept[small.Calls[i].ID] = true
			}
			by := mints(h)
			for i := range small.Calls {
				for _, id := range needs(by, &small.Calls[i]) {
					if !kept[id] {
						t.Errorf("call %d speaks of an id that call %d has handed out, which is gone", small.Calls[i].ID, id)
					}
				}
			}
			t.Logf("%d of %d calls are left", len(small.Calls), len(h.Calls))
		})
	}
}

// TestLeftOut holds that a call which may have had an effect is not just gone when a smaller history is tried: it may have happened or not.
func TestLeftOut(t *testing.T) {
	b := newBook("reference")
	b.alone()                                      // 1 to 3
	b.heartbeat("a", 10, 11, "A", 1, 0)            // 4 renews the session
	b.heartbeat("a", 12, 13, "A", 7, 22)           // 5 was refused
	b.fetch("a", 14, 15, -1)                       // 6 looks
	b.commit("a", 16, 17, "A", 1, 1, 15)           // 7 may have had its effect
	b.join("b", 18, 19, "C", refusedJoin(25, "C")) // 8 might have made the group
	b.heartbeat("a", 20, 21, "A", 1, 25)           // 9 is kept
	m := &minimiser{best: &b.History, wrong: 9}
	var gone, open []int64
	left := m.maybe(func(c *history.Call) bool { return c.ID == 9 })
	for i := range b.Calls {
		at := slices.IndexFunc(left.Calls, func(c history.Call) bool { return c.ID == b.Calls[i].ID })
		switch {
		case at < 0:
			gone = append(gone, b.Calls[i].ID)
		case left.Calls[at].Outcome == history.Open && left.Calls[at].Response == nil:
			open = append(open, b.Calls[i].ID)
		}
	}
	if !slices.Equal(gone, []int64{5, 6}) || !slices.Equal(open, []int64{1, 2, 3, 4, 7, 8}) {
		t.Errorf("gone are %v, may or may not have happened %v", gone, open)
	}
	if b.Calls[0].Outcome != history.Answered {
		t.Error("the history itself has changed")
	}
}
