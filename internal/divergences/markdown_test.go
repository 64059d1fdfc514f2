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
