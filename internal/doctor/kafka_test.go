package doctor

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/muster-kafka/muster/internal/anomaly"
	"github.com/muster-kafka/muster/internal/kafka/kafkatest"
)

// releases are those in MUSTER_KAFKA_RELEASES, or one of each coordinator that Kafka has.
func releases() []string {
	if given := strings.Fields(os.Getenv("MUSTER_KAFKA_RELEASES")); len(given) > 0 {
		return given
	}
	return []string{"4.3.1", "3.9.2"}
}

// hasty are thresholds for a test that cannot wait.
func hasty() anomaly.Settings {
	s := anomaly.Defaults()
	s.StuckPreparing, s.StuckCompleting, s.Abandoned = 3*time.Second, 3*time.Second, 3*time.Second
	s.RebalanceTimeout, s.HeartbeatInterval, s.Slack = 5*time.Second, time.Second, time.Second
	return s
}

// examined may be called from any goroutine of the test.
func examined(t *testing.T, o Options) *Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	r, err := Examine(ctx, o)
	if err != nil {
		t.Error(err)
		return &Report{}
	}
	var text strings.Builder
	if err := r.WriteTable(&text); err != nil {
		t.Error(err)
	}
	t.Log("\n" + text.String())
	return r
}

func TestKafkaDoctor(t *testing.T) {
	for _, version := range releases() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			b := kafkatest.Start(t, version, map[string]string{"offsets.topic.num.partitions": "5"})
			c := newCast(t, b)
			c.topic("t", 2, 10, time.Hour)
			c.healthy()
			r := examined(t, Options{Addr: b.Addr, Settings: hasty(), Look: 4 * time.Second, Every: 500 * time.Millisecond})
			if r.Verdict != "healthy" || r.Groups.Judged != 202 || len(r.NotAuthorized) > 0 || r.Log.Read != "all" {
				t.Fatalf("a healthy cluster of 202 groups: %d findings, %d judged, not examined %v, log %v", len(r.Findings), r.Groups.Judged, r.NotAuthorized, r.Log)
			}
			if n := float64(r.Requests) / r.DurationS; n > 20 {
				t.Errorf("%.1f requests a second", n)
			}
			c.troubles()
			// With the log and without it, at the same time: they do not disturb each other, nor the groups.
			blind := hasty()
			blind.FlapCount = 2 // memberships from before the first look do not count
			without := make(chan *Report, 1)
			c.play(func() {
				without <- examined(t, Options{Addr: b.Addr, Settings: blind, Look: 14 * time.Second, Every: 250 * time.Millisecond, NoLog: true})
			})
			r = examined(t, Options{Addr: b.Addr, Settings: hasty(), Look: 18 * time.Second, Every: 250 * time.Millisecond})
			diagnosed(t, r, map[string]diagnosis{
				"not-rejoining": {rule: anomaly.StuckPreparing, certain: true, member: "stays-away", says: "only this one is left to rejoin"},
				"never-syncing": {rule: anomaly.StuckCompleting, certain: true, member: "leads", says: "led generation 1 and is still there"},
				"small-session": {rule: anomaly.FlappingSession, certain: true, member: "hasty", says: "session timeout of 300ms is too small"},
				"slow-polls":    {rule: anomaly.FlappingPoll, either: true, member: "slow", says: "misses its poll interval"},
				"abandoned":     {rule: anomaly.LagWithoutMembers, certain: true, member: "", says: "t-0: committed 3, end 10"},
				"wedged":        {rule: anomaly.Wedged, certain: false, member: "", says: "5s is assumed"},
			})
			r = <-without
			diagnosed(t, r, map[string]diagnosis{
				"not-rejoining": {rule: anomaly.StuckPreparing, certain: false, member: "", says: "cannot be seen from outside"},
				"never-syncing": {rule: anomaly.StuckCompleting, certain: false, member: "", says: "one of its 2 members"},
				"small-session": {rule: anomaly.FlappingMembers, certain: false, member: "hasty", says: "timeouts are not known"},
				"slow-polls":    {rule: anomaly.FlappingMembers, certain: false, member: "slow", says: "timeouts are not known"},
				"abandoned":     {rule: anomaly.LagWithoutMembers, certain: false, member: "", says: "oldest unread record"},
				"wedged":        {rule: anomaly.StuckPreparing, certain: false, member: "", says: "may be wedged"},
			})
		})
	}
}

type diagnosis struct {
	rule    anomaly.Rule
	certain bool
	member  string // part of the only name, or of each
	says    string

	either bool // certain where looks caught two drops, inferred from the lengths of memberships otherwise
}

func diagnosed(t *testing.T, r *Report, want map[string]diagnosis) {
	t.Helper()
	for group, d := range want {
		i := slices.IndexFunc(r.Findings, func(f anomaly.Finding) bool { return f.Group == group })
		if i < 0 {
			t.Errorf("%s: no finding, want %s", group, d.rule)
			continue
		}
		f := r.Findings[i]
		if f.Rule != d.rule || f.Certain != d.certain && !d.either {
			t.Errorf("%s: %s, certain %v; want %s, certain %v", group, f.Rule, f.Certain, d.rule, d.certain)
		}
		if (d.member == "") != (len(f.Members) == 0) || slices.ContainsFunc(f.Members, func(m string) bool { return !strings.Contains(m, d.member) }) {
			t.Errorf("%s: points at %v, want %q", group, f.Members, d.member)
		}
		if text := f.Summary + "\n" + strings.Join(f.Evidence, "\n"); !strings.Contains(text, d.says) {
			t.Errorf("%s: %q is not in\n%s", group, d.says, text)
		}
	}
	for _, f := range r.Findings {
		if _, ok := want[f.Group]; !ok {
			t.Errorf("a finding for the healthy group %s: %+v", f.Group, f)
		}
	}
	if len(r.Findings) != len(want) {
		t.Errorf("%d findings, want %d", len(r.Findings), len(want))
	}
}

// healthy makes 202 groups that nothing is wrong with: real consumers, some that share their groups, members that only sit there, and
// groups that nobody is in and that have read everything.
func (c *cast) healthy() {
	for i := range 12 {
		c.consumer(fmt.Sprintf("real-%d", i/2), "real", "t", 0)
	}
	for i := range 176 {
		c.stable(c.raw(fmt.Sprintf("sits-%03d", i), "sits"))
	}
	for i := range 20 {
		group := fmt.Sprintf("done-%02d", i)
		if i%2 == 0 {
			c.must(c.stable(c.raw(group, "done")).leave())
		}
		c.commit(group, 10, 10)
	}
}

// commit sets the offsets of a group that has no member.
func (c *cast) commit(group string, offsets ...int64) {
	c.t.Helper()
	c.must(c.raw(group, "sets").commit(offsets...))
}

// troubles makes each trouble that the doctor knows, in a group of its own.
func (c *cast) troubles() {
	// A member that heartbeats and does not rejoin, and a real consumer that waits for it.
	away := c.stable(c.raw("not-rejoining", "stays-away"))
	c.play(func() {
		for c.ctx.Err() == nil {
			_ = away.heartbeat()
			c.sleep(time.Second)
		}
	})
	c.consumer("not-rejoining", "waits", "t", 0, kgo.Balancers(kgo.RangeBalancer()))

	// A leader that has synced once, and does not sync again.
	leader, follower := c.stable(c.raw("never-syncing", "leads")), c.raw("never-syncing", "follows")
	c.play(func() {
		if follower.join() == nil {
			_ = follower.sync() // parked
		}
	})
	c.await("a rebalance of never-syncing", func() bool { return leader.heartbeat() != nil })
	c.must(leader.join())

	// A member whose session is over before its next heartbeat.
	flapper := c.raw("small-session", "hasty")
	flapper.session = 300 * time.Millisecond
	c.play(func() {
		for c.ctx.Err() == nil {
			if flapper.id = ""; flapper.join() == nil && flapper.sync() == nil {
				for c.ctx.Err() == nil && !unwanted(flapper.heartbeat()) {
					c.sleep(900 * time.Millisecond)
				}
			}
			c.sleep(10 * time.Millisecond)
		}
	})

	// Two real consumers that each work for longer than they are waited for.
	c.topic("busy", 2, 1, 0)
	c.produces("busy", 20*time.Millisecond)
	timing := []kgo.Opt{kgo.RebalanceTimeout(1500 * time.Millisecond), kgo.HeartbeatInterval(200 * time.Millisecond)}
	slow := func() <-chan struct{} {
		_, working := c.worker("slow-polls", "slow", "busy", 4*time.Second, append(timing, kgo.BlockRebalanceOnPoll())...)
		return working
	}
	working := slow()
	c.await("work", func() bool { // so that the first one works when the second one comes
		select {
		case <-working:
			return true
		default:
			return false
		}
	})
	slow()
	c.play(func() { // and somebody who comes and goes, so that there is always a rebalance to miss
		for c.ctx.Err() == nil {
			stop := c.consumer("slow-polls", "slow", "busy", 0, timing...)
			c.sleep(3 * time.Second)
			stop()
		}
	})

	// A group that read a part and was left.
	c.must(c.stable(c.raw("abandoned", "left")).leave())
	c.commit("abandoned", 3, 10)

	// A JoinGroup that lists a protocol name twice is never answered.
	wedge := c.raw("wedged", "twice")
	wedge.protocols = []string{"range", "range"}
	c.play(func() {
		if err := wedge.join(); c.ctx.Err() == nil {
			c.t.Errorf("the JoinGroup that lists a name twice was answered: %v", err)
		}
	})
}

func (c *cast) sleep(d time.Duration) {
	select {
	case <-c.ctx.Done():
	case <-time.After(d):
	}
}

func (c *cast) await(what string, holds func() bool) {
	c.t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); c.sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("%s did not come", what)
		}
	}
}
