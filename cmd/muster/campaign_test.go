package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCampaignUsage refuses what a campaign cannot do before anything is opened.
func TestCampaignUsage(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"impl"}, "impl runs on virtual time"},
		{[]string{"model"}, "model runs on virtual time"},
		{[]string{"rdkafka-mock"}, "campaigns do not run on rdkafka-mock"},
		{[]string{"impl+tcp", "--budget", "1s"}, "--budget 1s: want 5s or more"},
		{[]string{"impl+tcp", "--steps=-1"}, "--steps -1"},
		{[]string{"impl+tcp", "--steps=0"}, "--steps 0: want calls of one history, 1 or more"},
		{[]string{"impl+tcp", "--profile", "storm"}, "want calm, network, crashes, appends or all"},
		{[]string{"kfake", "--profile", "appends"}, "only impl+tcp and impl+serve can be told to"},
		{[]string{"impl+tcp", "--profile", "crashes"}, "impl+tcp cannot be killed and started again: only kafka:VERSION and impl+serve can"},
		{[]string{"nonsense"}, "no target is called"},
		{[]string{"impl+tcp", "--known", "nowhere"}, "--known"},
	} {
		muster(t, time.Minute, append([]string{"campaign"}, test.args...)...).expect(t, 64, test.want)
	}
	muster(t, time.Minute, "campaign", "127.0.0.1:1", "--budget", "5s").expect(t, 3, "verdict: unavailable")
}

// TestCampaignReport runs a short campaign. The reference holds, or the machine is too busy to say so; what was done is in the report, and
// the files are where they were asked for.
func TestCampaignReport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "report")
	run := muster(t, time.Minute, "campaign", "impl+tcp", "--budget", "6s", "--seed", "4", "--report", dir)
	v := readVerdict(t, filepath.Join(dir, "verdict.json"))
	campaign, _ := v["campaign"].(map[string]any)
	if run.code != 0 && run.code != 2 || len(v["failures"].([]any)) > 0 || campaign["illegal"] != 0.0 {
		t.Fatalf("exit code %d: %s", run.code, run.stdout)
	}
	if campaign["calls"].(float64) < 50 || campaign["groups"].(float64)+campaign["stalled"].(float64)+campaign["left"].(float64) == 0 {
		t.Errorf("it has done nothing: %v", campaign)
	}
	if faults := campaign["faults"].(map[string]any); len(faults) != 4 {
		t.Errorf("faults %v, want four kinds", faults)
	}
	if campaign["together"].(float64)+campaign["not_seen"].(float64) == 0 || campaign["apart"] != 0.0 {
		t.Errorf("clients that were left alone: %v", campaign)
	}
	contains(t, filepath.Join(dir, "index.html"), "judged by Muster", `id="faults"`, `id="moves"`, `id="widest"`, `id="rules-seen"`)
	text, err := os.ReadFile(filepath.Join(dir, "verdict.txt"))
	if err != nil || string(text) != run.stdout {
		t.Errorf("verdict.txt is not what was printed (%v):\n%s", err, text)
	}
}

// TestCampaignKnown finds what is wrong with kfake, and holds that a campaign which is given the list of that takes it for known: the same rules at least
// are not counted, whatever else the second campaign may find.
func TestCampaignKnown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list, asJSON := filepath.Join(dir, "known.txt"), filepath.Join(dir, "v.json")
	first := muster(t, time.Minute, "campaign", "kfake", "--budget", "6s", "--seed", "7", "--profile", "calm", "--strict", "--write-known", list)
	first.expect(t, 1, "FAILURE 1")
	listed, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	// No campaign finds just what another one has found, and on a busy machine it finds little: one that has found nothing of the list says nothing of it.
	for seconds := 6; seconds <= 24; seconds += 6 {
		muster(t, 2*time.Minute, "campaign", "kfake", "--budget", fmt.Sprintf("%ds", seconds), "--seed", "7", "--profile", "calm", "--strict", "--known", list, "--json", asJSON)
		v := readVerdict(t, asJSON)
		for _, f := range v["failures"].([]any) {
			if rule := f.(map[string]any)["rule"].(string); strings.Contains(string(listed), " "+rule+" ") {
				t.Errorf("%s is listed, and fails", rule)
			}
		}
		if len(v["known"].([]any)) > 0 {
			return
		}
	}
	t.Errorf("nothing is known in four campaigns, with the list\n%s", listed)
}
