// Package bugs plants real coordinator bugs in the reference coordinator, to see which judge notices them.
//
// A bug is data: a folder <id>/ with a bug.txt that says in prose what was real, where it was made public and what a client suffered,
// followed by edits: a file, text that stands in it exactly once, and the text that takes its place (see Parse). All bugs are composed
// into one overlay build, each asleep until the environment variable MUSTER_BUG names it, so the coordinator's source stays clean and
// one build serves all of them.
package bugs

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"
)

// EnvVar selects the bug that is awake in an overlay build; unset or empty, none is.
const EnvVar = "MUSTER_BUG"

// Bug is one planted fault.
type Bug struct {
	ID       string // the folder's name
	Title    string // one line
	Public   string // where the real one was made public: ticket, commit, pull request
	Rule     string // the rule of the specification that it breaks
	Suffers  string // what a client suffers
	CaughtBy string // the judges that have to notice it: "lockstep, converge, linearize"
	Written  string // the scenario that was written for it; mostly there is none
	Prose    string
	Edits    []Edit

	text string // all of its bug.txt
}

// Real reports whether a coordinator that was in use has had the bug. The others were made up.
func (b Bug) Real() bool { return !strings.HasPrefix(b.Public, "none") }

// MustBeCaughtBy reports whether the judge has to notice the bug.
func (b Bug) MustBeCaughtBy(judge string) bool {
	return slices.Contains(strings.Split(b.CaughtBy, ", "), judge)
}

// Env is the setting that wakes the bug.
func (b Bug) Env() string { return EnvVar + "=" + b.ID }

// Edit replaces whole lines of one file.
type Edit struct {
	File     string // slash-separated, relative to the module's root
	Old, New string // whole lines; New holds Placeholder at least once
}

//go:embed */bug.txt
var bank embed.FS

// All returns the bank, sorted by id.
func All() ([]Bug, error) {
	names, err := fs.Glob(bank, "*/bug.txt")
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	var all []Bug
	for _, name := range names {
		text, err := fs.ReadFile(bank, name)
		if err != nil {
			return nil, err
		}
		bug, err := Parse(path.Dir(name), string(text))
		if err != nil {
			return nil, fmt.Errorf("fuzz/bugs/%s: %w", name, err)
		}
		all = append(all, bug)
	}
	return all, nil
}

// Find returns the bug with the given id.
func Find(id string) (Bug, error) {
	all, err := All()
	if err != nil {
		return Bug{}, err
	}
	for _, bug := range all {
		if bug.ID == id {
			return bug, nil
		}
	}
	return Bug{}, fmt.Errorf("no bug is called %q: the folders of fuzz/bugs are the bank", id)
}
