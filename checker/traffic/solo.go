package traffic

import (
	"container/heap"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
)

// Solo runs clients in one goroutine, on a time that is only a number: what is to happen lies in a queue, in its order, and the same seed gives the same run.
// Whoever makes it brings the requests to a coordinator, and ends the calls.
type Solo struct {
	Now   int64 // nanoseconds since the start of the run
	Calls []*SoloCall

	setup *Setup
	limit int
	send  func(*SoloCall)
	queue events
	order int
}

// SoloCall is a call of a client that runs solo, on its main connection or, while one is parked there, on the side.
type SoloCall struct {
	history.Call
	Client *Client
	Asked  kmsg.Request
	Side   bool
	Ended  bool

	by *soloist
}

type soloist struct {
	*Client
	main, side *SoloCall
}

type event struct {
	at    int64
	order int
	do    func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, k int) bool {
	return e[i].at < e[k].at || e[i].at == e[k].at && e[i].order < e[k].order
}
func (e events) Swap(i, k int) { e[i], e[k] = e[k], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}

// NewSolo makes clients that begin no more than so many calls. Each is handed to send, which has it ended, later, by End.
func NewSolo(setup *Setup, calls int, send func(*SoloCall)) *Solo {
	s := &Solo{setup: setup, limit: calls, send: send}
	for n := range setup.Clients {
		c := &soloist{Client: New(setup, n)}
		s.At(0, func() { s.turn(c) })
	}
	return s
}

// At has something happen after a delay.
func (s *Solo) At(delay int64, do func()) {
	s.order++
	heap.Push(&s.queue, event{s.Now + delay, s.order, do})
}

// Next is the instant at which the next thing happens; false where there is none any more.
func (s *Solo) Next() (at int64, ok bool) {
	if s.queue.Len() == 0 {
		return 0, false
	}
	return s.queue[0].at, true
}

// Step lets the next thing happen, at its instant; false where there is none.
func (s *Solo) Step() bool {
	if s.queue.Len() == 0 {
		return false
	}
	e := heap.Pop(&s.queue).(event)
	s.Now = max(s.Now, e.at)
	e.do()
	return true
}

// Done says whether no more calls will begin.
func (s *Solo) Done() bool { return len(s.Calls) >= s.limit }

// Recorded are the calls as a history has them.
func (s *Solo) Recorded() []history.Call {
	all := make([]history.Call, len(s.Calls))
	for i, c := range s.Calls {
		all[i] = c.Call
	}
	return all
}

func (s *Solo) turn(c *soloist) {
	if s.Done() || c.main != nil {
		return
	}
	step := c.Next(time.Duration(s.Now))
	s.At(int64(step.Pause)+1, func() {
		if step.Request == nil {
			s.turn(c)
			return
		}
		s.begin(c, step, false)
	})
}

func (s *Solo) meanwhile(c *soloist) {
	main := c.main
	if main == nil || c.side != nil || s.Done() {
		return
	}
	step := c.Meanwhile()
	s.At(int64(step.Pause)+1, func() {
		if c.main == main && c.side == nil && step.Request != nil && !s.Done() {
			s.begin(c, step, true)
		}
	})
}

func (s *Solo) begin(c *soloist, step Step, side bool) {
	call := &SoloCall{by: c, Client: c.Client, Asked: step.Request, Side: side, Call: history.Call{
		ID: int64(len(s.Calls) + 1), Groups: history.GroupsOf(step.Request, s.setup.Groups), Client: c.Name,
		Key: step.Request.Key(), Version: step.Version, Request: history.EncodeRequest(step.Request, step.Version), Call: s.Now,
	}}
	s.Calls = append(s.Calls, call)
	if side {
		c.side = call
	} else {
		c.main = call
	}
	c.Sent(call.Asked)
	s.send(call)
	if step.Parks() && !side {
		s.At(1, func() { s.meanwhile(c) })
	}
}

// End ends a call now, with its answer if it has one; one that has ended it leaves alone.
func (s *Solo) End(call *SoloCall, outcome history.Outcome, resp kmsg.Response) {
	if call.Ended {
		return
	}
	call.Ended = true
	call.Outcome, call.Return = outcome, s.Now
	c := call.by
	if resp != nil {
		call.Response = history.EncodeResponse(resp, call.Version)
		c.Answer(call.Asked, resp)
	} else {
		c.Lost(call.Asked)
	}
	if call.Side {
		c.side = nil
		s.At(1, func() { s.meanwhile(c) })
		return
	}
	c.main = nil
	s.At(1, func() { s.turn(c) })
}
