package lockstep

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/fuzz/gen"
)

// Between the coordinator and its clients answers may get lost, or come late and in another order (gen.Setup.Network). The coordinator is
// judged by what it sends; the clients act on what they get. A request that comes twice is the generator's affair (a client that repeats one on
// another connection).

// lateAnswer is on its way.
type lateAnswer struct {
	event   gen.Event
	message kmsg.Response
}

// astray says whether an answer does not reach its client now.
func (w *walk) astray(e gen.Event, message kmsg.Response) bool {
	if !w.network || e.Client == nil {
		return false
	}
	switch w.src.Intn(12, "the answer's way") {
	case 10:
		w.note(e.Client, "has not got its last answer, and never will")
		w.gen.Forgone(e)
		return true
	case 11:
		w.note(e.Client, "has not got its last answer yet")
		w.late = append(w.late, lateAnswer{e, message})
		return true
	}
	return false
}

// deliver lets some of the late answers arrive, in any order; all of them once the network is well again.
func (w *walk) deliver() {
	for left := len(w.late); left > 0; left-- {
		pick := 0
		if w.network {
			if w.src.Intn(3, "late answers stay") > 0 {
				return
			}
			pick = w.src.Intn(len(w.late), "which late answer")
		}
		l := w.late[pick]
		w.late = slices.Delete(w.late, pick, pick+1)
		w.note(l.event.Client, "gets an answer late")
		w.gen.Answered(l.event, l.message)
	}
}
