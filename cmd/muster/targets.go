package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/conformance/targets/kafka"
	"github.com/muster-kafka/muster/conformance/targets/kfake"
	"github.com/muster-kafka/muster/conformance/targets/model"
	"github.com/muster-kafka/muster/conformance/targets/wire"
	"github.com/muster-kafka/muster/internal/clientprops"
)

// openOptions say which target to open and how.
type openOptions struct {
	name        string
	as          string // kafka:VERSION
	config      string // client.properties
	allowWrites bool
	topic       string
}

func (o *openOptions) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.as, "as", "", "judge the target as this release, `kafka:VERSION`, with its quirks and known defects")
	flags.StringVar(&o.config, "config", "", "client.properties `file` with security settings for HOST:PORT")
	flags.BoolVar(&o.allowWrites, "allow-writes", false, "let the run create groups and a topic on an address that is not on this machine")
	flags.StringVar(&o.topic, "topic", "", "existing `topic` with two partitions to commit offsets for; without it one is created")
}

// targetKind is what a target's name begins with.
type targetKind int

const (
	implTarget targetKind = iota
	implTCPTarget
	modelTarget
	kfakeTarget
	kafkaTarget
	addressTarget
)

// targetSpec is a target's name, understood.
type targetSpec struct {
	kind    targetKind
	name    string
	release string // of kafka:VERSION
}

const targetNames = "impl, impl+tcp, model, kfake, kafka:VERSION or HOST:PORT"

// parseTarget understands a target's name.
func parseTarget(name string) (targetSpec, error) {
	spec := targetSpec{name: name}
	base, rest, colon := strings.Cut(name, ":")
	switch {
	case name == "impl":
		spec.kind = implTarget
	case name == "impl+tcp":
		spec.kind = implTCPTarget
	case name == "kfake":
		spec.kind = kfakeTarget
	case base == "model":
		spec.kind = modelTarget
	case base == "kafka" && strings.Contains(rest, "."):
		spec.kind, spec.release = kafkaTarget, rest
	case colon && base == "kafka" && rest == "":
		return spec, usage("target %q: want a release, as in kafka:4.3.1", name)
	default:
		if _, port, err := net.SplitHostPort(name); err != nil || port == "" {
			return spec, usage("no target is called %q: want %s", name, targetNames)
		}
		spec.kind = addressTarget
	}
	return spec, nil
}

// asRelease is the release of --as, empty without it.
func (o openOptions) asRelease() (string, error) {
	if o.as == "" {
		return "", nil
	}
	release, ok := strings.CutPrefix(o.as, "kafka:")
	if !ok || strings.Count(release, ".") != 2 {
		return "", usage("--as %q: want kafka:VERSION, as in kafka:4.3.1", o.as)
	}
	return release, nil
}

// comparedWith says what the target is judged against.
func (s targetSpec) comparedWith(o openOptions) string {
	switch {
	case o.as != "":
		return "Kafka " + strings.TrimPrefix(o.as, "kafka:")
	case s.kind == kafkaTarget:
		return "Kafka " + s.release
	case s.kind == implTarget, s.kind == implTCPTarget:
		return "Kafka 4.4 with every quirk replaced by its contract"
	default:
		return "Kafka 4.3.1"
	}
}

// opened is a target with what the command knows of it.
type opened struct {
	target.Target
	raw target.Target // without --as
}

// end closes the target. One that has gone is abandoned: to clean up there would only take time.
func (o *opened) end(gone bool) error {
	if a, ok := o.raw.(*wire.Target); ok && gone {
		a.Abandon()
		return fmt.Errorf("once %s is back, what this run left there can be removed with: muster cleanup %s --prefix %s", o.Name(), o.Name(), o.Capabilities().Prefix)
	}
	return o.Close()
}

// open opens the target and says on the way what takes long. Errors without a code of their own mean that it is unavailable.
func (s targetSpec) open(ctx context.Context, o openOptions, p *progress, seed uint64) (*opened, error) {
	release, err := o.asRelease()
	if err != nil {
		return nil, err
	}
	t, err := s.openTarget(ctx, o, release, p, seed)
	if errors.Is(err, wire.ErrWritesNotAllowed) {
		return nil, usage("%v", err)
	}
	if err != nil {
		return nil, err
	}
	if release != "" && s.kind != modelTarget {
		return &opened{judgedAs{t, release}, t}, nil
	}
	return &opened{t, t}, nil
}

func (s targetSpec) openTarget(ctx context.Context, o openOptions, release string, p *progress, seed uint64) (target.Target, error) {
	say := func(line string) { p.say("%s", line) }
	switch s.kind {
	case implTarget:
		return embedded.New(embedded.Options{Seed: seed})
	case implTCPTarget:
		return embedded.NewTCP(ctx, embedded.Options{Seed: seed})
	case modelTarget:
		name := s.name
		if release != "" {
			name = "model:" + release
		}
		t, err := model.New(model.Options{Name: name}, nil)
		if err != nil {
			return nil, usage("%v", err)
		}
		return t, nil
	case kfakeTarget:
		return kfake.Open(ctx)
	case kafkaTarget:
		return kafka.Open(ctx, s.release, kafka.DefaultProfile, kafka.Options{Progress: say})
	default:
		return s.openAddress(ctx, o, p)
	}
}

func (s targetSpec) openAddress(ctx context.Context, o openOptions, p *progress) (target.Target, error) {
	opts, err := o.wireOptions(s.name, p)
	if err != nil {
		return nil, err
	}
	p.say("looking at %s", s.name)
	t, err := wire.Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	tellFindings(t, p)
	return t, nil
}

// wireOptions are those for an address, with the security settings of --config.
func (o openOptions) wireOptions(address string, p *progress) (wire.Options, error) {
	opts := wire.Options{Addr: address, AllowWrites: o.allowWrites, Topic: o.topic}
	if o.config == "" {
		return opts, nil
	}
	props, err := clientprops.Read(o.config)
	if err != nil {
		return opts, usage("--config: %v", err)
	}
	for _, warning := range props.Warnings {
		p.say("%s: %s", o.config, warning)
	}
	opts.TLS, opts.SASL = props.TLS, props.SASL
	return opts, nil
}

// tellFindings says what the probe of an address found, and how.
func tellFindings(t *wire.Target, p *progress) {
	found := t.Findings()
	p.say("%s: %d broker(s), cluster %s, round trip %v", t.Name(), found.Brokers, found.ClusterID, found.RoundTrip)
	for _, s := range found.Settings {
		p.say("  %s=%s (%s)", s.Name, s.Value, s.How)
	}
	caps := t.Capabilities()
	p.say("  clients' durations are scaled by %.2f; what a scenario calls silence lasts %v", caps.Scale, caps.Settle)
	p.say("  groups and topics of this run begin with %s", caps.Prefix)
}

// judgedAs is a target that is judged as a release of Kafka.
type judgedAs struct {
	target.Target
	release string
}

func (t judgedAs) Capabilities() target.Capabilities {
	c := t.Target.Capabilities()
	c.Release = t.release
	return c
}
