package campaign

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker/campaign/proxy"
	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/traffic"
	"github.com/muster-kafka/muster/conformance/target"
)

// TestPacer lets a target fall behind, and sees that fewer histories are made, and more again when it has recovered.
func TestPacer(t *testing.T) {
	p := newPacer(40, 100*time.Millisecond)
	step := func(late time.Duration, waiting, live, want int, when string) {
		t.Helper()
		if p.adapt(late, waiting, live); p.allowed != want {
			t.Errorf("%d at a time %s, want %d", p.allowed, when, want)
		}
	}
	for range 12 {
		p.adapt(time.Millisecond, 0, p.allowed)
	}
	step(time.Millisecond, 0, 40, 40, "where all goes smoothly")
	step(200*time.Millisecond, 0, 40, 30, "after a stall")
	step(200*time.Millisecond, 0, 38, 30, "while the others have not ended yet")
	step(30*time.Millisecond, 0, 30, 30, "where it is just enough")
	step(0, backlog/2+1, 30, 30, "where a few histories wait to be judged")
	step(0, 0, 30, 31, "where it has recovered")
	for range 20 {
		p.adapt(0, backlog+1, p.allowed)
	}
	if p.allowed != 1 {
		t.Errorf("%d at a time where histories wait to be judged, want 1", p.allowed)
	}
}

// TestDoubts holds that nothing passes by default.
func TestDoubts(t *testing.T) {
	good := Report{Groups: 100, Legal: 100, Faults: map[history.FaultKind]int{history.Cut: 1, history.ReplyLost: 1, history.HalfOpen: 1, history.Delay: 1}}
	for _, test := range []struct {
		name  string
		edit  func(*Report)
		asked Faults
		want  string // part of a doubt; empty: none
	}{
		{"all is well", func(*Report) {}, Faults{Connections: true}, ""},
		{"a few are not decided", func(r *Report) { r.Legal, r.Unknown = 96, 4 }, Faults{}, ""},
		{"many are not decided", func(r *Report) { r.Legal, r.Unknown = 90, 10 }, Faults{}, "10 of 100 groups could not be decided"},
		{"none was judged", func(r *Report) { *r = Report{} }, Faults{}, "no group was judged"},
		{"many were thrown away", func(r *Report) { r.Stalled = 50 }, Faults{}, "50 of 150 histories were thrown away"},
		{"many were left", func(r *Report) { r.Left = 30 }, Faults{}, "no time to judge 30 histories"},
		{"a fault that never happened", func(r *Report) { delete(r.Faults, history.HalfOpen) }, Faults{Connections: true}, `"half-open" was asked for and never happened`},
		{"a crash that never happened", func(*Report) {}, Faults{Crashes: true}, `"restart" was asked for and never happened`},
		{"a shutdown that never happened", func(*Report) {}, Faults{Shutdowns: true}, `"shutdown" was asked for and never happened`},
		{"a pause that never happened", func(*Report) {}, Faults{Pauses: true}, `"pause" was asked for and never happened`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := good
			r.Faults = map[history.FaultKind]int{}
			for kind, n := range good.Faults {
				r.Faults[kind] = n
			}
			test.edit(&r)
			doubts := strings.Join(r.Doubts(test.asked), "\n")
			if test.want == "" && doubts != "" || !strings.Contains(doubts, test.want) {
				t.Errorf("doubts %q, want %q", doubts, test.want)
			}
		})
	}
}

// deathbed is a target whose recovery waits until it is told to.
type deathbed struct {
	killed, recover chan struct{}
	err             error
}

func (d *deathbed) Crash() error                   { close(d.killed); return nil }
func (d *deathbed) Shutdown(context.Context) error { return d.Crash() }
func (d *deathbed) Recover(context.Context) error {
	<-d.recover
	return d.err
}

// begun is a cell at work.
func begun(name string) *cell {
	return &cell{
		disturbed: true, plan: traffic.Plan{Setup: traffic.Setup{Name: name, Clients: 2}},
		rec: &history.Recorder{Clock: time.Now, Start: time.Now()}, started: time.Now(),
	}
}

// TestCrash ends a target: what is open then is to be blamed on that, new requests wait, and histories that had begun know of it.
func TestCrash(t *testing.T) {
	t.Run("killed", func(t *testing.T) {
		ends(t, history.Restart, func(a *around, d *deathbed) error { return a.crash(t.Context(), d) })
	})
	t.Run("shut down", func(t *testing.T) {
		ends(t, history.Shutdown, func(a *around, d *deathbed) error { return a.shutdown(t.Context(), d) })
	})
}

func ends(t *testing.T, kind history.FaultKind, end func(*around, *deathbed) error) {
	a := newAround(1)
	one := begun("k")
	a.join(one)
	life, err := a.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	since := time.Now()
	if a.Blames("kc0", life, since) {
		t.Error("a client is excused although nothing has happened")
	}
	d := &deathbed{killed: make(chan struct{}), recover: make(chan struct{})}
	crashed := make(chan error)
	go func() { crashed <- end(a, d) }()
	<-d.killed
	if !a.Blames("kc0", life, since) {
		t.Error("a client whose target was killed is not excused")
	}
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := a.Enter(short); err == nil {
		t.Error("a request may be sent to a target that is dead")
	}
	late := begun("l") // whose first call has to wait: it does not concern it
	a.join(late)
	close(d.recover)
	if err := <-crashed; err != nil {
		t.Fatal(err)
	}
	next, err := a.Enter(t.Context())
	if err != nil || next == life {
		t.Errorf("after the crash life %d, before it %d (%v)", next, life, err)
	}
	h := one.rec.History(history.Header{})
	if len(h.Faults) != 1 || !h.Restarts() || h.Faults[0].Gone < h.Faults[0].At || h.Faults[0].Until < h.Faults[0].Gone {
		t.Errorf("the history knows of %+v", h.Faults)
	}
	if faults := late.rec.History(history.Header{}).Faults; len(faults) != 0 {
		t.Errorf("a history that began when the target was dead knows of %+v", faults)
	}
	if a.counted()[kind] != 1 || h.Faults[0].Kind != kind {
		t.Errorf("counted %v, the history knows of %v", a.counted(), h.Faults)
	}
}

// unsound is a target that comes back with a part of what it had.
type unsound struct{ *deathbed }

func (unsound) Sound(context.Context) bool { return false }

// TestUnsound throws away what lives through a restart after which the target serves something else than it had.
func TestUnsound(t *testing.T) {
	for _, sound := range []bool{true, false} {
		d := &deathbed{killed: make(chan struct{}), recover: make(chan struct{})}
		close(d.recover)
		var target Mortal = d
		if !sound {
			target = unsound{d}
		}
		a := newAround(1)
		one := begun("k")
		a.join(one)
		if err := a.crash(t.Context(), target); err != nil || one.moved == sound {
			t.Errorf("sound %v: thrown away is %v (%v)", sound, one.moved, err)
		}
	}
}

// TestLostTarget kills a target that does not come back.
func TestLostTarget(t *testing.T) {
	d := &deathbed{killed: make(chan struct{}), recover: make(chan struct{}), err: errors.New("gone for good")}
	close(d.recover)
	a := newAround(1)
	if err := a.crash(t.Context(), d); !errors.Is(err, d.err) {
		t.Errorf("error %v", err)
	}
	if a.counted()[history.Restart] != 0 {
		t.Error("a restart that did not end is counted as one")
	}
}

type ice struct{}

func (ice) Freeze() error { return nil }
func (ice) Thaw() error   { return nil }

// TestPause lets a target stand still: histories know of it, from their beginning on, and the canary does not hold it against the machine.
func TestPause(t *testing.T) {
	a := newAround(1)
	k := &canary{around: a, pause: time.Millisecond}
	began := time.Now()
	k.begin(began, a.paused())
	one := begun("k")
	one.rec.Start = began.Add(time.Hour) // so that the pause begins before it
	a.join(one)
	if err := a.freeze(t.Context(), ice{}, 30*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]time.Time{"before": began.Add(-time.Second), "after": time.Now().Add(time.Second)} {
		if a.Blames("kc0", 0, at) {
			t.Errorf("a call that began %s the pause is excused", name)
		}
	}
	if !a.Blames("kc0", 0, began.Add(15*time.Millisecond)) {
		t.Error("a call that began while the target stood still is not excused")
	}
	if late := k.late(time.Now()); late > 20*time.Millisecond || a.paused() < 30*time.Millisecond {
		t.Errorf("late by %v, paused for %v", late, a.paused())
	}
	faults := one.rec.History(history.Header{}).Faults
	if len(faults) != 1 || faults[0].Kind != history.Pause || faults[0].At != 0 {
		t.Errorf("the history knows of %+v", faults)
	}
}

// TestConnectionFaults disturbs requests until each kind has happened, and only those of clients that may be disturbed.
func TestConnectionFaults(t *testing.T) {
	a := newAround(1)
	one := begun("k")
	a.join(one)
	heartbeat := proxy.Request{Client: "kc1", Key: 12, Version: 4}
	var seen []proxy.Kind
	for range 3000 {
		if act := a.decide(heartbeat); act.Kind != proxy.Pass {
			before := time.Now()
			a.did(heartbeat, act)
			if blamed := a.Blames("kc1", 0, before); blamed != (act.Kind != proxy.Delay) {
				t.Errorf("after %s blamed: %v", act.Kind, blamed)
			}
			if !slices.Contains(seen, act.Kind) {
				seen = append(seen, act.Kind)
			}
		}
		for _, spared := range []proxy.Request{{Client: "canary", Key: 15}, {Client: "kc1", Key: 18}} {
			if act := a.decide(spared); act.Kind != proxy.Pass {
				t.Fatalf("%+v is disturbed: %+v", spared, act)
			}
		}
	}
	if len(seen) != len(proxy.Kinds) {
		t.Errorf("only %v happened", seen)
	}
	if a.Blames("kc0", 0, time.Time{}) {
		t.Error("another client is excused")
	}
	a.leave(one)
	if a.Blames("kc1", 0, time.Time{}) {
		t.Error("a client that has ended is excused")
	}
	for range 3000 {
		if act := a.decide(heartbeat); act.Kind != proxy.Pass {
			t.Fatalf("a client that has ended is still disturbed: %+v", act)
		}
	}
	faults := Faults{Connections: true}
	for _, kind := range faults.Kinds() {
		if a.counted()[kind] == 0 || !slices.Contains(proxy.Kinds, proxy.Kind(kind)) {
			t.Errorf("%s was counted %d times", kind, a.counted()[kind])
		}
	}
}

// TestCanary asks what of its stalls concerns a history.
func TestCanary(t *testing.T) {
	k := &canary{around: newAround(1), pause: time.Millisecond}
	start := time.Now()
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	k.saw(at(100), 60*time.Millisecond)  // from 40 on
	k.saw(at(500), 300*time.Millisecond) // from 200 on
	k.saw(at(600), 10*time.Millisecond)  // ordinary
	for _, test := range []struct {
		from, to int
		lates    []int
	}{{0, 30, nil}, {0, 50, []int{60}}, {150, 210, []int{300}}, {0, 1000, []int{60, 300}}, {510, 1000, nil}} {
		var lates []int
		for _, s := range k.between(at(test.from), at(test.to)) {
			lates = append(lates, int(s.late.Milliseconds()))
		}
		if !slices.Equal(lates, test.lates) {
			t.Errorf("from %d to %d ms: stalls of %v ms, want %v", test.from, test.to, lates, test.lates)
		}
	}
	if late := k.lately(); late != 300*time.Millisecond || k.lately() != 0 {
		t.Errorf("lately %v", late)
	}
	k.begin(at(0), 0) // and nothing has come back yet
	if stalls := k.between(at(0), at(400)); len(stalls) != 3 || stalls[2].late < 390*time.Millisecond {
		t.Errorf("with one that goes on the stalls are %v", stalls)
	}
}

// virtual is a target on virtual time.
type virtual struct{ target.Target }

func (virtual) Name() string                      { return "virtual" }
func (virtual) Capabilities() target.Capabilities { return target.Capabilities{Virtual: true} }

func TestRefusals(t *testing.T) {
	if _, err := Run(t.Context(), virtual{}, Options{}); err == nil || !strings.Contains(err.Error(), "virtual time") {
		t.Errorf("error %v", err)
	}
	if got := Possible(virtual{}); got != (Faults{}) {
		t.Errorf("possible are %+v", got)
	}
	if _, err := newAround(1).divert(virtual{}); err == nil {
		t.Error("connections that cannot be diverted are")
	}
}
