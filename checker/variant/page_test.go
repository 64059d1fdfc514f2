package variant

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/internal/golden"
	"github.com/muster-kafka/muster/model/classic"
)

const pageFile = "../../docs/variant.md"

// The page is what exploration finds now: numbers of states and transitions, what is broken, traces.
func TestPageIsCurrent(t *testing.T) {
	golden.Compare(t, pageFile, page(t))
}

const preface = `<!-- Written by go test ./checker/variant -update. Do not edit. -->

# A written description, explored

There is a published description of Kafka's group state machine: states with a table of allowed transitions, entry and exit actions, handlers, persistence, the
mechanism around them. It is not Kafka, and it contradicts itself. Here it is a small machine of its own (` + "`checker/variant`" + `), searched to closure by the explorer that
searches the specification ([exploration.md](exploration.md)). What it breaks comes as a shortest trace. The specification knows nothing of it, and it
nothing of the specification; what Kafka does is quoted below from the [rules](rules.md).

Sections are those of the description:

- **A** the states and the table of who may be entered from where; a transition outside of it is an error that leaves the group as it was
- **B** the entry and exit actions
- **C** the handlers, one cell for each event and state ("C Heartbeat × Dead"), and the prose after them
- **D** persistence
- **E** the mechanism: triggers, roles, phases, the announcement of a rebalance by answers to heartbeats, commits

## What is explored

One group, two clients A and B, and a stranger that the group never knew; generations up to %d, absolute. An event that would raise the generation further is not taken; with one more
the same properties break. Clients may do whatever a client could at any time: join, repeat a request, go on with what they believe after they were removed, leave, crash. Timers that run
may fire. The coordinator may restart, and offsets be committed, where a line says so.

A waiting request, a crashed member or a rebalance is *for ever* where no course of things ends it: timers fire, clients that live heartbeat and do what the answers tell them
(REBALANCE_IN_PROGRESS, ILLEGAL_GENERATION and UNKNOWN_MEMBER_ID: join again), and nobody new comes.

Where the text is silent it is read kindly: a completed join answers every JoinGroup that waits (B tells the leader alone); SyncGroup is sent where it has a meaning; the session timer starts
with the JoinGroup; a restart breaks the connections of those who wait, who then send their request again; a process whose LeaveGroup fails is gone all the same. Where a restart goes back to the last completed generation, the one after it may be used again; so it may in Kafka (§4.5), and nothing asks.

`

// page is the whole page.
func page(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, preface, MaxGeneration)
	whole := run(t, described)
	b.WriteString("## The description as it is\n\n")
	fmt.Fprintf(&b, "Taken at its word, with restarts and commits: %s. Of %d properties it breaks %d. The table names the sentences below that break each by themselves, and in how\nmany events the whole description does; where it does not, another reading does.\n\n",
		size(whole), len(Properties()), len(whole.Violations))
	b.WriteString("| broken | kind | sentences | events | Kafka's rule |\n| --- | --- | --- | --- | --- |\n")
	for _, kind := range []string{OwnTable, Deadlock, Generation, Kafka} {
		for _, p := range Properties() {
			if p.Kind != kind {
				continue
			}
			shortest := "-"
			if v, ok := violation(whole, p.Name); ok {
				shortest = fmt.Sprint(events(v))
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", p.Name, kind, culprits(t, p), shortest, rule(p))
		}
	}
	b.WriteString("\n## Sentence by sentence\n\n")
	repaired := run(t, Setting{Reading: Repaired()})
	more := run(t, Setting{Reading: Repaired(), Restarts: true, Commits: true})
	fmt.Fprintf(&b, "Each sentence is read in its ways while all the others are repaired, so that what breaks is its own doing. With all repaired nothing breaks: %s; with restarts and commits %s.\n",
		size(repaired), size(more))
	for i, c := range Choices() {
		fmt.Fprintf(&b, "\n### %d. %s\n\nSections: %s.\n", i+1, c.Title, c.Sections)
		writeChoice(t, &b, c)
		if mended := mends(t, whole, c); len(mended) > 0 {
			fmt.Fprintf(&b, "\nTo repair this alone mends in the whole description: %s.\n", strings.Join(mended, "; "))
		}
	}
	return b.String()
}

// writeChoice writes the readings of a choice, each property with one trace.
func writeChoice(t *testing.T, b *strings.Builder, c Choice) {
	shown := map[string]bool{}
	for i, o := range c.Readings {
		r := run(t, c.Alone(i))
		fmt.Fprintf(b, "\n- *%s*: %s; ", o.Text, size(r))
		if r.Ok() {
			b.WriteString("**breaks nothing**.\n")
			continue
		}
		var names []string
		for _, v := range r.Violations {
			names = append(names, v.Property)
		}
		fmt.Fprintf(b, "breaks: %s.\n", strings.Join(names, "; "))
		for _, v := range r.Violations {
			if shown[v.Property] {
				continue
			}
			shown[v.Property] = true
			writeTrace(b, v)
		}
	}
}

func writeTrace(b *strings.Builder, v explore.Violation) {
	p, _ := FindProperty(v.Property)
	fmt.Fprintf(b, "\n  **Broken: %s.**\n", p.Name)
	if id, ok := classic.FindRule(p.Rule); ok {
		fmt.Fprintf(b, "  Kafka, %s: %s\n", rule(p), id.Rule().Sentence)
	}
	b.WriteString("\n  ```\n")
	rows := [][2]string{}
	widths := [2]int{}
	for _, step := range v.Trace {
		row := [2]string{step.Event, strings.Join(step.Answers, "; ")}
		for i := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
		rows = append(rows, row)
	}
	for i, row := range rows {
		fmt.Fprintf(b, "  %s  %s  %s\n", pad(row[0], widths[0]), pad(row[1], widths[1]), v.Trace[i].State)
	}
	b.WriteString("  ```\n")
}

// culprits names the sentences that break a property while all the others are repaired.
func culprits(t *testing.T, p Property) string {
	var links []string
	for i, c := range Choices() {
		for reading := range c.Readings {
			if broken(run(t, c.Alone(reading)))[p.Name] {
				links = append(links, fmt.Sprintf("[%d](#%s)", i+1, anchor(fmt.Sprintf("%d. %s", i+1, c.Title))))
				break
			}
		}
	}
	return strings.Join(links, ", ")
}

// anchor is what a heading is linked by.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", width-utf8.RuneCountInString(s))
}

// mends lists what the whole description no longer breaks when one choice is repaired.
func mends(t *testing.T, whole explore.Report, c Choice) (names []string) {
	s := described
	c.Readings[c.Repair].Choose(&s.Reading)
	left := broken(run(t, s))
	for _, v := range whole.Violations {
		if !left[v.Property] {
			names = append(names, v.Property)
		}
	}
	slices.Sort(names)
	return names
}

func size(r explore.Report) string {
	return fmt.Sprintf("%d states, %d transitions, depth %d", r.States, r.Transitions, r.Depth)
}

func violation(r explore.Report, name string) (explore.Violation, bool) {
	for _, v := range r.Violations {
		if v.Property == name {
			return v, true
		}
	}
	return explore.Violation{}, false
}

// events counts what happens in a trace; the last line of what is for ever is no event.
func events(v explore.Violation) int {
	n := len(v.Trace)
	if p, _ := FindProperty(v.Property); p.Kind == Deadlock {
		n--
	}
	return n
}

func rule(p Property) string {
	if p.Rule == "" {
		return "-"
	}
	return "`" + p.Rule + "`, " + p.Source
}
