package main

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/internal/verdict"
)

// TestEstimate holds that what is skipped is told and takes no time, that a target which may be sent few requests takes longer, and so does one
// that is known to fail.
func TestEstimate(t *testing.T) {
	all, err := conformance.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	register, _, err := conformance.Registered("kfake")
	if err != nil {
		t.Fatal(err)
	}
	caps := target.Capabilities{
		Scale: 0.05, Settle: 80 * time.Millisecond, MaxSession: time.Hour, Profile: conformance.DefaultProfile,
		Topics: map[string]string{"t": "t", "u": "u"}, Features: target.Features(),
	}
	stranger, delayed := caps, caps
	stranger.MaxGroups, stranger.Features, stranger.Profile = 20, []target.Feature{target.Static}, ""
	delayed.InitialDelay = 3 * time.Second
	judge := func(change func(*scenarioJudge)) *scenarioJudge {
		j := &scenarioJudge{scenarios: all, parallel: 8}
		change(j)
		return j
	}
	plain := judge(func(*scenarioJudge) {})
	o := plain.estimate(caps)
	if o.run+len(o.skipped) != len(all) || o.run < 200 || len(o.skipped) < 50 {
		t.Errorf("%+v of %d", o, len(all))
	}
	for name, longer := range map[string]outlook{
		"with known failures":     judge(func(j *scenarioJudge) { j.register = register }).estimate(caps),
		"with a delay":            plain.estimate(delayed),
		"two at a time":           judge(func(j *scenarioJudge) { j.parallel = 2 }).estimate(caps),
		"with what takes minutes": judge(func(j *scenarioJudge) { j.slow = true }).estimate(caps),
	} {
		if longer.takes <= o.takes+5*time.Second {
			t.Errorf("%s: %v, and %v without", name, longer.takes, o.takes)
		}
	}
	// A run on a stranger cannot be faster than its requests may be sent.
	if s := plain.estimate(stranger); s.run >= o.run || s.takes < time.Duration(s.run)*strangersLeast {
		t.Errorf("a stranger: %+v", s)
	}
	// What a dry run says that it would skip comes in the order in which a run says it, whatever brokers the scenarios need.
	profiled := judge(func(j *scenarioJudge) { j.profile = func(context.Context, string) (*opened, error) { return nil, nil } })
	if p := profiled.estimate(caps); len(p.skipped) < 3 || !slices.IsSortedFunc(p.skipped, func(a, b verdict.Skip) int { return strings.Compare(a.Scenario, b.Scenario) }) {
		t.Errorf("not in the order of their names: %v", p.skipped)
	}
	caps.Virtual = true
	if v := plain.estimate(caps); v.takes > 2*time.Second {
		t.Errorf("virtual time takes %v", v.takes)
	}
}

func TestAbout(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{
		1400 * time.Millisecond: time.Second, 47 * time.Second: 45 * time.Second, 118 * time.Second: 2 * time.Minute, 250 * time.Second: 4 * time.Minute,
	} {
		if got := about(d); got != want {
			t.Errorf("about(%v) is %v, want %v", d, got, want)
		}
	}
}
