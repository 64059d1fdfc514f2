package clients

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// oneLine finds lists of numbers.
var oneLine = regexp.MustCompile(`\[\s*\d+(,\s*\d+)*\s*\]`)

const pageTop = `# Real clients

[` + "`muster serve`" + `](serve.md) runs the reference coordinator for real clients. These clients are put to work on it, and on a real Kafka %s beside it; what each of them observes
has to be the same on both. ` + "`make test-clients`" + ` does so in a few minutes; where a machine lacks something for a client, that client is skipped with the reason.
This page is made by the test from what it saw (` + "`cd tools/clients && go test -update`" + `), and the test fails where the page is no longer true.

## What they are put through

Each client is a small program under ` + "`tools/clients`" + ` that tells the test what it is assigned, what is taken away, which records it gets and what it has committed. All are put through
the same: a topic of four partitions; a member alone; a second one joins; the second one is killed (SIGKILL) after it has consumed more than it has committed, and the first takes over;
the first leaves; a new process reads on. Offsets are committed, read back by the client itself, and asked for beside it. Sessions are 6 s. The reference runs with two nodes.

What is compared, here of %s on both:

` + "```" + `
%s
` + "```" + `

Which member gets which partitions is chance with kafka-go and kafkajs, and kcat commits of its own accord; that is not compared.
A difference counts where a second try shows one, too: on a machine that stands still for the time of a session a member is taken for dead.

## The clients

| client | language | version | what it needed |
| --- | --- | --- | --- |
%s
None of them needed a setting that it does not need with real Kafka.

## The requests they send

Versions of each request as seen on the wire, by a pass-through between client and broker. Where a client sends real Kafka another version, which it does if that speaks newer ones, that is in brackets.

%s
## What Kafka's tool for groups says

` + "`kafka-consumer-groups.sh`" + ` (ConsumerGroupCommand) prints the same on both, failures and their exit codes included. Ids and addresses are left out here, and other groups from its lists.

` + "```" + `
%s
` + "```" + `
`

// kafkaVersion is the release that says what is right.
const kafkaVersion = "4.3.1"

// groupTool is the client whose log the page has whole.
const groupTool = "ConsumerGroupCommand"

// page is docs/clients.md.
func page(records map[string]*record) string {
	sample := All[0].Name
	var clients strings.Builder
	for _, c := range All {
		fmt.Fprintf(&clients, "| %s | %s | %s | %s |\n", c.Name, c.Lang, records[c.Name].Version, c.Needs)
	}
	return fmt.Sprintf(pageTop, kafkaVersion, sample, strings.Join(records[sample].Log, "\n"), clients.String(), requests(records), strings.Join(records[groupTool].Log, "\n"))
}

// order is that in which a consumer sends requests; others follow.
var order = []string{"ApiVersions", "Metadata", "FindCoordinator", "JoinGroup", "SyncGroup", "Heartbeat", "OffsetFetch", "OffsetCommit", "LeaveGroup", "ListOffsets", "Fetch"}

// requests are tables of what was seen: of all consumers, and of what only some send.
func requests(records map[string]*record) string {
	var b strings.Builder
	b.WriteString("| client | " + strings.Join(order, " | ") + " |\n|" + strings.Repeat(" --- |", len(order)+1) + "\n")
	for _, c := range All {
		fmt.Fprintf(&b, "| %s |", c.Name)
		for _, api := range order {
			fmt.Fprintf(&b, " %s |", records[c.Name].cell(api))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n| client | other requests |\n| --- | --- |\n")
	for _, c := range All {
		r := records[c.Name]
		both := maps.Clone(r.Muster)
		maps.Copy(both, r.Kafka)
		var words []string
		for _, api := range slices.Sorted(maps.Keys(both)) {
			if !slices.Contains(order, api) {
				words = append(words, api+" "+r.cell(api))
			}
		}
		if len(words) > 0 {
			fmt.Fprintf(&b, "| %s | %s |\n", c.Name, strings.Join(words, ", "))
		}
	}
	return b.String()
}

// cell is what a client sent of one kind.
func (r *record) cell(api string) string {
	ours, theirs := r.Muster.text(api), r.Kafka.text(api)
	if ours == theirs {
		return ours
	}
	if ours == "" {
		ours = "none"
	}
	if theirs == "" {
		theirs = "none"
	}
	return ours + " (" + theirs + ")"
}
