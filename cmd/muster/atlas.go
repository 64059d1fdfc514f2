package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	targetkafka "github.com/muster-kafka/muster/conformance/targets/kafka"
	"github.com/muster-kafka/muster/conformance/targets/kfake"
	"github.com/muster-kafka/muster/conformance/targets/rdkafka"
	"github.com/muster-kafka/muster/internal/atlas"
	"github.com/muster-kafka/muster/internal/kafka"
	"github.com/muster-kafka/muster/internal/verdict"
)

type atlasOptions struct {
	out, results string
	releases     []string
	brokers      int
	reuse        bool
}

// atlasCommand is for those who work on Muster: it is how docs/atlas.md is made.
func atlasCommand() *cobra.Command {
	var o atlasOptions
	cmd := &cobra.Command{
		Use:    "atlas",
		Short:  "Run every scenario on every Kafka release and write down where behaviour changed",
		Args:   takesNothing(),
		Hidden: true,
		RunE:   func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.out, "out", "docs/atlas.md", "the `file` to write; only where nothing is left unexplained")
	flags.StringSliceVar(&o.releases, "releases", nil, "only these `releases`; the file is not written then")
	flags.StringVar(&o.results, "results", filepath.Join(outDir, "atlas.json"), "`file` to keep what was seen in")
	flags.BoolVar(&o.reuse, "reuse", false, "take cells from the kept results where scenario and release passed and the scenario is unchanged")
	flags.IntVar(&o.brokers, "brokers", 2, "brokers at a time")
	return cmd
}

func (o *atlasOptions) run(cmd *cobra.Command) error {
	ctx := cmd.Context()
	scenarios, err := conformance.Scenarios()
	if err != nil {
		return unavailable(err)
	}
	explained, err := atlas.Explanations()
	if err != nil {
		return unavailable(err)
	}
	known, ok, err := conformance.Registered("kfake")
	if err != nil || !ok {
		return unavailable(fmt.Errorf("no register of kfake: %w", err))
	}
	mock, ok, err := conformance.Registered(rdkafka.Name)
	if err != nil || !ok {
		return unavailable(fmt.Errorf("no register of %s: %w", rdkafka.Name, err))
	}
	scenarios, known = atlas.Drawn(scenarios, known)
	p := newProgress(cmd.ErrOrStderr())
	releases := kafka.Releases
	if len(o.releases) > 0 {
		releases = o.releases
	}
	run, err := o.seen(ctx, p, releases, scenarios)
	if err != nil {
		return unavailable(err)
	}
	p.say("%d releases in %.1f minutes", len(releases), run.Took.Minutes())
	faults := append(atlas.Unexplained(kafka.Releases, scenarios, explained), run.Judge(releases, scenarios, explained)...)
	if len(o.releases) == 0 {
		fake, err := kfake.Open(ctx)
		if err != nil {
			return unavailable(err)
		}
		began := time.Now()
		more, err := atlas.JudgeKFake(ctx, fake, scenarios, known, outDir)
		if err != nil {
			return unavailable(err)
		}
		p.say("kfake: %d scenarios in %.0f s: %d are otherwise than its register says", len(scenarios), time.Since(began).Seconds(), len(more))
		faults = append(append(faults, run.Idle(explained)...), more...)
	}
	out := cmd.OutOrStdout()
	for _, fault := range faults {
		fmt.Fprintf(out, "unexplained: %s\n\n", fault)
	}
	if len(faults) > 0 {
		fmt.Fprintf(out, "%d cells are unexplained: give the scenario a text for the release, and internal/atlas/explanations.txt the reason\n", len(faults))
		return &codedError{code: verdict.ExitFail}
	}
	if len(o.releases) > 0 {
		return nil
	}
	page := atlas.Page{
		Releases: releases, Scenarios: scenarios, Explained: explained, Run: run, KFake: known, RDKafka: mock,
		Digest: atlas.Digest(releases, scenarios, atlas.ExplanationsText(), known, mock),
	}
	if err := os.WriteFile(o.out, []byte(page.Text()), 0o644); err != nil {
		return unavailable(err)
	}
	fmt.Fprintf(out, "wrote %s\n", o.out)
	return nil
}

// seen runs what has to be run and keeps it, also where a broker gave way half way.
func (o *atlasOptions) seen(ctx context.Context, p *progress, releases []string, scenarios []*conformance.Scenario) (*atlas.Run, error) {
	say := func(line string) { p.say("%s", line) }
	opts := atlas.Options{
		Releases: releases, Scenarios: scenarios, Brokers: o.brokers, OutDir: outDir, Say: p.say,
		Open: func(ctx context.Context, release, profile string) (target.Target, error) {
			return targetkafka.Open(ctx, release, profile, targetkafka.Options{Progress: say})
		},
	}
	kept := &atlas.Run{}
	switch text, err := os.ReadFile(o.results); {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		if err := json.Unmarshal(text, kept); err != nil {
			return nil, fmt.Errorf("%s: %w; remove it, or run without --reuse", o.results, err)
		}
	}
	if o.reuse {
		opts.Reuse = kept
	}
	run, err := opts.Do(ctx)
	all := slices.Clone(run.Cells)
	for _, c := range kept.Cells { // of other releases
		if _, ok := run.Find(c.Release, c.Scenario); !ok {
			all = append(all, c)
		}
	}
	text, jerr := json.MarshalIndent(atlas.Run{Cells: all, Took: run.Took}, "", " ")
	if jerr == nil {
		if jerr = os.MkdirAll(filepath.Dir(o.results), 0o755); jerr == nil {
			jerr = os.WriteFile(o.results, text, 0o644)
		}
	}
	return run, errors.Join(err, jerr)
}
