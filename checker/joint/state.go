package joint

import (
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/checker/monitor"
	"github.com/muster-kafka/muster/model/classic"
)

// room is how many ids there may be: one more than what is packed, which a step may mint before it is found to be too many.
const room = classic.MaxPacked + 1

// state is a joint state. A row stands for one member id; slot i of every explanation is that of row i, whether or not it is in use there.
type state struct {
	coordinator Coordinator
	rows        []ident
	models      []explanation
	tickets     checker.Ticket   // the last one used
	late        []checker.Ticket // requests that are judged, and whose answers wait for a write
	log         []Record         // the last record of the group and of its offsets that was written, or that is on its way
	watch       *monitor.Watch   // what monitors know
	proposed    kmsg.Request     // the leader's SyncGroup that is being written
	open        []sent           // JoinGroups and SyncGroups that nobody has answered, as monitors count them
}

// ident is a member id, and its instance id if it has one.
type ident struct{ id, instance string }

// explanation is a state of the specification that explains the coordinator so far, with what the specification leaves out.
type explanation struct {
	state      classic.State
	generation int32
	parked     [room]waiting
	wait, rest time.Duration // of the initial delay
}

// waiting are the requests that a member has parked.
type waiting struct{ join, sync request }

// request is one on its way.
type request struct {
	ticket  checker.Ticket
	version int16
	id      string // the member id that it carried
}

// space holds the states that wait to be expanded: the search itself only knows their keys.
type space struct {
	mu   sync.Mutex
	open map[explore.Key]*state // nil where it has been expanded
}

func newSpace() *space { return &space{open: map[explore.Key]*state{}} }

// known says whether a state has been reached before.
func (s *space) known(k explore.Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.open[k]
	return ok
}

// put keeps a state that has not been reached before.
func (s *space) put(k explore.Key, of *state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.open[k]; !ok {
		s.open[k] = of
	}
}

// take hands a state out to be expanded.
func (s *space) take(k explore.Key) *state {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.open[k]
	s.open[k] = nil
	return of
}

// row is where an id is, or -1.
func (s *state) row(id string) int {
	for i := range s.rows {
		if s.rows[i].id == id {
			return i
		}
	}
	return -1
}

// instance is how an instance id relates to an explanation.
func (s *state) instance(x *explanation, name string) classic.Instance {
	if name == "" {
		return classic.Instance{}
	}
	for i := range s.rows {
		if s.rows[i].instance == name && x.state.Slots[i].Static {
			return classic.Instance{Kind: classic.KnownInstance, Slot: int8(i)}
		}
	}
	return classic.Instance{Kind: classic.UnknownInstance}
}

// ref is how the id of a row relates to an explanation.
func (x *explanation) ref(r classic.Ref) classic.Ref {
	if r.Kind == classic.KnownID && x.state.Slots[r.Slot].Kind == classic.Free {
		return classic.Ref{Kind: classic.UnknownID}
	}
	return r
}
