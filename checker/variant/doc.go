// Package variant is a specimen: a published description of the group state machine, as a finite machine of its own, run by the same
// explorer as the specification. The description contradicts itself and Kafka; exploration shows where, with shortest traces, and
// docs/variant.md is written from them (go test ./checker/variant -update).
//
// Sections A to E are those of the description: A the table of states, B the entry and exit actions, C the handlers with the prose that
// follows them, D persistence and observation, E the mechanism. Where its text is ambiguous each reading is a value of a Choice, and so
// is the repair of each sentence that does not hold: Repaired breaks nothing.
//
// It is a package like any other and not one under testdata, because there the house rules, go vet, staticcheck and go test ./... would
// not see it. No other package imports it, and it takes nothing from model: it is judged by properties of its own, which name Kafka's
// rules only for the reader.
package variant
