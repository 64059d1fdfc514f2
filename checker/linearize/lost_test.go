package linearize

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
)

// left: A, the only member, has left by 12 ms. Where an id is pending the group is emptied by a timer, and nobody waits for its record. It is seen Empty by 15 ms.
func (b *book) left(pending bool) {
	if pending {
		b.join("b", 6, 7, "", refusedJoin(79, "B"))
	}
	b.leave("a", 10, 12, "A")
	b.describe(14, 15, "Empty", "consumer")
}

// TestLost: a crash loses what was still being written, and what nobody was answered after.
func TestLost(t *testing.T) {
	back := func(b *book) { b.heartbeat("a", 250, 251, "A", 1, 0) } // the record of generation 1 was loaded
	gone := func(b *book) { b.heartbeat("a", 250, 251, "A", 1, 25) }
	for _, test := range []struct {
		name    string
		profile string
		hangs   int64 // until then, from 9 ms on
		crash   int64
		write   func(b *book)
		then    func(b *book)
		want    Result
	}{
		{"emptied by a timer", "reference", 20, 20, func(b *book) { b.left(true) }, back, Legal},
		{"emptied by a timer, and kept", "reference", 20, 20, func(b *book) { b.left(true) }, gone, Legal},
		{"when nothing hangs any more", "reference", 17, 20, func(b *book) { b.left(true) }, back, Illegal},
		{"before an answer that has waited", "reference", 20, 20, func(b *book) { b.left(true); b.commit("c", 16, 18, "", -1, 1, 0) }, back, Illegal},
		{"before an answer that has waited, and kept", "reference", 20, 20, func(b *book) { b.left(true); b.commit("c", 16, 18, "", -1, 1, 0) }, gone, Legal},
		{"emptied by a request that waits", "reference", 20, 20, func(b *book) { b.left(false) }, back, Illegal},
		{"emptied by a request whose answer did not come", "reference", 20, 20, func(b *book) { b.left(false); eaten(&b.Calls[len(b.Calls)-2]) }, back, Legal},
		{"emptied by a timer, on Kafka", "4.3.1", 0, 20, func(b *book) { b.left(true) }, back, Legal},
		{"emptied by a timer, on Kafka, long before", "4.3.1", 0, 140, func(b *book) { b.left(true) }, back, Illegal},
		{"emptied by a request that does not wait, on 3.9", "3.9.2", 0, 20, func(b *book) { b.left(false) }, back, Legal},
		{"emptied by a request that waits, on 4.3", "4.3.1", 0, 20, func(b *book) { b.left(false) }, back, Illegal},
		{"with the record that made the group", "reference", 20, 20, func(b *book) { b.left(true) }, func(b *book) { b.describe(250, 251, "Dead", "") }, Illegal},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBook(test.profile)
			if test.hangs > 0 {
				b.trouble(history.AppendHangs, 9, test.hangs)
			}
			b.alone()
			test.write(b)
			b.restart(test.crash, test.crash+1, 200)
			test.then(b)
			b.verdict(t, test.want)
		})
	}
}

// TestLostFirst: a group that has been emptied before its first generation was written has, after a crash, what its JoinGroup wrote, which says nothing of a protocol type.
func TestLostFirst(t *testing.T) {
	for until, want := range map[int64]Result{20: Legal, 17: Illegal} {
		b := newBook("reference")
		b.trouble(history.AppendHangs, 9, until)
		b.join("a", 0, 1, "", refusedJoin(79, "A"))
		b.join("a", 2, 3, "A", joined(1, "A", "A", "A"))
		b.left(true)
		b.restart(20, 21, 40)
		b.describe(50, 51, "Empty", "")
		b.verdict(t, want)
	}
}

// TestLostAssignment: A's first SyncGroup is told that its second one has come, while what it assigns is still being written.
func TestLostAssignment(t *testing.T) {
	for _, test := range []struct {
		name   string
		hangs  int64
		second int64 // when the answer to the second one comes; 0 is never
		code   int16 // what a heartbeat is told after the crash
		want   Result
	}{
		{"lost", 20, 0, 25, Legal},
		{"kept", 20, 0, 0, Legal},
		{"lost after it was written", 17, 0, 25, Illegal},
		{"lost after it was answered", 20, 18, 25, Illegal},
		{"kept after it was answered", 20, 18, 0, Legal},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBook("reference")
			b.trouble(history.AppendHangs, 9, test.hangs)
			b.join("a", 0, 1, "", refusedJoin(79, "A"))
			b.join("a", 2, 3, "A", joined(1, "A", "A", "A"))
			b.sync("a", 10, 14, "A", 1, []string{"A"}, 27, "")
			if b.sync("a", 12, 20, "A", 1, []string{"A"}, 0, "A"); test.second == 0 {
				eaten(b.last())
			} else {
				b.last().Return = test.second * 1e6
			}
			b.restart(20, 21, 40)
			b.heartbeat("a", 50, 51, "A", 1, test.code)
			b.verdict(t, test.want)
		})
	}
}

// TestTimersOfNoLength: A leaves where an id is pending, so that a timer of no length empties the group; B comes in between. The reference has nobody in between but where something
// is on its way to its log: a header says so by an initial delay.
func TestTimersOfNoLength(t *testing.T) {
	for delay, want := range map[time.Duration]Result{0: Illegal, time.Nanosecond: Legal} {
		b := newBook("reference")
		b.Header.InitialDelay = delay
		b.alone()
		b.join("b", 6, 7, "", refusedJoin(79, "B"))
		b.join("c", 8, 9, "", refusedJoin(79, "C"))
		b.leave("a", 10, 12, "A")
		b.join("b", 13, 14, "B", joined(2, "B", "B", "B"))
		b.heartbeat("b", 15, 16, "B", 2, 0)
		b.verdict(t, want)
	}
}

// TestLostReplacement: a static member is replaced, and who replaces it is told that it is gone, or replaced itself, while that is still being written.
func TestLostReplacement(t *testing.T) {
	for _, test := range []struct {
		name  string
		hangs int64
		code  int16 // what the replacement is told
		other func(b *book)
		then  int16 // what the first member is told after the crash
		want  Result
	}{
		{"it leaves, and all is lost", 40, 25, func(b *book) { b.leaveStatic(25, 50, "i", 0); eaten(b.last()) }, 0, Legal},
		{"it leaves, and all is kept", 40, 25, func(b *book) { b.leaveStatic(25, 50, "i", 0); eaten(b.last()) }, 25, Legal},
		{"it leaves, and its replacement is kept", 40, 25, func(b *book) { b.leaveStatic(25, 50, "i", 0); eaten(b.last()) }, 82, Legal},
		{"it leaves, and all is lost though it was written", 35, 25, func(b *book) { b.leaveStatic(25, 50, "i", 0); eaten(b.last()) }, 0, Illegal},
		{"it leaves, and all is lost though that was answered", 40, 25, func(b *book) { b.leaveStatic(25, 36, "i", 0) }, 0, Illegal},
		{"it is replaced, and all is lost", 40, 82, func(b *book) { b.joinStatic("c", 25, 50, joined(1, "B", "C")); eaten(b.last()) }, 0, Legal},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBook("reference")
			b.trouble(history.AppendHangs, 15, test.hangs)
			b.joinStatic("a", 0, 3, joined(1, "A", "A", "A"))
			b.sync("a", 4, 5, "A", 1, []string{"A"}, 0, "A")
			id := ""
			if test.code == 82 {
				id = "B"
			}
			b.joinStatic("b", 20, 30, refusedJoin(test.code, id))
			test.other(b)
			b.restart(40, 41, 60)
			b.heartbeatStatic("a", 70, 71, "A", test.then)
			b.verdict(t, test.want)
		})
	}
}

// heartbeatStatic is a Heartbeat of static member i.
func (b *book) heartbeatStatic(client string, from, to int, member string, code int16) {
	r, resp := kmsg.NewPtrHeartbeatRequest(), kmsg.NewPtrHeartbeatResponse()
	r.Group, r.MemberID, r.InstanceID, r.Generation, resp.ErrorCode = "g", member, kmsg.StringPtr("i"), 1, code
	b.call(client, from, to, r, resp)
}
