package bugs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/campaign"
	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/checker/joint"
	"github.com/muster-kafka/muster/checker/lockstep"
	"github.com/muster-kafka/muster/checker/monitor"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
)

// judgeVar makes this test binary, built with the bank planted, run one judge on the coordinator, with the bug awake that EnvVar names.
const judgeVar = "MUSTER_BUG_JUDGE"

// judges are the judges of impl; each tells what it found, or nothing.
var judges = map[string]func(*testing.T) string{"lockstep": walk, "converge": heal, "linearize": traffic, "joint": explores, "monitors": watch, "ownership": own}

// aloneJudge is one more, with a test of its own.
const aloneJudge = "alone"

// The budget is fixed: a judge that needs more to find a bug does not count as finding it.
const (
	sequences, events = 400, 60                           // lockstep
	looks             = 2400                              // monitors, where a bug is awake: they see less than lockstep
	healings, faults  = 60, 30                            // converge
	budget, quiet     = 45 * time.Second, 8 * time.Second // linearize
	limit             = 60 * time.Second                  // of one judge on one bug
	mostEvents        = 12                                // that lockstep shrinks a bug to
)

// seed is what random judges draw from. Nightly lockstep has to find and to shrink each bug from several: that it does from one may be luck.
var seed = func() uint64 {
	if n, err := strconv.ParseUint(os.Getenv(seedVar), 10, 64); err == nil {
		return n
	}
	return 1
}()

const (
	seedVar = "MUSTER_BUG_SEED"
	seeds   = 5
)

// walk walks dynamic members alone, then everything.
func walk(t *testing.T) string { return walks(t, func(*lockstep.Options) {}) }

// watch has nothing but the monitors look on, on the same walks.
func watch(t *testing.T) string {
	return walks(t, func(o *lockstep.Options) {
		if o.Watch, o.Blind = monitor.All(), true; os.Getenv(EnvVar) != "" {
			o.Checks = looks // where there is nothing to find, all of them are made
		}
	})
}

func walks(t *testing.T, judge func(*lockstep.Options)) string {
	for kind := range uint64(2) {
		machine, options := embedded.Walk(kind)
		options.Seed, options.Checks, options.Steps = seed, sequences, events
		judge(&options)
		report := lockstep.Rapid(func() checker.Machine { return embedded.NewMachineWith(machine) }, options)
		switch {
		case report.Violation != nil:
			shrunk := len(report.Violation.Trace) - 1
			if !options.Blind && shrunk > mostEvents {
				t.Errorf("shrunk to %d events, which is more than %d", shrunk, mostEvents)
			}
			return fmt.Sprintf("shrunk to %d events: %s after %d sequences", shrunk, report.Violation.Error(), report.Sequences)
		case report.Err != nil:
			return report.Err.Error()
		}
	}
	return ""
}

// explores looks at every joint state of the coordinator and the specification, for two members, until one contradicts it. What it finds is
// as short as can be.
func explores(t *testing.T) string {
	for i, run := range []joint.Run{joint.Offsets(2), joint.Lists(2)} {
		run.Name = []string{"offsets", "lists"}[i]
		report := explore.Run(t.Context(), run.Name, run.Machines(embedded.JointBench), explore.Options{StopAtViolation: true})
		if len(report.Violations) > 0 {
			v := report.Violations[0]
			return fmt.Sprintf("%s (rule %s) in %d steps, after %d states of %q", v.Property, v.Rule, len(v.Trace), report.States, run.Name)
		}
		if !report.Complete {
			return report.String()
		}
	}
	return ""
}

// heal judges nothing but whether clients get together after the same walks.
func heal(*testing.T) string {
	for kind := range uint64(2) {
		machine, options := embedded.Walk(kind)
		options.Seed, options.Checks, options.Steps, options.Heal, options.Blind = seed, healings, faults, true, true
		report := lockstep.Rapid(func() checker.Machine { return embedded.NewMachineWith(machine) }, options)
		switch {
		case report.Violation != nil:
			return fmt.Sprintf("%s after %d sequences", report.Violation.Error(), report.Sequences)
		case report.Err != nil:
			return report.Err.Error()
		}
	}
	return ""
}

func traffic(t *testing.T) string {
	target, err := embedded.NewTCP(t.Context(), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	time := budget
	if os.Getenv(EnvVar) == "" { // where there is nothing to find, all of it is used up
		time = quiet
	}
	report, err := campaign.Run(t.Context(), target, campaign.Options{
		Seed: seed, Budget: time, Enough: 1, Faults: campaign.Possible(target), Out: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, reason := range report.Reasons {
		t.Logf("unknown: %s", reason)
	}
	if len(report.Failures) == 0 {
		return ""
	}
	f := report.Failures[0]
	_, left, _ := strings.Cut(f.Text, "The calls (")
	return fmt.Sprintf("%s after %d groups and %d calls, %d calls are left: %s", f.Rule, report.Groups, report.Made, strings.Count(left, "\n                                   -> "), firstLine(f.Text))
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// plantedBinary is this test's own binary with the bank planted. It is built once for tests that overlap.
func plantedBinary(t *testing.T) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if built.users == 0 {
		dir, err := os.MkdirTemp("", "muster-bank-")
		if err != nil {
			t.Fatal(err)
		}
		built.binary = filepath.Join(dir, "bugs.test")
		if err := BuildTest(t.Context(), "./fuzz/bugs", built.binary); err != nil {
			os.RemoveAll(dir)
			t.Fatal(err)
		}
	}
	built.users++
	t.Cleanup(func() {
		built.Lock()
		defer built.Unlock()
		if built.users--; built.users == 0 {
			os.RemoveAll(filepath.Dir(built.binary))
		}
	})
	return built.binary
}

var built struct {
	sync.Mutex
	users  int
	binary string
}

// TestJudge is one judge at work in a process of its own.
func TestJudge(t *testing.T) {
	judge, ok := judges[os.Getenv(judgeVar)]
	if os.Getenv(judgeVar) == aloneJudge {
		judge, ok = alone, true
	}
	if !ok {
		t.Skipf("runs in processes that TestCampaign starts, with %s set", judgeVar)
	}
	if found := judge(t); found != "" {
		fmt.Printf("%s%s\n", caughtMark, found)
	}
}

const caughtMark = "caught: "

// run runs one judge on one bug (or on none) and returns what it found and how long that took.
func run(t *testing.T, binary, judge string, env ...string) (string, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	began := time.Now()
	cmd := exec.CommandContext(ctx, binary, "-test.run=^TestJudge$", "-test.v")
	cmd.Env = append(append(os.Environ(), judgeVar+"="+judge), env...)
	output, err := cmd.CombinedOutput()
	took := time.Since(began)
	if err != nil {
		t.Errorf("%s with %s: %v\n%s", judge, env, err, output)
	}
	if _, found, ok := bytes.Cut(output, []byte(caughtMark)); ok {
		return firstLine(string(found)), took
	}
	return "", took
}

// planting builds this test binary with the whole bank planted.
func planting(t *testing.T) (binary string, all []Bug) {
	t.Helper()
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	return plantedBinary(t), all
}

// quick are the bugs that linearize is tried on in every run, those that it finds within seconds; nightly it is tried on all. Its histories take
// real time.
var quick = []string{"generation-per-join", "late-joiner-slips-in"}

// neverAnswered is the bug of a JoinGroup that is never answered, which each judge has to notice.
const neverAnswered = "join-answer-lost"

// TestCampaignCatchesBugs wakes one bug after the other: each judge has to find what the bank says that it finds, within its budget, and
// nothing where no bug is awake. With -v it tells which judge caught which, and in what time.
func TestCampaignCatchesBugs(t *testing.T) {
	binary, all := planting(t)
	nightly := os.Getenv("MUSTER_NIGHTLY") != ""
	for judge := range judges {
		if judge == "ownership" && !nightly {
			continue // its consumers take real time, on each bug
		}
		t.Run(judge, func(t *testing.T) {
			t.Parallel()
			if found, took := run(t, binary, judge, EnvVar+"="); found != "" {
				t.Errorf("with no bug awake %s finds, after %.1f s: %s", judge, took.Seconds(), found)
			}
			caught := 0
			for _, bug := range all {
				if strings.HasPrefix(bug.ID, planted) { // TestCampaignTable
					continue
				}
				must := bug.MustBeCaughtBy(judge)
				if !nightly && (!must || judge == "linearize" && !slices.Contains(quick, bug.ID)) {
					continue
				}
				if judge == "lockstep" && nightly {
					for n := 2; n <= seeds; n++ {
						if found, took := run(t, binary, judge, bug.Env(), fmt.Sprintf("%s=%d", seedVar, n)); found == "" && must {
							t.Errorf("%-34s not noticed from seed %d in %.1f s: %s", bug.ID, n, took.Seconds(), bug.Title)
						} else {
							t.Logf("%-34s seed %d, caught in %5.1f s: %s", bug.ID, n, took.Seconds(), found)
						}
					}
				}
				found, took := run(t, binary, judge, bug.Env())
				switch {
				case found != "":
					caught++
					t.Logf("%-34s caught in %5.1f s: %s", bug.ID, took.Seconds(), found)
				case must || bug.ID == neverAnswered:
					t.Errorf("%-34s not noticed in %.1f s: %s", bug.ID, took.Seconds(), bug.Title)
				default:
					t.Logf("%-34s not noticed in %5.1f s, and need not be", bug.ID, took.Seconds())
				}
			}
			least := 3
			if judge == "linearize" && !nightly {
				least = len(quick)
			}
			if caught < least {
				t.Errorf("%s caught %d bugs, which is too few to trust it", judge, caught)
			}
		})
	}
}
