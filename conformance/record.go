package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/conformance/target"
)

// Record runs the scenario on a Kafka release and writes what it answers into the file: the base text if the release is the one that
// base texts are recorded from, else a further text with a condition, where the release gives another one. Lines that still match
// keep their alternations and comments.
func Record(ctx context.Context, s *Scenario, tg target.Target) ([]byte, error) {
	caps := tg.Capabilities()
	if !script.IsRelease(caps.Release) || caps.Virtual {
		return nil, fmt.Errorf("%s cannot record: expected text comes from Kafka releases only", tg.Name())
	}
	if reason := s.skip(caps, true).why(); reason != "" {
		return nil, fmt.Errorf("%s cannot record %s: %s", tg.Name(), s.Name, reason)
	}
	done := 0
	left, err := s.attempt(ctx, tg, freshGroup(caps, s), manner{recording: true}, func(_ *run, i int, got []string) bool {
		record(s.File.Blocks[i], caps.Release, got)
		done++
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("%s, block %d: %w", s.Name, done+1, err)
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("%s: group %s could not be removed afterwards", s.Name, strings.Join(left, ", "))
	}
	return script.Print(s.File), nil
}

func record(b *script.Block, release string, got []string) {
	v := candidates(b, release)[0]
	if v.Diff(got) < 0 {
		return
	}
	old := v.Lines
	if release != script.BaseRelease && v.Base() {
		numbers, java, isJava := strings.Cut(release, "+")
		minor := strings.Join(strings.SplitN(numbers, ".", 3)[:2], ".")
		if isJava {
			minor += "+" + java
		}
		when, err := script.ParseCond(minor)
		if err != nil {
			return // caps.Release was checked
		}
		fresh := script.Variant{When: when, Reason: "recorded from " + release}
		at := slices.IndexFunc(b.Variants, func(v script.Variant) bool { return v.Contract != "" })
		if at < 0 {
			at = len(b.Variants)
		}
		b.Variants = slices.Insert(b.Variants, at, fresh)
		v = &b.Variants[at]
	}
	v.Lines = nil
	for i, l := range got {
		if i < len(old) && old[i].Match(l) {
			v.Lines = append(v.Lines, old[i])
			continue
		}
		v.Lines = append(v.Lines, script.NewExpect(l))
	}
}
