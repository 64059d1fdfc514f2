package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/internal/verdict"
)

// execute runs the command line and returns the exit code. An interrupt ends the run early and in order: what was judged so far is
// told, brokers are stopped; a second interrupt ends it at once.
func execute(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	root := rootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	called, err := root.ExecuteContextC(ctx)
	if err == nil {
		return verdict.ExitPass
	}
	var coded *codedError
	if !errors.As(err, &coded) {
		// Only cobra's own complaints about the command line come without a code.
		coded = &codedError{verdict.ExitUsage, fmt.Errorf("%w\nsee: %s --help", err, called.CommandPath())}
	}
	if coded.err != nil {
		fmt.Fprintf(stderr, "muster: %v\n", coded.err)
	}
	return coded.code
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "muster",
		Short:         "Tells whether a Kafka group coordinator is right",
		Long:          "Muster judges Kafka group coordinators: the server side of JoinGroup, SyncGroup, Heartbeat, LeaveGroup, OffsetCommit and their kin.",
		Version:       versionText(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(verifyCommand(), runCommand(), campaignCommand(), diffCommand(), exploreCommand(), serveCommand(), serveKfakeCommand(), listCommand(), checkCommand(), explainCommand(), rulesCommand(), kafkaCommand(), atlasCommand(), pairsCommand(), witnessCommand(), cleanupCommand(), doctorCommand(), versionCommand())
	return root
}

// codedError ends the process with a code of its own. Its error is nil where everything has been said already.
type codedError struct {
	code int
	err  error
}

func (e *codedError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *codedError) Unwrap() error { return e.err }

// usage is an error of whoever typed the command.
func usage(format string, args ...any) error {
	return &codedError{verdict.ExitUsage, fmt.Errorf(format, args...)}
}

// unavailable is an error of the target or of the environment.
func unavailable(err error) error {
	var coded *codedError
	if err == nil || errors.As(err, &coded) {
		return err
	}
	return &codedError{verdict.ExitUnavailable, err}
}
