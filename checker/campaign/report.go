package campaign

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/linearize"
)

// Report is what a campaign has done and found.
type Report struct {
	Groups int // whose histories were judged
	Calls  int // of these, each once for each group that it is about
	Made   int // calls that were made in all

	Legal   int
	Illegal int
	Unknown int      // groups of which nothing could be told
	Reasons []string // why, of the first few
	Open    []Open   // these

	Stalled int     // histories that were thrown away, as the machine had too much else to do meanwhile
	Left    int     // histories that there was no time to judge
	Outage  *Outage // of somebody else's target; nil where there was none

	Convergence Convergence

	Answered, NotAnswered int // calls
	Widest                int // histories that were made at a time
	Overlap               int // calls of one group that were open at a time, after splitting
	Stall                 time.Duration
	Elapsed               time.Duration

	Exercised linearize.Exercised // by the groups that are legal
	Wide      []Wide              // the groups with the most calls at a time, the widest first
	Consumers Consumers

	Faults   map[history.FaultKind]int
	Profiles map[string]int // groups by the profile that explains them, the first of those that do
	refuted  map[string]bool
	Failures []linearize.Failure
	Cleaned  int      // groups that are explained if the target has removed them, as they had nothing
	Tardy    int      // groups that are explained if a timer was later than any may be: a few, which count as undecided
	Same     int      // illegal groups beyond those in Failures, for the same rules
	Untold   int      // and those of which it was not found out for which
	Unsaved  []string // files that could not be written, and why
}

// maxReasons is of how many groups it is told why they could not be decided.
const maxReasons = 5

// maxShare is the share of groups of which nothing may be known, so that the others still speak for the target.
const maxShare = 0.05

// Doubts are why the report cannot stand for the target, where nothing was found: too much could not be told.
func (r *Report) Doubts(asked Faults) (doubts []string) {
	say := func(format string, args ...any) { doubts = append(doubts, fmt.Sprintf(format, args...)) }
	if r.Outage != nil { // all else has had no time
		return r.Outage.doubts()
	}
	if r.Groups == 0 {
		say("no group was judged")
	}
	if judged := r.Legal + r.Illegal; float64(r.Unknown) > maxShare*float64(r.Groups) {
		say("%d of %d groups could not be decided (%d were), which is more than one in twenty", r.Unknown, r.Groups, judged)
		for _, reason := range r.Reasons {
			say("  %s", reason)
		}
	}
	if made := r.Stalled + r.Groups; r.Stalled > made/5 {
		say("%d of %d histories were thrown away, as this machine or the target stood still for more than half of their time; run it again with less beside it", r.Stalled, made)
	}
	if r.Left > r.Groups/5 {
		say("there was no time to judge %d histories; give more budget", r.Left)
	}
	for _, doubt := range r.Convergence.doubts() {
		say("%s", doubt)
	}
	for _, kind := range asked.Kinds() {
		if r.Faults[kind] == 0 {
			say("the fault %q was asked for and never happened; give more budget", kind)
		}
	}
	return doubts
}

// add takes the verdict on one group into the report.
func (r *Report) add(seed uint64, g linearize.GroupVerdict, file string) {
	r.Groups++
	r.Calls += g.Calls
	r.Overlap = max(r.Overlap, g.Overlap)
	r.wide(Wide{seed, g.Group, g.Calls, g.Overlap, g.Elapsed, g.Result})
	switch g.Result {
	case linearize.Legal:
		r.Legal++
		r.Exercised.Add(g.Exercised)
		if r.Profiles == nil {
			r.Profiles = map[string]int{}
		}
		r.Profiles[g.Profile]++
	case linearize.Illegal:
		r.Illegal++
	case linearize.Unknown:
		r.Unknown++
		if len(r.Reasons) < maxReasons {
			text := fmt.Sprintf("seed %d, group %q: %s", seed, g.Group, g.Reason)
			switch {
			case file == "":
			case g.Late:
				text += "; with more time: muster check --timeout 5m " + file
			default:
				text += "; its history: " + file
			}
			r.Reasons = append(r.Reasons, text)
			r.Open = append(r.Open, Open{seed, g.Group, g.Reason, file})
		}
	}
}

// refute notes that a profile does not explain a history that another one explains.
func (r *Report) refute(profile string) {
	if r.refuted == nil {
		r.refuted = map[string]bool{}
	}
	r.refuted[profile] = true
}

// Mixed says that no profile explains all groups, although each is explained by one: the target behaves now like this coordinator, now like that.
// Groups that were judged before their profile was refuted count for the one that was not.
func (r *Report) Mixed() bool {
	for profile := range r.Profiles {
		if !r.refuted[profile] {
			return false
		}
	}
	return len(r.Profiles) > 1
}

// Open is a group that could not be decided.
type Open struct {
	Seed       uint64
	Group, Why string
	File       string // its history; empty where it was not kept
}

// Wide is a group with many calls at a time, which is what judging costs.
type Wide struct {
	Seed    uint64
	Group   string
	Calls   int
	Overlap int // operations that were open at a time
	Took    time.Duration
	Result  linearize.Result
}

// widest are how many of them are told.
const widest = 5

func (r *Report) wide(w Wide) {
	at, _ := slices.BinarySearchFunc(r.Wide, w, func(a, b Wide) int { return cmp.Or(cmp.Compare(b.Overlap, a.Overlap), cmp.Compare(b.Calls, a.Calls)) })
	r.Wide = slices.Insert(r.Wide, at, w)
	r.Wide = r.Wide[:min(len(r.Wide), widest)]
}
