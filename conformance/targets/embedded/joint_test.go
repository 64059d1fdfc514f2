package embedded_test

import (
	"bytes"
	"flag"
	"fmt"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/checker/joint"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/internal/golden"
	"github.com/muster-kafka/muster/model/classic"
)

var deepJoint = flag.Bool("deep", false, "explore the deep joint runs too (minutes)")

// In every joint state that there is, the coordinator does what the specification says; the numbers of states and transitions are exact. A
// change of either is a change of the coordinator, of the specification or of the alphabet.
func TestJointToClosure(t *testing.T) {
	golden.Testdata(t, "joint.txt", jointSizes(t, joint.Runs()))
}

func TestDeepJoint(t *testing.T) {
	if !*deepJoint {
		t.Skip("minutes; go test -deep runs it")
	}
	golden.Testdata(t, "joint-deep.txt", jointSizes(t, joint.Deep()))
}

func jointSizes(t *testing.T, runs []joint.Run) string {
	t.Helper()
	var b bytes.Buffer
	for _, r := range runs {
		report := explore.Run(t.Context(), r.Name, r.Machines(embedded.JointBench), explore.Options{Workers: 2})
		t.Log(report.String())
		if !report.Ok() {
			var why bytes.Buffer
			if err := report.Print(&why); err != nil {
				t.Fatal(err)
			}
			t.Error(why.String())
		}
		fmt.Fprintf(&b, "%s: %d states, %d transitions, depth %d\n", report.Name, report.States, report.Transitions, report.Depth)
	}
	return b.String()
}

// small is a run that is over soon.
var small = joint.Run{Name: "small", Members: 2, Lists: []string{"a"}, Static: true, WriteFailures: true, Failover: true}

// However many workers there are, numbers and traces are the same, also where the specification breaks a rule. Whichever of them reaches a
// joint state first leaves its own names in it, so that this shows that names make no difference.
func TestJointWorkersAgree(t *testing.T) {
	for _, broken := range [][]classic.RuleID{nil, {classic.StaticFenced}, {classic.JoinCompleteLeader}} {
		r := small
		r.Broken = broken
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
				t.Errorf("broken %v, %d workers:\n%s\none worker:\n%s", broken, workers, got.String(), want)
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
	run := joint.Runs()[len(joint.Runs())-1]
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
