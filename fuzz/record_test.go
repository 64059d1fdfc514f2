package fuzz_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
)

// recording is a target whose calls are recorded.
type recording struct {
	target.Target
	rec   *history.Recorder
	calls []recorded
	conns int64
}

type recorded struct {
	id   int64
	call *target.Call
}

type recordingConn struct {
	target.Conn
	of     *recording
	client string
	id     int64
}

func (r *recording) Dial(ctx context.Context, clientID string) (target.Conn, error) {
	c, err := r.Target.Dial(ctx, clientID)
	r.conns++
	return &recordingConn{c, r, fmt.Sprintf("%s-%d", clientID, r.conns), r.conns}, err
}

func (c *recordingConn) Send(req kmsg.Request, version int16) *target.Call {
	id := c.of.rec.Begin(c.client, c.id, req, version)
	call := c.Conn.Send(req, version)
	c.of.calls = append(c.of.calls, recorded{id, call})
	return call
}

// play plays a scenario on the reference coordinator and returns what passed; nil where it cannot be played to its end.
func play(t *testing.T, s *conformance.Scenario) *history.History {
	options, err := embedded.Profile(s.File.Profile)
	if err != nil {
		return nil
	}
	tg, err := embedded.New(options)
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	r := &recording{Target: tg, rec: &history.Recorder{Clock: tg.Clock().Now, Start: tg.Clock().Now()}}
	played, err := conformance.NewPlayer(r).Play(t.Context(), s, conformance.Play{})
	if err != nil || played.Stopped != "" {
		return nil
	}
	for _, c := range r.calls {
		if !c.call.Ended() {
			r.rec.Finish(c.id, nil, history.GivenUp, "", r.rec.Now())
		} else if resp, err := c.call.Answer(); err != nil {
			r.rec.Finish(c.id, nil, history.GivenUp, err.Error(), r.rec.At(c.call.Finished()))
		} else {
			r.rec.Finish(c.id, resp, history.Answered, "", r.rec.At(c.call.Finished()))
		}
	}
	caps := tg.Capabilities()
	h := r.rec.History(history.Header{
		Target: "impl", Profile: embedded.Release, MinSession: caps.MinSession, MaxSession: caps.MaxSession, NewMemberTimeout: 5 * time.Minute, MaxMetadata: 4096,
		Tick: 10 * time.Millisecond, Slack: 250 * time.Millisecond, Ran: time.Duration(r.rec.Now()), InitialDelay: options.InitialDelay, MaxSize: options.MaxSize,
		Topics: map[string]int32{"t": 3, "u": 3},
	})
	for i := range h.Calls {
		for _, g := range h.Calls[i].Groups {
			if !slices.Contains(h.Header.Groups, g) {
				h.Header.Groups = append(h.Header.Groups, g)
			}
		}
	}
	return h
}
