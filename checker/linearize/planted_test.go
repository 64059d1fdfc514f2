package linearize

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestPlantedTimers lets the simulated coordinator have a fault of time, and the judge have as much slack as ever: most histories in which that can show are
// illegal. fuzz/bugs plants the same faults in the reference coordinator.
func TestPlantedTimers(t *testing.T) {
	t.Parallel()
	const runs = 10
	for _, test := range []struct {
		name  string
		edit  func(*simOptions)
		floor int // of the runs; measured, then rounded down
	}{
		{"none", func(*simOptions) {}, -1},
		{"the session timer never fires", func(o *simOptions) { o.session = -1 }, 5},
		{"the session timer fires after twice its time", func(o *simOptions) { o.session = 2 }, 5},
		{"the session timer fires a fifth too early", func(o *simOptions) { o.session = 0.8 }, 5},
		{"a parked JoinGroup is never answered", func(o *simOptions) {
			completed := 0
			o.mute = func(resp kmsg.Response) bool {
				join, ok := resp.(*kmsg.JoinGroupResponse)
				if ok && join.ErrorCode == 0 {
					completed++
				}
				return ok && join.ErrorCode == 0 && completed == 5
			}
		}, 5},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			illegal := 0
			for seed := range uint64(runs) {
				o := simOptions{seed: 70_000 + seed, groups: 1, clients: 5, calls: 120}
				test.edit(&o)
				v, err := Check(t.Context(), simulate(t, o), Limits{Timeout: 10 * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				if v.Result == Illegal {
					illegal++
				}
			}
			t.Logf("%d of %d histories are illegal", illegal, runs)
			if illegal < test.floor || test.floor < 0 && illegal > 0 {
				t.Errorf("%d of %d histories are illegal, want %d", illegal, runs, max(0, test.floor))
			}
		})
	}
}
