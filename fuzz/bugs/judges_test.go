package bugs

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/campaign"
	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/checker/joint"
	"github.com/muster-kafka/muster/checker/lockstep"
	"github.com/muster-kafka/muster/checker/monitor"
	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
)

// finding is what a judge has found; the zero value is nothing.
type finding struct {
	Text   string `json:"text"`
	Events int    `json:"events"` // that are enough to show it; 0 where a judge does not shorten what it has found
}

// judge is one of those that judge the reference coordinator. None is told which bug is awake.
type judge struct {
	name  string
	judge func(*testing.T) finding
	timed bool // goes by the clock, and mostly waits
}

// judges are in the order in which the table has them.
var judges = []judge{
	{"scenarios", play, false},
	{"lockstep", walk, false},
	{"monitors", watch, false},
	{"converge", heal, false},
	{"joint", explores, false},
	{"linearize", traffic, true},
	{"ownership", own, true},
}

func judgeOf(name string) (judge, bool) {
	if name == aloneJudge {
		return judge{name: aloneJudge, judge: func(t *testing.T) finding { return finding{Text: alone(t)} }}, true
	}
	i := slices.IndexFunc(judges, func(j judge) bool { return j.name == name })
	if i < 0 {
		return judge{}, false
	}
	return judges[i], true
}

// aloneJudge is one more, with a test of its own.
const aloneJudge = "alone"

// The budget is fixed: a judge that needs more to find a bug does not count as finding it.
const (
	walks             = 24                                // that lockstep, monitors and converge make: each kind of coordinator, in each of six rounds
	sequences, events = 100, 60                           // of each walk
	watched           = 50                                // sequences of each walk, for monitors
	healings, faults  = 30, 30                            // of each walk, for converge
	states            = 1500                              // of each of joint's four explorations; with one member there are fewer
	budget, quiet     = 45 * time.Second, 8 * time.Second // linearize
	limit             = 60 * time.Second                  // of one judge on one bug
)

// budgets are all that a table depends on but the bugs.
var budgets = fmt.Sprint(walks, sequences, watched, events, healings, faults, states, budget, owning, limit)

// seed is what random judges draw from.
var seed = func() uint64 {
	if n, err := strconv.ParseUint(os.Getenv(seedVar), 10, 64); err == nil {
		return n
	}
	return 1
}()

const seedVar = "MUSTER_BUG_SEED"

// leftOutVar names a scenario that was written for the bug at hand, which scenarios have to do without.
const leftOutVar = "MUSTER_BUG_WITHOUT"

// play plays every scenario, each on a coordinator with the settings that it needs, and returns the shortest way to a failure.
func play(t *testing.T) (found finding) {
	all, err := conformance.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(s *conformance.Scenario) bool { return s.Name == os.Getenv(leftOutVar) })
	for _, set := range conformance.ByProfile(all) {
		options, err := embedded.Profile(set.Profile)
		if err != nil {
			t.Fatal(err)
		}
		target, err := embedded.New(options)
		if err != nil {
			t.Fatal(err)
		}
		report, err := conformance.Suite{Scenarios: set.Scenarios, Slow: true, OutDir: t.TempDir()}.Run(t.Context(), target, nil)
		if err = errors.Join(err, target.Close()); err != nil {
			t.Fatal(err)
		}
		for i, result := range report.Results {
			one := finding{Text: result.Scenario + " cannot be played: " + firstLine(result.Reason), Events: commands(set.Scenarios[i], len(set.Scenarios[i].File.Blocks))}
			switch {
			case result.Failure != nil:
				f := result.Failure
				one = finding{fmt.Sprintf("%s, block %d: want %q, got %q", f.Scenario, f.Block, f.Expected, f.Got), commands(set.Scenarios[i], f.Block)}
			case result.Status != conformance.Broken:
				continue
			}
			if found.Text == "" || one.Events < found.Events {
				found = one
			}
		}
	}
	return found
}

// commands counts those of the first blocks; what only names settings is none.
func commands(s *conformance.Scenario, blocks int) (n int) {
	for _, b := range s.File.Blocks[:blocks] {
		for _, c := range b.Commands {
			if c.Verb != "group" && c.Verb != "mark" {
				n++
			}
		}
	}
	return n
}

// walk walks beside the specification.
func walk(t *testing.T) finding { return walking(t, sequences, func(*lockstep.Options) {}) }

// watch has nothing but the monitors look on, on the same walks.
func watch(t *testing.T) finding {
	return walking(t, watched, func(o *lockstep.Options) { o.Watch, o.Blind = monitor.All(), true })
}

// heal judges nothing but whether clients get together after walks. What it shows has all of their trying in it, so that its length says nothing.
func heal(t *testing.T) finding {
	found := walking(t, healings, func(o *lockstep.Options) { o.Steps, o.Heal, o.Blind = faults, true, true })
	found.Events = 0
	return found
}

func walking(t *testing.T, checks int, judge func(*lockstep.Options)) finding {
	for n := range uint64(walks) {
		machine, options := embedded.Walk(n)
		options.Seed, options.Checks, options.Steps = seed, checks, events
		judge(&options)
		report := lockstep.Rapid(func() checker.Machine { return embedded.NewMachineWith(machine) }, options)
		switch {
		case report.Violation != nil:
			shrunk := len(report.Violation.Trace) - 1
			return finding{fmt.Sprintf("walk %d, after %d sequences, shrunk to %d events: %s", n, report.Sequences, shrunk, report.Violation.Error()), shrunk}
		case report.Err != nil:
			return finding{Text: report.Err.Error()}
		}
	}
	return finding{}
}

// explores looks at the joint states of the coordinator and the specification, for one member and then for two, until one contradicts it. What it finds
// is as short as can be.
func explores(t *testing.T) finding {
	for members := range 2 {
		for _, run := range []struct {
			name string
			joint.Run
		}{{"offsets", joint.Offsets(members + 1)}, {"lists", joint.Lists(members + 1)}} {
			report := explore.Run(t.Context(), run.name, run.Machines(embedded.JointBench), explore.Options{StopAtViolation: true, MaxStates: states})
			if len(report.Violations) > 0 {
				v := report.Violations[0]
				return finding{fmt.Sprintf("%s (rule %s) in %d steps, after %d states of %q", v.Property, v.Rule, len(v.Trace), report.States, run.name), len(v.Trace)}
			}
			if !report.Complete && report.States <= states {
				return finding{Text: report.String()}
			}
		}
	}
	return finding{}
}

func traffic(t *testing.T) finding {
	target, err := embedded.NewTCP(t.Context(), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	time := budget
	if os.Getenv(EnvVar) == "" { // where there is nothing to find, all of it is used up
		time = quiet
	}
	faults := campaign.Possible(target)
	faults.Appends = strings.HasPrefix(os.Getenv(EnvVar), racing+"append-") // those are about what is written
	report, err := campaign.Run(t.Context(), target, campaign.Options{
		Seed: seed, Budget: time, Enough: 1, Faults: faults, Out: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, reason := range report.Reasons {
		t.Logf("unknown: %s", reason)
	}
	if len(report.Failures) == 0 {
		return finding{}
	}
	f := report.Failures[0]
	_, left, _ := strings.Cut(f.Text, "The calls (")
	calls := strings.Count(left, "\n                                   -> ")
	return finding{fmt.Sprintf("%s after %d groups and %d calls, %d calls are left: %s", cmp.Or(f.Rule, "-"), report.Groups, report.Made, calls, firstLine(f.Text)), calls}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
