package main

import (
	"cmp"
	"slices"
	"time"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/internal/verdict"
)

// What judging costs beyond the time that scenarios let pass, as measured.
const (
	brokerStart    = 5 * time.Second         // until a broker of ours serves
	strangersShare = 500 * time.Millisecond  // what the limit of requests a second adds to a scenario
	strangersLeast = 400 * time.Millisecond  // a scenario's requests, some 20, at that limit
	failureAgain   = 2500 * time.Millisecond // a failure is run again, more slowly
	exploring      = 7 * time.Second         // until the specification has been explored, and the reference beside it
)

// outlook is how much of a set will be judged, and how long that takes.
type outlook struct {
	run     int
	skipped []verdict.Skip
	takes   time.Duration
}

// estimate says how many scenarios will run and how long they take: what they let pass, several at a time, and the start of each broker
// beyond the first.
func (j *scenarioJudge) estimate(caps target.Capabilities) outlook {
	var whole outlook
	var longest time.Duration
	sets := j.sets()
	for _, set := range sets {
		there := caps
		if j.profile != nil {
			there.Profile = set.Profile
		}
		o := j.estimateSet(there, set.Scenarios)
		if set.Profile != conformance.DefaultProfile && !caps.Virtual {
			o.takes += brokerStart
		}
		whole.run, whole.skipped = whole.run+o.run, append(whole.skipped, o.skipped...)
		whole.takes, longest = whole.takes+o.takes, max(longest, o.takes)
	}
	slices.SortFunc(whole.skipped, func(a, b verdict.Skip) int { return cmp.Compare(a.Scenario, b.Scenario) }) // as a verdict has them
	whole.takes = max(whole.takes/time.Duration(min(brokersAtOnce, len(sets))), longest) + time.Second
	return whole
}

func (j *scenarioJudge) estimateSet(caps target.Capabilities, scenarios []*conformance.Scenario) outlook {
	var o outlook
	var sum, longest, least time.Duration
	for _, sc := range scenarios {
		if reason := sc.Foreseen(caps, j.slow); reason != "" {
			o.skipped = append(o.skipped, verdict.Skip{Scenario: sc.Name, Reason: reason})
			continue
		}
		o.run++
		d := sc.Estimate(caps)
		if caps.MaxGroups > 0 {
			d += strangersShare
			least += strangersLeast
		}
		if j.register.Lists(sc.Name) {
			d += failureAgain
			if caps.Coarse > 0 { // an answer that never came is looked for three times, at two fifths of the pace
				longest = max(longest, 17*d/2)
			}
		}
		sum, longest = sum+d, max(longest, d)
	}
	atOnce := j.parallel
	if caps.Profile == conformance.FaultsProfile {
		atOnce = 1
	}
	o.takes = max(sum/time.Duration(atOnce), longest, least)
	return o
}

// about is a duration in as many digits as an estimate has.
func about(d time.Duration) time.Duration {
	switch {
	case d < 10*time.Second:
		return d.Round(time.Second)
	case d < 2*time.Minute:
		return d.Round(5 * time.Second)
	default:
		return d.Round(30 * time.Second)
	}
}
