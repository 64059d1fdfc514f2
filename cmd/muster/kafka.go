package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/internal/kafka"
)

func kafkaCommand() *cobra.Command {
	parent := &cobra.Command{
		Use:     "kafka",
		Short:   "Start real Kafka brokers on this machine",
		Example: "  muster kafka start 4.3.1",
		Args:    takes(0, 0, "the command start"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return unavailable(cmd.Help()) },
	}
	parent.AddCommand(kafkaStartCommand())
	return parent
}

func kafkaStartCommand() *cobra.Command {
	opts := kafka.Options{}
	var settings []string
	cmd := &cobra.Command{
		Use:   "start VERSION",
		Short: "Run one Kafka broker until interrupted",
		Long: "Start downloads the release if it is not in the cache (2.4.0 or later), runs one broker on 127.0.0.1, prints its address and runs it until interrupted. " +
			"3.9.2+java is 3.9.2 with the Java coordinator switched on. " +
			"Unless --plain is given, its settings make groups testable: no initial rebalance delay, sessions from 10 ms.",
		Example: "  muster kafka start 4.3.1 --port 9092\n  muster kafka start 3.9.2 --plain --set offsets.topic.num.partitions=4",
		Args:    takes(1, 1, "the VERSION of one release"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Version = args[0]
			var err error
			if opts.Settings, err = parseSettings(settings); err != nil {
				return err
			}
			return startKafka(cmd, opts)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&opts.Port, "port", 0, "port on 127.0.0.1; 0 picks a free one")
	flags.StringArrayVar(&settings, "set", nil, "broker setting `KEY=VALUE`, as in server.properties; may be repeated")
	flags.BoolVar(&opts.Plain, "plain", false, "keep Kafka's own defaults")
	flags.StringVar(&opts.Dir, "dir", "", "keep the broker's data in this `folder`")
	return cmd
}

func parseSettings(settings []string) (map[string]string, error) {
	parsed := map[string]string{}
	for _, s := range settings {
		key, value, ok := strings.Cut(s, "=")
		if key = strings.TrimSpace(key); !ok || key == "" {
			return nil, usage("--set %q: want KEY=VALUE, as in --set group.min.session.timeout.ms=10", s)
		}
		parsed[key] = value
	}
	return parsed, nil
}

// endedByItself is the end of a broker that nobody has stopped: with its log, or where that cannot be kept, with what it says.
func endedByItself(broker interface {
	KeepLog() (string, error)
	WhyEnded() error
}, version string,
) error {
	kept, err := broker.KeepLog()
	if err != nil {
		return errors.Join(fmt.Errorf("Kafka %s ended by itself", version), broker.WhyEnded(), fmt.Errorf("its log goes with it: %w", err))
	}
	return fmt.Errorf("Kafka %s ended by itself; its log: %s", version, kept)
}

// judging is the command that judges a broker at an address as the release that it is.
func judging(addr, version string) string {
	if !threeNumbers.MatchString(version) { // a release candidate: no text is recorded from it
		return "muster verify " + addr
	}
	return fmt.Sprintf("muster verify %s --as kafka:%s", addr, version)
}

func startKafka(cmd *cobra.Command, opts kafka.Options) error {
	ctx := cmd.Context()
	p := newProgress(cmd.ErrOrStderr())
	opts.Progress = func(line string) { p.say("%s", line) }
	if !kafkaRelease.MatchString(opts.Version) {
		return usage("%q: want a whole release, three numbers, as in muster kafka start 4.3.1", opts.Version)
	}
	broker, err := kafka.Start(ctx, opts)
	if err != nil {
		return unavailable(err)
	}
	stop := func() error { return broker.Stop(context.WithoutCancel(ctx)) }
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", broker.Addr); err != nil {
		stop()
		return unavailable(err)
	}
	p.say("Kafka %s serves groups at %s (process %d, log %s). Interrupt to stop it; in another terminal: %s", broker.Version, broker.Addr, broker.Pid(), broker.LogFile(), judging(broker.Addr, broker.Version))
	select {
	case <-ctx.Done():
		return unavailable(stop())
	case <-broker.Exited():
		why := endedByItself(broker, broker.Version)
		return unavailable(errors.Join(why, stop()))
	}
}
