package coverage

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/internal/golden"
	"github.com/muster-kafka/muster/model/classic"
)

// computed is the coverage of the scenarios that come with Muster.
var computed = sync.OnceValues(func() (*Table, error) {
	scenarios, err := conformance.Scenarios()
	if err != nil {
		return nil, err
	}
	return Compute(context.Background(), scenarios)
})

func TestEveryCellIsWitnessedOrExempt(t *testing.T) {
	table, err := computed()
	if err != nil {
		t.Fatal(err)
	}
	exempt, err := Exemptions()
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range table.Judge(exempt) {
		t.Error(fault)
	}
	for _, release := range Releases {
		for _, v := range table.Visits[release] {
			if v.Fails != "" {
				t.Errorf("%s does not hold on the specification of %s, so that nothing of it counts:\n%s", v.Scenario.Name, release, v.Fails)
			}
		}
		n := table.Numbers(release, nil)
		t.Logf("%s: %+v", release, n)
		if n.Cells() < 500 || n.Broker < 450 {
			t.Errorf("%s: only %d of %d cells are witnessed: the counting is broken", release, n.Broker, n.Cells())
		}
	}
}

func TestEveryRuleHasACell(t *testing.T) {
	table, err := computed()
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range classic.Rules() {
		if !slices.ContainsFunc(Releases, func(release string) bool {
			return slices.ContainsFunc(table.Of(release), func(r *Row) bool { return r.Rule.String() == rule.ID && (r.Reached > 0 || r.Gate) })
		}) {
			t.Errorf("%s has no cell: exploration does not reach it, and gates.txt does not say where it decides", rule.ID)
		}
	}
}

func TestGeneratedFilesAreCurrent(t *testing.T) {
	table, err := computed()
	if err != nil {
		t.Fatal(err)
	}
	exempt, err := Exemptions()
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile("witnessed.txt")
	if err != nil && !*golden.Update {
		t.Fatal(err)
	}
	lost, err := table.Lost(string(kept))
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range lost {
		if *golden.Update {
			t.Logf("%s; the list is written without it", cell)
		} else {
			t.Error(cell)
		}
	}
	for file, text := range map[string]string{
		"witnessed.txt":           table.Witnessed(),
		"../../docs/coverage.md":  table.Page(exempt),
		"../../docs/coverage.svg": table.Diagram(Releases[0]),
	} {
		golden.Compare(t, file, text)
	}
}

// A cell without a witness, an exemption that is none, one for another reason, and a cell that nothing knows of are all noticed; so is a cell
// that is lost.
func TestJudgeFindsFaults(t *testing.T) {
	cell := func(text string) Cell {
		c, err := ParseCell(text)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	stable, empty := cell("heartbeat.stable Stable answer"), cell("delete.empty Empty answer")
	table := func(rows ...*Row) *Table { return &Table{rows: map[string][]*Row{Releases[0]: rows}} }
	witnessed, bare := &Row{Cell: stable, Reached: 1, Witness: "a"}, &Row{Cell: stable, Reached: 1}
	for name, c := range map[string]struct {
		table  *Table
		exempt string
		fault  string
	}{
		"all is well":       {table(witnessed, &Row{Cell: empty, Reached: 1, Obstacle: Writes}), "# Why.\nkind: write\ndelete.empty Empty answer\n", ""},
		"no witness":        {table(bare), "", "neither witnessed on a broker nor exempt"},
		"exempt for naught": {table(witnessed), "# Why.\nkind: none\nheartbeat.stable Stable answer\n", "but a witnesses it"},
		"another reason":    {table(bare), "# Why.\nkind: write\nheartbeat.stable Stable answer\n", `exploration says "none"`},
		"no such cell":      {table(witnessed), "# Why.\nkind: none\ndelete.empty Empty answer\n", "is no cell of any release"},
		"unknown cell":      {table(&Row{Cell: stable, Scenarios: []string{"a"}, Witness: "a"}), "", "neither exploration reaches it nor gates.txt lists it"},
	} {
		exempt, err := parseExemptions(c.exempt)
		if err != nil {
			t.Fatal(err)
		}
		faults := strings.Join(c.table.Judge(exempt), "\n")
		if c.fault == "" && faults != "" || !strings.Contains(faults, c.fault) {
			t.Errorf("%s: %q", name, faults)
		}
	}
	for _, wrong := range []string{"heartbeat.stable Stable answer\n", "kind: write\nheartbeat.stable Stable answer\n", "# Why.\nkind: bad\nheartbeat.stable Stable answer\n", "# Why.\nkind: none\nheartbeat.stable Stable answer [1.0]\n"} {
		if _, err := parseExemptions(wrong); err == nil {
			t.Errorf("%q is taken for exemptions", wrong)
		}
	}
	kept := table(witnessed).Witnessed()
	if lost, err := table(bare).Lost(kept); err != nil || len(lost) != 1 {
		t.Errorf("%q: lost %q, %v", kept, lost, err)
	}
	if lost, err := table(witnessed).Lost(kept); err != nil || len(lost) != 0 {
		t.Errorf("%q: lost %q, %v", kept, lost, err)
	}
}

// The explorations that are left out reach nothing more. With MUSTER_NIGHTLY, since they take longer than those that are not.
func TestOtherExplorationsReachNoMore(t *testing.T) {
	if os.Getenv("MUSTER_NIGHTLY") == "" {
		t.Skip("takes longer than all others; MUSTER_NIGHTLY=1 runs it")
	}
	table, err := computed()
	if err != nil {
		t.Fatal(err)
	}
	for _, release := range Releases {
		profile, err := classic.ProfileFor(release)
		if err != nil {
			t.Fatal(err)
		}
		more, err := Explore(t.Context(), shapes(profile, false), 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range more.Cells() {
			if table.Explored[release].Seen(c) == 0 {
				t.Errorf("%s: %s is reached by a group that is left out", release, c)
			}
		}
	}
}

// A walk finds a way to a cell, and what it writes is a scenario that visits it.
func TestWitnessesVisitTheirCells(t *testing.T) {
	var wanted []Cell
	for _, text := range []string{"session.expires Stable silent", "sync.preparing PreparingRebalance answer", "unload.forgets Stable silent"} {
		c, err := ParseCell(text)
		if err != nil {
			t.Fatal(err)
		}
		wanted = append(wanted, c)
	}
	found, left, err := Witnesses(t.Context(), "4.3.1", wanted, placeholder)
	if err != nil || len(found) != 2 || len(left) != 1 || left[0] != wanted[2] {
		t.Fatalf("%d ways, %v left, %v", len(found), left, err)
	}
	for i, w := range found {
		seen, err := visit(t.Context(), "4.3.1", w.Profile, w.commands())
		if err != nil || seen.Seen(wanted[i]) == 0 {
			t.Errorf("%v is not visited by %q: %v", wanted[i], w.commands(), err)
		}
	}
	for _, f := range Files(found, func(string) bool { return false }) {
		if _, err := conformance.Parse(f.Name+".txt", []byte(f.Text)); err != nil {
			t.Errorf("%s: %v\n%s", f.Name, err, f.Text)
		}
	}
}
