package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/internal/anomaly"
	"github.com/muster-kafka/muster/internal/clientprops"
	"github.com/muster-kafka/muster/internal/doctor"
	"github.com/muster-kafka/muster/internal/verdict"
)

func doctorCommand() *cobra.Command {
	o := doctor.Options{Settings: anomaly.Defaults()}
	var config, jsonFile string
	var watch time.Duration
	cmd := &cobra.Command{
		Use:   "doctor HOST:PORT",
		Short: "Say which consumer groups of a cluster are in trouble, and why",
		Long: "Doctor examines the groups of a cluster and reports those that are stuck, flapping, wedged or abandoned, with the evidence, the likely causes and what to do. " +
			"It only reads and never joins a group. Exit code 0: healthy; 1: findings; 3: the cluster cannot be examined; 64: wrong usage.",
		Example: "  muster doctor 127.0.0.1:9092\n  muster doctor broker-1:9093 --config client.properties --group payments --watch 10m --json report.json",
		Args:    takes(1, 1, "the address of one cluster, HOST:PORT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkAddress(args[0]); err != nil {
				return err
			}
			o.Addr = args[0]
			p := newProgress(cmd.ErrOrStderr())
			if config != "" {
				props, err := clientprops.Read(config)
				if err != nil {
					return usage("--config: %v", err)
				}
				for _, warning := range props.Warnings {
					p.say("%s: %s", config, warning)
				}
				o.Client = props.KgoOpts()
			}
			if cmd.Flags().Changed("watch") {
				if watch <= 0 {
					return usage("--watch %v: want a time to watch for, as in --watch 2m", watch)
				}
				o.Watch, o.Look = true, watch
			}
			return examine(cmd, o, p, jsonFile)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.Groups, "group", nil, "examine this `group` only; may be repeated")
	flags.DurationVar(&watch, "watch", 0, "watch for this `time` and show what changes; without it a few looks are taken, and more where a group may be stuck")
	flags.DurationVar(&o.Every, "every", time.Second, "`time` between two looks, 50ms or more")
	flags.StringVar(&jsonFile, "json", "", "write the report to this `file`")
	flags.StringVar(&config, "config", "", "client.properties `file` with security settings")
	flags.Float64Var(&o.Rate, "rate", 20, "requests a second over all brokers, 0.1 to 1000")
	flags.BoolVar(&o.NoLog, "no-log", false, "do not read __consumer_offsets")
	flags.Int64Var(&o.LogBytes, "log-bytes", 64<<20, "`bytes` of __consumer_offsets to read at the beginning, at most")
	flags.DurationVar(&o.LogTime, "log-time", 3*time.Second, "`time` to read __consumer_offsets for at the beginning, at most")
	thresholdFlags(cmd, &o.Settings)
	return cmd
}

func thresholdFlags(cmd *cobra.Command, s *anomaly.Settings) {
	flags := cmd.Flags()
	flags.DurationVar(&s.StuckPreparing, "stuck-preparing", s.StuckPreparing, "one PreparingRebalance of this `time` is a finding")
	flags.DurationVar(&s.StuckCompleting, "stuck-completing", s.StuckCompleting, "one CompletingRebalance of this `time` is a finding")
	flags.DurationVar(&s.Rebalancing, "rebalancing", s.Rebalancing, "this `time` without being Stable is a finding")
	flags.DurationVar(&s.EmptyFor, "empty-for", s.EmptyFor, "Empty for this `time` is a finding")
	flags.IntVar(&s.Rebalances, "rebalances", s.Rebalances, "how many of the last rebalances are averaged, 2 to 30")
	flags.DurationVar(&s.RebalanceInterval, "rebalance-interval", s.RebalanceInterval, "a smaller average `time` between them is a finding")
	flags.IntVar(&s.FlapCount, "flap-count", s.FlapCount, "a client that loses its membership this often in a row is a finding, 2 to 20")
	flags.DurationVar(&s.ShortStint, "short-membership", s.ShortStint, "a membership that ends within this `time` was lost early")
	flags.DurationVar(&s.Recent, "recent", s.Recent, "flapping that ended longer ago than this `time` is forgiven")
	flags.DurationVar(&s.Abandoned, "abandoned", s.Abandoned, "lag that nobody has worked on for this `time` is a finding")
	flags.Int64Var(&s.MinLag, "min-lag", s.MinLag, "fewer `records` are no lag")
	flags.DurationVar(&s.RebalanceTimeout, "assume-rebalance-timeout", s.RebalanceTimeout, "rebalance timeout (max.poll.interval.ms) of clients of which it is not known")
	flags.DurationVar(&s.HeartbeatInterval, "assume-heartbeat-interval", s.HeartbeatInterval, "heartbeat interval of clients")
}

// examine runs the doctor and writes what it found.
func examine(cmd *cobra.Command, o doctor.Options, p *progress, jsonFile string) error {
	outputs := []output{}
	var report *doctor.Report
	if jsonFile != "" {
		outputs = append(outputs, output{"json", jsonFile, func(w io.Writer) error { return report.WriteJSON(w) }})
	}
	if err := writable(outputs); err != nil {
		return err
	}
	o.Progress = func(line string) { p.step("%s", line) }
	if o.Watch {
		o.Live = liveView(p)
	}
	var err error
	report, err = doctor.Examine(cmd.Context(), o)
	p.done()
	var settings *doctor.SettingsError
	if errors.As(err, &settings) {
		return usage("%v", err)
	}
	if err != nil {
		return unavailable(err)
	}
	if err := report.WriteTable(cmd.OutOrStdout()); err != nil {
		return unavailable(err)
	}
	if err := writeAll(outputs); err != nil {
		return unavailable(err)
	}
	if len(report.Findings) > 0 {
		return &codedError{code: verdict.ExitFail}
	}
	if len(o.Groups) > 0 && report.Groups.Judged == 0 {
		return unavailable(errors.New("none of the groups could be examined; see the names above, and whether they may be described"))
	}
	return nil
}

// liveView redraws a screen at each look; where there is no terminal it tells findings as they come and go.
func liveView(p *progress) func(*doctor.Report) {
	if p.live {
		return func(r *doctor.Report) {
			fmt.Fprint(p.w, "\x1b[H\x1b[2J")
			_ = r.WriteLive(p.w)
		}
	}
	known := map[string]string{}
	return func(r *doctor.Report) {
		now := map[string]string{}
		for _, f := range r.Findings {
			now[f.Group+" "+string(f.Rule)] = f.Summary
		}
		for k, summary := range now {
			if _, was := known[k]; !was {
				p.say("%s %s: %s", time.Now().UTC().Format(time.TimeOnly), k, summary)
			}
		}
		for k := range known {
			if _, is := now[k]; !is {
				p.say("%s %s: over", time.Now().UTC().Format(time.TimeOnly), k)
			}
		}
		known = now
	}
}
