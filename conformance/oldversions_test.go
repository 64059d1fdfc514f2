package conformance_test

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
)

// old is a right coordinator that offers older versions only.
type old struct {
	target.Target
	newest map[kmsg.Key]int16
}

func (o old) Capabilities() target.Capabilities {
	caps := o.Target.Capabilities()
	versions := map[int16]target.VersionRange{}
	for key, r := range caps.Versions {
		if newest, ok := o.newest[kmsg.Key(key)]; ok {
			r.Max = newest
		}
		versions[key] = r
	}
	caps.Versions = versions
	return caps
}

// TestOldVersions holds that a coordinator is not blamed for versions that it does not offer, and is still judged by most scenarios.
func TestOldVersions(t *testing.T) {
	tg := opened(t, "impl")
	for name, c := range map[string]struct {
		newest map[kmsg.Key]int16
		least  int
	}{
		"JoinGroup 3":       {map[kmsg.Key]int16{kmsg.JoinGroup: 3}, 30},
		"LeaveGroup 2":      {map[kmsg.Key]int16{kmsg.LeaveGroup: 2}, 45},
		"SyncGroup 4":       {map[kmsg.Key]int16{kmsg.SyncGroup: 4}, 70},
		"FindCoordinator 3": {map[kmsg.Key]int16{kmsg.FindCoordinator: 3}, 70},
		"OffsetCommit 8":    {map[kmsg.Key]int16{kmsg.OffsetCommit: 8, kmsg.OffsetFetch: 7}, 70},
		"all old": {map[kmsg.Key]int16{
			kmsg.JoinGroup: 3, kmsg.LeaveGroup: 2, kmsg.SyncGroup: 2, kmsg.Heartbeat: 2, kmsg.OffsetCommit: 5, kmsg.OffsetFetch: 4,
			kmsg.FindCoordinator: 2, kmsg.DescribeGroups: 2, kmsg.ListGroups: 2, kmsg.DeleteGroups: 1,
		}, 20},
	} {
		rep, err := conformance.Suite{OutDir: t.TempDir()}.Run(t.Context(), old{tg, c.newest}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range rep.Failures() {
			t.Errorf("%s: %s", name, f)
		}
		for _, r := range rep.Results {
			if r.Status == conformance.Broken {
				t.Errorf("%s: %s could not be run: %s", name, r.Scenario, r.Reason)
			}
			if r.Status == conformance.Skip && r.Reason == "" || strings.Contains(r.Reason, "does not know") {
				t.Errorf("%s: %s is skipped: %q", name, r.Scenario, r.Reason)
			}
		}
		if n := rep.Count(conformance.Pass); n < c.least {
			t.Errorf("%s: only %d scenarios were judged", name, n)
		}
		t.Logf("%s: %d of %d", name, rep.Count(conformance.Pass), len(rep.Results))
	}
}
