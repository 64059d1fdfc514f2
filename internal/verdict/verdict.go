// Package verdict holds what a run of Muster has found out about a target, decides what that amounts to, and writes it for people
// (a table), for programs (JSON) and for CI (JUnit).
//
// A judge hands in what it did and what it found as it goes, so a run that ends early still has a verdict on what it had judged.
package verdict

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Format is the version of the JSON form; it grows when a field changes its meaning or goes.
const Format = 1

// Result is what a run amounts to.
type Result string

const (
	Pass         Result = "pass"         // everything asked for was judged, and holds
	Fail         Result = "fail"         // a rule is broken
	Inconclusive Result = "inconclusive" // nothing broken was seen, but something could not be judged
	Unavailable  Result = "unavailable"  // the target or the environment failed before the judging was over
)

// Exit codes of the command.
const (
	ExitPass         = 0
	ExitFail         = 1
	ExitInconclusive = 2
	ExitUnavailable  = 3
	ExitUsage        = 64
)

// ExitCode is the result as a process says it.
func (r Result) ExitCode() int {
	switch r {
	case Pass:
		return ExitPass
	case Fail:
		return ExitFail
	case Unavailable:
		return ExitUnavailable
	default:
		return ExitInconclusive
	}
}

// Judge names one of the judges.
type Judge string

const (
	Scenarios       Judge = "scenarios"
	Exploration     Judge = "exploration"
	Random          Judge = "random"
	Linearizability Judge = "linearizability"
	Ownership       Judge = "ownership" // in a campaign, beside Linearizability
)

// Verdict is one run. The exported fields are its JSON form; a section that is nil belongs to a judge that does not run on this target.
type Verdict struct {
	Format       int     `json:"format"`
	Muster       string  `json:"muster"`        // Muster's version
	Target       string  `json:"target"`        // as named on the command line
	ComparedWith string  `json:"compared_with"` // what the target is judged against
	Result       Result  `json:"verdict"`
	Seed         uint64  `json:"seed"`
	DurationS    float64 `json:"duration_s"` // seconds, to the millisecond

	Scenarios       *ScenarioCounts        `json:"scenarios"`
	Rules           *RuleCounts            `json:"rules"`
	Exploration     *ExplorationCounts     `json:"exploration"`
	Random          *RandomCounts          `json:"random"`
	Linearizability *LinearizabilityCounts `json:"linearizability"`
	Campaign        *CampaignCounts        `json:"campaign,omitempty"` // how Linearizability came by its histories
	Diff            *DiffCounts            `json:"diff,omitempty"`     // of muster diff alone, which has no other judge

	Failures    []Finding `json:"failures"`    // violations
	Differences []Finding `json:"differences"` // from compat rules without --strict, and from quirks
	Known       []Finding `json:"known"`       // failures that the user's --known file lists
	Skipped     []Skip    `json:"skipped"`
	Unjudged    []Skip    `json:"unjudged"` // scenarios that were begun, or were to be, and could not be judged

	Unsteady []Unsteady `json:"unsteady"` // scenarios that failed at first

	Reasons  []string `json:"reasons"`  // why the verdict is inconclusive or unavailable
	Warnings []string `json:"warnings"` // worth knowing, without bearing on the verdict

	findings    []Finding
	wavered     []wavering
	untold      int          // illegal groups of a campaign of which nobody knows by which rule
	unmet       []knownEntry // of the list of known failures, what is not gone for all that this run has not seen of it
	own         bool
	cases       []Case
	finished    map[Judge]bool
	took        map[Judge]time.Duration
	unavailable bool
	unwritten   bool
	alone       bool
}

// ScenarioCounts says how many scenarios ran and how many did not. A failed one has a violation, known or not; one that only shows a
// difference has passed. Close counts.
type ScenarioCounts struct {
	Run     int `json:"run"`
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`

	Unjudged int `json:"unjudged"`
}

// RuleCounts says how many rules the specification has, how many of them the scenarios that ran put to the test, and which they did not.
type RuleCounts struct {
	Total     int      `json:"total"`
	Covered   int      `json:"covered"`
	Uncovered []string `json:"uncovered"` // ids
}

// ExplorationCounts is what the exhaustive exploration of the specification went through.
type ExplorationCounts struct {
	States      int  `json:"states"`
	Transitions int  `json:"transitions"`
	Complete    bool `json:"complete"` // every reachable state was seen

	Runs []ExplorationRun `json:"runs"`
}

// ExplorationRun is one run of an exploration.
type ExplorationRun struct {
	Name        string  `json:"name"`
	States      int     `json:"states"`
	Transitions int     `json:"transitions"`
	Depth       int     `json:"depth"` // steps to the states that are farthest away
	Complete    bool    `json:"complete"`
	Frontier    int     `json:"frontier"`   // states that were reached and not gone on from, if it is not complete
	Reason      string  `json:"reason"`     // why it is not complete
	Broken      int     `json:"broken"`     // properties that something reachable breaks
	Missing     int     `json:"missing"`    // what it used to reach and does not
	Surprise    bool    `json:"surprise"`   // a complete run has another size than is known of it
	DurationS   float64 `json:"duration_s"` // seconds, to the millisecond
}

// Seconds is a duration as the JSON form has it.
func Seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }

// RandomCounts is what the random walks did.
type RandomCounts struct {
	Sequences int `json:"sequences"`
	Steps     int `json:"steps"`
}

// LinearizabilityCounts is what was checked of recorded concurrent histories.
type LinearizabilityCounts struct {
	Histories  int `json:"histories"`
	Operations int `json:"operations"`
	Illegal    int `json:"illegal"` // histories that no order of the specification explains
	Unknown    int `json:"unknown"` // histories that could not be decided
}

// Skip is a scenario that did not run.
type Skip struct {
	Scenario string `json:"scenario"`
	Reason   string `json:"reason"`
}

// Case is one test case of the JUnit form.
type Case struct {
	Judge   Judge
	Name    string
	Took    time.Duration
	Skipped string // why it did not run; empty if it did

	Unjudged string // why nothing can be said of it, though it was asked for; empty if something can
}

// New begins the verdict on a target.
func New(version, target, comparedWith string, seed uint64) *Verdict {
	return &Verdict{
		Format: Format, Muster: version, Target: target, ComparedWith: comparedWith, Result: Inconclusive, Seed: seed,
		Failures: []Finding{}, Differences: []Finding{}, Known: []Finding{}, Skipped: []Skip{}, Unjudged: []Skip{}, Unsteady: []Unsteady{},
		Reasons: []string{}, Warnings: []string{},
		finished: map[Judge]bool{}, took: map[Judge]time.Duration{},
	}
}

// Find hands in a finding.
func (v *Verdict) Find(f Finding) { v.findings = append(v.findings, f.described()) }

// Case hands in a test case for the JUnit form, and counts a skipped scenario.
func (v *Verdict) Case(c Case) {
	v.cases = append(v.cases, c)
	if c.Judge == Scenarios && c.Skipped != "" {
		v.Skipped = append(v.Skipped, Skip{Scenario: c.Name, Reason: c.Skipped})
	}
	if c.Judge == Scenarios && c.Unjudged != "" {
		v.Unjudged = append(v.Unjudged, Skip{Scenario: c.Name, Reason: c.Unjudged})
	}
}

// Finish says that a judge has done all it was asked for. A judge whose section is there and that has not finished leaves the verdict
// inconclusive at best.
func (v *Verdict) Finish(j Judge) { v.finished[j] = true }

// Took says how long a judge was at work, from its beginning to its end.
func (v *Verdict) Took(j Judge, d time.Duration) { v.took[j] = d }

// Cover says which rules there are and which of them the scenarios that ran put to the test.
func (v *Verdict) Cover(all, covered []string) {
	counts := RuleCounts{Total: len(all), Uncovered: []string{}}
	for _, id := range all {
		if slices.Contains(covered, id) {
			counts.Covered++
		} else {
			counts.Uncovered = append(counts.Uncovered, id)
		}
	}
	v.Rules = &counts
}

// CannotTell says that something could not be judged: nothing passes by default.
func (v *Verdict) CannotTell(format string, args ...any) {
	v.Reasons = append(v.Reasons, fmt.Sprintf(format, args...))
}

// TargetFailed says that the target or the environment gave way. What was found before still counts.
func (v *Verdict) TargetFailed(format string, args ...any) {
	v.unavailable = true
	v.Reasons = append(v.Reasons, fmt.Sprintf(format, args...))
}

// TargetHasFailed reports whether TargetFailed was called.
func (v *Verdict) TargetHasFailed() bool { return v.unavailable }

// Warn notes what has no bearing on the verdict.
func (v *Verdict) Warn(format string, args ...any) {
	v.Warnings = append(v.Warnings, fmt.Sprintf(format, args...))
}

// Alone says that the run has one judge and needs no table of the others.
func (v *Verdict) Alone() { v.alone = true }

// Holds says whether a finding's text names the file.
func (v *Verdict) Holds(file string) bool {
	return slices.ContainsFunc(v.findings, func(f Finding) bool { return strings.Contains(f.Text, file) })
}

// NotWritten says that a report of the verdict could not be written. That does not change the verdict; but who waits for the report must
// not be told that all is well.
func (v *Verdict) NotWritten() { v.unwritten = true }

// ExitCode is how the process ends.
func (v *Verdict) ExitCode() int {
	if v.unwritten && v.Result == Pass {
		return ExitUnavailable
	}
	return v.Result.ExitCode()
}

// Close decides the verdict. With strict, compat differences are failures too; known may be nil.
func (v *Verdict) Close(strict bool, known *KnownList, took time.Duration) {
	v.DurationS = Seconds(took)
	v.settleUnsteady(strict, known)
	v.inOrder()
	for _, f := range v.findings {
		switch {
		case !f.violates(strict):
			v.Differences = append(v.Differences, f)
		case known.holds(f):
			v.Known = append(v.Known, f)
		default:
			v.Failures = append(v.Failures, f)
		}
	}
	v.Warnings = append(v.Warnings, known.gone(v)...)
	v.unmet = known.unmet(v)
	for _, j := range v.judges() {
		if !v.finished[j] && !v.unavailable {
			v.CannotTell("%s: ended before all of it was judged", j)
		}
	}
	v.countScenarios()
	v.countUnknown()
	switch {
	case len(v.Failures) > 0:
		v.Result = Fail
	case v.unavailable:
		v.Result = Unavailable
	case len(v.Reasons) > 0:
		v.Result = Inconclusive
	default:
		v.Result = Pass
	}
}

// NotTold notes illegal groups that there was no room to tell of: nobody knows by which rules.
func (v *Verdict) NotTold(groups int) { v.untold += groups }

func (v *Verdict) countScenarios() {
	if v.Scenarios == nil {
		return
	}
	*v.Scenarios = ScenarioCounts{}
	for _, c := range v.cases {
		switch {
		case c.Judge != Scenarios:
		case c.Skipped != "":
			v.Scenarios.Skipped++
		case c.Unjudged != "":
			v.Scenarios.Unjudged++
		case len(about(v.Failures, Scenarios, c.Name))+len(about(v.Known, Scenarios, c.Name)) > 0:
			v.Scenarios.Run++
			v.Scenarios.Failed++
		default:
			v.Scenarios.Run++
			v.Scenarios.Passed++
		}
	}
}

// countUnknown turns counts that no pass may hide into reasons.
func (v *Verdict) countUnknown() {
	if s := v.Scenarios; s != nil && s.Run == 0 && !v.unavailable {
		v.CannotTell("scenarios: none ran, so nothing is known")
	}
	if e := v.Exploration; e != nil && v.finished[Exploration] && !e.Complete && !v.alone {
		v.CannotTell("exploration: stopped after %s without having seen them all; raise --budget", count(e.States, "state", "states"))
	}
	if l := v.Linearizability; l != nil && l.Unknown > 0 && v.Campaign == nil { // of a campaign a few may be: it says itself how many
		v.CannotTell("linearizability: %d of %s could not be decided", l.Unknown, count(l.Histories, "history", "histories"))
	}
	if v.untold > 0 && len(v.Failures) == 0 { // what was told is known, or is no failure; what was not may be one
		v.CannotTell("linearizability: %s, and by which rules was not found out, so that it may be others than those that are told: muster check judges their histories", count(v.untold, "group more is illegal", "groups more are illegal"))
	}
	if d := v.Diff; d != nil && d.NotChecked > 0 && !v.unavailable {
		v.CannotTell("diff: %s differed and there was no time to look again; raise --budget", count(d.NotChecked, "sequence", "sequences"))
	}
	if d := v.Diff; d != nil && d.Sequences == 0 && !v.unavailable {
		v.CannotTell("diff: %s", d.notPlayed())
	}
	if d := v.Diff; d != nil && d.lostMore() && !v.unavailable {
		v.CannotTell("diff: a target ended by itself %s, and %s at work then, which is more than the %s played to the end; raise --budget",
			count(d.Deaths, "time", "times"), count(d.Lost, "sequence was", "sequences were"), count(d.Sequences, "that was", "that were"))
	}
	if len(v.judges()) == 0 && !v.unavailable {
		v.CannotTell("no judge ran")
	}
}

// judges are those whose sections are there.
func (v *Verdict) judges() []Judge {
	var js []Judge
	if v.Scenarios != nil {
		js = append(js, Scenarios)
	}
	if v.Random != nil {
		js = append(js, Random)
	}
	if v.Exploration != nil {
		js = append(js, Exploration)
	}
	if v.Linearizability != nil {
		js = append(js, Linearizability)
	}
	if v.Diff != nil {
		js = append(js, Diff)
	}
	return js
}
