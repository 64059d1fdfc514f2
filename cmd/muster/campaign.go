package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/checker/campaign"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/kafka"
	"github.com/muster-kafka/muster/conformance/targets/kfake"
	"github.com/muster-kafka/muster/internal/verdict"
)

const campaignLong = `Campaign judges a running group coordinator by its concurrent histories.

Many small groups are at work side by side, each with two to eight members that mostly do what consumers do, and now and then what makes
coordinators stumble. Meanwhile connections are cut, answers are lost, and a target that Muster started is killed and made to stand still. Every call
is recorded; each group's history is judged while others are still being made: some order of its calls has to explain every answer. What no order
explains is made small and saved in muster-out. With a budget of 30s or more (2m at an address) some groups are of real consumers, and who owned what is judged as well.
docs/campaign.md tells the rest.

TARGET is impl+tcp, impl+serve, kfake, kafka:VERSION or HOST:PORT, as for muster verify.`

type campaignOptions struct {
	open openOptions
	reports
	known   knownLists
	profile string
	seed    uint64
	budget  time.Duration
	steps   int
	strict  bool
}

func campaignCommand() *cobra.Command {
	var o campaignOptions
	cmd := &cobra.Command{
		Use:     "campaign TARGET",
		Short:   "Judge a running coordinator by its concurrent histories",
		Long:    campaignLong,
		Example: "  muster campaign impl+tcp --budget 30s\n  muster campaign kafka:4.3.1 --budget 10m\n  muster campaign 127.0.0.1:9092 --profile calm --json verdict.json",
		Args:    takes(1, 1, "one TARGET, the coordinator to be judged"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.open.name = args[0]
			if !cmd.Flags().Changed("seed") {
				o.seed = rand.Uint64N(1 << 32)
			}
			if cmd.Flags().Changed("steps") && o.steps < 1 {
				return usage("--steps %d: want calls of one history, 1 or more", o.steps)
			}
			return o.campaign(cmd)
		},
	}
	flags := cmd.Flags()
	flags.DurationVar(&o.budget, "budget", 2*time.Minute, "time for all of it, judging included; at least 5s")
	flags.Uint64Var(&o.seed, "seed", 0, "seed of what clients do and of what is done to them; without it one is drawn and printed")
	flags.IntVar(&o.steps, "steps", 0, "calls of one history at most; by default drawn, 60 to 400")
	flags.StringVar(&o.profile, "profile", "all", "what is done meanwhile: `calm` (nothing), network (to connections), crashes (to the target), appends (to what it writes), or all that the target can have done to it")
	o.reports.flags(cmd)
	o.folderFlag(cmd)
	o.known.flags(cmd)
	flags.BoolVar(&o.strict, "strict", false, strictHelp)
	o.open.flags(cmd)
	return cmd
}

func (o *campaignOptions) campaign(cmd *cobra.Command) error {
	if o.budget < 5*time.Second {
		return usage("--budget %v: want 5s or more, as in --budget 2m", o.budget)
	}
	spec, err := parseTarget(o.open.name)
	if err != nil {
		return err
	}
	switch spec.kind {
	case implTarget, modelTarget:
		return usage("%s runs on virtual time, where calls do not overlap; want impl+tcp, impl+serve, kfake, kafka:VERSION or HOST:PORT", o.open.name)
	case rdkafkaTarget:
		return usage("campaigns do not run on %s: each of its groups is a process of its own, and it shows no groups", o.open.name)
	}
	if err := o.open.securedOnly(spec); err != nil {
		return err
	}
	if _, err := o.faults(campaign.Faults{Connections: true, Crashes: true, Shutdowns: true, Pauses: true, Appends: true}); err != nil {
		return err
	}
	known, err := o.known.read()
	if err != nil {
		return err
	}
	v := verdict.New(version, o.open.name, spec.comparedWith(o.open), o.seed)
	v.Linearizability, v.Campaign = &verdict.LinearizabilityCounts{}, &verdict.CampaignCounts{}
	outputs, err := o.reports.outputs(v)
	if err != nil {
		return err
	}
	outputs = append(outputs, o.known.outputs(v)...)
	if err := writable(outputs); err != nil {
		return err
	}
	began := time.Now()
	s := &session{progress: newProgress(cmd.ErrOrStderr()), seed: o.seed, budget: o.budget, verdict: v, out: o.reports.out(), called: invocation{open: o.open, strict: o.strict}}
	if err := o.run(cmd.Context(), s, spec); err != nil {
		return err
	}
	s.progress.done()
	v.Close(o.strict, known, time.Since(began))
	return conclude(cmd, v, outputs)
}

// faults are those of --profile, of those that are possible.
func (o *campaignOptions) faults(possible campaign.Faults) (campaign.Faults, error) {
	cannot := func(what string) (campaign.Faults, error) {
		return campaign.Faults{}, usage("--profile %s: %s; --profile all does what is possible", o.profile, what)
	}
	switch o.profile {
	case "calm":
		return campaign.Faults{}, nil
	case "network":
		if !possible.Connections {
			return cannot("the connections to " + o.open.name + " are encrypted, so nobody can stand between")
		}
		return campaign.Faults{Connections: true}, nil
	case "crashes":
		if !possible.Crashes {
			return cannot(o.open.name + " cannot be killed and started again: only kafka:VERSION and impl+serve can, which Muster starts")
		}
		return campaign.Faults{Crashes: true, Shutdowns: possible.Shutdowns, Pauses: possible.Pauses}, nil
	case "appends":
		if !possible.Appends {
			return cannot("nobody can make what " + o.open.name + " writes fail: only impl+tcp and impl+serve can be told to")
		}
		return campaign.Faults{Appends: true}, nil
	case "all":
		possible.Appends = false // only where it is asked for
		return possible, nil
	}
	return campaign.Faults{}, usage("--profile %q: want calm, network, crashes, appends or all", o.profile)
}

// run opens the target and lets the campaign at it. Its error is one of usage; a target that cannot be opened is a verdict.
func (o *campaignOptions) run(ctx context.Context, s *session, spec targetSpec) error {
	opened, err := o.openTarget(ctx, s, spec)
	if err != nil {
		return s.notOpened(ctx, err, false)
	}
	defer func() { s.close(opened, len(s.verdict.Reasons)+len(s.verdict.Failures) > 0) }()
	defer atEase()()
	if spec.kind != addressTarget {
		s.verdict.Own()
	}
	faults, err := o.faults(campaign.Possible(opened.raw))
	if err != nil {
		return err
	}
	stranger := spec.kind == addressTarget || spec.kind == kfakeTarget
	least := campaign.LeastForConsumers(opened.Capabilities())
	if o.budget < least {
		s.tell(func(v *verdict.Verdict) {
			v.Warn("no real consumers were put to work, so that nothing is said of who owned what: that takes a --budget of %v or more here", least)
		})
	}
	release := opened.Capabilities().Release
	s.run(ctx, []stage{{{verdict.Linearizability, func(ctx context.Context, s *session) error {
		return s.campaign(ctx, opened.raw, campaign.Options{
			Budget: o.budget, Steps: o.steps, Faults: faults, Consumers: o.budget >= least, Profiles: campaign.ProfilesFor(release),
		}, stranger)
	}}}})
	return nil
}

// openTarget opens the target as a campaign wants it: kfake in a process of its own, which it may take with it, and Kafka with as many threads as
// it has by default.
func (o *campaignOptions) openTarget(ctx context.Context, s *session, spec targetSpec) (*opened, error) {
	switch spec.kind {
	case kfakeTarget:
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		t, err := kfake.Spawn(ctx, self, serveKfake)
		if err != nil {
			return nil, err
		}
		release, err := o.open.asRelease()
		if err != nil {
			return nil, errors.Join(err, t.Close())
		}
		if release != "" {
			return &opened{target.As{Target: t, Release: release}, t}, nil
		}
		return &opened{t, t}, nil
	case kafkaTarget:
		if _, err := o.open.asRelease(); err != nil {
			return nil, err
		}
		t, err := kafka.Open(ctx, spec.release, "", kafka.Options{
			Progress: func(line string) { s.progress.say("%s", line) },
			Settings: map[string]string{"num.network.threads": "3", "num.io.threads": "8", "group.coordinator.threads": "4"},
		})
		if err != nil {
			return nil, err
		}
		return &opened{t, t}, nil
	}
	return spec.open(ctx, o.open, s.progress, s.seed)
}

// atEase lets traffic and judging share a machine, until what it returns is called. Judging makes much garbage and keeps little; and beside a thread for each
// processor that judges there have to be others, which the system prefers, as they do little: otherwise answers wait until a judge pauses, and seem late.
func atEase() (end func()) {
	percent, threads := debug.SetGCPercent(400), runtime.GOMAXPROCS(2*runtime.NumCPU())
	return func() {
		debug.SetGCPercent(percent)
		runtime.GOMAXPROCS(threads)
	}
}
