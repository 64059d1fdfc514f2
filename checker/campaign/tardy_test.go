package campaign

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
)

// livesOn is a group of one whose session of 10 ms has not ended at an instant: its heartbeat is taken.
func livesOn(seed uint64, at time.Duration) *cell {
	join := begins("a", 1)
	one := judged(seed, func(rec *history.Recorder, until int64) { join(rec, until) }, func(rec *history.Recorder, until int64) {
		req := kmsg.NewPtrHeartbeatRequest()
		req.Group, req.MemberID, req.Generation = "g", "a", 1
		rec.Finish(rec.Begin("c", 1, req, 0), kmsg.NewPtrHeartbeatResponse(), history.Answered, "", until)
	})
	c := &one.history.Calls[0]
	req, err := c.DecodeRequest()
	if err != nil {
		panic(err)
	}
	req.(*kmsg.JoinGroupRequest).SessionTimeoutMillis = 10
	c.Request = history.EncodeRequest(req, c.Version)
	one.history.Calls[1].Call, one.history.Calls[1].Return = int64(at), int64(at+time.Millisecond)
	return one
}

// TestTardy holds that a timer which is later than the slack, once, is no failure, and that timers which are so always are; nor are they excused beyond three times the slack.
func TestTardy(t *testing.T) {
	for name, test := range map[string]struct {
		at             time.Duration
		groups, before int // legal ones before
		unknown        int
	}{
		"within the slack":          {50 * time.Millisecond, 1, 0, 0},
		"later, once":               {120 * time.Millisecond, 1, 0, 1},
		"later, always":             {120 * time.Millisecond, 5, 0, 1},
		"later, among many":         {120 * time.Millisecond, 3, 400, 3},
		"later than may be excused": {400 * time.Millisecond, 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := judging(t, "reference")
			c.report.Legal = test.before
			for seed := range uint64(test.groups) {
				c.look(t.Context(), t.Context(), livesOn(seed+1, test.at))
			}
			r := &c.report
			illegal := test.groups - test.unknown
			if test.at < 60*time.Millisecond {
				illegal = 0
			}
			if r.Unknown != test.unknown || r.Illegal != illegal || r.Tardy != test.unknown || len(r.Failures) > 0 != (illegal > 0) {
				t.Errorf("%d legal, %d undecided, %d illegal, %d tardy, %d failures", r.Legal, r.Unknown, r.Illegal, r.Tardy, len(r.Failures))
			}
			if test.unknown > 0 && !strings.Contains(strings.Join(r.Reasons, ""), "a timer was later than 50ms") {
				t.Errorf("told as %q", r.Reasons)
			}
		})
	}
}
