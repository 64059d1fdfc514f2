package conformance

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/muster-kafka/muster/conformance/target"
)

// door is a target that is nothing but something to restart.
type door struct{ target.Target }

// TestGateShares holds that scenarios at work at a time share one restart, which happens when the last of them asks for it, and that one
// which ends without asking holds nobody up.
func TestGateShares(t *testing.T) {
	tg := &door{}
	var restarts atomic.Int32
	do := func(context.Context) error { restarts.Add(1); return nil }
	a, b, c := enter(tg), enter(tg), enter(tg)
	done := make(chan error, 2)
	go func() { done <- a.restart(t.Context(), do) }()
	go func() { done <- b.restart(t.Context(), do) }()
	select {
	case err := <-done:
		t.Fatalf("restarted (%v) while another scenario was at work", err)
	case <-time.After(20 * time.Millisecond):
	}
	c.leave()
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := restarts.Load(); n != 1 {
		t.Errorf("%d restarts for one", n)
	}
	a.leave()
	b.leave()
	if enter(tg).active != 1 {
		t.Error("a gate outlives its scenarios")
	}
}

// TestGateGivenUp holds that a scenario whose time is over while it waits is not counted among those that wait.
func TestGateGivenUp(t *testing.T) {
	tg := &door{}
	a, b := enter(tg), enter(tg)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	never := func(context.Context) error { t.Error("restarted while another scenario was at work"); return nil }
	if err := a.restart(ctx, never); !errors.Is(err, context.Canceled) {
		t.Errorf("given up with %v", err)
	}
	a.leave()
	want := errors.New("no disk")
	if err := b.restart(t.Context(), func(context.Context) error { return want }); !errors.Is(err, want) {
		t.Errorf("a restart that failed gives %v", err)
	}
	b.leave()
}

// TestByProfile sorts scenarios by profile, the default one first.
func TestByProfile(t *testing.T) {
	var all []*Scenario
	for _, p := range []string{"size", "", "delay", "", "size"} {
		header := "# Why.\n# rule: join.complete.vote\n"
		if p != "" {
			header += "# profile: " + p + "\n"
		}
		s, err := Parse("s.txt", []byte(header+"\njoin A range=x\n----\n"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	sets := ByProfile(all)
	for i, want := range []struct {
		profile string
		n       int
	}{{DefaultProfile, 2}, {"delay", 1}, {"size", 2}} {
		if i >= len(sets) || sets[i].Profile != want.profile || len(sets[i].Scenarios) != want.n {
			t.Fatalf("set %d of %d is not %v", i, len(sets), want)
		}
	}
	if reason := all[0].Unaskable(target.Capabilities{Profile: DefaultProfile}); reason != "needs other broker settings, profile size (group.max.size=2): "+onFaces {
		t.Errorf("a broker with other settings is refused with %q", reason)
	}
}

// TestFeatures holds that a scenario is not asked of a target that lacks what it requires.
func TestFeatures(t *testing.T) {
	s, err := Parse("s.txt", []byte("# Why.\n# rule: join.complete.vote\n# requires: static, txn\n\njoin A range=x static=own\n----\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		has  []target.Feature
		want string
	}{
		{nil, "needs static members (group.instance.id): only on targets that have that, which this one is known not to"},
		{[]target.Feature{target.Static}, "needs transactions: only on targets that have that, which this one is known not to"},
		{[]target.Feature{target.Static, target.Transactions}, ""},
	} {
		if got := s.Unaskable(target.Capabilities{Features: c.has}); got != c.want {
			t.Errorf("with %v: %q, want %q", c.has, got, c.want)
		}
	}
}
