package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/internal/verdict"
)

func runCommand() *cobra.Command {
	o := openOptions{name: "impl"}
	var rewrite, strict bool
	cmd := &cobra.Command{
		Use:   "run FILE...",
		Short: "Run scenarios on one target",
		Long: "Run takes scenario files, folders of them, or the names of scenarios that come with Muster, and runs them on one target. " +
			"With --rewrite it records what a real Kafka answers in place of comparing; read the change before you keep it.",
		Example: "  muster run conformance/scenarios --target model\n  muster run my.txt --target kafka:4.3.1 --rewrite",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			scenarios, err := findScenarios(args)
			if err != nil {
				return err
			}
			if rewrite {
				return rewriteScenarios(cmd, o, scenarios)
			}
			return runScenarios(cmd, o, scenarios, strict)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.name, "target", "impl", "`target`: "+targetNames)
	flags.BoolVar(&rewrite, "rewrite", false, "record the expected text from the target")
	flags.BoolVar(&strict, "strict", false, "count differences that no client may rely on as failures, except quirks")
	o.flags(cmd)
	return cmd
}

// findScenarios loads each argument: a path, or the name of a scenario that comes with Muster.
func findScenarios(args []string) ([]*conformance.Scenario, error) {
	var found []*conformance.Scenario
	for _, arg := range args {
		if _, err := os.Stat(arg); err != nil {
			s, ok, builtinErr := builtinScenario(arg)
			switch {
			case builtinErr != nil:
				return nil, unavailable(builtinErr)
			case !ok:
				return nil, usage("%v; nor does a scenario called %q come with Muster", err, arg)
			}
			found = append(found, s)
			continue
		}
		loaded, err := conformance.Load(arg)
		if err != nil {
			return nil, usage("%v", err)
		}
		found = append(found, loaded...)
	}
	return found, nil
}

func builtinScenario(name string) (*conformance.Scenario, bool, error) {
	all, err := conformance.Scenarios()
	if err != nil {
		return nil, false, err
	}
	for _, s := range all {
		if s.Name == strings.TrimSuffix(name, ".txt") {
			return s, true, nil
		}
	}
	return nil, false, nil
}

func runScenarios(cmd *cobra.Command, o openOptions, scenarios []*conformance.Scenario, strict bool) error {
	began := time.Now()
	v := verdict.New(version, o.name, "", 0)
	s := &session{progress: newProgress(cmd.ErrOrStderr()), verdict: v}
	if err := s.judge(cmd.Context(), o, scenarios, false); err != nil {
		return err
	}
	s.progress.done()
	v.Close(strict, nil, time.Since(began))
	if err := v.WriteTable(cmd.OutOrStdout()); err != nil {
		return unavailable(err)
	}
	if code := v.Result.ExitCode(); code != verdict.ExitPass {
		return &codedError{code: code}
	}
	return nil
}

// rewriteScenarios records each scenario into its file. One that fails does not keep the others from being written.
func rewriteScenarios(cmd *cobra.Command, o openOptions, scenarios []*conformance.Scenario) error {
	for _, sc := range scenarios {
		if _, err := os.Stat(sc.Path); err != nil {
			return usage("--rewrite writes files, and %s is not one here: give its path", sc.Name)
		}
	}
	spec, err := parseTarget(o.name)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	p := newProgress(cmd.ErrOrStderr())
	t, err := spec.open(ctx, o, p, 0)
	if err != nil {
		return unavailable(err)
	}
	var errs []error
	for i, sc := range scenarios {
		p.step("recording %d of %d, %s", i+1, len(scenarios), sc.Name)
		text, err := conformance.Record(ctx, sc, t.Target)
		if err == nil {
			err = os.WriteFile(sc.Path, text, 0o644)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	p.done()
	fmt.Fprintf(cmd.OutOrStdout(), "recorded %d of %d scenarios from %s; read the change before you keep it\n", len(scenarios)-len(errs), len(scenarios), t.Name())
	return unavailable(errors.Join(errors.Join(errs...), t.Close()))
}
