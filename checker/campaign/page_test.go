package campaign

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker/converge"
	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/checker/traffic"
	"github.com/muster-kafka/muster/model/classic"
)

// wrongCell is a cell whose history is illegal.
func wrongCell(t *testing.T) *cell {
	t.Helper()
	h, problems, err := history.ReadFile(t.Context(), filepath.Join("..", "linearize", "testdata", "hostile.jsonl"))
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	one := begun("k")
	one.history, one.ended = h, one.started
	return one
}

// savingTo is a campaign that judges by the reference and saves to a folder.
func savingTo(out string) *campaign {
	a := newAround(1)
	o := Options{Out: out, Profiles: []string{reference}, Enough: enough, Slack: maxSlack, Limits: linearize.Limits{Timeout: 5 * time.Second}}
	return &campaign{o: o, around: a, canary: &canary{around: a}, fail: func(error) {}}
}

// TestFailureLeavesItsPage judges an illegal history with time, and where all time is used up: a page is there, and the report names it.
func TestFailureLeavesItsPage(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, telling := range map[string]context.Context{"in time": t.Context(), "too late": over} {
		t.Run(name, func(t *testing.T) {
			c := savingTo(filepath.Join(t.TempDir(), "report"))
			c.look(t.Context(), telling, wrongCell(t))
			if len(c.report.Failures) != 1 || c.report.Illegal != 1 || len(c.report.Unsaved) > 0 {
				t.Fatalf("failures %v, unsaved %v", c.report.Failures, c.report.Unsaved)
			}
			f := c.report.Failures[0]
			for _, file := range []string{f.Page, f.File, f.Whole} {
				if info, err := os.Stat(file); err != nil || info.Size() < 1000 {
					t.Errorf("%q: %v", file, err)
				}
			}
			if named := f.Rule != ""; named != (name == "in time") {
				t.Errorf("rule %q", f.Rule)
			}
		})
	}
}

// TestPageThatCannotBeWritten judges an illegal history where nothing can be saved: what was found stands, and it is told what is missing.
func TestPageThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := savingTo(filepath.Join(file, "report"))
	c.fail = func(err error) { t.Errorf("it ends the campaign: %v", err) }
	c.look(t.Context(), t.Context(), wrongCell(t))
	if len(c.report.Failures) != 1 || c.report.Failures[0].Rule == "" || c.report.Failures[0].Page != "" {
		t.Errorf("failures %+v", c.report.Failures)
	}
	if all := strings.Join(c.report.Unsaved, "\n"); !strings.Contains(all, "save page: ") || !strings.Contains(all, "save history: ") || !strings.Contains(all, file) {
		t.Errorf("told of what is missing: %q", all)
	}
}

// TestConvergence counts groups whose clients were left alone.
func TestConvergence(t *testing.T) {
	t.Parallel()
	why := converge.Reason{Text: "the group is PreparingRebalance and waits for the join of c", Rules: []classic.RuleID{classic.SessionExpires}}
	apart := traffic.Healed{Group: "g", Result: traffic.Apart, Took: time.Second, Why: why}
	for name, test := range map[string]struct {
		healed  traffic.Healed
		result  linearize.Result
		slow    bool
		accused bool
		doubt   string
	}{
		"together":                {traffic.Healed{Result: traffic.Together, Took: time.Second}, linearize.Legal, false, false, ""},
		"apart and illegal":       {apart, linearize.Illegal, false, true, ""},
		"apart and undecided":     {apart, linearize.Unknown, false, true, ""},
		"apart though all is law": {apart, linearize.Legal, false, false, "the specification explains all their calls"},
		"apart on a slow machine": {apart, linearize.Illegal, true, false, "stood still for too much"},
		"without time":            {traffic.Healed{}, linearize.Legal, false, false, "of none of 1 groups"},
	} {
		t.Run(name, func(t *testing.T) {
			var r Report
			r.Groups, r.Legal = 1, 1
			got := r.Convergence.add(&test.healed, test.result, test.slow, 7)
			if (got != nil) != test.accused {
				t.Errorf("accused: %v", got)
			}
			doubts := strings.Join(r.Doubts(Faults{}), "\n")
			if test.doubt == "" && doubts != "" || !strings.Contains(doubts, test.doubt) {
				t.Errorf("doubts %q, want %q", doubts, test.doubt)
			}
		})
	}
}

// TestApartIsTold tells of clients that are apart in a history that could not be decided: it fails the run, with a page.
func TestApartIsTold(t *testing.T) {
	t.Parallel()
	one := wrongCell(t)
	one.healed = []traffic.Healed{{
		Group: one.history.Header.Groups[0], Result: traffic.Apart, Began: one.started, Took: time.Second,
		Why: converge.Reason{Text: "c waits for ever", Rules: []classic.RuleID{classic.JoinCompleteAll}},
	}}
	c := savingTo(t.TempDir())
	c.o.Limits.Operations = 3 // so that it cannot be decided
	c.look(t.Context(), t.Context(), one)
	if why := strings.Join(c.report.Convergence.Whys, ""); !strings.Contains(why, "c waits for ever") {
		t.Errorf("told besides: %q", why)
	}
	if c.report.Unknown != 1 || c.report.Convergence.Apart != 1 || len(c.report.Failures) != 1 {
		t.Fatalf("undecided %d, %+v, failures %+v", c.report.Unknown, c.report.Convergence, c.report.Failures)
	}
	f := c.report.Failures[0]
	page, err := os.ReadFile(f.Page)
	if err != nil || f.Rule != "join.complete.all-joined" || !strings.Contains(f.Text, "c waits for ever") || !strings.Contains(string(page), "c waits for ever") {
		t.Errorf("%v: %q: %s", err, f.Rule, f.Text)
	}
}

// TestBeginningIsJudged judges the beginning of a history while its clients still try to get together, and then all of it: the group is counted
// and told once, and it is told besides why they did not. What comes too late tells nothing.
func TestBeginningIsJudged(t *testing.T) {
	t.Parallel()
	one := wrongCell(t)
	one.healed = []traffic.Healed{{Group: one.history.Header.Groups[0], Result: traffic.Apart, Began: one.started, Took: time.Second, Why: converge.Reason{Text: "c waits for ever"}}}
	beginning := wrongCell(t)
	beginning.of = one
	c := savingTo(t.TempDir())
	c.look(t.Context(), t.Context(), beginning)
	if c.report.Illegal != 1 || len(c.report.Failures) != 1 || c.report.Convergence.Apart != 0 {
		t.Fatalf("after the beginning: %+v", c.report)
	}
	c.look(t.Context(), t.Context(), one)
	c.look(t.Context(), t.Context(), beginning)
	if r := &c.report; r.Illegal != 1 || r.Groups != 1 || len(r.Failures) != 1 || r.Untold != 0 || r.Convergence.Apart != 1 || len(r.Convergence.Whys) != 1 {
		t.Errorf("after all of it: %+v", c.report)
	}
	legal := wrongCell(t)
	legal.of, legal.history = wrongCell(t), legal.history.Keep(func(call *history.Call) bool { return call.ID < 3 })
	c.look(t.Context(), t.Context(), legal)
	if c.report.Groups != 1 {
		t.Error("a beginning that is legal counts")
	}
}
