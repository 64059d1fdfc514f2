package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/conformance/targets/wire"
)

func cleanupCommand() *cobra.Command {
	var o openOptions
	var prefix string
	cmd := &cobra.Command{
		Use:     "cleanup HOST:PORT --prefix PREFIX",
		Short:   "Remove what a killed run left on a cluster",
		Long:    "Cleanup deletes the groups and topics whose names begin with the prefix, and nothing else. A run prints its prefix when it begins.",
		Example: "  muster cleanup 127.0.0.1:9092 --prefix muster-0123abcd-",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts, err := o.wireOptions(args[0], newProgress(cmd.ErrOrStderr()))
			if err != nil {
				return err
			}
			removed, err := wire.Cleanup(cmd.Context(), opts, prefix)
			if errors.Is(err, wire.ErrPrefix) {
				return usage("--prefix: %v", err)
			}
			out := cmd.OutOrStdout()
			for _, g := range removed.Groups {
				fmt.Fprintf(out, "group %s\n", g)
			}
			for _, t := range removed.Topics {
				fmt.Fprintf(out, "topic %s\n", t)
			}
			fmt.Fprintf(out, "removed %d group(s) and %d topic(s)\n", len(removed.Groups), len(removed.Topics))
			return unavailable(err)
		},
	}
	cmd.Flags().StringVar(&prefix, "prefix", "", "what the names begin with, as the run printed it")
	cmd.Flags().StringVar(&o.config, "config", "", "client.properties `file` with security settings")
	_ = cmd.MarkFlagRequired("prefix")
	return cmd
}
