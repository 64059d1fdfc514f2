package runs

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/checker/clients"
	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/internal/golden"
	"github.com/muster-kafka/muster/model/classic"
)

var (
	judges = flag.Bool("judges", false, "make the runs of make test-judges instead of those of make test")
	night  = flag.Bool("night", false, "make the runs of make explore too (up to an hour)")
	only   = flag.String("only", "", "make this run alone")
)

// explored makes a run to its end and compares what comes of it with what is kept.
func explored(t *testing.T, r Run) Outcome {
	t.Helper()
	if r.Clients != nil {
		c := *r.Clients
		c.Refuted = c.Crash == clients.Log
		r.Clients = &c
	}
	out := r.Explore(context.Background(), explore.Options{Workers: 2, MaxStates: 1 << 30}, nil)
	t.Log(out.String())
	if !out.Complete || len(out.Violations) > 0 {
		var why bytes.Buffer
		if err := out.Print(&why); err != nil {
			t.Fatal(err)
		}
		t.Error(why.String())
	}
	if known, ok := r.Known(); ok && !*golden.Update {
		if gone, come := known.Reached.minus(out.Reached), out.Reached.minus(known.Reached); len(gone)+len(come) > 0 {
			t.Errorf("%s: not reached any more: %q; reached now: %q", r.Name, gone, come)
		}
	}
	golden.Compare(t, r.File(), out.Text())
	return out
}

// Every run of the tests holds all properties in every state that it can reach. The numbers of states and transitions are exact, and so is what
// each reaches: a change of them is a change of the specification, of the alphabets, or of what clients do. And each belief about crashes
// that does not hold is refuted by a shortest trace.
func TestRuns(t *testing.T) {
	var traces strings.Builder
	shown := map[string]bool{}
	for _, r := range All() {
		if r.Joint != nil {
			continue // made where the coordinator is (conformance/targets/embedded)
		}
		if *only == "" && made(r) || r.Name == *only {
			for _, v := range explored(t, r).Refuted {
				if !shown[v.Property] {
					shown[v.Property] = true
					fmt.Fprintf(&traces, "%s\n%s\n", r.Name, v)
				}
			}
		}
	}
	if *only != "" || *night || *judges {
		return
	}
	golden.Testdata(t, "refuted.txt", traces.String())
	for _, p := range clients.Beliefs() {
		if !shown[p] {
			t.Errorf("no run refutes %q: is it true after all?", p)
		}
	}
}

// made says whether a run is made by the flags.
func made(r Run) bool {
	switch {
	case *night:
		return true
	case *judges:
		return r.When == Judges
	}
	return r.When >= Test
}

// Every run has a name of its own, a set that exists and a reason; those of the tests are known.
func TestCatalogue(t *testing.T) {
	names, files := map[string]bool{}, map[string]bool{}
	for _, r := range All() {
		if names[r.Name] || files[r.File()] || slices.Contains(SetNames(), r.Name) && r.Name != "failover" {
			t.Errorf("the name %q is taken", r.Name)
		}
		names[r.Name], files[r.File()] = true, true
		explored := 0
		for _, is := range []bool{r.Group != nil, r.Clients != nil, r.Joint != nil} {
			if is {
				explored++
			}
		}
		if !slices.Contains(SetNames(), r.Set) || r.For == "" || r.Members < 1 || explored != 1 {
			t.Errorf("%+v is not whole", r)
		}
		if err := r.check(); err != nil {
			t.Error(err)
		}
		known, ok := r.Known()
		if !ok && r.When >= Judges {
			t.Errorf("nothing is known of %q; go test -update finds out", r.Name)
		}
		for _, kind := range []string{phases, events, rules} {
			if ok && len(known.Reached[kind]) == 0 {
				t.Errorf("%s reaches no %s", r.Name, kind)
			}
		}
		if text, err := os.ReadFile(r.File()); err == nil && !strings.HasPrefix(string(text), r.Name+"\n") {
			t.Errorf("%s is not of %q", r.File(), r.Name)
		}
	}
	for _, n := range notes {
		if !names[n.name] {
			t.Errorf("there is no run %q any more", n.name)
		}
	}
	kept, err := filepath.Glob("known/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range kept {
		if !files[filepath.ToSlash(file)] {
			t.Errorf("%s is of no run", file)
		}
	}
}

// A lean run has the states of the whole one: what it leaves out changes nothing. Of the larger ones the numbers that are kept say so.
func TestLeanRunsHaveAllStates(t *testing.T) {
	differ := func(name string, whole, without Known) {
		t.Helper()
		if whole.States != without.States || whole.Depth != without.Depth || whole.Transitions < 2*without.Transitions {
			t.Errorf("%s: %d states, %d transitions, depth %d; without refusals %d, %d, %d", name, whole.States, whole.Transitions, whole.Depth, without.States, without.Transitions, without.Depth)
		}
	}
	made := func(r Run) Known {
		out := r.Explore(context.Background(), explore.Options{Workers: 2}, nil)
		return Known{States: out.States, Transitions: out.Transitions, Depth: out.Depth}
	}
	all := []Run{core(2), core(2).with(classic.Scala), subscriptions(1), everything(1), offsets(1), offsets(1).with(classic.Scala)}
	if os.Getenv("MUSTER_NIGHTLY") != "" {
		all = append(all, core(2).with(classic.Reference), core(3), subscriptions(2), everything(2), everything(2).with(classic.Scala))
	}
	for _, r := range all {
		differ(r.Name, made(r), made(lean(r)))
	}
	compared := 0
	for _, r := range []Run{core(4), subscriptions(3), offsets(2)} {
		whole, ok := r.Known()
		without, too := lean(r).Known()
		if ok && too {
			differ(r.Name, whole, without)
			compared++
		}
	}
	if compared != 3 {
		t.Errorf("%d of the large runs are compared", compared)
	}
}

// The tallies have room for all that there is.
func TestTalliesAreLargeEnough(t *testing.T) {
	if n := len(classic.Rules()); n > mostRules {
		t.Errorf("%d rules", n)
	}
	if n := len(explore.EventKinds()); n > mostEvents {
		t.Errorf("%d kinds of events", n)
	}
}
