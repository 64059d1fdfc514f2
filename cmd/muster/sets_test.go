package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/internal/verdict"
)

// judgeProfiles judges the reference with a machine of its own for each broker profile, as brokers of ours are judged.
func judgeProfiles(t *testing.T, open func(profile string) (target.Target, error)) (*verdict.Verdict, string) {
	t.Helper()
	t.Chdir(t.TempDir())
	all, err := conformance.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	first, err := open(conformance.DefaultProfile)
	if err != nil {
		t.Fatal(err)
	}
	var told bytes.Buffer
	v := verdict.New(version, "impl", "", 1)
	v.Scenarios, v.Rules = &verdict.ScenarioCounts{}, &verdict.RuleCounts{}
	s := &session{progress: newProgress(&told), verdict: v}
	work := &scenarioJudge{target: first, name: "impl", scenarios: all, parallel: 1, profile: func(_ context.Context, profile string) (*opened, error) {
		tg, err := open(profile)
		return &opened{tg, tg}, err
	}}
	s.run(t.Context(), []stage{{{verdict.Scenarios, work.run}}})
	v.Close(false, nil, time.Second)
	return v, told.String()
}

func inProcess(profile string) (target.Target, error) {
	o, err := embedded.Profile(profile)
	if err != nil {
		return nil, err
	}
	return embedded.New(o)
}

// Each set is judged on the target that was opened for it, whichever is at work beside it, and every scenario is told of once.
func TestSetsSideBySide(t *testing.T) {
	v, _ := judgeProfiles(t, inProcess)
	all, err := conformance.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	if v.Result != verdict.Pass || v.Scenarios.Run+v.Scenarios.Skipped != len(all) || v.Scenarios.Failed > 0 {
		t.Errorf("%s: %+v, %v, %v", v.Result, *v.Scenarios, v.Reasons, v.Failures)
	}
	for _, skip := range v.Skipped {
		if !strings.Contains(skip.Reason, "slow") && !strings.Contains(skip.Reason, "EndTxn 0 to 4, not 5") { // what it offers without nodes
			t.Errorf("%s was skipped, %s", skip.Scenario, skip.Reason)
		}
	}
}

// Where a broker does not start, what the others have found is told, and why the rest was not judged.
func TestOneSetHasNoBroker(t *testing.T) {
	v, _ := judgeProfiles(t, func(profile string) (target.Target, error) {
		if profile == "delay" {
			return nil, errors.New("no room on the disk")
		}
		return inProcess(profile)
	})
	if v.Result != verdict.Unavailable || v.Scenarios.Run < 100 || len(v.Reasons) != 1 || !strings.Contains(v.Reasons[0], "profile delay: no room on the disk") {
		t.Errorf("%s: %+v, %q", v.Result, *v.Scenarios, v.Reasons)
	}
}

func TestSideBySide(t *testing.T) {
	var sets []conformance.ProfileSet
	for _, name := range []string{"a", "b", "c", "d"} {
		sets = append(sets, conformance.ProfileSet{Profile: name})
	}
	var mu sync.Mutex
	var ended []string
	var atWork, most int
	aBegan, bBegan := make(chan struct{}), make(chan struct{}) // they wait for each other
	work := func(fails ...string) func(context.Context, conformance.ProfileSet) error {
		return func(_ context.Context, set conformance.ProfileSet) error {
			mu.Lock()
			atWork++
			mu.Unlock()
			switch set.Profile {
			case "a":
				close(aBegan)
				<-bBegan
			case "b":
				close(bBegan)
				<-aBegan
			}
			mu.Lock()
			defer mu.Unlock()
			most = max(most, atWork)
			atWork--
			ended = append(ended, set.Profile)
			if slices.Contains(fails, set.Profile) {
				return errors.New(set.Profile + " is broken")
			}
			return nil
		}
	}
	if err := sideBySide(t.Context(), sets, work()); err != nil || most != brokersAtOnce || len(ended) != len(sets) {
		t.Errorf("%v; %d at once, ended: %v", err, most, ended)
	}
	ended, aBegan, bBegan = nil, make(chan struct{}), make(chan struct{})
	if err := sideBySide(t.Context(), sets, work("b", "a")); err == nil || err.Error() != "a is broken\nb is broken" || !slices.Equal(slices.Sorted(slices.Values(ended)), []string{"a", "b"}) {
		t.Errorf("%v; ended: %v", err, ended)
	}
	err := sideBySide(t.Context(), sets, func(context.Context, conformance.ProfileSet) error { panic("oops") })
	var own *panicError
	if !errors.As(err, &own) {
		t.Errorf("a panic is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sideBySide(ctx, sets, work()); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// The count goes up by one, whoever tells.
func TestTally(t *testing.T) {
	var told bytes.Buffer
	p := newProgress(&told)
	p.every = 0
	count := &tally{progress: p, of: 200}
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for i := range 100 {
				count.done(fmt.Sprintf("s%d", i))
			}
		})
	}
	all.Wait()
	lines := regexp.MustCompile(`(?m)^scenarios: (\d+) of 200, s\d+$`).FindAllStringSubmatch(told.String(), -1)
	for i, line := range lines {
		if n, _ := strconv.Atoi(line[1]); n != i+1 {
			t.Fatalf("line %d is %q", i+1, line[0])
		}
	}
	if len(lines) != 200 {
		t.Errorf("%d lines", len(lines))
	}
}
