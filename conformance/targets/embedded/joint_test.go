package embedded_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/checker/joint"
	"github.com/muster-kafka/muster/checker/runs"
	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/internal/golden"
	"github.com/muster-kafka/muster/model/classic"
)

var nightJoint = flag.Bool("night", os.Getenv("MUSTER_NIGHTLY") != "", "make the joint runs of make explore too (minutes)")

// In every joint state that there is, the coordinator does what the specification says, and no monitor sees anything wrong. The numbers of states
// and transitions are exact, and so is what each run reaches: a change of either is a change of the coordinator, of the specification or of the
// alphabet. They are kept where the catalogue is.
func TestJointToClosure(t *testing.T) {
	for _, r := range runs.All() {
		if r.Joint == nil || r.When < runs.Test && !*nightJoint {
			continue
		}
		out := r.Beside(embedded.JointBench).Explore(t.Context(), explore.Options{Workers: 2}, nil)
		t.Log(out.String())
		if !out.Report.Ok() {
			var why bytes.Buffer
			if err := out.Print(&why); err != nil {
				t.Fatal(err)
			}
			t.Error(why.String())
		}
		golden.Compare(t, filepath.Join("..", "..", "..", "checker", "runs", r.File()), out.Text())
	}
}

// small is a run that is over soon.
var small = joint.Run{Name: "small", Members: 2, Lists: []string{"a"}, Static: true, WriteFailures: true, Failover: true}

func breaking(r joint.Run, rule classic.RuleID) joint.Run {
	r.Broken = []classic.RuleID{rule}
	return r
}

// However many workers there are, numbers and traces are the same, also where the specification breaks a rule. Whichever of them reaches a
// joint state first leaves its own names in it, so that this shows that names make no difference.
func TestJointWorkersAgree(t *testing.T) {
	writing := joint.Run{Name: "writing", Members: 2, Lists: []string{"a"}, AnySubset: true, WriteFailures: true, WriteInFlight: true, Failover: true}
	for _, r := range []joint.Run{small, breaking(small, classic.StaticFenced), breaking(small, classic.JoinCompleteLeader), writing} {
		var want string
		for workers := 1; workers <= 3; workers++ {
			report := explore.Run(t.Context(), r.Name, r.Machines(embedded.JointBench), explore.Options{Workers: workers, StopAtViolation: true})
			report.Elapsed = 0
			var got bytes.Buffer
			if err := report.Print(&got); err != nil {
				t.Fatal(err)
			}
			if workers == 1 {
				want = got.String()
			} else if got.String() != want {
				t.Errorf("%s, broken %v, %d workers:\n%s\none worker:\n%s", r.Name, r.Broken, workers, got.String(), want)
			}
		}
	}
}

// Where the specification breaks a rule, the coordinator, which does not, contradicts it. So all that is compared is compared. The table has
// every rule that the joint runs can notice, by what, and in how many steps at best.
func TestJointNoticesBrokenRules(t *testing.T) {
	delay, commits := small, small
	delay.Delay, delay.WriteInFlight, delay.Lists, commits.Commits = true, true, []string{"ab", "b"}, true
	var b bytes.Buffer
	noticed := 0
	for _, rule := range classic.Rules() {
		id, _ := classic.FindRule(rule.ID)
		if can, _ := classic.Breakable(id); !can || elsewhere.MatchString(rule.ID) {
			continue
		}
		how := "not noticed"
		for _, r := range []joint.Run{small, delay, commits} {
			r.Broken = []classic.RuleID{id}
			report := explore.Run(t.Context(), r.Name, r.Machines(embedded.JointBench), explore.Options{Workers: 2, StopAtViolation: true, MaxStates: 400})
			if len(report.Violations) > 0 {
				v := report.Violations[0]
				how = fmt.Sprintf("%s, in %d steps", v.Property, len(v.Trace))
				noticed++
				break
			}
		}
		fmt.Fprintf(&b, "%s: %s\n", rule.ID, how)
	}
	golden.Testdata(t, "joint-broken.txt", b.String())
	if noticed < 60 {
		t.Errorf("%d rules are noticed, which is too few", noticed)
	}
}

// elsewhere are rules of which the alphabets of the joint runs have nothing.
var elsewhere = regexp.MustCompile(`^(txn|txn-commit|offset-delete|offsets|expiry|cleanup|max-size|fetch)\.`)

// BenchmarkJoint reports how fast joint states are explored, by the clock and by the processor's time.
func BenchmarkJoint(b *testing.B) {
	run := joint.Core(3)
	run.Name = "core"
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("%s/%d", run.Name, workers), func(b *testing.B) {
			var transitions int64
			before := cpu(b)
			for range b.N {
				transitions += explore.Run(b.Context(), run.Name, run.Machines(embedded.JointBench), explore.Options{Workers: workers}).Transitions
			}
			b.ReportMetric(float64(transitions)/b.Elapsed().Seconds(), "transitions/s")
			b.ReportMetric(float64(transitions)/(cpu(b)-before).Seconds(), "transitions/cpu-s")
		})
	}
}

// cpu is the processor's time that this process has taken.
func cpu(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A trace that a broker and its clients can bring about is a scenario that stands on its own, with concrete times; the others say why not.
func TestJointScenarios(t *testing.T) {
	played := map[string]int{}
	for _, rule := range []classic.RuleID{
		classic.HeartbeatIllegalGeneration, classic.SyncFollowerParks, classic.JoinStableChanged, classic.JoinPendingExpires, classic.SyncTimerExpels,
		classic.SessionExpires, classic.JoinCompleteTimeout, classic.StaticFenced, classic.StaticReplacedVote, classic.LeaveMember, classic.SyncAborted,
		classic.LoadSessions, classic.LoadState, classic.SyncWriteFails, classic.NotCoordinator, classic.JoinParkedRemoved,
	} {
		r := small
		r.Lists, r.Broken = []string{"ab", "b"}, []classic.RuleID{rule}
		var texts []string
		r.Scenario = func(_ explore.Finding, text string, err error) {
			if err != nil {
				text = err.Error()
			}
			texts = append(texts, text)
		}
		report := explore.Run(t.Context(), r.Name, r.Machines(embedded.JointBench), explore.Options{StopAtViolation: true})
		if len(texts) != len(report.Violations) || len(texts) == 0 {
			t.Errorf("%s: %d violations, %d scenarios", rule, len(report.Violations), len(texts))
		}
		for _, text := range texts {
			if why, not := strings.CutPrefix(text, "untimed: "); not {
				played[why]++
				continue
			}
			s, err := conformance.Parse("found.txt", []byte(text))
			if err != nil {
				t.Errorf("%s: %v\n%s", rule, err, text)
				continue
			}
			profile, err := embedded.Profile(s.File.Profile)
			if err != nil {
				t.Fatal(err)
			}
			tg, err := embedded.New(profile)
			if err != nil {
				t.Fatal(err)
			}
			p, err := conformance.NewPlayer(tg).Play(t.Context(), s, conformance.Play{})
			if err != nil || p.Stopped != "" {
				t.Errorf("%s: %v %s\n%s", rule, err, p.Stopped, text)
			}
			played["played"]++
			t.Logf("%s:\n%s", rule, s.Recorded(p.Texts, "", nil))
			tg.Close()
		}
	}
	t.Log(played)
	if played["played"] < 10 {
		t.Errorf("only %d scenarios: %v", played["played"], played)
	}
}

// big is a run that nobody waits for to the end: it is walked.
var big = joint.Run{
	Name: "4 members", Members: 4, Lists: []string{"ab", "b", "ba"}, Static: true, Delay: true, AnySubset: true, WriteFailures: true, WriteInFlight: true,
	Failover: true,
}

// Random ways through larger groups are explained too.
func TestJointWalks(t *testing.T) {
	w := big.Walk(embedded.JointBench, joint.Walks{Seed: 1, Sequences: 2000, Steps: 60})
	if w.Err != nil {
		t.Fatal(w.Err)
	}
	if w.Violation != nil {
		t.Fatalf("%s\n%s", w.Violation, w.Scenario)
	}
	t.Logf("%d sequences, %d with a Stable group, %d steps, at most %d explanations", w.Sequences, w.Stable, w.Steps, w.Explanations)
	if w.Stable < w.Sequences/2 {
		t.Errorf("only %d of %d sequences have had a Stable group", w.Stable, w.Sequences)
	}
}

// A walk comes by a rule that the specification breaks, and is made short; twice alike.
func TestJointWalksAreShortened(t *testing.T) {
	for _, rule := range []classic.RuleID{classic.SyncAborted, classic.JoinStableChanged, classic.StaticReplacedVote, classic.LoadSessions} {
		r := big
		r.Broken = []classic.RuleID{rule}
		var first string
		for range 2 {
			w := r.Walk(embedded.JointBench, joint.Walks{Seed: 3, Sequences: 2000, Steps: 60})
			if w.Err != nil || w.Violation == nil {
				t.Fatalf("%s: not noticed in %d steps: %v", rule, w.Steps, w.Err)
			}
			if n := len(w.Violation.Trace); n > 12 {
				t.Errorf("%s: shortened to %d events only", rule, n)
			}
			text := w.Violation.String() + w.Scenario
			if first == "" {
				first = text
				t.Logf("%s: in %d steps, shortened to %d: %s", rule, w.Steps, len(w.Violation.Trace), w.Violation.Property)
			} else if text != first {
				t.Errorf("%s: the same seed gives\n%s\nand\n%s", rule, first, text)
			}
		}
	}
}
