package history

import (
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Recorder collects the calls of concurrent clients, and what is done to their target.
type Recorder struct {
	Clock  func() time.Time // must be monotonic
	Start  time.Time        // instant 0, on that clock
	Groups []string         // all groups of the run, for requests about every group

	mu     sync.Mutex
	calls  []Call
	faults []Fault
}

// Now is the present in nanoseconds since the start.
func (r *Recorder) Now() int64 { return r.At(r.Clock()) }

// At is an instant in nanoseconds since the start.
func (r *Recorder) At(t time.Time) int64 { return int64(t.Sub(r.Start)) }

// Begin records that a request is about to be sent, and returns its call. The caller must not send it before.
func (r *Recorder) Begin(client string, conn int64, req kmsg.Request, version int16) int64 {
	bytes := EncodeRequest(req, version)
	r.mu.Lock()
	defer r.mu.Unlock()
	id := int64(len(r.calls) + 1)
	groups := groupsAt(req, version, r.Groups)
	r.calls = append(r.calls, Call{
		ID: id, Groups: groups, Client: client, Conn: conn, Key: req.Key(), Version: version,
		Request: bytes, Outcome: Open, Call: r.Now(), // read under the lock, so that ids follow the instants
	})
	return id
}

func groupsAt(req kmsg.Request, version int16, all []string) []string {
	old := req.GetVersion()
	req.SetVersion(version)
	defer req.SetVersion(old)
	return GroupsOf(req, all)
}

// Finish records how the call ended, and when; at is at least the instant at which the answer was there.
func (r *Recorder) Finish(id int64, resp kmsg.Response, outcome Outcome, reason string, at int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &r.calls[id-1]
	var bytes []byte
	if outcome == Answered {
		bytes = EncodeResponse(resp, c.Version)
	}
	c.Outcome, c.Response, c.Error, c.Return = outcome, bytes, reason, max(at, c.Call)
}

// Fault records what was done. Faults of different kinds may be recorded in any order.
func (r *Recorder) Fault(f Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, f)
}

// Calls is how many calls have begun.
func (r *Recorder) Calls() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.calls)
}

// History returns what was recorded. Every call must have ended.
func (r *Recorder) History(header Header) *History {
	r.mu.Lock()
	defer r.mu.Unlock()
	header.Format = Format
	h := &History{Header: header, Calls: slices.Clone(r.calls), Faults: slices.Clone(r.faults)}
	h.sortFaults()
	return h
}

// responseFor is an empty answer to a call.
func (r *Recorder) responseFor(id int64) kmsg.Response {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &r.calls[id-1]
	resp := kmsg.ResponseForKey(c.Key)
	resp.SetVersion(c.Version)
	return resp
}
