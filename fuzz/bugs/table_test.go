package bugs

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/muster-kafka/muster/internal/golden"
)

// planted begins the ids of faults that are no real coordinator's: they are what goes wrong between requests that come at the same time.
const planted = "race-"

// mostCalls are left of a history in which a planted fault was found.
const mostCalls = 30

// tries are how often a campaign may look for a fault, each time with another seed: whether it finds one is luck as well, the more so the less of a machine it has.
const tries = 2

// told is how traffic tells of what it has found.
var told = regexp.MustCompile(`^(\S*) after (\d+) groups and (\d+) calls, (\d+) calls are left`)

const tableHead = `# Planted faults

What a campaign over TCP finds of faults that are planted in the reference coordinator (fuzz/bugs), each in a process of its own, and how many calls are enough to show it. It has
45 s for each, and a second try where that was not enough. The last column is of the better try, on a machine with two processors that had fifty other programs to run. A fault that Kafka has had is told of in [CONTRIBUTING](../CONTRIBUTING.md#add-a-bug)'s bank.

This page is generated: ` + "`MUSTER_NIGHTLY=1 go test ./fuzz/bugs -run TestCampaignTable -timeout 30m -update`" + `

| fault | what is wrong | a client suffers | rule that was found broken | calls made | calls shown | seconds |
| --- | --- | --- | --- | --- | --- | --- |
`

// TestCampaignTable plants one fault after the other: a campaign has to find each, and to leave few calls of what it found. With -update it writes docs/planted.md.
func TestCampaignTable(t *testing.T) {
	if os.Getenv("MUSTER_NIGHTLY") == "" {
		t.Skip("takes minutes; set MUSTER_NIGHTLY=1")
	}
	binary, all := planting(t)
	table := tableHead
	found := 0
	for _, bug := range all {
		if !strings.HasPrefix(bug.ID, planted) && bug.ID != neverAnswered {
			continue
		}
		var text string
		var took time.Duration
		var parts []string
		left := 0
		for try := range tries {
			text, took = run(t, binary, "linearize", bug.Env(), fmt.Sprint(seedVar, "=", seed+uint64(try)))
			if parts = told.FindStringSubmatch(text); parts != nil {
				if left, _ = strconv.Atoi(parts[4]); left > 0 && left <= mostCalls {
					break
				}
			}
		}
		if parts == nil {
			t.Errorf("%s was not found in %.1f s: %s; %s", bug.ID, took.Seconds(), bug.Title, text)
			table += fmt.Sprintf("| `%s` | %s | %s | not found | | | %.0f |\n", bug.ID, bug.Title, bug.Suffers, took.Seconds())
			continue
		}
		found++
		if left > mostCalls || left == 0 {
			t.Errorf("%s: %d calls are left, want %d at most: %s", bug.ID, left, mostCalls, text)
		}
		table += fmt.Sprintf("| `%s` | %s | %s | %s | %s | %s | %.0f |\n", bug.ID, bug.Title, bug.Suffers, cmp.Or(parts[1], "-"), parts[3], parts[4], took.Round(time.Second).Seconds())
		t.Logf("%-34s %5.1f s: %s", bug.ID, took.Seconds(), text)
	}
	if found < 12 {
		t.Errorf("%d faults were found, want a dozen at least", found)
	}
	if *golden.Update && found >= 12 {
		golden.Compare(t, "../../docs/planted.md", table)
	}
}
