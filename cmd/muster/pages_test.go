package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker/campaign"
	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/internal/verdict"
)

// contains fails the test where a file does not hold all the texts.
func contains(t *testing.T, file string, texts ...string) {
	t.Helper()
	all, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if !strings.Contains(string(all), text) {
			t.Errorf("%s does not say %q", file, text)
		}
	}
}

// TestCheckReport writes the page of a history that nobody has made small. Where it cannot be written the verdict is what it was.
func TestCheckReport(t *testing.T) {
	t.Parallel()
	wrong, err := filepath.Abs(filepath.Join("..", "..", "checker", "linearize", "testdata", "hostile.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "report")
	run := muster(t, time.Minute, "check", wrong, "--report", dir)
	run.expect(t, 1, "Its page: "+dir)
	pages, err := filepath.Glob(filepath.Join(dir, "history-4-*.html"))
	if err != nil || len(pages) != 1 {
		t.Fatalf("pages %v, %v", pages, err)
	}
	contains(t, pages[0], "What a client suffers", "muster check "+wrong, `id="timeline"`)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	run = muster(t, time.Minute, "check", wrong, "--report", file)
	run.expect(t, 1, "In an order that explains all the rest")
	if !strings.Contains(run.stderr, "--report: save page: ") || !strings.Contains(run.stderr, "give a folder that can be written") {
		t.Errorf("told of the page that is missing: %s", run.stderr)
	}
}

// TestRunReport writes the page of a run of scenarios.
func TestRunReport(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "report")
	muster(t, time.Minute, "run", "join-starts-rebalance", "--target", "model", "--report", dir).expect(t, 0, "verdict: pass")
	contains(t, filepath.Join(dir, "index.html"), "model judged by Muster", ">pass<", "join.new.rebalances")
	contains(t, filepath.Join(dir, "verdict.txt"), "verdict: pass")
	file := filepath.Join(dir, "verdict.txt")
	muster(t, time.Minute, "run", "join-starts-rebalance", "--target", "model", "--report", file).expect(t, 3, "nothing was judged, give a folder that can be written")
	muster(t, time.Minute, "verify", "model", "--dry-run", "--report", dir).expect(t, 64, "--dry-run judges nothing")
}

// TestUnsaved tells of a campaign whose files could not be written: it fails all the same, and says what is missing.
func TestUnsaved(t *testing.T) {
	t.Parallel()
	v := verdict.New(version, "impl+tcp", "", 1)
	v.Linearizability = &verdict.LinearizabilityCounts{}
	report := campaign.Report{Groups: 1, Illegal: 1, Unsaved: []string{"save page: no space left on device"}, Failures: []linearize.Failure{{Group: "g", Rule: "session.expires", Text: "seen"}}}
	report.Faults = map[history.FaultKind]int{}
	report.Convergence.Together = 1
	tellCampaign(v, 1, report, campaign.Faults{}, false, false)
	v.Finish(verdict.Linearizability)
	v.Close(false, nil, time.Second)
	if v.Result != verdict.Fail || v.ExitCode() != 1 || len(v.Failures) != 1 || v.Failures[0].Scenario != "g" {
		t.Errorf("%s, exit code %d, failures %+v", v.Result, v.ExitCode(), v.Failures)
	}
	if told := strings.Join(v.Warnings, "\n"); !strings.Contains(told, "no space left on device") || !strings.Contains(told, "--report a folder that can be written") {
		t.Errorf("warnings: %s", told)
	}
	var page strings.Builder
	if err := v.WriteHTML(&page, "report"); err != nil || !strings.Contains(page.String(), "no space left on device") {
		t.Errorf("the page of the run: %v", err)
	}
}
