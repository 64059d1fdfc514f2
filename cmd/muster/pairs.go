package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	targetkafka "github.com/muster-kafka/muster/conformance/targets/kafka"
	"github.com/muster-kafka/muster/internal/differ"
	"github.com/muster-kafka/muster/internal/files"
	"github.com/muster-kafka/muster/internal/pairs"
	"github.com/muster-kafka/muster/internal/verdict"
)

type pairsOptions struct {
	out, results string
	only         []string
	reuse        bool
	budget       time.Duration
	seed         uint64
}

// pairsCommand is for those who work on Muster: it is how docs/pairs.md is made.
func pairsCommand() *cobra.Command {
	var o pairsOptions
	cmd := &cobra.Command{
		Use:    "pairs",
		Short:  "Tell pairs of Kafka releases apart, by scenarios and by comparing them at random",
		Args:   takesNothing(),
		Hidden: true,
		RunE:   func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.out, "out", "docs/pairs.md", "the `file` to write; only where the scenarios of all pairs were run")
	flags.StringSliceVar(&o.only, "only", nil, "only the pairs of these `names`")
	flags.StringVar(&o.results, "results", filepath.Join(outDir, "pairs.json"), "`file` to keep what was seen in")
	flags.BoolVar(&o.reuse, "reuse", false, "take from the kept results what was asked before and has not changed")
	flags.DurationVar(&o.budget, "budget", 5*time.Minute, "time for comparing a pair at random; 0 is not at all")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of what is drawn")
	return cmd
}

func (o *pairsOptions) run(cmd *cobra.Command) error {
	all, err := pairs.All()
	if err != nil {
		return unavailable(err)
	}
	for _, name := range o.only {
		if !slices.ContainsFunc(all, func(p pairs.Pair) bool { return p.Name == name }) {
			var names []string
			for _, p := range all {
				names = append(names, p.Name)
			}
			return usage("--only %s: there is no such pair; there are %s", name, strings.Join(names, ", "))
		}
	}
	scenarios, err := conformance.Scenarios()
	if err != nil {
		return unavailable(err)
	}
	seen, err := o.kept()
	if err != nil {
		return unavailable(err)
	}
	p := newProgress(cmd.ErrOrStderr())
	var asked []pairs.Pair
	for _, pair := range all {
		s := scenarioOf(scenarios, pair)
		if len(o.only) > 0 && !slices.Contains(o.only, pair.Name) {
			continue
		}
		asked = append(asked, pair)
		one := seen[pair.Name]
		if !o.reuse || one.Digest != pairs.Digest(pair, s) {
			one = pairs.Seen{Digest: pairs.Digest(pair, s)}
		}
		one.Needs = pair.Settings(s)
		if !one.Apart.Told {
			if one.Apart, err = o.apart(cmd.Context(), p, pair, s); err != nil {
				return unavailable(err)
			}
			p.say("%s: told apart by %s: %v %s", pair.Name, pair.Scenario, one.Apart.Told, one.Apart.Reason)
		}
		seen[pair.Name] = one
		if err := o.keep(seen); err != nil {
			return unavailable(err)
		}
	}
	if err := o.compare(cmd.Context(), p, asked, seen); err != nil {
		return unavailable(err)
	}
	told, found := pairs.Count(all, seen)
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%d of %d pairs are told apart by their scenarios, %d by muster diff alone\n", told, len(all), found)
	missing := 0
	for _, pair := range all {
		one, ok := seen[pair.Name]
		if !ok {
			missing++
		}
		if ok && !one.Apart.Told {
			fmt.Fprintf(out, "%s: %s\n", pair.Name, one.Apart.Reason)
		}
	}
	if missing > 0 {
		fmt.Fprintf(out, "%d pairs were not run: %s is as it was\n", missing, o.out)
		return nil
	}
	page := pairs.Page(all, seen, pairs.DigestOf(all, scenarios))
	if err := files.Save(o.out, func(w io.Writer) error { _, err := io.WriteString(w, page); return err }); err != nil {
		return unavailable(err)
	}
	fmt.Fprintf(out, "wrote %s\n", o.out)
	if told < len(all) {
		return &codedError{code: verdict.ExitFail}
	}
	return nil
}

func scenarioOf(all []*conformance.Scenario, pair pairs.Pair) *conformance.Scenario {
	return all[slices.IndexFunc(all, func(s *conformance.Scenario) bool { return s.Name == pair.Scenario })]
}

// compare compares the releases of pairs at random, those of one and the same two once for all of them.
func (o *pairsOptions) compare(ctx context.Context, p *progress, asked []pairs.Pair, seen map[string]pairs.Seen) error {
	asked = slices.DeleteFunc(asked, func(pair pairs.Pair) bool { return seen[pair.Name].Needs != "" })
	for len(asked) > 0 && o.budget > 0 {
		first := asked[0]
		var same, rest []pairs.Pair
		for _, pair := range asked {
			if pair.Bad == first.Bad && pair.Good == first.Good {
				same = append(same, pair)
			} else {
				rest = append(rest, pair)
			}
		}
		asked = rest
		done := func(pair pairs.Pair) bool {
			alone := seen[pair.Name].Alone
			return alone != nil && alone.Seed == o.seed && (alone.Found || alone.Budget >= o.budget)
		}
		if !slices.ContainsFunc(same, func(pair pairs.Pair) bool { return !done(pair) }) {
			continue
		}
		found, err := o.alone(ctx, p, same)
		if err != nil {
			return err
		}
		for _, pair := range same {
			one, alone := seen[pair.Name], found[pair.Name]
			one.Alone = &alone
			seen[pair.Name] = one
			p.say("%s: found by comparing at random: %v, after %.0f s, with %d lines", pair.Name, alone.Found, alone.After.Seconds(), len(alone.Lines))
		}
		if err := o.keep(seen); err != nil {
			return err
		}
	}
	return nil
}

// both opens two brokers, of the profile.
func both(ctx context.Context, p *progress, pair pairs.Pair, profile string, do func(bad, good *targetkafka.Target) error) (err error) {
	options := targetkafka.Options{Progress: func(line string) { p.say("%s", line) }}
	bad, err := targetkafka.Open(ctx, pair.Bad, profile, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bad.Close()) }()
	good, err := targetkafka.Open(ctx, pair.Good, profile, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, good.Close()) }()
	return do(bad, good)
}

func (o *pairsOptions) apart(ctx context.Context, p *progress, pair pairs.Pair, s *conformance.Scenario) (apart pairs.Apart, err error) {
	err = both(ctx, p, pair, s.File.Profile, func(bad, good *targetkafka.Target) error {
		apart, err = pairs.TellApart(ctx, pair, s, bad, good)
		return err
	})
	return apart, err
}

// alone compares as muster diff does with the same budget and seed.
func (o *pairsOptions) alone(ctx context.Context, p *progress, same []pairs.Pair) (found map[string]pairs.Alone, err error) {
	err = both(ctx, p, same[0], "", func(bad, good *targetkafka.Target) error {
		scout, err := embedded.New(embedded.Options{Seed: o.seed})
		if err != nil {
			return err
		}
		defer scout.Close()
		found, err = pairs.DiffAlone(ctx, same, differ.Options{
			A: bad, B: good, Seed: o.seed, Budget: o.budget, Scout: scout, Model: openModel,
			NewScout: func(seed uint64) checker.Machine { return embedded.NewMachine(seed) },
			Step: func(c differ.Counts) {
				p.step("%s: %d sequences, %d differed, %d at a time", same[0].Name, c.Sequences, c.Differed, c.Parallel)
			},
		})
		return err
	})
	return found, err
}

func (o *pairsOptions) kept() (map[string]pairs.Seen, error) {
	seen := map[string]pairs.Seen{}
	text, err := os.ReadFile(o.results)
	if errors.Is(err, os.ErrNotExist) {
		return seen, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &seen); err != nil {
		return nil, fmt.Errorf("%s: %w; remove it", o.results, err)
	}
	return seen, nil
}

func (o *pairsOptions) keep(seen map[string]pairs.Seen) error {
	text, err := json.MarshalIndent(seen, "", " ")
	if err != nil {
		return err
	}
	return files.Save(o.results, func(w io.Writer) error { _, err := w.Write(text); return err })
}
