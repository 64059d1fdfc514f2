package core_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/sim"
)

// Every API in every version: an empty request, one with nothing but zero values, gets one answer of its own kind that can be read.
func TestEveryVersionAnswers(t *testing.T) {
	for key, versions := range core.Versions() {
		for version := versions.Min; version <= versions.Max; version++ {
			r := newRig(t)
			req := kmsg.RequestForKey(int16(key))
			resp := r.answers[r.send(req, version)]
			if resp == nil || resp.Key() != int16(key) || resp.GetVersion() != version {
				t.Errorf("%s v%d: %+v", key.Name(), version, resp)
				continue
			}
			read := kmsg.ResponseForKey(int16(key))
			read.SetVersion(version)
			if err := read.ReadFrom(resp.AppendTo(nil)); err != nil {
				t.Errorf("%s v%d cannot be read: %v", key.Name(), version, err)
			}
		}
	}
}

// A version that is not served is refused in the API's own shape.
func TestUnsupportedVersion(t *testing.T) {
	r := newRig(t)
	fetch := kmsg.NewPtrOffsetFetchRequest()
	fetch.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: "t", Partitions: []int32{0}}}
	if got := answer[*kmsg.OffsetFetchResponse](r, r.send(fetch, 0)); got.Topics[0].Partitions[0].ErrorCode != core.UnsupportedVersion {
		t.Errorf("OffsetFetch v0: %+v", got)
	}
	if code := r.committed(r.send(commitReq("g", "", -1, "t", 1), 1)); code != core.UnsupportedVersion {
		t.Errorf("OffsetCommit v1: %d", code)
	}
	for _, version := range []int16{-1, 10, 32767} {
		if got := r.joined(r.send(joinReq("g", ""), version)); got.ErrorCode != core.UnsupportedVersion {
			t.Errorf("JoinGroup v%d: %+v", version, got)
		}
	}
}

func TestRejected(t *testing.T) {
	r := newRig(t)
	for name, req := range map[string]kmsg.Request{"no message": nil, "another API": kmsg.NewPtrProduceRequest()} {
		if ticket := r.send(req, 0); r.rejects[ticket] == "" {
			t.Errorf("%s: not rejected", name)
		}
	}
}

// impostor claims the key of an API that it is not.
type impostor struct{ kmsg.HeartbeatRequest }

func (*impostor) Key() int16 { return int16(kmsg.SyncGroup) }

// What cannot be is reported, answered UNKNOWN_SERVER_ERROR, and the coordinator goes on.
func TestInconsistencies(t *testing.T) {
	for name, test := range map[string]struct {
		settings func(*core.Settings)
		do       func(*rig) int16
	}{
		"an id that is in use": {
			func(s *core.Settings) { s.NewMemberID = func(string) string { return "same" } },
			func(r *rig) int16 { r.id("g"); return r.joined(r.send(joinReq("g", ""), 9)).ErrorCode },
		},
		"an empty id": {
			func(s *core.Settings) { s.NewMemberID = func(string) string { return "" } },
			func(r *rig) int16 { return r.joined(r.send(joinReq("g", ""), 3)).ErrorCode },
		},
		"a choice out of range": {
			func(s *core.Settings) { s.Choose = func(n int) int { return n } },
			func(r *rig) int16 {
				ids, _ := r.stable("g", 3)
				return r.leave("g", ids[0]).ErrorCode
			},
		},
		"an API key that is not its own": {nil, func(r *rig) int16 {
			if r.rejects[r.send(&impostor{}, 0)] == "" { // it has no shape to be answered in
				return core.None
			}
			return core.UnknownServerError
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var change []func(*core.Settings)
			if test.settings != nil {
				change = append(change, test.settings)
			}
			r := newRig(t, change...)
			if code := test.do(r); code != core.UnknownServerError {
				t.Errorf("answered %d, want UNKNOWN_SERVER_ERROR", code)
			}
			var inconsistent *core.InconsistencyError
			if reported := r.takeReports(); len(reported) == 0 || !errors.As(reported[0], &inconsistent) {
				t.Errorf("reported: %v", reported)
			}
		})
	}
}

// A group that is broken inside answers UNKNOWN_SERVER_ERROR and lets nobody hang.
func TestBrokenGroup(t *testing.T) {
	t.Run("a transition outside the table", func(t *testing.T) {
		c, reported := brokenCoordinator(t)
		c.ForceState("g", core.Dead)
		code, ok := answeredBy(c, 90, leaveReq("g", "c-1"), 5).(*kmsg.LeaveGroupResponse)
		if !ok || code.ErrorCode != core.UnknownServerError || len(*reported) == 0 {
			t.Errorf("answer %+v, reported %v", code, *reported)
		}
	})
	t.Run("a vote without candidates", func(t *testing.T) {
		c, reported := brokenCoordinator(t)
		c.ForgetSupport("g")
		got, ok := answeredBy(c, 90, leaveReq("g", "c-2"), 5).(*kmsg.LeaveGroupResponse)
		if !ok || got.ErrorCode != core.UnknownServerError || len(*reported) != 1 {
			t.Errorf("answer %+v, reported %v", got, *reported)
		}
		if err := c.CheckInvariants(); err != nil {
			t.Error(err)
		}
	})
}

// brokenCoordinator has a group "g" in PreparingRebalance: c-1 waits for c-2.
func brokenCoordinator(t *testing.T) (*core.Coordinator, *[]error) {
	t.Helper()
	reported := &[]error{}
	r := newRig(t, func(s *core.Settings) { s.Report = func(err error) { *reported = append(*reported, err) } })
	ids, _ := r.stable("g", 2)
	if !slices.Equal(ids, []string{"c-1", "c-2"}) {
		t.Fatal(ids)
	}
	r.wantParked("c-1", r.join("g", "c-1"))
	return r.sim.Core(), reported
}

// answeredBy hands a request in and returns its answer, if it comes at once.
func answeredBy(c *core.Coordinator, ticket core.Ticket, req kmsg.Request, version int16) kmsg.Response {
	for _, e := range c.Step(now, core.Request{Ticket: ticket, Message: req, Version: version}) {
		if a, ok := e.(core.Answer); ok && a.Ticket == ticket {
			return a.Message
		}
	}
	return nil
}

var now = sim.Epoch

func TestTicketsAreUsedOnce(t *testing.T) {
	r := newRig(t)
	r.stable("g", 1)
	parked := r.join("g", r.id("g"))
	r.sim.Step(core.Request{Ticket: parked, Message: joinReq("g", ""), Version: 9})
	r.sim.Step(core.Appended{ID: 999})
	if reported := r.takeReports(); len(reported) != 2 {
		t.Errorf("reported: %v", reported)
	}
	r.look()
	r.wantParked("the first of its name", parked)
}

// The transition table, as §1.1 prints it.
func TestTransitions(t *testing.T) {
	want := map[string]string{
		"Empty": "PreparingRebalance Dead ", "PreparingRebalance": "Empty CompletingRebalance Dead ",
		"CompletingRebalance": "PreparingRebalance Stable Dead ", "Stable": "PreparingRebalance Dead ", "Dead": "",
	}
	states := []core.State{core.Empty, core.PreparingRebalance, core.CompletingRebalance, core.Stable, core.Dead}
	for _, from := range states {
		var got string
		for _, to := range states {
			if core.Transitions(from, to) {
				got += fmt.Sprint(to, " ")
			}
		}
		if got != want[from.String()] {
			t.Errorf("%v may become %q, want %q", from, got, want[from.String()])
		}
	}
}
