package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/conformance/targets/kafka"
	"github.com/muster-kafka/muster/conformance/targets/kfake"
	"github.com/muster-kafka/muster/conformance/targets/model"
	"github.com/muster-kafka/muster/conformance/targets/rdkafka"
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
	lookOnly    bool // a dry run: an address is only looked at
}

func (o *openOptions) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.as, "as", "", "judge the target as this release, `kafka:VERSION` with three numbers: it must give the text that was recorded from it, nothing else; not for kafka:VERSION, which is judged as its own")
	flags.StringVar(&o.config, "config", "", "client.properties `file` with security settings for HOST:PORT")
	flags.BoolVar(&o.allowWrites, "allow-writes", false, "let the run create groups and a topic on an address that is not on this machine")
	flags.StringVar(&o.topic, "topic", "", "existing `topic` with two partitions to commit offsets for; without it one is created")
}

// targetKind is what a target's name begins with.
type targetKind int

const (
	implTarget targetKind = iota
	implTCPTarget
	implServeTarget
	modelTarget
	kfakeTarget
	rdkafkaTarget
	kafkaTarget
	addressTarget
)

// targetSpec is a target's name, understood.
type targetSpec struct {
	kind    targetKind
	name    string
	release string // of kafka:VERSION
	profile string // broker profile, where the kind has them (profiled); empty is the default one
}

const targetNames = "impl, impl+tcp, impl+serve, model, kfake, rdkafka-mock, kafka:VERSION or HOST:PORT"

// parseTarget understands a target's name.
func parseTarget(name string) (targetSpec, error) {
	spec := targetSpec{name: name}
	base, rest, colon := strings.Cut(name, ":")
	switch {
	case name == "impl":
		spec.kind = implTarget
	case name == "impl+tcp":
		spec.kind = implTCPTarget
	case name == "impl+serve":
		spec.kind = implServeTarget
	case name == "kfake":
		spec.kind = kfakeTarget
	case name == rdkafka.Name:
		spec.kind = rdkafkaTarget
	case base == "model":
		spec.kind = modelTarget
	case base == "kafka" && kafkaRelease.MatchString(rest):
		spec.kind, spec.release = kafkaTarget, rest
	case colon && base == "kafka" && !portNumber.MatchString(rest): // else it is a host of that name
		return spec, usage("target %q: want a whole release, three numbers, as in kafka:4.3.1", name)
	default:
		if _, port, err := net.SplitHostPort(name); err != nil || port == "" {
			hint := ""
			if near := conformance.Nearest(name, []string{"impl", "impl+tcp", "impl+serve", "model", "kfake", rdkafka.Name}); near != "" {
				hint = fmt.Sprintf("; do you mean %s?", near)
			}
			return spec, usage("no target is called %q: want %s%s", name, targetNames, hint)
		}
		if err := checkAddress(name); err != nil {
			return spec, err
		}
		spec.kind = addressTarget
	}
	return spec, nil
}

// securedOnly refuses --config where it would not be looked at.
func (o openOptions) securedOnly(specs ...targetSpec) error {
	if o.config == "" || slices.ContainsFunc(specs, func(s targetSpec) bool { return s.kind == addressTarget }) {
		return nil
	}
	return usage("--config %s: only HOST:PORT has security settings, and %s is none; leave --config out", o.config, specs[0].name)
}

// checkAddress refuses what can be no HOST:PORT.
func checkAddress(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil || port == "" {
		return usage("%q is no address: want HOST:PORT of a broker, as in 127.0.0.1:9092", address)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return usage("%q is no address: the port is a number from 1 to 65535, as in 127.0.0.1:9092", address)
	}
	return nil
}

var (
	kafkaRelease = regexp.MustCompile(`^\d+\.\d+\.\d+(-rc\d+|\+java)?$`)
	portNumber   = regexp.MustCompile(`^\d+$`)
	threeNumbers = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(\+java)?$`)
)

// asRelease is the release of --as, empty without it.
func (o openOptions) asRelease() (string, error) {
	if o.as == "" {
		return "", nil
	}
	release, ok := strings.CutPrefix(o.as, "kafka:")
	if !ok || !threeNumbers.MatchString(release) {
		return "", usage("--as %q: want kafka:VERSION with three numbers, as in kafka:4.3.1", o.as)
	}
	if base, _, _ := strings.Cut(o.name, ":"); base == "kafka" && kafkaRelease.MatchString(strings.TrimPrefix(o.name, "kafka:")) {
		return "", usage("--as %s: %s is judged as the release that it is; leave --as out", o.as, o.name)
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
	case s.kind == implTarget, s.kind == implTCPTarget, s.kind == implServeTarget:
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
func (o *opened) end(gone bool, config string) error {
	if a, ok := o.raw.(*wire.Target); ok && gone {
		a.Abandon()
		if config != "" {
			config = " --config " + quoted(config)
		}
		return fmt.Errorf("once %s is back, what this run left there can be removed with: muster cleanup %s --prefix %s%s", o.Name(), o.Name(), o.Capabilities().Prefix, config)
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
		return &opened{target.As{Target: t, Release: release}, t}, nil
	}
	return &opened{t, t}, nil
}

// profiled reports whether the target can be opened with the settings of a broker profile: where Muster starts it, and time is virtual or
// the broker a real one.
func (s targetSpec) profiled() bool {
	return s.kind == implTarget || s.kind == modelTarget || s.kind == kafkaTarget
}

// profiles returns what opens the target with the settings of a broker profile.
func (s targetSpec) profiles(o openOptions, p *progress, seed uint64) func(context.Context, string) (*opened, error) {
	return func(ctx context.Context, profile string) (*opened, error) {
		s.profile = profile
		return s.open(ctx, o, p, seed)
	}
}

func (s targetSpec) openTarget(ctx context.Context, o openOptions, release string, p *progress, seed uint64) (target.Target, error) {
	say := func(line string) { p.say("%s", line) }
	switch s.kind {
	case implTarget:
		o, err := embedded.Profile(s.profile)
		if err != nil {
			return nil, err
		}
		o.Seed = seed
		return embedded.New(o)
	case implTCPTarget:
		return embedded.NewTCP(ctx, embedded.Options{Seed: seed})
	case implServeTarget:
		return embedded.NewServed(ctx, embedded.Options{})
	case modelTarget:
		name := s.name
		if release != "" {
			name = "model:" + release
		}
		t, err := model.New(model.Options{Name: name, Profile: s.profile}, nil)
		if err != nil {
			return nil, usage("%v", err)
		}
		return t, nil
	case kfakeTarget:
		return kfake.Open(ctx)
	case rdkafkaTarget:
		return rdkafka.Open(ctx, rdkafka.Options{Progress: say})
	case kafkaTarget:
		return kafka.Open(ctx, s.release, s.profile, kafka.Options{Progress: say})
	default:
		return s.openAddress(ctx, o, p)
	}
}

func (s targetSpec) openAddress(ctx context.Context, o openOptions, p *progress) (target.Target, error) {
	opts, err := o.wireOptions(s.name, p)
	if err != nil {
		return nil, err
	}
	opts.LookOnly = o.lookOnly
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
	p.say("%s: %s, cluster %s, round trip %v", t.Name(), counted(found.Brokers, "broker"), found.ClusterID, rounded(found.RoundTrip))
	if found.Home != "" {
		p.say("  judged is the one at %s: all groups of this run are named so that it coordinates them", found.Home)
	}
	hows := map[string]bool{}
	for _, s := range found.Settings {
		p.say("  %s=%s (%s)", s.Name, s.Value, s.How)
		hows[s.How] = true
	}
	for _, how := range []string{"described", "measured", "assumed"} {
		if hows[how] {
			p.say("  %s: %s", how, howMeans[how])
		}
	}
	caps := t.Capabilities()
	p.say("  clients' durations are scaled by %.2f; what a scenario calls silence lasts %v", caps.Scale, rounded(caps.Settle))
	p.say("  groups and topics of this run begin with %s", caps.Prefix)
}

// howMeans explains how settings were come by.
var howMeans = map[string]string{
	"described": "the broker told it when asked (DescribeConfigs)",
	"measured":  "the broker does not tell it, so groups of this run were joined to find out",
	"assumed":   "the broker does not tell it, and it was not measured (a dry run joins no group); this is Kafka's default",
}
