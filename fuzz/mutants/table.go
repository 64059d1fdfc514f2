package mutants

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Outcome is what became of one mutant, of whatever it is.
type Outcome struct {
	Of     string // a part, or what else was changed: a row of the table
	Kind   string
	Key    string
	Judge  string // empty: it survives
	Judged bool   // false: nobody has been asked yet
}

// noticed says whether a judge has noticed it.
func (o Outcome) noticed() bool { return o.Judge != "" && o.Judge != OwnTests && o.Judge != Open }

// What is changed besides source.
const (
	LinesOnModel = "expected lines, on the specification"
	LinesOnImpl  = "expected lines, on the coordinator"
	Histories    = "recorded histories"
	Rules        = "rules, broken at run time"
)

// write puts the outcomes into docs/mutants.md.
func write(all []Outcome, why Explanations) string {
	var b strings.Builder
	b.WriteString(intro)
	fmt.Fprintf(&b, "\n| what is changed | mutants | noticed | | by own tests alone | by none so far | equivalent or unreachable | explained otherwise | noticed of those that are not equivalent or unreachable |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	var unjudged, open int
	of := map[string][]Outcome{}
	var order []string
	for _, o := range all {
		if !o.Judged {
			unjudged++
			continue
		}
		if o.Judge == Open {
			open++
		}
		if of[o.Of] == nil {
			order = append(order, o.Of)
		}
		of[o.Of] = append(of[o.Of], o)
	}
	for _, name := range order {
		c := count(of[name], why)
		fmt.Fprintf(&b, "| %s | %d | %d | %s | %d | %d | %d | %d | %s |\n", name, c.all, c.noticed, percent(c.noticed, c.all), c.own, c.open, c.same, c.all-c.noticed-c.own-c.open-c.same, percent(c.noticed, c.all-c.same))
	}
	if unjudged > 0 {
		fmt.Fprintf(&b, "\n**This table is partial: %d of %d mutants have not been judged.** Those that have been were drawn at random, or come first in the order of a hash, so they are a fair sample. `make mutants-new` goes on.\n", unjudged, len(all))
	}
	if open > 0 {
		fmt.Fprintf(&b, "\n**%d of the mutants have been shown to the cheap judges only**, which have not noticed: explorations, longer walks, scenarios over TCP and own tests have yet to be asked. So the shares are lower bounds.\n", open)
	}
	for _, name := range order {
		kinds(&b, name, of[name], why)
	}
	survivors(&b, all, why)
	return b.String()
}

const intro = `# Mutants: what the judges notice

<!-- Written by make mutants; do not edit. fuzz/mutants/survivors.txt has the reasons. -->

A judge is worth what it notices. So the reference coordinator and the specification are changed in thousands of small mechanical ways, one at a time
(a condition that is always true, a comparison the other way round, a statement left out, another error code), and so are the expected lines of
scenarios and the answers in histories that were recorded from real brokers. Each time the judges are asked, the cheapest first, until one notices.
The unit tests of what is changed are no judge of Muster: they are asked when no judge has noticed, and counted apart.

What nobody notices is explained, or ` + "`make mutants`" + ` fails. *Equivalent*: nothing that anybody could ask for would be different. *Unreachable*: the change is in what
guards against something that the coordinator's own rules, or its shell, exclude; own tests may come to it all the same, by bringing about what nobody else does. *Racing*: in a history, what else happened at the same time excuses the changed
answer. *Unseen*: something is different, and no judge looks at it; that is a gap, and an invitation.

Left out are files and functions that take no decision of the protocol (` + "`skipped`" + ` and ` + "`onlyBroken`" + ` in fuzz/mutants): what copies or shows a coordinator for judges, what
metrics are told, texts and tables of rules and releases. Of the specification only guards are changed; its rules can also be broken at run time, which has
a row of its own.
`

// counts are numbers of mutants: those that a judge notices, those that only own tests notice, those of which not all judges have been asked, and those that are equivalent
// or unreachable.
type counts struct{ all, noticed, own, open, same int }

func count(all []Outcome, why Explanations) (c counts) {
	for _, o := range all {
		c.all++
		switch {
		case o.noticed():
			c.noticed++
			continue
		case o.Judge == Open:
			c.open++
			continue
		}
		e := why.Of(o.Key)
		switch {
		case e != nil && (e.Reason == Equivalent || e.Reason == Unreachable):
			c.same++
		case o.Judge == OwnTests:
			c.own++
		}
	}
	return c
}

func percent(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}

// kinds is a table of who noticed what.
func kinds(b *strings.Builder, name string, all []Outcome, why Explanations) {
	var judges, rows []string
	cells := map[[2]string]int{}
	of := map[string][]Outcome{}
	for _, o := range all {
		if of[o.Kind] == nil {
			rows = append(rows, o.Kind)
		}
		of[o.Kind] = append(of[o.Kind], o)
		if o.noticed() {
			if !slices.Contains(judges, o.Judge) {
				judges = append(judges, o.Judge)
			}
			cells[[2]string{o.Kind, o.Judge}]++
		}
	}
	slices.Sort(judges)
	slices.Sort(rows)
	fmt.Fprintf(b, "\n## %s\n\n| change | mutants | %s | survive | noticed |\n| --- | ---: |%s ---: | ---: |\n", name, strings.Join(judges, " | "), strings.Repeat(" ---: |", len(judges)))
	for _, kind := range rows {
		c := count(of[kind], why)
		fmt.Fprintf(b, "| %s | %d |", kind, c.all)
		for _, j := range judges {
			fmt.Fprintf(b, " %d |", cells[[2]string{kind, j}])
		}
		fmt.Fprintf(b, " %d | %s |\n", c.all-c.noticed, percent(c.noticed, c.all))
	}
}

// survivors lists what nobody notices, with the reasons.
func survivors(b *strings.Builder, all []Outcome, why Explanations) {
	keys := map[*Explanation][]string{}
	var unexplained, own []string
	for _, o := range all {
		if !o.Judged || o.noticed() || o.Judge == Open {
			continue
		}
		e := why.Of(o.Key)
		if o.Judge == OwnTests && e == nil {
			own = append(own, o.Key)
			continue
		}
		if e != nil {
			if !slices.Contains(keys[e], o.Key) {
				keys[e] = append(keys[e], o.Key)
			}
		} else {
			unexplained = append(unexplained, o.Key)
		}
	}
	fmt.Fprintf(b, "\n## Survivors\n")
	if len(unexplained) > 0 {
		fmt.Fprintf(b, "\n### Not explained yet\n\n")
		list(b, unexplained)
	}
	for _, reason := range Reasons {
		first := true
		for i := range why {
			e := &why[i]
			if e.Reason != reason || len(keys[e]) == 0 {
				continue
			}
			if first {
				fmt.Fprintf(b, "\n### %s\n", strings.ToUpper(string(reason[:1]))+string(reason[1:]))
				first = false
			}
			fmt.Fprintf(b, "\n%s\n\n", e.Text)
			list(b, keys[e])
		}
	}
	if len(own) > 0 {
		fmt.Fprintf(b, "\n### Noticed by own tests alone\n\nThe unit tests of the part tell that something is different, and no judge does: these are gaps, like those that are *unseen*.\n\n")
		list(b, own)
	}
}

func list(b *strings.Builder, keys []string) {
	for _, k := range keys {
		fmt.Fprintf(b, "- `%s`\n", strings.ReplaceAll(k, "`", "'"))
	}
}

// inputs is a digest of what the table is made of: which mutants there are, what became of them, and why some survive.
func inputs(all []Outcome, why Explanations) string {
	lines := map[string]bool{}
	for _, o := range all {
		lines[fmt.Sprintf("%s\t%s\t%s\t%v", o.Of, o.Key, o.Judge, o.Judged)] = true
	}
	for _, e := range why {
		lines[fmt.Sprintf("%s\t%s\t%s", e.Reason, e.Text, strings.Join(e.Keys, "\t"))] = true
	}
	sum := sha256.New()
	for _, line := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintln(sum, line)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))[:16]
}
