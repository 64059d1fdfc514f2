package linearize

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/traffic"
	"github.com/muster-kafka/muster/conformance/target"
)

// Options say what to do. Zero values mean the defaults.
type Options struct {
	Seed     uint64
	Groups   int           // of one run; default 2
	Clients  int           // of one run; default 8
	Calls    int           // of one run; default 1000 where Duration is 0
	Duration time.Duration // of one run
	Runs     int           // default 1; each has its own seed, drawn from Seed

	Retries int // how often a run that the machine stalled is made again; default 3

	Profile  string        // "reference", "java" or "scala"; default by the target's release
	Slack    time.Duration // how late a timer may fire; default the target's, at most 250 ms
	Tick     time.Duration // granularity of the target's timers; default 10 ms
	Patience time.Duration // when a client gives an answer up; default 4 s

	Limits Limits
	Out    string        // folder for the histories of failures; default "muster-out"
	Again  bool          // what is judged was saved before: nothing is written, and the text does not send the reader here again
	Budget time.Duration // for leaving out what one failure does not need, once the wrong answer is found; default 10 s

	Progress func(string) // told what has been done, in plain lines; may be nil
}

const (
	maxSlack = 250 * time.Millisecond
	// maxMetadata and newMemberTimeout are what Kafka has by default, and what no client is told.
	maxMetadata      = 4096
	newMemberTimeout = 5 * time.Minute
	// maxOverlap is how many calls of one group may be open at a time: beyond it the search explodes.
	maxOverlap = 8
)

func (o Options) withDefaults(caps target.Capabilities) Options {
	setDefault(&o.Groups, 2)
	setDefault(&o.Clients, 8)
	setDefault(&o.Runs, 1)
	setDefault(&o.Retries, 3)
	if o.Duration == 0 {
		setDefault(&o.Calls, 1000)
	}
	setDefault(&o.Slack, min(caps.Slack, maxSlack))
	setDefault(&o.Slack, maxSlack)
	setDefault(&o.Tick, 10*time.Millisecond)
	setDefault(&o.Patience, 4*time.Second)
	setDefault(&o.Budget, 10*time.Second)
	setDefault(&o.Out, "muster-out")
	setDefault(&o.Profile, profileFor(caps.Release))
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	return o
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// profileFor is the profile of a Kafka release: the Scala coordinator until 3.9, the Java one from 4.0, and the reference for what is
// no Kafka.
func profileFor(release string) string {
	major, err := strconv.Atoi(strings.SplitN(release, ".", 2)[0])
	switch {
	case release == "" || err != nil:
		return "reference"
	case major < 4:
		return "scala"
	default:
		return "java"
	}
}

// Drive makes one run of traffic against a target and records it. The same seed means the same plan; what the target makes of it is
// its own, so what reproduces a finding is the history.
func Drive(ctx context.Context, t target.Target, o Options) (*history.History, error) {
	caps := t.Capabilities()
	o = o.withDefaults(caps)
	if caps.InitialDelay != 0 {
		return nil, fmt.Errorf("%s delays first rebalances by %v; the specification has no such delay yet, so set group.initial.rebalance.delay.ms=0", t.Name(), caps.InitialDelay)
	}
	clock := t.Clock()
	rec := &history.Recorder{Clock: clock.Now, Start: clock.Now()}
	stamp := strconv.FormatInt(time.Now().UnixNano(), 36) // groups must not exist yet
	for i := range o.Groups {
		rec.Groups = append(rec.Groups, fmt.Sprintf("%slin-%s-%d", caps.Prefix, stamp, i))
	}
	topic := caps.Prefix + "t"
	topics := map[string]int32{}
	for _, name := range sortedTopics(caps) {
		topics[name] = 2
		topic = name
	}
	plan := traffic.Plan{
		Setup: traffic.Setup{
			Seed: o.Seed, Groups: rec.Groups, Clients: o.Clients, Topic: topic, Versions: caps.Versions,
			MinSession: caps.MinSession, MaxMetadata: maxMetadata, Period: 1500 * time.Millisecond,
		},
		Calls: o.Calls, Duration: o.Duration, Patience: o.Patience, Overlap: maxOverlap,
	}
	watch, stop := context.WithCancel(ctx)
	defer stop()
	canary := &canary{target: t, group: fmt.Sprintf("%slin-%s-canary", caps.Prefix, stamp)}
	var both errgroup.Group
	both.Go(func() error { return canary.watch(watch) })
	err := traffic.Drive(ctx, t, plan, rec)
	ran := time.Duration(rec.Now())
	stop()
	if lost := both.Wait(); err == nil {
		err = lost
	}
	h := rec.History(history.Header{
		Target: t.Name(), Seed: o.Seed, Started: rec.Start.UTC().Format(time.RFC3339), Profile: o.Profile,
		MinSession: caps.MinSession, MaxSession: caps.MaxSession, NewMemberTimeout: newMemberTimeout, MaxMetadata: maxMetadata,
		Tick: o.Tick, Slack: o.Slack, Stall: canary.worst, StalledFor: canary.total, Ran: ran,
		Groups: rec.Groups, Topics: topics,
	})
	return h, err
}

func sortedTopics(caps target.Capabilities) []string {
	var names []string
	for _, name := range caps.Topics {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
