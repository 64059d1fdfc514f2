package main

import (
	"os"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/conformance"
)

func TestPageIsCurrent(t *testing.T) {
	got, err := os.ReadFile("../../docs/divergences.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := markdown()
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/divergences.md is not what the registers say: go run ./internal/divergences")
	}
}

// TestOneDifferenceIsCountedOnce holds that entries which refer to another one are lines of their own only where something else is to be said.
func TestOneDifferenceIsCountedOnce(t *testing.T) {
	r, err := conformance.ParseRegister("x.txt", []byte(`# As in join-parked-removed.
leave-leader block=3 rule=join.parked.removed kind=bug status=always
----

# It is never answered.
join-parked-removed block=3 rule=join.parked.removed kind=bug status=always
----

# As in leave-leader.
old-leave-parked block=4 rule=join.parked.removed kind=bug status=sometimes
----

# As in join-parked-removed.
leave-instance block=4 rule=leave.instance kind=bug status=always
----

# As in join-parked-removed, and the connection is closed.
sync-order block=4 rule=join.parked.removed kind=bug status=always
----

# As in join-parked-removed.
# suffers: something else
sync-repeat-other block=4 rule=join.parked.removed kind=bug status=always
----

# As in nowhere.
sync-unknown block=4 rule=join.parked.removed kind=bug status=sometimes
----

# As in nowhere.
sync-unknown block=4 rule=join.parked.removed kind=bug status=sometimes
----
A: NONE
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range differences(r) {
		var names []string
		for _, e := range d {
			names = append(names, e.Scenario)
		}
		got = append(got, strings.Join(names, " "))
	}
	want := "join-parked-removed leave-leader old-leave-parked; leave-instance; sync-order; sync-repeat-other; sync-unknown sync-unknown"
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("%s, want %s", s, want)
	}
}

// TestBugsCanBeActedOn holds that each registered bug has what its author needs: what differs, the rule, and that a client suffers something.
func TestBugsCanBeActedOn(t *testing.T) {
	for _, f := range fakes {
		r, _, err := conformance.Registered(f.target)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range r.Entries {
			switch {
			case e.Note() == "":
				t.Errorf("registers/%s:%d does not say in words what differs", r.Name, e.Line)
			case e.Kind == conformance.Unsorted:
				t.Errorf("registers/%s:%d has not been sorted", r.Name, e.Line)
			case e.Kind == conformance.Bug && (e.Suffers() == "" || strings.HasPrefix(e.Suffers(), "nothing")):
				t.Errorf("registers/%s:%d calls a bug what harms nobody (%q); say what a client suffers: # suffers: ...", r.Name, e.Line, e.Suffers())
			}
		}
	}
}
