package conformance

import (
	"context"
	"slices"

	"github.com/muster-kafka/muster/conformance/targets/model"
	"github.com/muster-kafka/muster/model/classic"
)

// decision says by which rules a specification gives the text of one block: all of them, and line by line.
type decision struct {
	all   []string
	lines []decidedLine
}

// decidedLine is one line of the text: the verb of its request, empty without one, and the rules by which that fared so.
type decidedLine struct {
	verb  string
	rules []string
}

// decision asks what the block was decided by that has just run.
func (r *run) decision(citing Citing) decision {
	d := decision{all: citing.Cited()}
	for _, l := range r.rendered {
		var line decidedLine
		if l.req != nil {
			line = decidedLine{l.req.verb, citing.Decided(l.req.call)}
		}
		d.lines = append(d.lines, line)
	}
	return d
}

// with is the decision of a run that may have gone another way.
func (d *decision) with(o decision) {
	d.all = union(d.all, o.all)
	for i := range min(len(d.lines), len(o.lines)) {
		d.lines[i].rules = union(d.lines[i].rules, o.lines[i].rules)
	}
}

func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, id := range b {
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}

// fewRuns bounds how often the specification is asked about a failure: one that leaves more choices tells nothing.
const fewRuns = 256

// specification opens the one that a target of that release is held against, with rules broken.
func specification(release, profile string, broken ...classic.RuleID) (Chooser, error) {
	name := "model"
	if release != "" {
		name += ":" + release
	}
	return model.New(model.Options{Name: name, Profile: profile, Broken: broken}, nil)
}

// decisions are what the blocks are decided by, as far as the specification gives their texts.
func (s *Scenario) decisions(ctx context.Context, release string) []decision {
	tg, err := specification(release, s.File.Profile)
	if err != nil {
		return nil
	}
	defer tg.Close()
	if s.skip(tg.Capabilities(), true) != nil {
		return nil
	}
	var kept []decision
	survived := false
	a := &acceptor{s: s, tg: tg, furthest: -1, lenient: true, bound: fewRuns, seen: map[string][]string{}}
	a.decides = func(whole bool, blocks []decision) {
		switch {
		case whole && survived:
			for i := range kept {
				kept[i].with(blocks[i])
			}
		case whole || !survived && len(blocks) > len(kept):
			kept, survived = blocks, whole
		}
	}
	a.accept(ctx)
	return kept
}

// givesWithout reports whether the specification gives that text in that block, after the expected ones, if it breaks the rule.
func (s *Scenario) givesWithout(ctx context.Context, release, rule string, block int, text []string) bool {
	id, ok := classic.FindRule(rule)
	if !ok {
		return false
	}
	tg, err := specification(release, s.File.Profile, id)
	if err != nil {
		return false
	}
	defer tg.Close()
	a := &acceptor{s: s.ending(block, text), tg: tg, furthest: -1, lenient: true, bound: fewRuns}
	return a.accept(ctx).Status == Pass
}
