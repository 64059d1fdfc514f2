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
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "cleanup HOST:PORT --prefix PREFIX",
		Short: "Remove what a killed run left on a cluster",
		Long: "Cleanup deletes the groups and topics whose names begin with the prefix, and nothing else. A run prints its prefix when it begins. " +
			"The prefix must be that of one run: muster-, at least four hex digits, and a dash. With --dry-run nothing is deleted.",
		Example: "  muster cleanup 127.0.0.1:9092 --prefix muster-0123abcd- --dry-run\n  muster cleanup 127.0.0.1:9092 --prefix muster-0123abcd-",
		Args:    takes(1, 1, "the address of one cluster, HOST:PORT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkAddress(args[0]); err != nil {
				return err
			}
			opts, err := o.wireOptions(args[0], newProgress(cmd.ErrOrStderr()))
			if err != nil {
				return err
			}
			opts.LookOnly = dryRun
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
			done := "removed"
			if dryRun {
				done = "dry run, would remove"
			}
			fmt.Fprintf(out, "%s %s and %s\n", done, counted(len(removed.Groups), "group"), counted(len(removed.Topics), "topic"))
			return unavailable(err)
		},
	}
	cmd.Flags().StringVar(&prefix, "prefix", "", "what the names begin with, as the run printed it")
	cmd.Flags().StringVar(&o.config, "config", "", "client.properties `file` with security settings")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only list what would be removed")
	_ = cmd.MarkFlagRequired("prefix")
	return cmd
}
