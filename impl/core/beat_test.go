package core_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/internal/cputime"
)

// twins are two coordinators that live through the same: one is asked for heartbeats by Step, one by Beat.
type twins struct {
	t          *testing.T
	step, beat *core.Coordinator
	now        time.Time
	ticket     core.Ticket
	timers     core.TimerQueue
	open       []core.AppendID
	hold       bool // writes stay open

	quick, whole, refused int // heartbeats that Beat has answered as they usually are, otherwise, and not at all
	answers               []core.Answer
}

func newTwins(t *testing.T, seed uint64) *twins {
	made := func() *core.Coordinator {
		rng := rand.New(rand.NewPCG(seed, 1))
		return core.New(core.Settings{
			NewMemberID: func(id string) string { return core.MemberID(id, rng.Uint64(), rng.Uint64()) }, Choose: rng.IntN,
			MinSessionTimeout: time.Millisecond, CleanupInterval: time.Minute,
		})
	}
	return &twins{t: t, step: made(), beat: made(), now: time.Unix(1_000_000, 0)}
}

// happen lets an event happen to both, and compares what comes of it.
func (w *twins) happen(ev core.Event) {
	w.t.Helper()
	want := w.step.Step(w.now, ev)
	var got []core.Effect
	r, isRequest := ev.(core.Request)
	beat := false
	if isRequest {
		_, beat = r.Message.(*kmsg.HeartbeatRequest)
	}
	b, ok := core.Beaten{}, false
	if beat {
		b, ok = w.beat.Beat(w.now, r)
	}
	switch {
	case !ok:
		if beat {
			w.refused++
		}
		got = w.beat.Step(w.now, ev)
	case b.Others != nil:
		w.whole++
		if got = b.Others; b.Armed || b.Answer.Message != nil {
			w.t.Fatalf("%+v: both kinds of effects", b)
		}
	default:
		w.quick++
		if b.Armed {
			got = append(got, b.Arm)
		}
		if b.Answer.Message != nil {
			got = append(got, b.Answer)
		}
	}
	if !reflect.DeepEqual(got, want) {
		w.t.Fatalf("%+v:\nStep: %+v\nBeat: %+v", ev, want, got)
	}
	for _, e := range want {
		switch e := e.(type) {
		case core.Append:
			w.open = append(w.open, e.ID)
		case core.Answer:
			w.answers = append(w.answers, e)
		default:
			w.timers.Apply(e)
		}
	}
	if !w.hold {
		w.land()
	}
}

func (w *twins) land() {
	for len(w.open) > 0 {
		id := w.open[0]
		w.open = w.open[1:]
		w.happen(core.Appended{ID: id})
	}
}

func (w *twins) ask(version int16, req kmsg.Request) {
	w.t.Helper()
	w.ticket++
	w.happen(core.Request{Ticket: w.ticket, Message: req, Version: version, ClientID: "c", ClientHost: "/h"})
}

// pass lets time pass, and the timers fire.
func (w *twins) pass(d time.Duration) {
	w.now = w.now.Add(d)
	for {
		due, ok := w.timers.TakeDue(w.now)
		if !ok {
			return
		}
		w.happen(due)
	}
}

// Beat does what Step does, whatever has happened before.
func TestBeatIsStep(t *testing.T) {
	quick, whole, refused := 0, 0, 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 2))
		w := newTwins(t, seed)
		type member struct {
			id         string
			generation int32
		}
		members := map[string][]member{}
		for range 300 {
			group := fmt.Sprint("g", rng.IntN(2))
			m := member{id: "nobody"}
			if known := members[group]; len(known) > 0 && rng.IntN(10) > 0 {
				m = known[rng.IntN(len(known))]
			}
			w.answers = nil
			switch rng.IntN(12) {
			case 0:
				join := kmsg.NewPtrJoinGroupRequest()
				join.Group, join.ProtocolType = group, "consumer"
				join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = 10_000, 5_000
				if rng.IntN(2) == 0 && m.id != "nobody" {
					join.MemberID = m.id
				}
				join.Protocols = append(join.Protocols, kmsg.JoinGroupRequestProtocol{Name: "range", Metadata: []byte{byte(rng.IntN(2))}})
				w.ask(3, join)
			case 1, 2:
				sync := kmsg.NewPtrSyncGroupRequest()
				sync.Group, sync.MemberID, sync.Generation = group, m.id, m.generation
				w.ask(3, sync)
			case 3:
				w.pass(time.Duration(rng.IntN(6_000)) * time.Millisecond)
			case 4:
				if w.hold = !w.hold; !w.hold {
					w.land()
				}
			case 5:
				leave := kmsg.NewPtrLeaveGroupRequest()
				leave.Group, leave.MemberID = group, m.id
				w.ask(1, leave)
			default:
				beat := kmsg.NewPtrHeartbeatRequest()
				beat.Group, beat.MemberID, beat.Generation = []string{group, group, group, ""}[rng.IntN(4)], m.id, m.generation-int32(rng.IntN(8)/7)
				if rng.IntN(50) == 0 {
					beat.MemberID = strings.Repeat("x", 1<<15) // has no answer
				}
				w.ask(int16(rng.IntN(6)), beat)
			}
			for _, a := range w.answers {
				if r, ok := a.Message.(*kmsg.JoinGroupResponse); ok && r.ErrorCode == core.None {
					members[group] = append(members[group], member{r.MemberID, r.Generation})
				}
			}
		}
		quick, whole, refused = quick+w.quick, whole+w.whole, refused+w.refused
	}
	t.Logf("%d heartbeats as usual, %d otherwise, %d left to Step", quick, whole, refused)
	if quick < 1000 || whole == 0 || refused < 100 {
		t.Error("some kind of heartbeat has not been tried")
	}
}

// beating is a Stable group of one member, and its Heartbeat.
func beating(t *testing.T) (*twins, core.Request) {
	w := newTwins(t, 1)
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.ProtocolType, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = "group", "consumer", 10_000, 5_000
	join.Protocols = append(join.Protocols, kmsg.JoinGroupRequestProtocol{Name: "range"})
	w.ask(3, join)
	w.pass(0)
	r := w.answers[0].Message.(*kmsg.JoinGroupResponse)
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group, sync.MemberID, sync.Generation = "group", r.MemberID, r.Generation
	w.ask(3, sync)
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Group, beat.MemberID, beat.Generation = "group", r.MemberID, r.Generation
	return w, core.Request{Message: beat, Version: 4}
}

// heartbeat is one through the coordinator and the queue of its timers.
func (w *twins) heartbeat(r *core.Request) (code int16) {
	w.ticket++
	r.Ticket = w.ticket
	b, ok := w.step.Beat(w.now, *r)
	if !ok || !b.Armed {
		return -1
	}
	w.timers.Arm(b.Arm)
	code = b.Answer.Message.(*kmsg.HeartbeatResponse).ErrorCode
	core.Reuse(b.Answer.Message)
	return code
}

// A Heartbeat of a member in good order takes no memory.
func TestBeatAllocatesNothing(t *testing.T) {
	w, r := beating(t)
	if code := w.heartbeat(&r); code != core.None {
		t.Fatalf("answered %d", code)
	}
	if n := testing.AllocsPerRun(1000, func() { w.heartbeat(&r) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkBeat is heartbeats through the coordinator, one after the other, with nothing around it. On a machine that is busy, what counts is how many of them
// take a second of the processor.
func BenchmarkBeat(b *testing.B) {
	w, r := beating(&testing.T{})
	b.ReportAllocs()
	before := cputime.Used()
	for b.Loop() {
		if w.heartbeat(&r) != core.None {
			b.Fatal("refused")
		}
	}
	b.ReportMetric(float64(b.N)/(cputime.Used()-before).Seconds(), "heartbeats/cpu-s")
}
