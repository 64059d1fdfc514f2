package conformance

import (
	"sort"
	"time"

	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/model/classic"
)

// Status is how a scenario ended.
type Status string

const (
	Pass   Status = "pass"
	Fail   Status = "fail"   // the target gave another text than the expected one
	Skip   Status = "skip"   // the target cannot be asked, Result.Reason says why
	Broken Status = "broken" // the scenario could not be run to its end: connection refused, context cancelled, more choices than the bound
)

// Report is what a suite found on one target. Results are in the order of their scenarios' names.
type Report struct {
	Target   string
	Results  []Result
	Remarks  []string // what a reader must know of how it was judged: requests of the runner's own that the target does not answer
	Duration time.Duration
}

// Result is what one scenario found.
type Result struct {
	Scenario string   // "join-stable-follower-repeats"
	Rules    []string // the rules that the scenario cites; the first is the one it is about
	Status   Status
	Reason   string // why it was skipped or could not be run
	Lacks    Lack   // what the target lacks, where it was skipped for that
	Failure  *Failure
	Later    []*Failure // broken contracts in blocks after a Failure that is a mere difference in a compat rule or a quirk
	Unsteady *Failure   // one that did not show again when the scenario was repeated, more slowly: a busy machine, or a target that is not steady
	Blocks   int        // blocks that were compared
	Duration time.Duration
	Leftover []string // groups that could not be removed afterwards

	proof  *Failure // one that needs no other try
	cannot bool     // Broken by a command that the runner could not do, because of what came before it
}

// Lack says what a target lacks of what a scenario needs; it is empty where that is something else.
type Lack struct {
	API     string       `json:",omitempty"` // "JoinGroup"
	Version int16        `json:",omitempty"` // of the API
	Fault   target.Fault `json:",omitempty"` // what cannot be made to happen to it
	Time    bool         `json:",omitempty"` // the scenario is slow
}

// Failure is the first block of a scenario whose text differs.
type Failure struct {
	Scenario string
	File     string   // where the scenario was read; empty for those that come with Muster
	Block    int      // from 1
	Line     int      // of the block's first command in the scenario file
	Rules    []string // that it breaks: those named above the block; else those that decide the line which differs; else the scenario's
	Class    string   // "contract", "compat" or "quirk": that of the first rule; "quirk" too where some release answers so and it breaks no contract
	Expected []string // the text that applies to the target
	Got      []string
	Others   []string // whose texts it is although they are not meant for the target: "Kafka <4.0: the Scala coordinator renews the session"
	Missing  string   // the expected line whose answer never came, though the target answered others meanwhile, where that is all that differs
	Stalled  bool     // this machine was too busy meanwhile, which may be why it differs
	Note     string   // what the texts do not say: the model is free here, no run of the model survives
	Text     string   // the scenario up to the failing block with both texts, for a person
	Artefact string   // the file where Text is kept, if it could be written

	torn   string // the first line that differs because the connection ended, or gave what is no answer; empty without one
	later  bool   // after another failure of the same scenario
	lost   bool   // a fetch does not show what was acknowledged
	sure   bool   // no delay of anything explains it: once is enough
	excuse string // what this machine did to the attempt that may be why it differs; empty if that cannot be
}

// Suffers says what a client suffers from the failure, in the words of its first rule.
func (f *Failure) Suffers() string {
	if len(f.Rules) == 0 {
		return ""
	}
	id, ok := classic.FindRule(f.Rules[0])
	if !ok {
		return ""
	}
	return id.Rule().Suffers
}

// Count returns how many scenarios ended so.
func (r Report) Count(s Status) int {
	n := 0
	for _, res := range r.Results {
		if res.Status == s {
			n++
		}
	}
	return n
}

// Failures returns what fails: the first difference, and the contracts that are broken after it.
func (r Result) Failures() []*Failure {
	if r.Failure == nil {
		return r.Later
	}
	return append([]*Failure{r.Failure}, r.Later...)
}

// Failures returns the failures in the order of the results.
func (r Report) Failures() []*Failure {
	var out []*Failure
	for _, res := range r.Results {
		out = append(out, res.Failures()...)
	}
	return out
}

// Covered returns the ids of the rules that the scenarios which were run (not skipped, not broken) cite, sorted.
func (r Report) Covered() []string {
	seen := map[string]bool{}
	for _, res := range r.Results {
		if res.Status != Pass && res.Status != Fail {
			continue
		}
		for _, id := range res.Rules {
			seen[id] = true
		}
	}
	ids := make([]string, 0, len(seen))
	for id := range seen {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	return ids
}

// Observer sees a suite at work. Its methods are called from several goroutines, one call at a time.
type Observer interface {
	Started(scenario string)
	Done(Result)
}
