package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/internal/verdict"
)

func runCommand() *cobra.Command {
	o := openOptions{name: "impl"}
	var rewrite, strict, slow, dryRun bool
	var files reports
	cmd := &cobra.Command{
		Use:   "run FILE...",
		Short: "Run scenarios on one target",
		Long: "Run takes scenario files, folders of them, or the names of scenarios that come with Muster, and runs them on one target. " +
			"A scenario that is named runs even if it is slow. With --rewrite it records what a real Kafka answers in place of comparing; read the change before you keep it.",
		Example: "  muster run join-starts-rebalance --target 127.0.0.1:9092\n  muster run conformance/scenarios --target model\n  muster run my.txt --target kafka:4.3.1 --rewrite",
		Args:    takes(1, anyNumber, "scenarios, by their names or files"),
		RunE: func(cmd *cobra.Command, args []string) error {
			scenarios, err := findScenarios(args)
			if err != nil {
				return err
			}
			if rewrite && files != (reports{}) {
				return usage("--rewrite judges nothing, so there is nothing to write: leave --json, --junit and --report out")
			}
			if dryRun && (rewrite || files != (reports{})) {
				return usage("--dry-run judges nothing, so there is nothing to write: leave --rewrite, --json, --junit and --report out")
			}
			if rewrite {
				return rewriteScenarios(cmd, o, scenarios)
			}
			return runScenarios(cmd, o, scenarios, files, strict, slow, dryRun)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.name, "target", "impl", "`target`: "+targetNames)
	flags.BoolVar(&rewrite, "rewrite", false, "record the expected text from the target")
	flags.BoolVar(&strict, "strict", false, strictHelp)
	flags.BoolVar(&slow, "slow", false, slowHelp+" that a folder holds")
	flags.BoolVar(&dryRun, "dry-run", false, dryRunHelp)
	files.flags(cmd)
	files.folderFlag(cmd)
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
				return nil, unknownScenario(arg, err)
			}
			s.Asked = true
			found = append(found, s)
			continue
		}
		loaded, err := conformance.Load(arg)
		if err != nil {
			return nil, usage("%v", err)
		}
		if len(loaded) == 1 && loaded[0].Path == arg {
			loaded[0].Asked = true
		}
		found = append(found, loaded...)
	}
	return found, nil
}

// unknownScenario is the error about a name, with the one that may be meant.
func unknownScenario(name string, err error) error {
	if file := filepath.Join("conformance", "scenarios", name+".txt"); !strings.ContainsAny(name, `/\`) {
		if _, statErr := os.Stat(file); statErr == nil {
			return usage("the scenario %q is not in this binary, but there is %s: give that path, or build anew", name, file)
		}
	}
	hint := ""
	if all, err := conformance.Scenarios(); err == nil {
		if near := conformance.Nearest(strings.TrimSuffix(name, ".txt"), scenarioNames(all)); near != "" {
			hint = fmt.Sprintf("; do you mean %s?", near)
		}
	}
	return usage("%v; nor does a scenario called %q come with Muster%s\nmuster list shows those that do", err, name, hint)
}

func scenarioNames(all []*conformance.Scenario) []string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Name
	}
	return names
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

func runScenarios(cmd *cobra.Command, o openOptions, scenarios []*conformance.Scenario, files reports, strict, slow, dryRun bool) error {
	began := time.Now()
	v := verdict.New(version, o.name, "", 0)
	outputs, err := files.outputs(v)
	if err != nil {
		return err
	}
	if err := writable(outputs); err != nil {
		return err
	}
	s := &session{progress: newProgress(cmd.ErrOrStderr()), stdout: cmd.OutOrStdout(), verdict: v, out: files.out(), slow: slow, called: invocation{strict: strict}}
	if err := s.judge(cmd.Context(), o, scenarios, dryRun); err != nil || dryRun {
		return err
	}
	s.progress.done()
	v.Alone()
	v.Close(strict, nil, time.Since(began))
	return conclude(cmd, v, outputs)
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
	if spec.kind != kafkaTarget && (spec.kind != addressTarget || o.as == "") {
		return usage("--rewrite: %s cannot record, only a Kafka release can: --target kafka:VERSION, or HOST:PORT with --as kafka:VERSION", o.name)
	}
	p := newProgress(cmd.ErrOrStderr())
	open := spec.profiles(o, p, 0)
	recorded, failed := 0, 0
	var errs []error
	for _, set := range conformance.ByProfile(scenarios) {
		t, err := open(cmd.Context(), set.Profile)
		if err != nil {
			return unavailable(err)
		}
		for _, sc := range set.Scenarios {
			recorded++
			p.step("recording %d of %d, %s", recorded, len(scenarios), sc.Name)
			text, err := conformance.Record(cmd.Context(), sc, t.Target)
			if err == nil {
				err = os.WriteFile(sc.Path, text, 0o644)
			}
			if err != nil {
				failed++
				errs = append(errs, err)
			}
		}
		errs = append(errs, t.Close())
	}
	p.done()
	if done := len(scenarios) - failed; done > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "recorded %d of %s from %s; read the change before you keep it\n", done, counted(len(scenarios), "scenario"), o.name)
	}
	return unavailable(errors.Join(errs...))
}
