// Package doctor examines the consumer groups of a cluster and says which of them are in trouble, why, and on what evidence. It only
// reads: it lists and describes groups, fetches their offsets and, where it may, reads __consumer_offsets; it never joins a group,
// commits, or changes anything.
package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/muster-kafka/muster/internal/anomaly"
)

// Options say what to examine and how gently. Only Addr is needed.
type Options struct {
	Addr   string    // HOST:PORT of one broker
	Client []kgo.Opt // TLS and SASL
	Groups []string  // the groups to examine; empty: all

	Settings anomaly.Settings // zero: anomaly.Defaults()

	Rate  float64       // requests a second over all brokers; default 20, 0.1 to 1000
	Every time.Duration // between two looks; default 1 s, at least 50 ms
	Look  time.Duration // how long to look; 0: 3 s, and on while a group that rebalances might be stuck
	Watch bool          // Look is an order: look for just so long, and tell Live of each look

	// How much of __consumer_offsets is read at the beginning, from its end backwards. What was not read is unknown, and said so.
	NoLog    bool
	LogBytes int64         // default 64 MiB
	LogTime  time.Duration // default 3 s

	versions *kversion.Versions // the highest to speak; for tests

	Progress func(string)  // what is being waited for; may be nil
	Live     func(*Report) // after each look; may be nil
}

// Bounds and defaults.
const (
	defaultRate     = 20
	defaultEvery    = time.Second
	defaultLook     = 3 * time.Second
	defaultLogBytes = 64 << 20
	defaultLogTime  = 3 * time.Second

	firstContact = 15 * time.Second // for the first answer of the cluster
	offsetsEvery = 15 * time.Second // between two looks at offsets while watching
)

// UnreachableError says that the cluster could not be asked.
type UnreachableError struct {
	Addr string
	Err  error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("%s cannot be examined: %v; see that a Kafka broker listens there, and that --config has the security settings it wants", e.Addr, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// SettingsError says that the options make no sense.
type SettingsError struct{ Err error }

func (e *SettingsError) Error() string { return e.Err.Error() }
func (e *SettingsError) Unwrap() error { return e.Err }

func (o Options) withDefaults() (Options, error) {
	if o.Settings == (anomaly.Settings{}) {
		o.Settings = anomaly.Defaults()
	}
	if err := o.Settings.Check(); err != nil {
		return o, &SettingsError{err}
	}
	if o.Rate == 0 {
		o.Rate = defaultRate
	}
	if o.Rate < 0.1 || o.Rate > 1000 {
		return o, &SettingsError{fmt.Errorf("the rate is %g requests a second: it has to be from 0.1 to 1000", o.Rate)}
	}
	if o.Every == 0 {
		o.Every = defaultEvery
	}
	if o.Every < 50*time.Millisecond {
		return o, &SettingsError{fmt.Errorf("the time between two looks is %v: it has to be 50ms or more", o.Every)}
	}
	if o.Look < 0 || o.Watch && o.Look == 0 {
		return o, &SettingsError{fmt.Errorf("the time to look is %v: it has to be longer than 0", o.Look)}
	}
	if o.LogBytes == 0 {
		o.LogBytes = defaultLogBytes
	}
	if o.LogTime == 0 {
		o.LogTime = defaultLogTime
	}
	if o.versions == nil {
		o.versions = kversion.Stable()
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if o.Live == nil {
		o.Live = func(*Report) {}
	}
	return o, nil
}

// Examine looks at the groups of a cluster for a while and reports. A context that ends early ends the looking: what was seen until
// then is reported, unless nothing was.
func Examine(ctx context.Context, o Options) (*Report, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	c, err := connect(ctx, o)
	if err != nil {
		return nil, err
	}
	defer c.close()
	e := newExamination(o, c)
	if err := e.run(ctx); err != nil {
		return nil, &UnreachableError{o.Addr, err}
	}
	return e.report(), nil
}
