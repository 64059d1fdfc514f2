package mutants

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// survivorsFile says why mutants survive, or why only own tests come to them. A line that is not indented is a key, of a mutant (Mutant.Key), of a wrong line or of a spoilt history; the
// indented lines after some keys are the reason for all of them. A key "FILE FUNC: *" is of every mutant of the function that survives.
// The reason begins with its Reason and a colon.
const survivorsFile = "survivors.txt"

// Reason is why a mutant survives.
type Reason string

// The reasons.
const (
	Equivalent  Reason = "equivalent"  // nothing that anybody could ask for would be different
	Unreachable Reason = "unreachable" // the coordinator guards against what its own rules, or its shell, exclude
	Unseen      Reason = "unseen"      // another answer, timer or record, which no judge looks at: a gap
	Racing      Reason = "racing"      // of histories: what else happened at the same time excuses it
)

// Reasons are all of them.
var Reasons = []Reason{Equivalent, Unreachable, Racing, Unseen}

// Explanation is why something survives.
type Explanation struct {
	Reason Reason
	Text   string
	Keys   []string
}

// Explanations are all of a file.
type Explanations []Explanation

// Of is the explanation of a key, or nil. A key of its own comes before one of a whole function.
func (all Explanations) Of(key string) *Explanation {
	for _, k := range []string{key, function(key) + ": *"} {
		for i := range all {
			if slices.Contains(all[i].Keys, k) {
				return &all[i]
			}
		}
	}
	return nil
}

func readExplanations(file string) (Explanations, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	all, err := parseExplanations(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s:%w", file, err)
	}
	return all, nil
}

func parseExplanations(text string) (Explanations, error) {
	var all Explanations
	seen := map[string]bool{}
	open := false // keys are being read that have no reason yet
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		indented := strings.HasPrefix(line, "\t")
		switch {
		case strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "":
			continue
		case !indented && seen[line]:
			return nil, fmt.Errorf("%d: %q is explained twice", i+1, line)
		case !indented:
			if !open {
				all, open = append(all, Explanation{}), true
			}
			seen[line] = true
			of := &all[len(all)-1]
			of.Keys = append(of.Keys, line)
		case len(all) == 0:
			return nil, fmt.Errorf("%d: a reason without a key before it", i+1)
		case open:
			open = false
			of := &all[len(all)-1]
			reason, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
			of.Reason, of.Text = Reason(reason), rest
			if !slices.Contains(Reasons, of.Reason) || rest == "" {
				return nil, fmt.Errorf("%d: %q is no reason: begin with one of %v and a colon", i+1, strings.TrimSpace(line), Reasons)
			}
		default:
			of := &all[len(all)-1]
			of.Text += " " + strings.TrimSpace(line)
		}
	}
	if open {
		return nil, fmt.Errorf(" the last keys have no reason")
	}
	return all, nil
}

// function is the part of a key that names what is changed.
func function(key string) string {
	of, _, _ := strings.Cut(key, ": ")
	return of
}
