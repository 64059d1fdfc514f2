package doctor

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/muster-kafka/muster/internal/kafka/kafkatest"
)

// TestKafkaDoctorRestart watches a broker that crashes and comes back: nothing is found, and the log is read on. It is for the
// night: set MUSTER_NIGHTLY.
func TestKafkaDoctorRestart(t *testing.T) {
	if os.Getenv("MUSTER_NIGHTLY") == "" {
		t.Skip("takes half a minute; MUSTER_NIGHTLY=1 runs it")
	}
	t.Parallel()
	b := kafkatest.Start(t, releases()[0], nil)
	c := newCast(t, b)
	c.topic("t", 2, 10, time.Hour)
	c.stable(c.raw("sits", "sits"))
	c.leaderMoves()
	down, read := false, int64(0)
	r := examined(t, Options{Addr: b.Addr, Settings: hasty(), Look: 25 * time.Second, Watch: true, Every: 500 * time.Millisecond, Live: func(r *Report) {
		if r.Looks < 3 || down {
			return
		}
		down, read = true, r.Log.Bytes
		c.must(b.Kill())
		c.play(func() {
			c.sleep(time.Second)
			if err := b.Restart(c.ctx); err != nil {
				t.Error(err)
				return
			}
			for m := c.raw("later", "sets"); c.ctx.Err() == nil && m.commit(10, 10) != nil; {
				c.sleep(100 * time.Millisecond) // while the coordinator loads
			}
		})
	}})
	if r.Groups.Judged != 2 || r.Groups.States["Stable"] != 1 || len(r.Findings) > 0 || r.DurationS > 40 {
		t.Errorf("%d groups judged in %.0f s, %v, findings %v", r.Groups.Judged, r.DurationS, r.Groups.States, r.Findings)
	}
	if r.Log.Bytes <= read {
		t.Errorf("%d bytes of the log were read before the crash, %d in all: it was not read on", read, r.Log.Bytes)
	}
	if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "broker 1") }) {
		t.Errorf("the crash left no note: %v", r.Notes)
	}
}

// leaderMoves reads on at a partition that was last seen at another broker.
func (c *cast) leaderMoves() {
	c.t.Helper()
	o, err := Options{Addr: c.addr}.withDefaults()
	c.must(err)
	cl, err := connect(c.ctx, o)
	c.must(err)
	defer cl.close()
	l, err := openLog(c.ctx, cl)
	c.must(err)
	l.partitions[0].leader, l.partitions[0].err = 99, kerr.NotLeaderForPartition
	c.must(l.readTail(c.ctx))
	if !l.covers("sits") {
		c.t.Errorf("a partition that has moved is not read any more: %v", l.partitions[0].err)
	}
}
