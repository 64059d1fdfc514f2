// Package history is what a judge of concurrent runs knows: every call that the clients of one run made, with its bytes and the two
// instants between which the coordinator must have handled it, and what was done to the target meanwhile. Its text form is JSON lines, so
// that any recorder can feed it: docs/history.md.
package history

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Format names the text form. A reader refuses others.
const Format = "muster-history/2"

// Outcome is how a call ended. In the text it is one of three, and says why where the effect is unknown.
type Outcome string

const (
	// Answered: the response came.
	Answered Outcome = "answered"
	// NotSent: the coordinator has certainly never got the request, so it had no effect.
	NotSent Outcome = "not-sent"

	// GivenUp: the client stopped waiting at Return, with the connection whole until then.
	GivenUp Outcome = "given-up"
	// Closed: the target closed the connection at Return, without an answer.
	Closed Outcome = "closed"
	// Lost: something that was done on purpose (a Fault) has, or may have, kept the answer away, or the request.
	Lost Outcome = "fault"
	// Open: nothing is known about the end, because what was recorded ends before (see History.CutAt).
	Open Outcome = "open"
)

// unknown is the outcome in the text of all whose effect is unknown.
const unknown = "unknown"

// Unknown says whether the request may or may not have had its effect.
func (o Outcome) Unknown() bool { return o != Answered && o != NotSent }

// Header says what the calls were made against. Durations are nanoseconds, on the clock of the calls.
type Header struct {
	Format  string `json:"format"`
	Target  string `json:"target"`
	Seed    uint64 `json:"seed"`
	Started string `json:"started,omitempty"` // wall time of instant 0, for people

	// Profile names the variation points that the target is judged with: "reference", "java", "scala" or a Kafka release such as "4.3.1".
	Profile string `json:"profile"`
	// MinSession and MaxSession bound session timeouts.
	MinSession time.Duration `json:"min_session_ns"`
	MaxSession time.Duration `json:"max_session_ns"`
	// NewMemberTimeout is how long a new member may be parked in its first JoinGroup: five minutes in Kafka.
	NewMemberTimeout time.Duration `json:"new_member_timeout_ns"`
	// MaxMetadata is offset.metadata.max.bytes.
	MaxMetadata int `json:"max_metadata"`

	// Tick is the granularity of the target's timers: windows are rounded outward to it.
	Tick time.Duration `json:"tick_ns"`
	// Slack is how late a timer may fire, and an answer arrive, on a machine that does not stall.
	Slack time.Duration `json:"slack_ns"`
	// Stall is the longest stall that the canary saw in this run; it is added to Slack. StalledFor is the sum of all.
	Stall      time.Duration `json:"stall_ns"`
	StalledFor time.Duration `json:"stalled_for_ns"`
	// Ran is how long the run was.
	Ran time.Duration `json:"ran_ns"`

	// InitialDelay is group.initial.rebalance.delay.ms, MaxSize is group.max.size, 0 for no limit.
	InitialDelay time.Duration `json:"initial_delay_ns,omitempty"`
	MaxSize      int           `json:"max_size,omitempty"`

	// Cleanup is offsets.retention.check.interval.ms: how often the target removes groups that are Empty and have no offsets. 0 is never.
	Cleanup time.Duration `json:"cleanup_ns,omitempty"`

	Groups []string         `json:"groups"` // none of them existed at instant 0
	Topics map[string]int32 `json:"topics"` // partitions by name
}

// Lateness is the whole allowance for a timer or an answer: the fixed part and the measured one.
func (h *Header) Lateness() time.Duration { return h.Slack + h.Stall }

// Call is one request of one client. Ids are dense, start at 1, and follow the order of the calls.
type Call struct {
	ID      int64
	Was     int64    // its id in the whole run, where this history is only a part of it
	Groups  []string // the groups it speaks of
	Client  string
	Conn    int64
	Key     int16
	Version int16
	Request []byte

	Outcome  Outcome
	Response []byte
	Error    string // what a connection that has ended said

	// The coordinator handled the request between these, both in nanoseconds since the start of the run, on one monotonic clock:
	// Call is read before the request is sent, Return after its answer has come, or when it was given up.
	Call   int64
	Return int64
}

// FaultKind is what was done to the target, or to what is between it and its clients.
type FaultKind string

const (
	// Restart: the target was killed between At and Gone, and served again, on what it had stored, at Until.
	Restart FaultKind = "restart"
	// Shutdown: the target was asked to end at At, had ended at Gone, and served again, on what it had stored, at Until.
	Shutdown FaultKind = "shutdown"
	// Pause: the target stood still from At to Until.
	Pause FaultKind = "pause"
	// AppendFails: what the target wrote from At to Until may have failed.
	AppendFails FaultKind = "append-fails"
	// AppendHangs: what the target wrote from At to Until was not written before Until, or may not have been.
	AppendHangs FaultKind = "append-hangs"
	// Cut: a connection was ended, before the request was passed on or while it was answered.
	Cut FaultKind = "cut"
	// ReplyLost: an answer was thrown away and the connection ended.
	ReplyLost FaultKind = "reply-lost"
	// HalfOpen: an answer was thrown away and the connection kept, as if it were on its way.
	HalfOpen FaultKind = "half-open"
	// Delay: bytes were held back.
	Delay FaultKind = "delay"
)

var faultKinds = []FaultKind{Restart, Shutdown, Pause, AppendFails, AppendHangs, Cut, ReplyLost, HalfOpen, Delay}

// Fault is something that was done on purpose. Faults of connections (Cut, ReplyLost, HalfOpen, Delay) are told for people: what they
// did to calls is in the calls' outcomes.
type Fault struct {
	Kind   FaultKind `json:"kind"`
	At     int64     `json:"at"`               // when it began
	Gone   int64     `json:"gone,omitempty"`   // of a Restart or Shutdown: when the target was surely dead
	Until  int64     `json:"until,omitempty"`  // when it was over; 0 is At
	Client string    `json:"client,omitempty"` // whose connection it was
	What   string    `json:"what,omitempty"`   // for people
}

// End is when the fault was over.
func (f *Fault) End() int64 { return max(f.At, f.Gone, f.Until) }

// History is a whole run.
type History struct {
	Header Header
	Calls  []Call  // by id
	Faults []Fault // by At

	// CutAt is the instant up to which the record is whole; 0 where all of it is.
	CutAt int64
}

// DecodeRequest parses the request bytes.
func (c *Call) DecodeRequest() (kmsg.Request, error) {
	req := kmsg.RequestForKey(c.Key)
	if req == nil {
		return nil, fmt.Errorf("call %d: no API has key %d", c.ID, c.Key)
	}
	req.SetVersion(c.Version)
	if err := req.ReadFrom(c.Request); err != nil {
		return nil, fmt.Errorf("call %d: bytes are not a %s version %d: %w", c.ID, kmsg.NameForKey(c.Key), c.Version, err)
	}
	if whole := len(req.AppendTo(nil)); whole != len(c.Request) {
		return nil, fmt.Errorf("call %d: bytes are not a %s version %d: they are %d, it takes %d", c.ID, kmsg.NameForKey(c.Key), c.Version, len(c.Request), whole)
	}
	return req, nil
}

// DecodeResponse parses the response bytes of an answered call.
func (c *Call) DecodeResponse() (kmsg.Response, error) {
	resp := kmsg.ResponseForKey(c.Key)
	if resp == nil {
		return nil, fmt.Errorf("call %d: no API has key %d", c.ID, c.Key)
	}
	resp.SetVersion(c.Version)
	if err := resp.ReadFrom(c.Response); err != nil {
		return nil, fmt.Errorf("call %d: bytes are not an answer to %s version %d: %w", c.ID, kmsg.NameForKey(c.Key), c.Version, err)
	}
	if whole := len(resp.AppendTo(nil)); whole != len(c.Response) {
		return nil, fmt.Errorf("call %d: bytes are not an answer to %s version %d: they are %d, it takes %d", c.ID, kmsg.NameForKey(c.Key), c.Version, len(c.Response), whole)
	}
	return resp, nil
}

// EncodeRequest and EncodeResponse give the bytes that a Call holds: the body at the given version, without header.
func EncodeRequest(req kmsg.Request, version int16) []byte {
	old := req.GetVersion()
	req.SetVersion(version)
	defer req.SetVersion(old)
	return req.AppendTo(nil)
}

// EncodeResponse is the counterpart of EncodeRequest.
func EncodeResponse(resp kmsg.Response, version int16) []byte {
	resp.SetVersion(version)
	return resp.AppendTo(nil)
}

// End is the last instant that the history speaks of.
func (h *History) End() int64 {
	var end int64
	for i := range h.Calls {
		end = max(end, h.Calls[i].Call)
		if h.Calls[i].Outcome != Open {
			end = max(end, h.Calls[i].Return)
		}
	}
	for i := range h.Faults {
		end = max(end, h.Faults[i].End())
	}
	return end
}

// Cut returns the history as it was known at the given instant: later calls are gone, and calls that had not ended are Open.
func (h *History) Cut(at int64) *History {
	cut := &History{Header: h.Header, CutAt: at}
	for _, f := range h.Faults {
		if f.At < at {
			cut.Faults = append(cut.Faults, f)
		}
	}
	for _, c := range h.Calls {
		if c.Call >= at {
			continue
		}
		if c.Return >= at {
			c.Outcome, c.Response, c.Error, c.Return = Open, nil, "", at
		}
		cut.Calls = append(cut.Calls, c)
	}
	return cut
}

// Keep returns the history with only the calls that the function accepts.
func (h *History) Keep(keep func(*Call) bool) *History {
	kept := &History{Header: h.Header, Faults: h.Faults, CutAt: h.CutAt}
	for i := range h.Calls {
		if keep(&h.Calls[i]) {
			kept.Calls = append(kept.Calls, h.Calls[i])
		}
	}
	return kept
}

// Restarts says whether the target has lost what it had in memory, and was started again.
func (f *Fault) Restarts() bool { return f.Kind == Restart || f.Kind == Shutdown }

// Restarts says whether the target was ended and started again.
func (h *History) Restarts() bool {
	return slices.ContainsFunc(h.Faults, func(f Fault) bool { return f.Restarts() })
}

// Had says whether a fault of that kind happened.
func (h *History) Had(kind FaultKind) bool {
	return slices.ContainsFunc(h.Faults, func(f Fault) bool { return f.Kind == kind })
}

// AddFaults notes more of what was done to the target, or what it did by itself.
func (h *History) AddFaults(all ...Fault) {
	h.Faults = append(h.Faults, all...)
	h.sortFaults()
}

func (h *History) sortFaults() {
	slices.SortStableFunc(h.Faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
}
