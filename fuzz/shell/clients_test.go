package shell

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/traffic"
)

// line is what a client has one connection for: its requests, or those beside a parked one.
type line struct {
	client string
	side   bool
}

// socket is a connection as its client has it. One request is on its way on it at most.
type socket struct {
	*pipe
	number      int
	line        line
	call        *traffic.SoloCall
	correlation int32

	sent, heard int64  // when the last bytes arrive that are on their way, there and here
	begun       int    // bytes of the request that have arrived there
	whole       int    // of so many
	answer      []byte // bytes that have arrived here

	deaf bool // nothing arrives there any more
	mute bool // nothing arrives here any more
	over bool // the client has done with it
	shut bool // the server has closed it
}

// patience is how long a client waits for an answer.
const patience = 4 * time.Second

// send puts a request on its way. In some there is trouble.
func (w *world) send(call *traffic.SoloCall) {
	if w.down {
		w.At(int64(20*time.Millisecond)+w.rng.Int64N(int64(80*time.Millisecond)), func() { w.End(call, history.NotSent, nil) })
		return
	}
	s := w.socket(line{call.Client.Name, call.Side})
	s.call = call
	s.correlation++
	call.Asked.SetVersion(call.Version)
	frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID(s.line.client)).AppendRequest(nil, call.Asked, s.correlation)
	s.begun, s.whole = 0, len(frame)
	w.tell("%v: %s v%d, call %d", s, kmsg.NameForKey(call.Key), call.Version, call.ID)
	arrives := len(frame)
	if w.o.trouble > 0 && w.rng.IntN(w.o.trouble) == 0 {
		arrives = w.trouble(s, len(frame))
	}
	for _, piece := range w.pieces(frame[:arrives]) {
		s.sent = max(s.sent+1, w.Now+w.delayed())
		w.At(s.sent-w.Now, func() {
			if s.deaf {
				return
			}
			s.begun += len(piece)
			w.tell("%v: %d of %d bytes have arrived", s, s.begun, s.whole)
			s.deliver(piece)
		})
	}
	w.At(int64(patience), func() { w.giveUp(s, call, history.GivenUp) })
}

// socket is the connection of a line, which is dialled where there is none.
func (w *world) socket(l line) *socket {
	if s := w.sockets[l]; s != nil && !s.over {
		return s
	}
	w.dialled++
	s := &socket{number: w.dialled, line: l, pipe: newPipe(address(fmt.Sprint("127.0.0.1:", 20000+w.dialled)), home, w.wake)}
	w.sockets[l] = s
	w.socks = append(w.socks, s)
	w.life.listener.ready <- s.pipe
	return s
}

func (s *socket) String() string { return fmt.Sprintf("%d (%s)", s.number, s.line.client) }

// trouble happens to a connection with a request on its way: it is cut, it goes silent, or its client has no patience. It says how many bytes of the request arrive.
func (w *world) trouble(s *socket, size int) (arrives int) {
	call, soon := s.call, 1+w.rng.Int64N(int64(60*time.Millisecond))
	switch w.rng.IntN(4) {
	case 0:
		w.At(soon, func() { w.cut(s, call) })
	case 1: // the rest of the request is never heard of
		w.silence(s, call)
		return w.rng.IntN(size)
	case 2: // the answer is not
		w.silence(s, call)
	default:
		w.At(soon, func() { w.giveUp(s, call, history.GivenUp) })
	}
	return size
}

// silence loses what follows on a connection, there or here.
func (w *world) silence(s *socket, call *traffic.SoloCall) {
	w.counts[silences]++
	s.mute = true
	w.faults = append(w.faults, history.Fault{Kind: history.HalfOpen, At: w.Now, Client: s.line.client})
	w.tell("%v: goes silent", s)
	w.At(1+w.rng.Int64N(int64(time.Second)), func() { w.giveUp(s, call, history.Lost) })
}

// cut ends a connection that a request is open on: what is on its way is lost, and both ends are told.
func (w *world) cut(s *socket, call *traffic.SoloCall) {
	if s.over || call.Ended {
		return
	}
	w.counts[cuts]++
	w.midFrame(s)
	w.faults = append(w.faults, history.Fault{Kind: history.Cut, At: w.Now, Client: s.line.client})
	w.tell("%v: is cut", s)
	s.deaf, s.mute, s.over = true, true, true
	s.end(true)
	w.End(call, history.Lost, nil)
}

func (w *world) midFrame(s *socket) {
	if s.begun > 0 && s.begun < s.whole {
		w.counts[midFrame]++
	}
}

// giveUp is the end of a client's patience. It closes the connection: what is on its way to the server still arrives.
func (w *world) giveUp(s *socket, call *traffic.SoloCall, outcome history.Outcome) {
	if s.over || call.Ended {
		return
	}
	w.tell("%v: call %d is given up", s, call.ID)
	s.over = true
	s.sent = max(s.sent+1, w.Now+w.delayed())
	w.At(s.sent-w.Now, func() {
		if !s.deaf {
			s.end(false)
		}
	})
	w.End(call, outcome, nil)
}

// pieces is in what a message arrives.
func (w *world) pieces(b []byte) (all [][]byte) {
	if len(b) == 0 {
		return nil
	}
	if w.rng.IntN(w.o.pieces) == 0 {
		for range 1 + w.rng.IntN(3) {
			if len(b) > 1 {
				n := 1 + w.rng.IntN(len(b)-1)
				all, b = append(all, b[:n]), b[n:]
			}
		}
		w.counts[pieces]++
	}
	return append(all, b)
}

// receive takes up what the server has written on a connection, and its end.
func (w *world) receive(s *socket) {
	out, closed := s.collect()
	for _, piece := range w.pieces(out) {
		s.heard = max(s.heard+1, w.Now+w.delayed())
		w.At(s.heard-w.Now, func() {
			if !s.mute && !s.over {
				w.hear(s, piece)
			}
		})
	}
	if closed && !s.shut {
		s.shut = true
		s.heard = max(s.heard+1, w.Now+w.delayed())
		w.At(s.heard-w.Now, func() { w.hungUp(s) })
	}
}

// hear takes bytes of an answer.
func (w *world) hear(s *socket, b []byte) {
	s.answer = append(s.answer, b...)
	w.tell("%v: answer %x", s, b)
	if len(s.answer) < 4 {
		return
	}
	size := int(binary.BigEndian.Uint32(s.answer))
	if len(s.answer) < 4+size {
		return
	}
	frame := s.answer[4 : 4+size]
	s.answer = s.answer[4+size:]
	call := s.call
	if call == nil || call.Ended {
		w.wrong("%v: an answer to nothing", s)
		return
	}
	resp, err := decode(frame, s.correlation, call)
	if err != nil {
		w.wrong("%v: the answer to call %d: %v", s, call.ID, err)
		return
	}
	if len(s.answer) > 0 {
		w.wrong("%v: %d bytes come after the answer to call %d", s, len(s.answer), call.ID)
	}
	w.End(call, history.Answered, resp)
}

func (w *world) wrong(format string, args ...any) {
	w.broken = append(w.broken, fmt.Sprintf(format, args...))
	w.tell(format, args...)
}

// decode reads an answer, which has to be the one that is waited for.
func decode(frame []byte, correlation int32, call *traffic.SoloCall) (kmsg.Response, error) {
	resp := call.Asked.ResponseKind()
	resp.SetVersion(call.Version)
	head := 4
	if resp.IsFlexible() {
		head++ // no tags
	}
	if len(frame) < head {
		return nil, fmt.Errorf("%d bytes", len(frame))
	}
	if got := int32(binary.BigEndian.Uint32(frame)); got != correlation {
		return nil, fmt.Errorf("correlation id %d, want %d", got, correlation)
	}
	if resp.IsFlexible() && frame[4] != 0 {
		return nil, fmt.Errorf("%d tags in the header", frame[4])
	}
	if err := resp.ReadFrom(frame[head:]); err != nil {
		return nil, err
	}
	if again := history.EncodeResponse(resp, call.Version); len(again) != len(frame)-head {
		return nil, fmt.Errorf("%d bytes, %d are the answer", len(frame)-head, len(again))
	}
	return resp, nil
}

// hungUp is the server's end of a connection. It has no reason for that while a request is open.
func (w *world) hungUp(s *socket) {
	if s.over {
		return
	}
	w.tell("%v: is closed by the server", s)
	s.over, s.deaf = true, true
	if call := s.call; call != nil && !call.Ended && !s.mute {
		w.wrong("%v: the server closes it without an answer to call %d", s, call.ID)
		w.End(call, history.Closed, nil)
	}
}

// abandon leaves a connection without a server. What it has written last may still arrive.
func (w *world) abandon(s *socket) {
	s.deaf = true
	if s.over {
		return
	}
	w.midFrame(s)
	s.end(true) // for what is left of the server; nobody collects any more
	reset := w.Now + w.delayed()
	if s.heard > w.Now && w.rng.IntN(2) == 0 {
		reset = max(reset, s.heard+1)
	} else {
		s.mute = true
	}
	call := s.call
	open := call != nil && !call.Ended
	w.At(reset-w.Now, func() {
		if open && call.Ended && call.Outcome == history.Answered {
			w.counts[afterlife]++
		}
		if s.over {
			return
		}
		s.over = true
		if open {
			w.End(call, history.Lost, nil)
		}
	})
}
