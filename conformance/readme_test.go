package conformance_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/internal/findings"
	"github.com/muster-kafka/muster/internal/verdict"
	"github.com/muster-kafka/muster/model/classic"
)

// holdReadme holds the sample of a verdict on kfake in README.md to what a run gives: its lines, but for those that stand for others (...),
// are lines of the verdict, in its order.
func holdReadme(t *testing.T, reg *conformance.Register, rep conformance.Report) {
	t.Helper()
	src, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	whole := plainly(verdictOn(t, reg, rep))
	sample := plainly(sampleIn(string(src), "$ bin/muster verify kfake"))
	if len(sample) < 20 {
		t.Fatalf("README.md has no sample of muster verify kfake, or a short one: %q", sample)
	}
	if at := shortened(sample, whole); at < len(sample) {
		t.Errorf("the sample of muster verify kfake in README.md is not what a run gives now, from this line on:\n  %s\nmake build && bin/muster verify kfake gives it anew; of a run now:\n  %s",
			sample[at], strings.Join(slices.DeleteFunc(whole, func(l string) bool { return !telling.MatchString(l) }), "\n  "))
	}
}

// telling are lines worth showing of a verdict that is long.
var telling = regexp.MustCompile(`^(scenarios |rules |FAILURE.*join-parked-removed|\d+ +join\.parked\.removed|\d+ failures)`)

// verdictOn is the table that the command gives for the report.
func verdictOn(t *testing.T, reg *conformance.Register, rep conformance.Report) string {
	t.Helper()
	v := verdict.New("0.1.0", rep.Target, "Kafka 4.3.1", 0)
	v.Scenarios = &verdict.ScenarioCounts{}
	var rules []string
	for _, r := range classic.Rules() {
		rules = append(rules, r.ID)
	}
	v.Cover(rules, rep.Covered())
	seen := map[string]bool{}
	for _, res := range rep.Results {
		if seen[res.Scenario] {
			continue // was run again
		}
		seen[res.Scenario] = true
		v.Case(verdict.Case{Judge: verdict.Scenarios, Name: res.Scenario, Skipped: res.Reason})
		for _, f := range res.Failures() {
			v.Find(findings.Of(f, reg, "muster run "+f.Scenario+" --target "+rep.Target))
		}
	}
	v.Finish(verdict.Scenarios)
	v.Close(false, nil, rep.Duration)
	var b strings.Builder
	if err := v.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sampleIn is the indented text below the command in a page.
func sampleIn(page, command string) string {
	_, rest, _ := strings.Cut(page, "\n    "+command+"\n")
	var b strings.Builder
	for line := range strings.Lines(rest) {
		if line != "\n" && !strings.HasPrefix(line, "    ") {
			break
		}
		b.WriteString(strings.TrimPrefix(line, "    "))
	}
	return strings.TrimRight(b.String(), "\n")
}

// measured is what differs from run to run.
var measured = regexp.MustCompile(`\d+(\.\d+)? ?s\b`)

// plainly are the lines of a text without what differs from run to run, and without blanks at their ends.
func plainly(text string) []string {
	lines := strings.Split(measured.ReplaceAllString(text, "N s"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return lines
}

// shortened says up to which line the sample is the whole with lines left out where it has a line of dots, and ends of lines where one ends in
// dots: all of its lines if it is.
func shortened(sample, whole []string) int {
	at := 0
	for at < len(sample) && strings.TrimSpace(sample[at]) != "..." {
		if at == len(whole) || !sameLine(sample[at], whole[at]) {
			return at
		}
		at++
	}
	if at == len(sample) {
		return at
	}
	sample, whole = sample[at+1:], whole[at:]
	best := 0
	for i := range len(whole) + 1 {
		if best = max(best, shortened(sample, whole[i:])); best == len(sample) {
			break
		}
	}
	return at + 1 + best
}

func sameLine(sample, whole string) bool {
	if beginning, ok := strings.CutSuffix(sample, "..."); ok {
		return strings.HasPrefix(whole, beginning)
	}
	return sample == whole
}

// TestShortened holds that a sample is taken for one only where it leaves out what it says it leaves out.
func TestShortened(t *testing.T) {
	whole := []string{"a", "b", "c long", "b", "d"}
	for _, c := range []struct {
		sample string
		want   int
	}{
		{"a\nb\nc long\nb\nd", 5},
		{"a\n...\nb\nd", 4},
		{"...\nc lo...\n  ...\nd", 4},
		{"a\nc long", 1},
		{"a\n...\ne\nd", 2},
		{"...\nb\na", 2},
		{"...\nd\nd", 2},
		{"...\nb\nd\n...\nc...", 4},
	} {
		if got := shortened(strings.Split(c.sample, "\n"), whole); got != c.want {
			t.Errorf("%q: %d lines are right, want %d", c.sample, got, c.want)
		}
	}
	if got := sampleIn("x\n\n    $ go\n    a\n\n      b\n\ny\n    c\n", "$ go"); got != "a\n\n  b" {
		t.Errorf("the sample is %q", got)
	}
}
