package pairs

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/internal/stamp"
)

// Digest is of what is asked about a pair: itself and its scenario.
func Digest(p Pair, s *conformance.Scenario) string {
	h := sha256.New()
	text, _ := json.Marshal(p)
	h.Write(text)
	h.Write(script.Print(s.File))
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// DigestOf is of all pairs.
func DigestOf(all []Pair, scenarios []*conformance.Scenario) string {
	h := sha256.New()
	for _, p := range all {
		for _, s := range scenarios {
			if s.Name == p.Scenario {
				fmt.Fprintln(h, Digest(p, s))
			}
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

// madeBy is the command that makes docs/pairs.md.
const madeBy = "make pairs"

// DigestIn finds the digest in the text of docs/pairs.md; "" if there is none.
func DigestIn(text string) string { return stamp.In(text, madeBy) }

// Page is docs/pairs.md.
func Page(all []Pair, seen map[string]Seen, digest string) string {
	var b strings.Builder
	told, found := Count(all, seen)
	fmt.Fprintf(&b, "# Pairs of releases\n\n%s\n", stamp.Line(madeBy, digest))
	fmt.Fprintf(&b, `
Released versions of Kafka, of which one has a fault, or another behaviour, and the other has not. A harness that cannot tell these two apart would not have noticed the fault in yours.
Each pair is run on real brokers in two ways:

- **by the scenario** that is about it: the release without the fault has to give the text that was recorded for it (all others would be false alarms), the other one has to give
  its own, and must not give the first one's;
- **by muster diff alone**, which is told the two releases and nothing else: it draws requests at random, and has found the pair once a difference that is put down to the rule has been made
  small and has shown three times more. The seconds count from the first request to that; %s at most, of a machine with two processors and much else to do. It is not asked where the
  difference does not show with the settings of the profile `+"`default`"+`.

Of %d pairs %d are told apart by their scenarios, %d by muster diff alone. The page is generated: `+"`make pairs`"+`. What could be seen on both sides of more patches is in [releases.md](releases.md), what
differs between minor releases in [atlas.md](atlas.md).

| pair | without | with | public | rule | scenario | by its lines | diff alone | sequence | seed |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
`, budgetOf(all, seen), len(all), told, found)
	for _, p := range all {
		s := seen[p.Name]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | `%s` | %s | %s | %s | %s |\n", p.Name, p.Good, p.Bad, issue(p.Issue), rules(p), p.Scenario, lines(s.Apart), seconds(s), length(s.Alone), seedOf(s.Alone))
	}
	fmt.Fprintf(&b, "\n`with` is the release with the fault, `without` the one that has not got it (any more).\n\n## What they are about\n\nBoth runs of a scenario pass: it has a text for each of the two.\n")
	for _, p := range all {
		s := seen[p.Name]
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n", p.Name, p.What)
		fmt.Fprintf(&b, "    muster run %s --target kafka:%s\n    muster run %s --target kafka:%s\n", p.Scenario, p.Good, p.Scenario, p.Bad)
		if s.Alone != nil && s.Alone.Found {
			fmt.Fprintf(&b, "    muster diff kafka:%s kafka:%s --budget %s --seed %d\n", p.Bad, p.Good, short(s.Alone.Budget), s.Alone.Seed)
		}
		if len(s.Apart.Lines) > 0 {
			fmt.Fprintf(&b, "\nIn block %d of the scenario `-` is %s, `+` is %s:\n\n", s.Apart.Block, p.Good, p.Bad)
			for _, l := range s.Apart.Lines {
				fmt.Fprintf(&b, "    %s\n", l)
			}
		}
		if s.Alone == nil || !s.Alone.Found {
			continue
		}
		fmt.Fprintf(&b, "\nWhat `muster diff` found:\n\n")
		for _, l := range s.Alone.Lines {
			fmt.Fprintf(&b, "    %s\n", l)
		}
		if len(s.Alone.Lines) > 0 {
			fmt.Fprintf(&b, "    kafka:%s: %s\n    kafka:%s: %s\n", p.Bad, s.Alone.A, p.Good, s.Alone.B)
		} else {
			fmt.Fprintf(&b, "    %s\n", s.Alone.A)
		}
	}
	return b.String()
}

// Count is how many pairs are told apart by scenarios, and by muster diff alone.
func Count(all []Pair, seen map[string]Seen) (told, found int) {
	for _, p := range all {
		if seen[p.Name].Apart.Told {
			told++
		}
		if a := seen[p.Name].Alone; a != nil && a.Found {
			found++
		}
	}
	return told, found
}

func budgetOf(all []Pair, seen map[string]Seen) string {
	most := time.Duration(0)
	for _, p := range all {
		if a := seen[p.Name].Alone; a != nil {
			most = max(most, a.Budget)
		}
	}
	return short(most)
}

// short is a duration without what is nothing.
func short(d time.Duration) string {
	return strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m")
}

func issue(name string) string {
	if strings.HasPrefix(name, "KAFKA-") {
		return fmt.Sprintf("[%s](https://issues.apache.org/jira/browse/%s)", name, name)
	}
	if repo, number, ok := strings.Cut(name, "#"); ok {
		return fmt.Sprintf("[%s](https://github.com/%s/pull/%s)", name, repo, number)
	}
	return name
}

func rules(p Pair) string {
	if p.Offers != "" {
		return "versions of " + p.Offers
	}
	return "`" + strings.Join(p.Rules, "`, `") + "`"
}

func lines(a Apart) string {
	switch {
	case a.Lacks != "":
		return a.Lacks + " is not offered"
	case a.Told:
		return fmt.Sprintf("%d in block %d", len(a.Lines), a.Block)
	case a.Reason != "":
		return "not told apart: " + strings.ReplaceAll(a.Reason, "|", "\\|")
	}
	return "-"
}

func seconds(s Seen) string {
	a := s.Alone
	switch {
	case s.Needs != "":
		return "not asked: profile " + s.Needs
	case a == nil:
		return "not run"
	case a.Found && len(a.Lines) == 0:
		return "at once"
	case a.Found:
		return fmt.Sprintf("%.0f s", a.After.Seconds())
	}
	return fmt.Sprintf("not in %s", short(a.After.Round(time.Second)))
}

func length(a *Alone) string {
	if a == nil || !a.Found || len(a.Lines) == 0 {
		return "-"
	}
	return fmt.Sprintf("%d lines", len(a.Lines))
}

func seedOf(a *Alone) string {
	if a == nil {
		return "-"
	}
	return fmt.Sprint(a.Seed)
}
