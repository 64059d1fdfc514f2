package main

import (
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/internal/verdict"
)

const verifyLong = `Verify judges a group coordinator and gives a verdict.

TARGET is one of
  impl            the reference coordinator in this process (the default; every judge runs)
  impl+tcp        the same behind a socket
  impl+serve      the same as muster serve runs it, topics and transactions being kfake's
  model           the specification itself
  kfake           franz-go's fake cluster
  rdkafka-mock    librdkafka's mock cluster, built on demand: takes Go and a C compiler
  kafka:VERSION   a real Kafka broker, downloaded and started for the run
  HOST:PORT       anything that is already running

A dry run (--dry-run) looks at the target and says what would be done; at an address it only reads.

The exit code is 0 where all holds, 1 where a rule is broken, 2 where something could not be judged, 3 where the target or the
environment gave way, 64 for wrong usage.`

const (
	strictHelp = "count differences in compat rules as failures too: every release answers so and a client may rely on it"
	dryRunHelp = "only look at the target, without writing to it, and say what would be done and what would be skipped, and why"
	slowHelp   = "also run the scenarios that wait for minutes"
)

type verifyOptions struct {
	open                 openOptions
	reports              reports
	known                knownLists
	seed                 uint64
	budget               time.Duration
	strict, dryRun, slow bool
}

func verifyCommand() *cobra.Command {
	var o verifyOptions
	cmd := &cobra.Command{
		Use:     "verify [TARGET]",
		Short:   "Judge a group coordinator",
		Long:    verifyLong,
		Example: "  muster verify\n  muster verify kafka:4.3.1 --json verdict.json\n  muster verify 127.0.0.1:9092 --junit muster.xml",
		Args:    takes(0, 1, "one TARGET, or nothing to judge the reference coordinator"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.open.name = "impl"
			if len(args) == 1 {
				o.open.name = args[0]
			}
			if !cmd.Flags().Changed("seed") {
				o.seed = rand.Uint64N(1 << 32)
			}
			return o.verify(cmd)
		},
	}
	flags := cmd.Flags()
	o.reports.flags(cmd)
	o.reports.folderFlag(cmd)
	flags.Uint64Var(&o.seed, "seed", 0, "seed of the random judges; without it one is drawn and printed")
	flags.DurationVar(&o.budget, "budget", 20*time.Second, "time for the judges that have no end of their own")
	flags.BoolVar(&o.strict, "strict", false, strictHelp)
	o.known.flags(cmd)
	flags.BoolVar(&o.slow, "slow", false, slowHelp)
	flags.BoolVar(&o.dryRun, "dry-run", false, dryRunHelp)
	o.open.flags(cmd)
	return cmd
}

func (o *verifyOptions) verify(cmd *cobra.Command) error {
	if o.budget <= 0 {
		return usage("--budget %v: want more than nothing, as in --budget 30s", o.budget)
	}
	if o.dryRun && (o.reports != (reports{}) || o.known.write != "") {
		return usage("--dry-run judges nothing, so there is nothing to write: leave --json, --junit, --report and --write-known out")
	}
	known, err := o.known.read()
	if err != nil {
		return err
	}
	v := verdict.New(version, o.open.name, "", o.seed)
	outputs, err := o.reports.outputs(v)
	if err != nil {
		return err
	}
	outputs = append(outputs, o.known.outputs(v)...)
	if err := writable(outputs); err != nil {
		return err
	}

	began := time.Now()
	s := &session{
		progress: newProgress(cmd.ErrOrStderr()), stdout: cmd.OutOrStdout(), seed: o.seed, budget: o.budget, slow: o.slow, verdict: v, out: o.reports.out(),
		called: invocation{strict: o.strict},
	}
	if err := s.judge(cmd.Context(), o.open, nil, o.dryRun); err != nil {
		return err
	}
	if o.dryRun {
		return nil
	}
	s.progress.done()
	v.Close(o.strict, known, time.Since(began))
	return conclude(cmd, v, outputs)
}
