package campaign

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
)

// Releases from 2.5 to 3.3.1 are not asked for what they cannot answer, and all others are.
func TestVersionsBesideStaticMembers(t *testing.T) {
	join := int16(kmsg.JoinGroup)
	for profile, spared := range map[string]bool{"2.4.1": false, "2.5.1": true, "2.8.2": true, "3.3.1": true, "3.3.2": false, "4.4.0": false, "reference": false, "scala": false} {
		c := &campaign{o: Options{Profiles: []string{profile}}}
		c.caps.Features = []target.Feature{target.Static}
		drawn := map[bool]int{}
		c.caps.Versions = map[int16]target.VersionRange{join: {Max: 7}, int16(kmsg.SyncGroup): {Max: 5}}
		for n := range 20 {
			one := c.newCell(n)
			drawn[one.plan.Static]++
			want := int16(0)
			if one.plan.Static && spared {
				want = instanceJoins
			}
			if got := one.plan.Versions[join]; got.Min != want || got.Max != 7 || one.plan.Versions[int16(kmsg.SyncGroup)].Max != 5 {
				t.Fatalf("%s, static %v: versions %v", profile, one.plan.Static, one.plan.Versions)
			}
		}
		if drawn[true] == 0 || drawn[false] == 0 {
			t.Errorf("static or not: %v", drawn)
		}
		if c.caps.Versions[join].Min != 0 {
			t.Errorf("%s: what the target offers has been changed", profile)
		}
	}
}
