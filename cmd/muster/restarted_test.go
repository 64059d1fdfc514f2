package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCampaignRestarted has somebody else end a target, whose groups are in memory, and start it again in the middle of a campaign: what is lost so is nothing that it is wrong in, and
// nothing that it is right in.
func TestCampaignRestarted(t *testing.T) {
	for _, profile := range []string{"all", "calm"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			first := start(t, command(t, 2*time.Minute, "serve", "--listen", "127.0.0.1:0"))
			at := first.stdout.await(t, `127\.0\.0\.1:\d+`, time.Minute)[0]
			asJSON := filepath.Join(t.TempDir(), "v.json")
			campaign := start(t, command(t, 2*time.Minute, "campaign", at, "--budget", "24s", "--seed", "7", "--profile", profile, "--report", t.TempDir(), "--json", asJSON))
			campaign.stderr.await(t, `campaign: .* [1-9][0-9]* calls made`, time.Minute) // the first histories are over: others go on
			_ = first.cmd.Process.Kill()
			_ = first.cmd.Wait()
			second := start(t, command(t, 2*time.Minute, "serve", "--listen", at))
			t.Cleanup(func() {
				_ = second.cmd.Process.Kill()
				_ = second.cmd.Wait()
			})
			second.stdout.await(t, `127\.0\.0\.1:\d+`, time.Minute)
			campaign.end(t).expect(t, 2, "verdict: inconclusive", "seems to have been started again during the campaign", "all connections to it broke at once", "look into its log")
			v := readVerdict(t, asJSON)
			if reasons, _ := v["reasons"].([]any); len(v["failures"].([]any)) > 0 || strings.Count(fmt.Sprint(reasons), "started again during the campaign") != 1 {
				t.Errorf("failures %v, reasons %v", v["failures"], reasons)
			}
		})
	}
}
