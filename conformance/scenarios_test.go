package conformance_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/conformance/targets/kafka"
	"github.com/muster-kafka/muster/conformance/targets/kfake"
	"github.com/muster-kafka/muster/conformance/targets/model"
	"github.com/muster-kafka/muster/conformance/targets/rdkafka"
	"github.com/muster-kafka/muster/conformance/targets/wire"
	brokers "github.com/muster-kafka/muster/internal/kafka"
)

var (
	targetFlag  = flag.String("target", "", "run the scenarios on this target: model, model:VERSION, impl, impl+tcp, impl+serve, kfake, kafka:VERSION, plain:VERSION (Kafka's own defaults, judged as a stranger)")
	rewriteFlag = flag.Bool("rewrite", false, "record the scenarios' text from -target, a Kafka release")
	knownFlag   = flag.String("write-known", "", "run the scenarios five times and write a register of all that fails to this file")
	onlyFlag    = flag.String("only", ".*", "with -target: only the scenarios whose names match this regular expression")
	slowFlag    = flag.Bool("slow", false, "also the scenarios that wait for minutes")
)

// dataFolder is what "impl+serve+data" keeps everything in.
var dataFolder string

// open opens a target by its name, with a broker profile where it has any: KIND:VERSION/PROFILE.
func open(ctx context.Context, name string) (target.Target, error) {
	name, profile, _ := strings.Cut(name, "/")
	switch kind, version, _ := strings.Cut(name, ":"); kind {
	case "kafka":
		return kafka.Open(ctx, version, profile, kafka.Options{})
	case "plain":
		return openPlain(ctx, version)
	case "kfake":
		return kfake.Open(ctx)
	case rdkafka.Name:
		return rdkafka.Open(ctx, rdkafka.Options{})
	case "impl":
		o, err := embedded.Profile(profile)
		if err != nil {
			return nil, err
		}
		return embedded.New(o)
	case "impl+tcp":
		return embedded.NewTCP(ctx, embedded.Options{})
	case "impl+serve", "impl+serve+data":
		o, err := embedded.Profile(profile)
		if err != nil {
			return nil, err
		}
		if kind == "impl+serve+data" {
			o.Data, o.CompactAfter = dataFolder, 50
		}
		return embedded.NewServed(ctx, o)
	case "model":
		return model.New(model.Options{Name: name, Profile: profile}, nil)
	}
	return nil, fmt.Errorf("no target %q here", name)
}

// plain is a broker with Kafka's own defaults that is judged as a foreign one: nobody tells the target which release it is.
type plain struct {
	*wire.Target
	broker *brokers.Broker
}

func openPlain(ctx context.Context, version string) (target.Target, error) {
	b, err := brokers.Start(ctx, brokers.Options{Version: version, Plain: true})
	if err != nil {
		return nil, err
	}
	w, err := wire.Open(ctx, wire.Options{Addr: b.Addr})
	if err != nil {
		return nil, errors.Join(err, b.Stop(context.Background()))
	}
	return &plain{w, b}, nil
}

func (p *plain) Close() error {
	return errors.Join(p.Target.Close(), p.broker.Stop(context.Background()))
}

// opened opens a target for the length of a test.
func opened(t *testing.T, name string) target.Target {
	t.Helper()
	tg, err := open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tg.Close(); err != nil {
			t.Error(err)
		}
	})
	return tg
}

// TestScenarios runs the scenarios on the target that a person names:
//
//	go test ./conformance -run TestScenarios -target kafka:4.3.1 -only 'static-.*' -rewrite
func TestScenarios(t *testing.T) {
	if *targetFlag == "" {
		t.Skip("no -target given; TestModel and the others run without one")
	}
	if *knownFlag != "" {
		writeKnown(t, opened(t, *targetFlag))
		return
	}
	all, err := conformance.Load("scenarios")
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(s *conformance.Scenario) bool { return !asked(t, s) })
	if !strings.HasPrefix(*targetFlag, "kafka:") {
		conformance.RunSuite(t, opened(t, *targetFlag), conformance.Suite{Scenarios: all, Slow: *slowFlag})
		return
	}
	for _, set := range conformance.ByProfile(all) {
		t.Run(set.Profile, func(t *testing.T) {
			t.Parallel()
			tg := opened(t, *targetFlag+"/"+set.Profile)
			if *rewriteFlag {
				rewrite(t, tg, set.Scenarios)
				return
			}
			conformance.RunSuite(t, tg, conformance.Suite{Scenarios: set.Scenarios, Slow: *slowFlag})
		})
	}
}

// asked reports whether the scenario is one that -only names, or all are.
func asked(t *testing.T, s *conformance.Scenario) bool {
	t.Helper()
	ok, err := regexp.MatchString("^("+*onlyFlag+")$", s.Name)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func rewrite(t *testing.T, tg target.Target, scenarios []*conformance.Scenario) {
	for _, s := range scenarios {
		t.Run(s.Name, func(t *testing.T) {
			if s.File.Slow != "" && !*slowFlag {
				t.Skip("slow: " + s.File.Slow)
			}
			t.Parallel()
			text, err := conformance.Record(t.Context(), s, tg)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(s.Path, text, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func writeKnown(t *testing.T, tg target.Target) {
	var reports []conformance.Report
	for range 5 {
		rep, err := conformance.Suite{OutDir: t.TempDir()}.Run(t.Context(), tg, nil)
		if err != nil {
			t.Fatal(err)
		}
		reports = append(reports, rep)
	}
	f, err := os.Create(*knownFlag)
	if err != nil {
		t.Fatal(err)
	}
	if err := conformance.WriteKnown(f, reports...); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
