package conformance_test

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/conformance/target"
)

// starved is a target on a machine that has no time for it, or for the runner: connections are there late, requests reach it late, or waits end late.
type starved struct {
	target.Target
	wakes time.Duration // by as much at most

	reaches, dials time.Duration
}

// starving is such a target, on which each is late by as much at most.
func starving(tg target.Target, wakes, reaches time.Duration) starved {
	return starved{Target: late(tg, func(kmsg.Request) time.Duration { return upTo(reaches) }), wakes: wakes, reaches: reaches}
}

func (s starved) Dial(ctx context.Context, client string) (target.Conn, error) {
	if err := s.Target.Clock().Sleep(ctx, upTo(s.dials)); err != nil {
		return nil, err
	}
	return s.Target.Dial(ctx, client)
}

type starvedClock struct {
	target.Clock
	late time.Duration
}

func (s starved) Clock() target.Clock { return starvedClock{s.Target.Clock(), s.wakes} }

func (c starvedClock) Sleep(ctx context.Context, d time.Duration) error {
	return c.Clock.Sleep(ctx, d+upTo(c.late))
}

func (c starvedClock) Await(ctx context.Context, call *target.Call, d time.Duration) bool {
	if c.Clock.Await(ctx, call, d) {
		return true
	}
	if rand.N(4) == 0 && c.Clock.Sleep(ctx, upTo(c.late)) != nil {
		return false
	}
	return call.Ended()
}

func upTo(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return d/4 + rand.N(3*d/4)
}

// timed are scenarios that let time pass, of the kinds that suffer most: some, nightly all.
func timed(t *testing.T) []*conformance.Scenario {
	t.Helper()
	all := everyTimed(t)
	if os.Getenv("MUSTER_NIGHTLY") == "" {
		all = slices.DeleteFunc(all, func(s *conformance.Scenario) bool {
			return s.Name != "session-expires" && s.Name != "sync-timer-expels" && s.Name != "join-pending-expires"
		})
	}
	return all
}

func everyTimed(t *testing.T) []*conformance.Scenario {
	t.Helper()
	return slices.DeleteFunc(scenarios(t), func(s *conformance.Scenario) bool {
		passes := slices.ContainsFunc(s.File.Blocks, func(b *script.Block) bool {
			return slices.ContainsFunc(b.Commands, func(c script.Command) bool { return c.Verb == "advance" })
		})
		return !passes || s.File.Profile != "" || s.File.Slow != "" || !strings.HasPrefix(s.Name, "session-") && !strings.HasPrefix(s.Name, "sync-timer-") && s.Name != "join-pending-expires"
	})
}

// TestStarvedMachine holds that nobody is called wrong for what a busy machine does: what fails at each try there could not be judged.
func TestStarvedMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("waits in real time")
	}
	tg := opened(t, "impl+tcp")
	for name, on := range map[string]starved{
		"waits end late":          starving(tg, 900*time.Millisecond, 0),
		"requests are taken late": starving(tg, 0, 600*time.Millisecond),
		"nothing is done in time": starving(tg, 400*time.Millisecond, 400*time.Millisecond),
		"a bit loaded":            starving(tg, 20*time.Millisecond, 10*time.Millisecond),
		"answers are a bit late":  starving(tg, 0, 240*time.Millisecond), // within what the target's timers may be
		"connections come late":   {Target: tg, dials: 240 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			if on.reaches >= 400*time.Millisecond && os.Getenv("MUSTER_NIGHTLY") == "" {
				t.Skip("takes most of a minute; MUSTER_NIGHTLY=1 runs it")
			}
			t.Parallel()
			all := timed(t)
			rep, err := conformance.Suite{Scenarios: all, Parallel: len(all), OutDir: t.TempDir()}.Run(t.Context(), on, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range rep.Failures() {
				t.Errorf("a right coordinator is called wrong:\n%s", f)
			}
			open := 0
			for _, r := range rep.Results {
				if r.Unsteady != nil && !r.Unsteady.Stalled {
					t.Errorf("what does not repeat is called the target's:\n%s", r.Unsteady)
				}
				if r.Status != conformance.Broken {
					continue
				}
				if open++; !strings.Contains(r.Reason, "this machine was too busy") || r.Unsteady == nil {
					t.Errorf("%s: %s", r.Scenario, r.Reason)
				}
			}
			t.Logf("%d scenarios: %d pass, %d could not be judged", len(all), rep.Count(conformance.Pass), open)
		})
	}
}

// forgiving answers every Heartbeat with NONE in the target's place.
func forgiving(tg target.Target) between {
	return between{tg, func(to target.Conn, req kmsg.Request, version int16) *target.Call {
		if _, ok := req.(*kmsg.HeartbeatRequest); !ok {
			return to.Send(req, version)
		}
		now := tg.Clock().Now()
		call := target.NewCall(req, version, now)
		resp := kmsg.NewPtrHeartbeatResponse()
		resp.Version = version
		call.Finish(resp, nil, now)
		return call
	}}
}

// TestWrongOnABusyMachine holds that a coordinator which is wrong is called so nonetheless, where the machine is not too busy to tell: where no time
// passes it has to be very busy indeed.
func TestWrongOnABusyMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("waits in real time")
	}
	tg := opened(t, "impl+tcp")
	for name, c := range map[string]struct {
		late      time.Duration
		scenarios []string
	}{
		"a quiet machine": {0, []string{"heartbeat-refused", "session-expires", "session-parked"}},
		"a busy machine":  {150 * time.Millisecond, []string{"heartbeat-refused"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := slices.DeleteFunc(scenarios(t), func(s *conformance.Scenario) bool { return !slices.Contains(c.scenarios, s.Name) })
			rep, err := conformance.Suite{Scenarios: all, OutDir: t.TempDir()}.Run(t.Context(), forgiving(starving(tg, c.late, 0)), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rep.Results {
				if r.Status != conformance.Fail || r.Failure.Rules[0] == "" {
					t.Errorf("%s: %s %s", r.Scenario, r.Status, r.Reason)
				}
			}
			if len(rep.Results) != len(c.scenarios) {
				t.Errorf("%d scenarios, want %d", len(rep.Results), len(c.scenarios))
			}
		})
	}
}
