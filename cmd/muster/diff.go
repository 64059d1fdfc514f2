package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/conformance/targets/kfake"
	"github.com/muster-kafka/muster/conformance/targets/model"
	"github.com/muster-kafka/muster/internal/differ"
	"github.com/muster-kafka/muster/internal/verdict"
	"github.com/muster-kafka/muster/model/classic"
)

const diffLong = `Diff plays request sequences, drawn at random, on two group coordinators side by side and tells where they answer differently.

A and B are targets as those of muster verify: impl, impl+tcp, model, model:RELEASE, kfake, kafka:VERSION or HOST:PORT. A sequence whose answers
differ is played again, made small, and checked three times from a clean group; what does not show each time is counted apart. Alike differences
are one class. A class is explained where the specification knows why the two releases differ, or where it is a known difference of kfake; another one is
a failure where it breaks a contract, or nobody knows a rule for it. Each is saved as a scenario in muster-out, for muster run. docs/diff.md tells how to read them.`

type diffOptions struct {
	a, b        openOptions
	json, junit string
	seed        uint64
	budget      time.Duration
	sequences   int
	parallel    int
	strict      bool
}

func diffCommand() *cobra.Command {
	var o diffOptions
	var shared openOptions
	cmd := &cobra.Command{
		Use:     "diff A B",
		Short:   "Look for differences between two coordinators that nobody has thought of",
		Long:    diffLong,
		Example: "  muster diff kafka:3.9.2 kafka:4.3.1 --budget 10m\n  muster diff 127.0.0.1:9092 kafka:4.3.1\n  muster diff impl model:reference --sequences 1000 --seed 7",
		Args:    takes(2, 2, "two targets, A and B, to be compared"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.a, o.b = shared, shared
			o.a.name, o.b.name = args[0], args[1]
			if !cmd.Flags().Changed("seed") {
				o.seed = rand.Uint64N(1 << 32)
			}
			return o.diff(cmd)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.json, "json", "", "write the verdict as JSON to this `file`")
	flags.StringVar(&o.junit, "junit", "", "write the verdict as JUnit XML to this `file`")
	flags.Uint64Var(&o.seed, "seed", 0, "seed of the sequences; without it one is drawn and printed")
	flags.DurationVar(&o.budget, "budget", 5*time.Minute, "time for all of it; the last fifth is for what was found")
	flags.IntVar(&o.sequences, "sequences", 0, "play so many sequences at most; 0 is as many as there is time for")
	flags.IntVar(&o.parallel, "parallel", 0, "sequences at a time at most on networks; 0 is up to 64, as many as the targets bear")
	flags.BoolVar(&o.strict, "strict", false, strictHelp)
	flags.StringVar(&shared.config, "config", "", "client.properties `file` with security settings for HOST:PORT")
	flags.BoolVar(&shared.allowWrites, "allow-writes", false, "let the run create groups and a topic on an address that is not on this machine")
	flags.StringVar(&shared.topic, "topic", "", "existing `topic` with two partitions to commit offsets for; without it one is created")
	return cmd
}

func (o *diffOptions) diff(cmd *cobra.Command) error {
	switch {
	case o.budget <= 0:
		return usage("--budget %v: want more than nothing, as in --budget 5m", o.budget)
	case o.sequences < 0 || o.parallel < 0:
		return usage("--sequences and --parallel cannot be negative")
	}
	specA, err := parseTarget(o.a.name)
	if err != nil {
		return err
	}
	specB, err := parseTarget(o.b.name)
	if err != nil {
		return err
	}
	if err := o.a.securedOnly(specA, specB); err != nil {
		return err
	}
	v := verdict.New(version, o.a.name, o.b.name, o.seed)
	v.Diff = &verdict.DiffCounts{}
	var outputs []output
	for _, f := range []output{{"json", o.json, v.WriteJSON}, {"junit", o.junit, v.WriteJUnit}} {
		if f.path != "" {
			outputs = append(outputs, f)
		}
	}
	if err := writable(outputs); err != nil {
		return err
	}
	began := time.Now()
	p := newProgress(cmd.ErrOrStderr())
	if err := o.compare(cmd.Context(), v, p, specA, specB); err != nil {
		var coded *codedError
		if errors.As(err, &coded) {
			return err
		}
		v.TargetFailed("%v", err)
	}
	p.done()
	v.Close(o.strict, nil, time.Since(began))
	return conclude(cmd, v, outputs)
}

// compare opens both targets, compares them and hands in what it found. Its error says that one of them gave way.
func (o *diffOptions) compare(ctx context.Context, v *verdict.Verdict, p *progress, specA, specB targetSpec) (err error) {
	a, err := o.open(ctx, specA, o.a, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	b, err := o.open(ctx, specB, o.b, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	scout, err := embedded.New(embedded.Options{Seed: o.seed})
	if err != nil {
		return err
	}
	defer scout.Close()
	known, _, err := conformance.Registered("kfake")
	if err != nil {
		return err
	}
	if specA.kind != kfakeTarget && specB.kind != kfakeTarget {
		known = nil
	}
	rep, err := differ.Run(ctx, differ.Options{
		A: a, B: b, Seed: o.seed, Budget: o.budget, Sequences: o.sequences, Parallel: o.parallel,
		NewScout: func(seed uint64) checker.Machine { return embedded.NewMachine(seed) }, Scout: scout, Model: openModel, Known: known,
		Step: func(c differ.Counts) {
			p.step("%d sequences, %d differed, %d at a time", c.Sequences, c.Differed, c.Parallel)
		},
	})
	if saveErr := rep.Save(outDir, a, b); saveErr != nil {
		v.Warn("what was found could not be saved: %v", saveErr)
	}
	o.tell(ctx, v, rep)
	return err
}

// open opens a target; kfake in a process of its own, which it may take with it.
func (o *diffOptions) open(ctx context.Context, spec targetSpec, open openOptions, p *progress) (target.Target, error) {
	if spec.kind == kfakeTarget {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		return kfake.Spawn(ctx, self, serveKfake)
	}
	t, err := spec.open(ctx, open, p, o.seed)
	if err != nil {
		return nil, err
	}
	return t.Target, nil // as it is: the specification is more than a target
}

const serveKfake = "serve-kfake"

// serveKfakeCommand is what muster diff starts.
func serveKfakeCommand() *cobra.Command {
	return &cobra.Command{
		Use: serveKfake, Short: "Run kfake until the input ends", Args: takesNothing(), Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return unavailable(kfake.Serve(cmd.InOrStdin(), cmd.OutOrStdout()))
		},
	}
}

// tell hands in what was found.
func (o *diffOptions) tell(ctx context.Context, v *verdict.Verdict, rep differ.Report) {
	c := rep.Counts
	*v.Diff = verdict.DiffCounts{Sequences: c.Sequences, Requests: c.Requests, Unsteady: c.Unsteady, Choices: c.Choices, NotChecked: len(rep.Open), Deaths: c.Deaths, Lost: c.Lost}
	if s := rep.Drawing.Seconds(); s > 0 {
		v.Diff.PerSecond = float64(int(float64(c.Sequences)/s*10)) / 10
	}
	for _, class := range rep.Classes {
		if class.Known != "" {
			v.Diff.Explained++
		} else {
			v.Diff.Unknown++
		}
		v.Find(o.finding(class))
	}
	if n := len(rep.Leftover); n > 0 {
		shown := slices.Compact(slices.Sorted(slices.Values(rep.Leftover)))
		v.Warn("%s could not be removed: %s", counted(n, "group"), strings.Join(shown[:min(3, len(shown))], ", "))
	}
	for _, r := range rep.Remarks {
		v.Warn("%s", r)
	}
	if c.Deaths > 0 {
		v.Warn("a target ended by itself %s, with %s at work that do not count; where the one that ends it was found in time it is among the failures or differences",
			counted(c.Deaths, "time"), counted(c.Lost, "sequence"))
	}
	if c.Unsteady > 0 {
		v.Warn("%s differed and did not when played again: %s", counted(c.Unsteady, "sequence"), "see the folder unsteady in muster-out/"+differ.Folder(rep.A, rep.B))
	}
	if ctx.Err() == nil {
		v.Finish(verdict.Diff)
	}
}

// finding is a class as a finding of the verdict.
func (o *diffOptions) finding(c *differ.Class) verdict.Finding {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", c.Signature)
	fmt.Fprintf(&b, "%s; met in %s, drawn with seed %d\n", reason(c), counted(c.Met, "sequence"), c.From)
	for _, l := range c.Sequence.Lines {
		fmt.Fprintf(&b, "    %s\n", l)
	}
	fmt.Fprintf(&b, "%s: %s\n%s: %s\n", o.a.name, c.A, o.b.name, c.B)
	if c.Words != "" {
		lines := strings.SplitN(c.Words, "\n", lastWords+1)
		fmt.Fprintf(&b, "last words:\n%s\n", strings.Join(lines[:min(len(lines), lastWords)], "\n"))
	}
	judged := o.a
	if kind, _ := parseTarget(o.a.name); kind.kind == kafkaTarget || kind.kind == implTarget || kind.kind == modelTarget {
		judged = o.b
	}
	called := invocation{open: judged, strict: o.strict}
	f := verdict.Finding{
		Judge: verdict.Diff, Rule: c.Rule, Scenario: c.File, Text: b.String(), Registered: c.Known != "",
		Replay: fmt.Sprintf("muster run %s --target %s%s", quoted(c.File), quoted(judged.name), called.flags()),
	}
	if c.Dies { // whatever the rule is about that it could not follow any more
		f.Class = classic.Contract.String()
	}
	return f
}

// lastWords is how many lines of what a process said at its end are told: what it is about, and where.
const lastWords = 5

func reason(c *differ.Class) string {
	switch {
	case c.Known != "":
		return "explained: " + c.Known
	case c.Note != "":
		return "unexplained: " + c.Note
	case len(c.Rules) > 0:
		return "unexplained; as if one of these rules were broken: " + strings.Join(c.Rules[:min(len(c.Rules), 4)], " ")
	}
	return "unexplained"
}

// openModel opens the specification for those who ask why releases differ.
func openModel(release string, adjust func(*classic.Profile), broken ...classic.RuleID) (conformance.Chooser, error) {
	return model.New(model.Options{Name: "model:" + release, Adjust: adjust, Broken: broken}, nil)
}
