// Package kafka is the target kafka:VERSION: a real Apache Kafka of that release, started for the run and stopped after it.
package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/wire"
	"github.com/muster-kafka/muster/internal/kafka"
)

// DefaultProfile is the broker profile of most scenarios: groups that are quick to test, all else as Kafka has it.
const DefaultProfile = "default"

// profiles are named sets of broker settings on top of kafka.DefaultSettings. docs/scenarios.md lists them.
var profiles = map[string]map[string]string{
	DefaultProfile: {},
	"delay":        {"group.initial.rebalance.delay.ms": "2000"},
	"size":         {"group.max.size": "2"},
	"retention":    {"offsets.retention.check.interval.ms": "1000", "offsets.retention.minutes": "1"},
	"restart":      {}, // its scenarios restart it
	"faults":       {}, // its scenarios make something happen to it
}

// Profiles are the names of the broker profiles, sorted.
func Profiles() []string { return slices.Sorted(maps.Keys(profiles)) }

// Options are all optional.
type Options struct {
	// Settings are broker settings on top of the profile's.
	Settings map[string]string

	// Progress is told what is being waited for; may be nil.
	Progress func(string)
}

// Target is a broker of ours, spoken to over TCP.
type Target struct {
	*wire.Target
	broker *kafka.Broker
	logged int64 // how long the broker's log was at its last crash

	fencing sync.Mutex // guards:
	fences  fences
}

// Open starts a broker of the release with the settings of the profile ("" is the default one). Errors are those of package
// internal/kafka where the broker does not start.
func Open(ctx context.Context, version, profile string, opts Options) (*Target, error) {
	if profile == "" {
		profile = DefaultProfile
	}
	settings, ok := profiles[profile]
	if !ok {
		return nil, fmt.Errorf("no broker profile %q; there are: %s", profile, strings.Join(Profiles(), ", "))
	}
	settings = maps.Clone(settings)
	maps.Copy(settings, opts.Settings)
	b, err := kafka.Start(ctx, kafka.Options{Version: version, Settings: settings, Progress: opts.Progress})
	if err != nil {
		return nil, err
	}
	w, err := wire.Open(ctx, wire.Options{
		Addr:    b.Addr,
		Name:    "kafka:" + version,
		Own:     true,
		Release: version,
		Profile: profile,
	})
	if err != nil {
		if log, kerr := b.KeepLog(); kerr == nil {
			err = fmt.Errorf("%w\nthe broker's log: %s", err, log)
		}
		return nil, errors.Join(err, stop(b))
	}
	return &Target{Target: w, broker: b}, nil
}

// Capabilities are those of the address; what is the harness's own can also be restarted.
func (t *Target) Capabilities() target.Capabilities {
	caps := t.Target.Capabilities()
	caps.Restart = t.restart
	caps.Inject, caps.Faults = t.inject, []target.Fault{target.RefuseWrites, target.AcceptWrites, target.DeleteTopic}
	if resigns(caps.Release) {
		caps.Faults = append(caps.Faults, target.Resign, target.Serve)
	}
	return caps
}

// resigns reports whether the release gives its groups up when their partition is deleted. The Java coordinator serves them on before
// 4.0.1 (KAFKA-19274), also where 3.9 has it.
func resigns(version string) bool {
	return version != "4.0.0" && !strings.HasSuffix(version, kafka.JavaCoordinator)
}

// Crash kills the broker, and returns when it is gone. Recover starts it on its data again, and returns when it serves.
func (t *Target) Crash() error {
	err := t.broker.Kill()
	t.ended()
	return err
}

// Shutdown asks the broker to end, and returns when it has. It gives its groups up first, and tells who waits so. Recover is the other half of this too.
func (t *Target) Shutdown(ctx context.Context) error {
	err := t.broker.Shutdown(ctx)
	t.ended()
	return err
}

// ended notes where the broker's log of this life ends.
func (t *Target) ended() {
	if info, gone := os.Stat(t.broker.LogFile()); gone == nil {
		t.logged = info.Size()
		t.fencing.Lock()
		t.fences = fences{from: t.logged}
		t.fencing.Unlock()
	}
}

// Recover is the other half of Crash.
func (t *Target) Recover(ctx context.Context) error { return t.broker.Restart(ctx) }

// Freeze makes the broker stand still until Thaw.
func (t *Target) Freeze() error { return t.broker.Freeze() }

// Thaw ends a Freeze.
func (t *Target) Thaw() error { return t.broker.Thaw() }

// restart kills the broker and starts it on its data again.
func (t *Target) restart(ctx context.Context) error {
	if err := t.Crash(); err != nil {
		return err
	}
	return t.Recover(ctx)
}

// Broker is the process behind the target, for its pid, its log, and crashes.
func (t *Target) Broker() *kafka.Broker { return t.broker }

// KeepLog makes the broker's log outlive Close and returns where it is: for runs that fail.
func (t *Target) KeepLog() (string, error) { return t.broker.KeepLog() }

// Close stops the broker and removes all that it left, but for a log that was kept.
func (t *Target) Close() error {
	t.Abandon()
	return stop(t.broker)
}

func stop(b *kafka.Broker) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return b.Stop(ctx)
}
