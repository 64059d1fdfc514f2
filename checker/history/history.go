// Package history is what a judge of concurrent runs knows: every call that the clients of one run made, with its bytes and the two
// instants between which the coordinator must have handled it. Its text form is JSON lines, so that any recorder can feed it.
package history

import (
	"fmt"
	"sort"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Format names the text form. A reader refuses others.
const Format = "muster-history/1"

// Outcome is how a call ended.
type Outcome string

const (
	// Answered: the response came.
	Answered Outcome = "answered"
	// GivenUp: the client stopped waiting at Return and closed the connection.
	GivenUp Outcome = "given-up"
	// Closed: the target closed the connection at Return, without an answer.
	Closed Outcome = "closed"
	// Open: nothing is known about the end, because what was recorded ends before (see History.Cut).
	Open Outcome = "open"
)

// Header says what the calls were made against. Durations are nanoseconds, on the clock of the calls.
type Header struct {
	Format  string `json:"format"`
	Target  string `json:"target"`
	Seed    uint64 `json:"seed"`
	Started string `json:"started,omitempty"` // wall time of instant 0, for people

	// Profile names the variation points that the target is judged with: "reference", "java" or "scala".
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

	Groups []string         `json:"groups"`
	Topics map[string]int32 `json:"topics"` // partitions by name
}

// Lateness is the whole allowance for a timer or an answer: the fixed part and the measured one.
func (h *Header) Lateness() time.Duration { return h.Slack + h.Stall }

// Call is one request of one client. Ids are dense, start at 1, and follow the order of the calls.
type Call struct {
	ID      int64    `json:"id"`
	Was     int64    `json:"was,omitempty"` // its id in the whole run, where this history is only a part of it
	Groups  []string `json:"groups"`        // the groups it speaks of
	Client  string   `json:"client"`
	Conn    int64    `json:"conn"`
	API     string   `json:"api"`
	Key     int16    `json:"key"`
	Version int16    `json:"version"`
	Request []byte   `json:"request"`

	Outcome  Outcome `json:"outcome"`
	Response []byte  `json:"response,omitempty"`
	Error    string  `json:"error,omitempty"` // for Closed: what the connection said

	// The coordinator handled the request between these, both in nanoseconds since the start of the run, on one monotonic clock:
	// Call is read before the request is sent, Return after its answer has come, or when it was given up.
	Call   int64 `json:"call"`
	Return int64 `json:"return"`
}

// History is a whole run.
type History struct {
	Header Header
	Calls  []Call // by id

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
	return end
}

// Cut returns the history as it was known at the given instant: later calls are gone, and calls that had not ended are Open.
func (h *History) Cut(at int64) *History {
	cut := &History{Header: h.Header, CutAt: at}
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
	kept := &History{Header: h.Header, CutAt: h.CutAt}
	for i := range h.Calls {
		if keep(&h.Calls[i]) {
			kept.Calls = append(kept.Calls, h.Calls[i])
		}
	}
	return kept
}

// Sort orders the calls by id.
func (h *History) Sort() {
	sort.Slice(h.Calls, func(i, j int) bool { return h.Calls[i].ID < h.Calls[j].ID })
}
