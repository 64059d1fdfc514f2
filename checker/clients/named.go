package clients

import (
	"slices"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/model/classic"
)

// Properties are the names of all that is judged in a run, invariants first; those that are refuted are not among them.
func Properties() (names []string) {
	for _, v := range classic.Invariants() {
		names = append(names, explore.Invariant(v))
	}
	for _, p := range holding {
		names = append(names, p.name)
	}
	return append(names, getTogether, comeToRest, getEmpty)
}

// Refutes says whether a property is a belief that does not hold, so that breaking it is no fault (Run.Refuted).
func Refutes(property string) bool { return slices.Contains(Beliefs(), property) }

// Words for what is out of the ordinary.
const (
	answerLost = "an answer is lost"
	answerLate = "an answer comes late"
)

var actNames = [...]string{
	happens: "", givesUp: "a client gives up waiting", arrives: "a late answer arrives", restarts: "a client starts anew", crashes: "the coordinator crashes",
}

// Oddities are all that Happening.What may say.
func Oddities() []string { return append([]string{answerLost, answerLate}, actNames[1:]...) }

// what is out of the ordinary about an act.
func (a *act) what() string {
	if a.kind == happens {
		for i := range a.answers {
			switch a.answers[i].way {
			case lost:
				return answerLost
			case late:
				return answerLate
			}
		}
	}
	return actNames[a.kind]
}

func (a *act) happening() Happening {
	h := Happening{What: a.what(), Transition: a.transition}
	if a.kind == happens {
		h.Event = &a.event
	}
	return h
}

// Beliefs are the properties that Run.Refuted looks for.
func Beliefs() (names []string) {
	for _, p := range refuted {
		names = append(names, p.name)
	}
	return names
}
