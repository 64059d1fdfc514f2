// Package model is the specification as a target: a coordinator on virtual time that does what model/classic says, and asks whenever
// the specification leaves a choice. With every answer tried, it accepts exactly the texts that the specification allows.
package model

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/model/classic"
)

// Session bounds of the harness's own brokers, and the topics that scenarios have.
const (
	minSession = 10 * time.Millisecond
	maxSession = 30 * time.Minute
	partitions = 2
)

var topics = map[string]string{"t": "t", "u": "u"}

// settings are those of a broker profile that matter to the model.
type settings struct {
	delay   time.Duration // group.initial.rebalance.delay.ms
	size    int           // group.max.size
	keep    time.Duration // offsets.retention.minutes; default 7 days
	cleanup time.Duration // offsets.retention.check.interval.ms; 0 is never, since 10 minutes pass in no scenario
}

const week = 7 * 24 * time.Hour

var profiles = map[string]settings{
	"default":   {},
	"delay":     {delay: 2000 * time.Millisecond},
	"size":      {size: 2},
	"retention": {keep: time.Minute, cleanup: time.Second},
	"restart":   {},
	"faults":    {},
}

// Options say which coordinator the model is.
type Options struct {
	// Name is the target's name: "model" is Kafka 4.3.1, "model:3.9.2" that release, "model:reference" the contract with every
	// quirk replaced. Empty is "model".
	Name string

	// Profile is the broker profile that it has the settings of: default (also if empty), delay, size, retention, restart or faults.
	Profile string

	// Adjust changes the coordinator's profile, for those who ask which of its points makes a difference; nil does not.
	Adjust func(*classic.Profile)

	// Broken lists rules that the model violates on purpose.
	Broken []classic.RuleID
}

// Target is the model as a target.
type Target struct {
	name    string
	caps    target.Capabilities
	config  observe.Config
	version map[int16]target.VersionRange
	every   time.Duration // between cleanups; 0 is never

	mu      sync.Mutex
	closed  bool
	machine *observe.Machine
	tickets checker.Ticket
	open    map[checker.Ticket]*sent
	conns   map[*conn]bool
	txns    *transactions
	cleanup time.Time // the next
	epoch   int32
	failing bool // the log refuses writes
	watch   func(*observe.Step)
	decided map[*target.Call][]classic.RuleID // by which rules each call fared as it did
}

// sent is a call that the coordinator has taken up.
type sent struct {
	conn *conn
	call *target.Call
}

// New opens the target. choose returns a number in [0, n); nil always takes the first choice.
func New(o Options, choose func(n int) int) (*Target, error) {
	name := o.Name
	if name == "" {
		name = "model"
	}
	base, which, given := strings.Cut(name, ":")
	if base != "model" || given && which == "" {
		return nil, fmt.Errorf("the model is called model, model:RELEASE (model:3.9.2) or model:reference, not %q", name)
	}
	if !given {
		which = Default
	}
	profile, judged, versions, err := coordinator(which)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", name, err)
	}
	if o.Adjust != nil {
		o.Adjust(&profile)
	}
	settings, known := profiles[cmp.Or(o.Profile, "default")]
	if !known {
		return nil, fmt.Errorf("target %s: no broker profile %q; there are default, delay, size, retention, restart and faults", name, o.Profile)
	}
	t := &Target{name: name, version: versions, every: settings.cleanup}
	t.config = observe.Config{
		Profile: profile, Broken: o.Broken, MinSession: minSession, MaxSession: maxSession,
		InitialDelay: settings.delay, MaxSize: settings.size, OffsetsRetention: cmp.Or(settings.keep, week), KeepLog: true,
		Topics: func(name string, p int32) bool { return topics[name] != "" && 0 <= p && p < partitions },
	}
	t.caps = target.Capabilities{
		Release: judged, Profile: cmp.Or(o.Profile, "default"), Virtual: true, Scale: 1, InitialDelay: settings.delay,
		MinSession: minSession, MaxSession: maxSession, Versions: t.version, Topics: topics,
		Features: target.Features(), Restart: t.Restart,
		Inject: t.Inject, Faults: target.Faults(),
	}
	t.Reset(choose)
	return t, nil
}

// Reset forgets every group, connection and call, puts the clock back to its beginning, and asks choose from now on.
func (t *Target) Reset(choose func(n int) int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dropAll()
	t.machine = observe.NewMachine(observe.NewWorld(t.config), choose)
	t.decided = map[*target.Call][]classic.RuleID{}
	t.machine.Watch(t.step)
	t.txns = newTransactions(t.config.Profile, t.machine.EndTxn)
	t.epoch, t.failing, t.cleanup = 0, false, t.machine.Now().Add(t.every)
}

// Watch makes the target tell of every step that its groups take, from the next Reset on.
func (t *Target) Watch(f func(*observe.Step)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watch = f
}

// step notes by which rules the calls fare that a step of a group is about.
func (t *Target) step(s *observe.Step) {
	for _, ticket := range s.Tickets {
		if sent, ok := t.open[ticket]; ok {
			t.decided[sent.call] = append(t.decided[sent.call], s.Rules...)
		}
	}
	if t.watch != nil {
		t.watch(s)
	}
}

// Restart ends the coordinator as a crash would and starts it again on its log: all connections are gone.
func (t *Target) Restart(context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dropAll()
	t.epoch++
	t.machine.Watch(nil) // a crash tells nobody anything, so that nobody can see what is given up
	t.machine.Load(t.epoch)
	t.machine.Watch(t.step)
	t.machine.Loaded()
	t.machine.Drain() // nobody is left to hear of it
	t.settle()
	return nil
}

// dropAll closes all connections.
func (t *Target) dropAll() {
	for c := range t.conns {
		c.close()
	}
	t.conns, t.open = map[*conn]bool{}, map[checker.Ticket]*sent{}
}

// Name is "model" or "model:RELEASE".
func (t *Target) Name() string { return t.name }

// Capabilities say that time is virtual.
func (t *Target) Capabilities() target.Capabilities { return t.caps }

// Clock is the virtual time.
func (t *Target) Clock() target.Clock { return (*clock)(t) }

// Cited are the ids of the rules that have decided what happened since it was last called.
func (t *Target) Cited() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var ids []string
	for _, r := range t.machine.Cited() {
		ids = append(ids, r.Rule().ID)
	}
	return ids
}

// Decided are the ids of the rules by which the call was answered, or waits, in the order in which they were applied.
func (t *Target) Decided(call *target.Call) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var ids []string
	for _, r := range t.decided[call] {
		ids = append(ids, r.Rule().ID)
	}
	return ids
}

// Close ends all calls.
func (t *Target) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.dropAll()
	return nil
}

// settle hands out what has come out of the machine, and fires what is due at this instant, until nothing more happens.
func (t *Target) settle() {
	for {
		t.deliver()
		ts := t.machine.Timers()
		if len(ts) == 0 || ts[0].Deadline.After(t.machine.Now()) {
			return
		}
		t.machine.FailWrites(t.failing)
		t.machine.Fire(ts[0])
	}
}

// deliver ends calls, and takes up what waits behind them on their connections.
func (t *Target) deliver() {
	for {
		effects := t.machine.Drain()
		if len(effects.Answers) == 0 {
			return
		}
		for _, a := range effects.Answers {
			s, ok := t.open[a.Ticket]
			if !ok {
				continue // its connection is gone
			}
			delete(t.open, a.Ticket)
			if t.failing {
				t.blame(a.Message)
			}
			resp, err := reread(a.Message)
			s.call.Finish(resp, err, t.machine.Now())
			s.conn.next()
		}
	}
}

// reread passes an answer through its encoding, so that it has the fields of its version and no others.
func reread(m kmsg.Response) (kmsg.Response, error) {
	fresh := kmsg.ResponseForKey(m.Key())
	fresh.SetVersion(m.GetVersion())
	if err := fresh.ReadFrom(m.AppendTo(nil)); err != nil {
		return nil, fmt.Errorf("the model's answer to %s version %d does not encode: %w", kmsg.NameForKey(m.Key()), m.GetVersion(), err)
	}
	return fresh, nil
}

// clock is the target's virtual time.
type clock Target

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.machine.Now()
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	t := (*Target)(c)
	t.mu.Lock()
	defer t.mu.Unlock()
	end := t.machine.Now().Add(d)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		ts := t.machine.Timers()
		due := len(ts) > 0 && !ts[0].Deadline.After(end)
		if t.every > 0 && !t.cleanup.After(end) && !(due && ts[0].Deadline.Before(t.cleanup)) {
			t.machine.Advance(t.cleanup.Sub(t.machine.Now()))
			t.cleanup = t.cleanup.Add(t.every)
			t.machine.FailWrites(t.failing)
			t.machine.Cleanup()
			t.deliver()
			continue
		}
		if !due {
			break
		}
		t.machine.FailWrites(t.failing)
		t.machine.Fire(ts[0])
		t.deliver()
	}
	t.machine.Advance(end.Sub(t.machine.Now()))
	return nil
}

func (c *clock) Await(_ context.Context, call *target.Call, _ time.Duration) bool {
	return call.Ended()
}
