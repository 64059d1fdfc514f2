package differ

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/model/classic"
)

// ModelOpener opens the specification of a release ("4.3.1", "reference") with its profile adjusted (nil: not) and with rules broken.
type ModelOpener func(release string, adjust func(*classic.Profile), broken ...classic.RuleID) (conformance.Chooser, error)

// explain says why a difference is no news, and which rule it is about. The specification is asked only now: whether the releases that the
// two sides are give these texts, and which point of the specification makes the one to the other. What is written down in a register of a
// side counts as known too. A quick explanation does not ask which rule it is as if were broken.
func (r *run) explain(ctx context.Context, c *Class, quick bool) {
	if r.o.Model == nil {
		return
	}
	e := explainer{run: r, ctx: ctx, c: c, quick: quick, relA: r.a.caps.Release, relB: r.b.caps.Release}
	a, b := c.TextA[:min(len(c.TextA), c.Block+1)], c.TextB[:min(len(c.TextB), c.Block+1)]
	switch {
	case e.relA != "" && e.relB != "":
		if e.releases(a, b); c.Known == "" && (e.relA != e.relB || e.relA == conformance.Reference) {
			e.recorded()
		}
	case e.relB != "":
		e.stranger(e.relB, b, a, c.A, c.B)
	case e.relA != "":
		e.stranger(e.relA, a, b, c.B, c.A)
	}
}

type explainer struct {
	*run
	ctx        context.Context
	c          *Class
	relA, relB string
	quick      bool
	silent     bool     // the specification had no answer to something
	cited      []string // the rules by which the specification of either side came to the block in question
}

// gives asks whether the release, so changed, gives the texts.
func (e *explainer) gives(release string, texts [][]string, adjust func(*classic.Profile), broken ...classic.RuleID) bool {
	m, err := e.o.Model(release, adjust, broken...)
	if err != nil {
		return false
	}
	sc, err := e.c.Sequence.upTo(len(texts) - 1).scenario("explain")
	if err != nil {
		return false
	}
	got, err := sc.Accepts(e.ctx, m, texts)
	e.silent = e.silent || err == nil && uncovered(got)
	if adjust == nil && len(broken) == 0 && got.Blocks >= len(texts)-1 {
		e.cited = append(e.cited, got.Rules...)
	}
	return err == nil && got.Stopped == "" && got.Blocks == len(texts)
}

// releases explains a difference of two releases.
func (e *explainer) releases(a, b [][]string) {
	okA, okB := e.gives(e.relA, a, nil), e.gives(e.relB, b, nil)
	switch {
	case e.silent && (e.relA == conformance.Reference || e.relB == conformance.Reference) && e.c.Sequence.listsTwice():
		e.c.Known = "the reference means it: a protocol that a member lists twice counts once; Kafka counts it twice, and the join never completes"
		return
	case e.silent:
		e.c.Note = notCovered
		return
	case !okA && !okB:
		e.c.Note = "the specification of neither side gives its text"
		e.suspect()
		return
	case !okA:
		e.c.Note = fmt.Sprintf("the specification of %s does not give its text; that of %s does", e.relA, e.relB)
		e.suspect()
		return
	case !okB:
		e.c.Note = fmt.Sprintf("the specification of %s does not give its text; that of %s does", e.relB, e.relA)
		e.suspect()
		return
	case e.relA == e.relB:
		e.c.Known = "the specification leaves the choice"
		return
	}
	m, err := profileOf(e.relA)
	if err != nil {
		return
	}
	other, err := profileOf(e.relB)
	if err != nil {
		return
	}
	if e.gives(e.relA, b, nil) || e.gives(e.relB, a, nil) {
		e.c.Known = "the specification leaves the choice"
		return
	}
	e.c.Known = "the specification knows both releases so, by several of its points together"
	var rules, points []string
	tell := func(rule classic.RuleID, point string) {
		rules = append(rules, rule.Rule().ID)
		points = append(points, point)
	}
	for _, v := range classic.Variations() {
		if v.On(m) == v.On(other) {
			continue
		}
		if e.gives(e.relA, b, func(p *classic.Profile) { v.Set(p, v.On(other)) }) {
			tell(v.Rule, fmt.Sprintf("variation %s of rule %s (%s)", v.Name, v.Rule.Rule().ID, v.Releases))
		}
	}
	for _, d := range classic.Defects() {
		if m.Defects.Has(d.ID) == other.Defects.Has(d.ID) {
			continue
		}
		if e.gives(e.relA, b, func(p *classic.Profile) { p.Defects ^= 1 << d.ID }) {
			tell(d.Rule, fmt.Sprintf("defect of rule %s (%s, %s)", d.Rule.Rule().ID, d.Releases, d.Issue))
		}
	}
	if len(points) > 0 {
		e.c.Known = strings.Join(points, "; or ")
	}
	if len(rules) == 0 {
		rules = strictest(e.cited)
	}
	if len(rules) > 0 {
		e.c.Rule, e.c.Rules = rules[0], rules
	}
}

// suspect names the strictest rules at work where nobody knows which is broken.
func (e *explainer) suspect() {
	if e.c.Rules = strictest(e.cited); len(e.c.Rules) > 0 {
		e.c.Rule = e.c.Rules[0]
	}
}

// deciding puts rules in order any of which may be what is broken, the one first that decides the class: what a quirk explains is held against nobody as
// more; of the others the strictest counts.
func deciding(ids []string) {
	order := []classic.Class{classic.Quirk, classic.Contract, classic.Compat}
	rank := func(id string) int {
		rule, _ := classic.FindRule(id)
		return slices.Index(order, rule.Rule().Class)
	}
	slices.SortStableFunc(ids, func(a, b string) int { return rank(a) - rank(b) })
}

// strictest are the rules of the strictest class among them.
func strictest(ids []string) []string {
	var kept []string
	class := classic.Quirk
	for _, id := range ids {
		r, ok := classic.FindRule(id)
		if !ok {
			continue
		}
		if c := r.Rule().Class; c < class {
			class, kept = c, nil
		}
		if r.Rule().Class == class {
			kept = append(kept, id)
		}
	}
	slices.Sort(kept)
	return slices.Compact(kept)
}

func profileOf(release string) (classic.Profile, error) {
	if release == conformance.Reference {
		return classic.Reference, nil
	}
	return classic.ProfileFor(release)
}

// stranger explains a difference between a release and what is none.
func (e *explainer) stranger(release string, texts, strange [][]string, got, want string) {
	if !e.gives(release, texts, nil) {
		e.c.Note = fmt.Sprintf("the specification of %s does not give its text", release)
		if e.silent {
			e.c.Note = notCovered
		}
	} else if e.otherwise(release, strange) {
		return
	}
	for _, r := range classic.Rules() {
		if rule, ok := classic.FindRule(r.ID); ok && !e.quick && !e.c.Dies && e.gives(release, strange, nil, rule) {
			e.c.Rules = append(e.c.Rules, r.ID)
		}
	}
	deciding(e.c.Rules)
	if len(e.c.Rules) == 0 {
		e.c.Rules = strictest(e.cited)
	}
	if len(e.c.Rules) > 0 {
		e.c.Rule = e.c.Rules[0]
	}
	if e.c.Dies {
		return // that is never what was meant
	}
	if e.recorded(); e.c.Known != "" {
		return
	}
	if entries := e.registered(got, want); len(entries) > 0 {
		var names []string
		for _, entry := range entries {
			names = append(names, fmt.Sprintf("%s (%s, %s)", entry.Scenario, entry.Rule, entry.Kind))
		}
		e.c.Known = "register of known differences: " + strings.Join(names, ", ")
		e.c.Rule = entries[0].Rule
	}
}

// otherwise reports whether the text is right as well: the release leaves the choice, other releases do so, or it is the contract of a quirk.
func (e *explainer) otherwise(release string, strange [][]string) bool {
	if e.gives(release, strange, nil) {
		e.c.Known = "the specification leaves the choice"
		return true
	}
	profile, err := profileOf(release)
	if err != nil {
		return false
	}
	for _, v := range classic.Variations() {
		if !e.gives(release, strange, func(p *classic.Profile) { v.Set(p, !v.On(profile)) }) {
			continue
		}
		e.c.Rule = v.Rule.Rule().ID
		e.c.Rules = []string{e.c.Rule}
		e.c.Known = fmt.Sprintf("as other releases, or by the contract: variation %s of rule %s (%s)", v.Name, e.c.Rule, v.Releases)
		return true
	}
	return false
}
