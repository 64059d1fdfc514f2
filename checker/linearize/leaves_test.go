package linearize

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestLeavesWhileReplaced: static member i is replaced in a Stable group between 20 and 30 ms, and the second process is told that it is unknown. That is right on
// Kafka where a LeaveGroup removes the member before it is told so, and wrong everywhere else.
func TestLeavesWhileReplaced(t *testing.T) {
	for _, test := range []struct {
		name    string
		profile string
		write   func(b *book)
		want    Result
	}{
		{"it leaves meanwhile", "4.3.1", func(b *book) { b.leaveStatic(25, 35, "i", 0) }, Legal},
		{"it leaves meanwhile, by contract", "reference", func(b *book) { b.leaveStatic(25, 35, "i", 0) }, Illegal},
		{"nobody leaves", "4.3.1", func(*book) {}, Illegal},
		{"it leaves after that", "4.3.1", func(b *book) { b.leaveStatic(31, 35, "i", 0) }, Illegal},
		{"it left before that", "4.3.1", func(b *book) { b.leaveStatic(10, 19, "i", 0) }, Illegal},
		{"another leaves meanwhile", "4.3.1", func(b *book) { b.leaveStatic(25, 35, "j", 25) }, Illegal},
		{"it has left when it is told so", "4.3.1", func(b *book) {
			b.leaveStatic(25, 60, "i", 0)
			b.describe(40, 41, "Empty", "consumer")
		}, Legal},
		{"it is still there when it is told so", "4.3.1", func(b *book) {
			b.leaveStatic(25, 60, "i", 0)
			b.joinStatic("c", 40, 41, joined(1, "B", "C"))
		}, Illegal},
		{"it is replaced meanwhile, and another leaves", "4.3.1", func(b *book) {
			b.joinStatic("c", 22, 28, joined(1, "B", "C"))
			b.leaveStatic(25, 35, "j", 25)
		}, Illegal},
		{"its session ends meanwhile, and it leaves after that", "4.3.1", func(b *book) {
			b.Calls[2].Return = 160e6
			b.leaveStatic(170, 171, "i", 25)
		}, Illegal},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBook(test.profile)
			b.joinStatic("a", 0, 3, joined(1, "A", "A", "A"))
			b.sync("a", 4, 5, "A", 1, []string{"A"}, 0, "A")
			b.joinStatic("b", 20, 30, refusedJoin(25, ""))
			test.write(b)
			b.verdict(t, test.want)
		})
	}
}

// leaveStatic is a LeaveGroup of a static member without its id.
func (b *book) leaveStatic(from, to int, instance string, code int16) {
	r, resp := kmsg.NewPtrLeaveGroupRequest(), kmsg.NewPtrLeaveGroupResponse()
	r.Group = "g"
	r.Members = []kmsg.LeaveGroupRequestMember{{InstanceID: &instance}}
	resp.Members = []kmsg.LeaveGroupResponseMember{{InstanceID: &instance, ErrorCode: code}}
	b.call("d", from, to, r, resp)
}
