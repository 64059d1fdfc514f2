package doctor

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/muster-kafka/muster/internal/kafka/kafkatest"
)

// TestKafkaDoctorRolling watches a healthy group of 50 real consumers for two minutes while each of them is restarted once: nothing may
// be found, with an eager and with a cooperative assignor, with the log and without it. It is for the night: set MUSTER_NIGHTLY.
func TestKafkaDoctorRolling(t *testing.T) {
	if os.Getenv("MUSTER_NIGHTLY") == "" {
		t.Skip("takes five minutes; MUSTER_NIGHTLY=1 runs it")
	}
	const consumers, watched = 50, 2 * time.Minute
	for name, balancer := range map[string]kgo.GroupBalancer{"eager": kgo.RangeBalancer(), "cooperative": kgo.CooperativeStickyBalancer()} {
		t.Run(name, func(t *testing.T) {
			b := kafkatest.Start(t, releases()[0], map[string]string{"group.initial.rebalance.delay.ms": "3000"})
			c := newCast(t, b)
			c.topic("t", 100, 1, 0)
			c.produces("t", 10*time.Millisecond)
			// All of them have one name and one host, which is the hardest case: nobody can be told from the others.
			start := func() (stop func()) { return c.consumer("rolling", "app", "t", 0, kgo.Balancers(balancer)) }
			var stops []func()
			for range consumers {
				stops = append(stops, start())
			}
			c.sleep(15 * time.Second)
			c.play(func() {
				for i := range stops {
					began := time.Now()
					stops[i]()
					start()
					c.sleep(max(0, (watched-10*time.Second)/consumers-time.Since(began)))
				}
			})
			done := make(chan *Report, 1)
			c.play(func() { done <- examined(t, Options{Addr: b.Addr, Look: watched, Watch: true, NoLog: true}) })
			last := 0
			r := examined(t, Options{Addr: b.Addr, Look: watched, Watch: true, Live: func(r *Report) {
				if n := len(r.Findings); n > last {
					t.Errorf("after %.0f s: %+v", r.DurationS, r.Findings)
					last = n
				}
			}})
			for _, r := range []*Report{r, <-done} {
				if r.Groups.Judged != 1 || len(r.Findings) > 0 {
					t.Errorf("log %s: %d groups judged, %d findings; want 1 and none", r.Log.Read, r.Groups.Judged, len(r.Findings))
				}
			}
			t.Log(fmt.Sprint(r.Groups.States, " after ", r.Looks, " looks"))
		})
	}
}
