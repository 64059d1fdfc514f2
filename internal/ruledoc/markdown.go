package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/muster-kafka/muster/model/classic"
)

const preface = `<!-- Written by go run ./internal/ruledoc from model/classic. Do not edit. -->

# The rules of the classic group protocol

A rule is one sentence that a coordinator follows or breaks. Its class says what breaking it means:

- **contract**: it protects data and liveness. Breaking it loses data, hangs a member, splits the group or sends a client the wrong way. Always a violation.
- **compat**: what every release answers, or every release since the one named, and a client might rely on. A difference; a failure under --strict.
- **quirk**: an accident of some releases that harms no client which follows the protocol. Pinned so that the oracle stays honest, never demanded of others. Where the
  sentence gives a contract, the reference follows that.

*Releases* are the Kafka releases that follow the sentence, of those from 2.4 to 4.4. *Source* is the section of the fact sheet. *What a client suffers* is said for
the case that the rule is broken. A rule that the specification takes no decision by is marked with ° and judged elsewhere (values, encodings, durations).
`

// subjects are the headings, by the first part of a rule's id, in the order of the page.
var subjects = []struct{ title, prefixes string }{
	{"JoinGroup", "join"},
	{"SyncGroup", "sync"},
	{"Heartbeat and sessions", "heartbeat session generation"},
	{"LeaveGroup", "leave"},
	{"Static members", "static"},
	{"The initial rebalance delay", "delay"},
	{"group.max.size", "max-size"},
	{"OffsetCommit and OffsetFetch", "commit fetch offsets"},
	{"Transactions", "txn-commit txn"},
	{"OffsetDelete, expiry and cleanup", "offset-delete expiry cleanup"},
	{"Describing, listing, deleting, finding", "describe list delete find-coordinator"},
	{"Loading, and not being the coordinator", "loading not-coordinator gate unload load"},
}

func markdown() string {
	var b strings.Builder
	b.WriteString(preface)
	counts := map[classic.Class]int{}
	for _, rule := range classic.Rules() {
		counts[rule.Class]++
	}
	fmt.Fprintf(&b, "\n%d rules: %d contract, %d compat, %d quirk.\n",
		len(classic.Rules()), counts[classic.Contract], counts[classic.Compat], counts[classic.Quirk])
	for _, s := range subjects {
		fmt.Fprintf(&b, "\n## %s\n\n| rule | class | what the coordinator does | releases | source | what a client suffers |\n| --- | --- | --- | --- | --- | --- |\n", s.title)
		for _, rule := range classic.Rules() {
			if !within(rule.ID, s.prefixes) {
				continue
			}
			fmt.Fprintf(&b, "| `%s`%s | %s | %s | %s | %s | %s |\n",
				rule.ID, mark(rule.ID), rule.Class, cell(rule.Sentence), rule.Releases, rule.Source, cell(rule.Suffers))
		}
	}
	variations(&b)
	defects(&b)
	return b.String()
}

// within says whether a rule's id begins with one of the words.
func within(id, prefixes string) bool {
	first, _, _ := strings.Cut(id, ".")
	for _, p := range strings.Fields(prefixes) {
		if p == first {
			return true
		}
	}
	return false
}

func mark(id string) string {
	rule, _ := classic.FindRule(id)
	if breakable, _ := classic.Breakable(rule); breakable {
		return ""
	}
	return "°"
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func variations(b *strings.Builder) {
	b.WriteString("\n## Variation points\n\nOn these the releases differ. No contract rule has one.\n\n| point | rule | on in releases | in the reference |\n| --- | --- | --- | --- |\n")
	for _, v := range classic.Variations() {
		reference := "off"
		if v.On(classic.Reference) {
			reference = "on"
		}
		fmt.Fprintf(b, "| %s | `%v` | %s | %s |\n", v.Name, v.Rule, v.Releases, reference)
	}
}

func defects(b *strings.Builder) {
	b.WriteString("\n## Defects\n\nReleases that break a rule by a fault that most of them fixed later. The specification of a release behaves so where the last column says yes.\n\n" +
		"| rule | releases | issue | what they do instead | specified |\n| --- | --- | --- | --- | --- |\n")
	for _, d := range classic.Defects() {
		specified := "no"
		if d.Modelled {
			specified = "yes"
		}
		fmt.Fprintf(b, "| `%v` | %s | %s | %s | %s |\n", d.Rule, d.Releases, cmp.Or(d.Issue, "none known"), cell(d.What), specified)
	}
}
