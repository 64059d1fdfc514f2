package bugs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-kafka/muster/internal/golden"
)

// neverAnswered is the bug of a JoinGroup that is never answered, which each judge has to notice.
const neverAnswered = "join-answer-lost"

// What the bank is worth is decided by these.
const (
	leastBugs, leastReal = 60, 45
	leastByTwo           = 85 // of a hundred
	leastByJudge         = 3
	medianTook           = 5 * time.Second
	medianEvents         = 10
	longest              = 12 // events that lockstep leaves of what shows a bug
	mostCalls            = 30 // that linearize leaves of what shows a planted fault
)

const page = "../../docs/bugs.md"

const pageHead = `# The bug bank

Coordinators that were in use have had these bugs. Each is put into the reference coordinator by a few edits of its source (` + "`fuzz/bugs/<id>/bug.txt`" + `, which tells
more), and every judge is let loose on it in a process of its own, from scratch, with a fixed budget and without being told what to look for. At the end
of the page are faults that nobody is known to have had: they were made up, most of them to see what goes wrong between requests that come at the same time.

    make bug-join-answer-lost     # all judges on one bug: two minutes at most
    make bugs                     # on all of them, and this page: about half an hour

A cell is the seconds until the judge had found the bug and shortened what shows it, and after the stroke how much that is. It is empty where the judge did
not find it; most bugs are outside of what some judges look at. Random judges draw from seed 1 unless the cell names another one. Where a scenario was written
for a bug, the last column says whether it is caught without that: the judge of scenarios has to do without it. "yes" alone is for bugs that nothing was written for.

Some bugs showed what judges did not look at, and these were mended: lock-step and joint exploration took any error for that of a write that fails
(` + "`append-error-unknown`" + `), and random events had no retention of more than 32 bits, no commit of nothing, and no fetch of a topic that does not exist
(` + "`retention-overflows`, `empty-commit-written`, `fetch-unknown-returns-all`" + `).

| judge | what it is | what it shows is counted in | has |
| --- | --- | --- | --- |
| scenarios | every scenario, in process | commands of the scenario up to what differs | each scenario once |
| lockstep | random walks of the coordinator beside the specification | events | 2,400 sequences of 60 events on average |
| monitors | the same walks; all that is judged is what anybody can see | events | 1,200 sequences |
| converge | walks that end with clients left alone, who have to get together | nothing: their trying is in it | 720 sequences of 30 events on average |
| joint | every state of the coordinator beside the specification, nearest first | steps | 1,500 states with two members, in two ways |
| linearize | campaigns over TCP, whose concurrent histories are judged | calls | 45 s; again from seed 2 where it has found the bug before |
| ownership | groups of real consumers over TCP: who owned what | nothing: it is not shortened | 16 s |

None may take longer than a minute. The times are those of a machine with two processors that had other work to do.
`

// describe is the table of some bugs.
func describe(b *strings.Builder, all []Bug, known map[string]measured) {
	b.WriteString("\n| bug | source and releases | a client suffers |")
	for _, j := range judges {
		fmt.Fprintf(b, " %s |", j.name)
	}
	b.WriteString(" caught without it |\n| --- | --- | --- |" + strings.Repeat(" --- |", len(judges)+1) + "\n")
	for _, bug := range all {
		m := known[bug.ID]
		fmt.Fprintf(b, "| [`%s`](../fuzz/bugs/%s/bug.txt): %s | %s | %s |", bug.ID, bug.ID, bug.Title, bug.Public, bug.Suffers)
		for _, j := range judges {
			c, ok := m.by(j.name)
			if !ok {
				b.WriteString(" |")
				continue
			}
			fmt.Fprintf(b, " %s", c)
			b.WriteString(" |")
		}
		fmt.Fprintf(b, " %s |\n", without(bug, m))
	}
}

func (c catch) String() string {
	text := fmt.Sprintf("%.1f", c.took.Seconds())
	if c.events > 0 {
		text += fmt.Sprintf(" / %d", c.events)
	}
	if c.seed != 1 {
		text += fmt.Sprintf(" (seed %d)", c.seed)
	}
	return text
}

// without says whether a bug for which a scenario was written is caught without that.
func without(bug Bug, m measured) string {
	if bug.Written == "" {
		return "yes"
	}
	for _, c := range m.catches {
		if !c.only {
			return fmt.Sprintf("yes, without `%s`", bug.Written)
		}
	}
	return fmt.Sprintf("no, only by `%s`", bug.Written)
}

// render is the page.
func render(all []Bug, known map[string]measured) string {
	var b strings.Builder
	b.WriteString(pageHead)
	s := sum(all, known)
	fmt.Fprintf(&b, "\n%d bugs are in the bank, of which %d were real. %d are caught; %d %% by two judges or more, the quickest judge takes %.1f s (the median of all bugs, and %.1f s at most), "+
		"and the judge that needs the fewest events shows it in %d (the median; at most %d). ", s.bugs, s.real, s.caught, s.byTwo, s.median.Seconds(), s.longest.Seconds(), s.events, s.mostEvents)
	b.WriteString("By judge:")
	for i, j := range judges {
		fmt.Fprintf(&b, "%s %s %d", map[bool]string{true: "", false: ","}[i == 0], j.name, s.by[j.name])
	}
	b.WriteString(".\n\n## Real bugs\n")
	var real, made []Bug
	for _, bug := range all {
		if bug.Real() {
			real = append(real, bug)
		} else {
			made = append(made, bug)
		}
	}
	describe(&b, real, known)
	b.WriteString("\n## Faults that were made up\n")
	describe(&b, made, known)
	b.WriteString(outside)
	return b.String()
}

// outside is what the page says of bugs that are not in the bank.
const outside = `
## Not in the bank

Two bugs of the classic protocol were tried and left out, because no judge brings their situation about; they stand for what the judges do not look at.

- [KAFKA-17267](https://issues.apache.org/jira/browse/KAFKA-17267) (fixed in 4.0.0): a stable OffsetFetch that waits for a write was answered REQUEST_TIMED_OUT
  when the write timed out. No judge lets a write be late and fetches meanwhile; a unit test of the coordinator does.
- [KAFKA-18263](https://issues.apache.org/jira/browse/KAFKA-18263) (2.7 to 3.9.0): the replacement of a static member that could not be written was taken back
  without the group's lock. No judge lets a second request in while the record of a replacement is on its way.

Bugs of the newer protocols (KIP-848 and on), and those that take two coordinators, are not in it either: the reference coordinator has neither.
`

// summary is what the bank is worth.
type summary struct {
	bugs, real, caught, byTwo, events, mostEvents int
	median, longest                               time.Duration
	by                                            map[string]int
}

func sum(all []Bug, known map[string]measured) (s summary) {
	s.by = map[string]int{}
	var took []time.Duration
	var events []int
	two := 0
	for _, bug := range all {
		m := known[bug.ID]
		s.bugs++
		if bug.Real() {
			s.real++
		}
		for _, c := range m.catches {
			s.by[c.judge]++
		}
		if len(m.catches) > 0 {
			s.caught++
			took = append(took, m.quickest(func(catch) bool { return true }).took)
		}
		if len(m.catches) > 1 {
			two++
		}
		if n := m.shortest(); n > 0 {
			events = append(events, n)
		}
	}
	if s.caught == 0 || len(events) == 0 {
		return s
	}
	s.byTwo = 100 * two / s.bugs
	s.median, s.longest = median(took), slices.Max(took)
	s.events, s.mostEvents = median(events), slices.Max(events)
	return s
}

func median[T cmp.Ordered](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}

// TestTableIsCurrent holds that every bug has been measured as it is, that the page says what was measured, and that the bank is worth what it is
// meant to be.
func TestTableIsCurrent(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	known := readMeasured(t)
	for _, bug := range all {
		m, ok := known[bug.ID]
		switch {
		case !ok:
			t.Errorf("%s has not been measured: make bug-%s UPDATE=1", bug.ID, bug.ID)
			continue
		case m.digest != bug.digest():
			t.Errorf("%s has changed since it was measured, or what judges may spend has: make bug-%s UPDATE=1", bug.ID, bug.ID)
		case len(m.catches) == 0:
			t.Errorf("%s is caught by no judge: find out what they do not look at, and mend one", bug.ID)
		case m.quickest(func(catch) bool { return true }).took > limit:
			t.Errorf("%s takes every judge more than %v", bug.ID, limit)
		}
		for _, name := range strings.Split(bug.CaughtBy, ", ") {
			if _, ok := m.by(name); !ok {
				t.Errorf("%s is to be caught by %s, which did not catch it when it was measured", bug.ID, name)
			}
		}
		if c, _ := m.by("lockstep"); c.events > longest {
			t.Errorf("%s: lockstep leaves %d events, want %d at most", bug.ID, c.events, longest)
		}
		if c, _ := m.by("linearize"); strings.HasPrefix(bug.ID, racing) && c.events > mostCalls {
			t.Errorf("%s: linearize leaves %d calls, want %d at most", bug.ID, c.events, mostCalls)
		}
	}
	for id := range known {
		if !slices.ContainsFunc(all, func(b Bug) bool { return b.ID == id }) {
			t.Errorf("%s tells of %s, which is in the bank no more: delete its lines", measuredFile, id)
		}
	}
	for _, j := range judges {
		if n := sum(all, known).by[j.name]; n < leastByJudge {
			t.Errorf("%s catches %d bugs, which is too few to trust it", j.name, n)
		}
	}
	if s := sum(all, known); s.bugs < leastBugs || s.real < leastReal || s.byTwo < leastByTwo || s.median >= medianTook || s.events > medianEvents {
		t.Errorf("the bank is worth %+v; want %d bugs, %d of them real, %d %% caught by two judges, in less than %v and with %d events at most (medians)",
			s, leastBugs, leastReal, leastByTwo, medianTook, medianEvents)
	}
	golden.Compare(t, page, render(all, known))
}
