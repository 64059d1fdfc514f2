// Package mutants measures what the judges notice. It makes small mechanical changes, mutants, to every decision of the reference coordinator and of the
// specification, to the expected lines of scenarios and to recorded histories, and sees which judge refuses which.
//
// Mutants of Go source are found with go/ast (Find) and planted all at once in one overlay build, each asleep until awake.ID names it, as real
// bugs are in fuzz/bugs. A mutant that nobody notices is a survivor: survivors.txt has to say why (Explanations), by a key that does not change
// when lines move. judged.txt keeps which judge noticed which, and docs/mutants.md is made from the two.
package mutants

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// Mutant is one change of the source.
type Mutant struct {
	ID   int    // from 1 on, in the order of the source; it changes when the source does
	File string // slash-separated, relative to the module's root
	Func string // the function that it is in, or the name of a variable of the package
	Kind Kind
	Was  string // the original text, on one line
	Is   string // what takes its place, or is done to it

	// Nth tells mutants apart that are the same but for their place in the function, from 1 on.
	Nth int

	// Early mutants are in what is computed when the program starts, so that they have to be awake by then.
	Early bool

	wrap wrap
}

// Kind is what a mutant does.
type Kind string

// The kinds.
const (
	Always     Kind = "condition always true"
	Never      Kind = "condition always false"
	Operand    Kind = "operand of && or || dropped"
	Comparison Kind = "comparison changed"
	Case       Kind = "case dropped"
	Statement  Kind = "statement dropped"
	Loop       Kind = "loop skipped"
	Code       Kind = "error code swapped"
	Constant   Kind = "constant swapped"
	Boolean    Kind = "true and false swapped"
	Arithmetic Kind = "arithmetic changed"
)

// Kinds are all of them, in the order of the table.
var Kinds = []Kind{Always, Never, Operand, Comparison, Case, Statement, Loop, Code, Constant, Boolean, Arithmetic}

// kindsOf are the kinds of each part: all of them for the coordinator, and for the specification those of its guards.
var kindsOf = map[Part]map[Kind]bool{
	Core:  {Always: true, Never: true, Operand: true, Comparison: true, Case: true, Statement: true, Loop: true, Code: true, Constant: true, Boolean: true, Arithmetic: true},
	Model: {Always: true, Never: true, Operand: true, Comparison: true, Case: true},
}

// Key names the mutant in a way that holds when lines move: the file, the function, and the change.
func (m Mutant) Key() string {
	key := fmt.Sprintf("%s %s: %s => %s", m.File, m.Func, m.Was, m.Is)
	if m.Nth > 1 {
		key += fmt.Sprintf(" (%d)", m.Nth)
	}
	return key
}

// Digest is a short name of the key, for tables.
func (m Mutant) Digest() string { return digest(m.Key()) }

func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:12] }

// Part is what the mutant is of.
func (m Mutant) Part() Part {
	if strings.HasPrefix(m.File, "model/") {
		return Model
	}
	return Core
}

// Part is a part of Muster that mutants are made of.
type Part string

// The parts.
const (
	Core  Part = "impl/core"
	Model Part = "model/classic"
)

// wrap changes the text of a node: what is written before it and after it. The text of the node itself stays, with what other mutants do to it.
type wrap struct {
	start, end    int // offsets in the file
	before, after string
}

// most is how much of the original text a key quotes.
const most = 120

// oneLine is source on one line, cut where it is long.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = text[:most-13] + "…" + digest(text)[:8]
	}
	return text
}
