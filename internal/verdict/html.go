package verdict

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-kafka/muster/internal/pages"
	"github.com/muster-kafka/muster/model/classic"
)

// WriteHTML writes the verdict as a page for browsers that is to be in a folder, with links to what else is there.
func (v *Verdict) WriteHTML(w io.Writer, folder string) error {
	p := &pages.Index{
		Title: fmt.Sprintf("%s judged by Muster", v.Target), Verdict: string(v.Result), Summary: v.totals(),
		Facts: []pages.Fact{
			{Name: "target", Value: v.Target},
			{Name: "compared with", Value: v.ComparedWith},
			{Name: "seed", Value: fmt.Sprint(v.Seed)},
			{Name: "took", Value: fmt.Sprintf("%.1f s", v.DurationS)},
			{Name: "exit code", Value: strconv.Itoa(v.ExitCode())},
			{Name: "Muster", Value: v.Muster},
		},
		Colour: map[Result]string{Pass: "good", Fail: "bad"}[v.Result], Warnings: v.Warnings,
		Links: []pages.Link{{Href: "verdict.json", Name: "verdict.json", What: "JSON"}, {Href: "verdict.txt", Name: "verdict.txt", What: "the table of the terminal"}},
	}
	if p.Colour == "" {
		p.Colour = "unsure"
	}
	if v.Result != Pass {
		p.Doubts = v.Reasons
	}
	v.eachRow(func(name, howMuch, result string) {
		p.Rows = append(p.Rows, pages.Row{Name: name, HowMuch: howMuch, Result: result})
	})
	for _, l := range []struct {
		anchor, title string
		findings      []Finding
	}{{"failures", "Failures", v.Failures}, {"known", "Known failures", v.Known}, {"differences", "Differences", v.Differences}} {
		if len(l.findings) == 0 {
			continue
		}
		list := pages.List{Anchor: l.anchor, Title: fmt.Sprintf("%s: %d", l.title, len(l.findings))}
		for i, f := range l.findings {
			list.Findings = append(list.Findings, f.html(fmt.Sprintf("%s-%d", l.anchor, i+1), fmt.Sprintf("%d. ", i+1), folder))
		}
		p.Lists = append(p.Lists, list)
	}
	p.Tables = v.exercised(folder)
	return pages.WriteIndex(w, p)
}

// html is a finding on a page in a folder.
func (f Finding) html(anchor, number, folder string) pages.Finding {
	out := pages.Finding{Anchor: anchor, Heading: number + f.heading(), Sentence: f.Sentence, Suffers: f.Suffers, Replay: f.Replay, Text: f.Text}
	if f.Unsteady {
		out.Notes = append(out.Notes, "Unsteady: "+unsteadyText)
	}
	if f.Note != "" {
		out.Notes = append(out.Notes, "Known: "+f.Note)
	}
	if f.Releases != "" {
		out.Notes = append(out.Notes, "Kafka does so in "+f.Releases+".")
	}
	if f.Page != "" {
		out.Links = append(out.Links, pages.Link{Href: beside(f.Page, folder), Name: "its page", What: "picture, timeline, what to do next"})
	}
	if strings.HasSuffix(f.Scenario, ".jsonl") {
		out.Links = append(out.Links, pages.Link{Href: beside(f.Scenario, folder), Name: filepath.Base(f.Scenario), What: "the calls that are enough to show it"})
	}
	return out
}

// beside is a file as a page in a folder links to it.
func beside(file, folder string) string {
	if rel, err := filepath.Rel(folder, file); err == nil {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(file)
}

// exercised are tables of what the run has put to the test.
func (v *Verdict) exercised(folder string) (all []pages.Table) {
	if c := v.Campaign; c != nil {
		all = append(all, c.tables(folder)...)
	}
	if v.Rules != nil {
		var covered []string
		for _, r := range classic.Rules() {
			if !slices.Contains(v.Rules.Uncovered, r.ID) {
				covered = append(covered, r.ID)
			}
		}
		all = append(all,
			pages.Table{Anchor: "rules", Title: fmt.Sprintf("Rules that scenarios put to the test: %d of %d", v.Rules.Covered, v.Rules.Total), Tags: covered},
			pages.Table{Anchor: "rules-not", Title: fmt.Sprintf("Rules that they did not: %d", len(v.Rules.Uncovered)), Tags: v.Rules.Uncovered})
	}
	if e := v.Exploration; e != nil && len(e.Runs) > 0 {
		t := pages.Table{Anchor: "exploration", Title: "Explorations of the specification", Head: []string{"run", "states", "transitions", "depth"}}
		for _, r := range e.Runs {
			t.Rows = append(t.Rows, cells(r.Name, strconv.Itoa(r.States), strconv.Itoa(r.Transitions), strconv.Itoa(r.Depth)))
		}
		all = append(all, t)
	}
	if len(v.Skipped) > 0 {
		t := pages.Table{Anchor: "skipped", Title: fmt.Sprintf("Scenarios that were skipped: %d", len(v.Skipped)), Head: []string{"scenario", "why"}}
		for _, s := range v.Skipped {
			t.Rows = append(t.Rows, cells(s.Scenario, s.Reason))
		}
		all = append(all, t)
	}
	return all
}

// tables are what a campaign has put to the test.
func (c *CampaignCounts) tables(folder string) []pages.Table {
	counts := func(anchor, title, intro string, head []string, of map[string]int) pages.Table {
		t := pages.Table{Anchor: anchor, Title: title, Intro: intro, Head: head}
		for _, name := range sortedNames(of) {
			t.Rows = append(t.Rows, cells(name, strconv.Itoa(of[name])))
		}
		return t
	}
	var never []string
	for _, r := range classic.Rules() {
		if c.Rules[r.ID] == 0 {
			never = append(never, r.ID)
		}
	}
	all := []pages.Table{
		counts("faults", "Faults", "What was done on purpose, and how often.", []string{"fault", "times"}, c.Faults),
		counts("moves", "States and transitions", "What became of a group's state with an answer that was seen, by how many groups.", []string{"from and to", "groups"}, c.Moves),
	}
	wide := pages.Table{Anchor: "widest", Title: "The widest groups", Intro: "Calls that overlap are what makes judging hard. A JoinGroup or SyncGroup counts as two operations.", Head: []string{"group", "calls", "at a time", "judged in", "result"}}
	for _, g := range c.Wide {
		wide.Rows = append(wide.Rows, cells(g.Group, strconv.Itoa(g.Calls), strconv.Itoa(g.Overlap), fmt.Sprintf("%.2f s", g.TookS), g.Result))
	}
	all = append(all, wide)
	if len(c.Open) > 0 {
		open := pages.Table{Anchor: "undecided", Title: fmt.Sprintf("Groups that could not be decided: %d", c.Undecided), Intro: "They count as nothing. The first few:", Head: []string{"group", "why", "history"}}
		for _, g := range c.Open {
			row := cells(g.Group, g.Why, "not kept")
			if g.File != "" {
				row[2] = pages.Cell{Text: filepath.Base(g.File), Href: beside(g.File, folder)}
			}
			open.Rows = append(open.Rows, row)
		}
		all = append(all, open)
	}
	rules := pages.Table{
		Anchor: "rules-seen", Title: fmt.Sprintf("Rules that concurrent calls put to the test: %d", len(c.Rules)),
		Intro: "A rule counts where it had a part in explaining an answer that was seen; in how many groups it did is beside it.",
	}
	for _, rule := range sortedNames(c.Rules) {
		rules.Tags = append(rules.Tags, fmt.Sprintf("%s × %d", rule, c.Rules[rule]))
	}
	return append(all, rules, pages.Table{Anchor: "rules-unseen", Title: fmt.Sprintf("Rules that they did not: %d", len(never)), Tags: never})
}

func cells(texts ...string) []pages.Cell {
	row := make([]pages.Cell, len(texts))
	for i, text := range texts {
		row[i].Text = text
	}
	return row
}

func sortedNames(counts map[string]int) (names []string) {
	for name := range counts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
