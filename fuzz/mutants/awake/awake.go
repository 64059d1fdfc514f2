// Package awake says which mutant is awake. Nothing but an overlay build with mutants planted asks for it (fuzz/mutants).
package awake

import (
	"os"
	"strconv"
)

// EnvVar sets ID from the start, for mutants in what is computed before anything else runs.
const EnvVar = "MUSTER_MUTANT"

// ID is the number of the mutant that is awake; 0 is none. It may be changed only while no judge is at work.
var ID = func() int {
	id, _ := strconv.Atoi(os.Getenv(EnvVar))
	return id
}()

// Asked, if it is not nil, gets which mutants have been asked for where being awake would have made a difference: a judge with which one never is asked
// for cannot notice it.
var Asked []bool

// Is says whether the mutant is awake.
func Is(id int) bool {
	if Asked != nil {
		Asked[id] = true
	}
	return ID == id
}
