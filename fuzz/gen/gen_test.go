package gen

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestBytesSource(t *testing.T) {
	b := FromBytes([]byte{7, 1, 44, 9})
	if got := b.Intn(5, ""); got != 2 {
		t.Errorf("7 of 5: %d", got)
	}
	if got := b.Intn(1000, ""); got != 300 {
		t.Errorf("two bytes: %d", got)
	}
	if b.Ended() {
		t.Error("ended a byte early")
	}
	if b.Intn(256, ""); !b.Ended() {
		t.Error("not ended")
	}
	if got := b.Intn(5, ""); got != 0 {
		t.Errorf("beyond the end: %d", got)
	}
}

// A byte of a script is an event: what it chooses does not depend on what comes before, but for the last bytes, which take another one with them.
func TestScript(t *testing.T) {
	choices := func(s *Script, n int) (all []int) {
		for range n {
			all = append(all, s.Intn(1000, ""))
		}
		return all
	}
	s := NewScript([]byte{0, 7, 9, 7, Wide, 1, Wide, 2})
	if got := choices(s, 3); !slices.Equal(got, []int{0, 0, 0}) {
		t.Errorf("the plain head: %v", got)
	}
	var events [][]int
	for n := 0; !s.Ended(); n++ {
		s.Event()
		events = append(events, choices(s, 1+n%3)) // how many are drawn makes no difference to the next
	}
	if len(events) != 5 || events[0][0] != events[2][0] || events[0][0] == events[1][0] || events[3][0] == events[4][0] {
		t.Errorf("%v", events)
	}
	if s.Event(); s.Intn(1000, "") != 0 {
		t.Error("beyond the end it is not plain")
	}
}

// silent lets the generator run without any coordinator: nobody ever answers.
func silent(setup Setup, src Source, events int) []Event {
	g := New(setup, src)
	var all []Event
	for i := range events {
		until := time.Duration(-1)
		if i%3 == 0 {
			until = 10 * time.Second
		}
		all = append(all, g.Next(until))
	}
	return all
}

var everything = Setup{Static: true, OffsetDelete: true, Transactions: true, Other: "u", Retention: true, TopicsDelete: true, Restarts: true, FailWrites: true}

func TestTheSameSourceGivesTheSameEvents(t *testing.T) {
	for seed := range uint64(20) {
		a, b := silent(everything, Seeded(seed), 200), silent(everything, Seeded(seed), 200)
		for i := range a {
			if a[i].Line != b[i].Line || a[i].Version != b[i].Version {
				t.Fatalf("seed %d, event %d: %q, %q", seed, i, a[i].Line, b[i].Line)
			}
		}
	}
	if silent(Setup{}, Seeded(1), 50)[10].Line == silent(Setup{}, Seeded(2), 50)[10].Line &&
		silent(Setup{}, Seeded(1), 50)[20].Line == silent(Setup{}, Seeded(2), 50)[20].Line {
		t.Error("the seed makes no difference")
	}
}

func TestVersionsStayInRange(t *testing.T) {
	setup := everything
	setup.Groups = 2
	setup.Versions = map[kmsg.Key]Versions{kmsg.OffsetFetch: {3, 7}, kmsg.LeaveGroup: {3, 4}}
	seen := map[kmsg.Key]map[int16]int{}
	for seed := range uint64(100) {
		for _, e := range silent(setup, Seeded(seed), 300) {
			if e.Request == nil {
				continue
			}
			k := kmsg.Key(e.Request.Key())
			if seen[k] == nil {
				seen[k] = map[int16]int{}
			}
			seen[k][e.Version]++
		}
	}
	for k, want := range setup.withDefaults().Versions {
		for v := range seen[k] {
			if v < want.Min || v > want.Max {
				t.Errorf("%s version %d is not in %v", k.Name(), v, want)
			}
		}
		for v := want.Min; v <= want.Max; v++ {
			if seen[k][v] == 0 {
				t.Errorf("%s version %d never comes", k.Name(), v)
			}
		}
		if seen[k][want.Max] < seen[k][want.Min] {
			t.Errorf("%s: the newest version is not the most frequent: %v", k.Name(), seen[k])
		}
	}
}

func TestAPlainSourceMakesPlainProgress(t *testing.T) {
	first := silent(Setup{}, FromBytes(nil), 1)[0]
	if first.Line != "join A range=a session=10s rebalance=30s v=9" {
		t.Errorf("first: %q", first.Line)
	}
}

func TestClientLearns(t *testing.T) {
	c := NewClient("A", "g")
	c.List = []Protocol{{"range", "a"}}
	answer := func(code int16, gen int32, id, leader string, members ...string) {
		req := c.JoinGroup()
		c.Sent(req)
		if c.Joins != 1 {
			t.Fatal("the request is not counted")
		}
		m := kmsg.NewPtrJoinGroupResponse()
		m.ErrorCode, m.Generation, m.MemberID, m.LeaderID, m.Protocol = code, gen, id, leader, kmsg.StringPtr("range")
		for _, id := range members {
			m.Members = append(m.Members, kmsg.JoinGroupResponseMember{MemberID: id})
		}
		c.Learn(req, m)
		if c.Joins != 0 {
			t.Fatal("the request is still counted")
		}
	}
	answer(79, -1, "a1", "")
	if c.JoinID != "a1" || c.Generation != -1 {
		t.Fatalf("after MEMBER_ID_REQUIRED: %+v", c)
	}
	answer(0, 1, "a1", "a1", "a1", "b1")
	if !c.Leads() || c.Generation != 1 || c.Synced {
		t.Fatalf("joined: %+v", c)
	}
	sync := c.SyncGroup(strings.ToUpper)
	if len(sync.GroupAssignment) != 2 || string(sync.GroupAssignment[1].MemberAssignment) != "B1" || *sync.Protocol != "range" || sync.Generation != 1 {
		t.Fatalf("sync: %+v", sync)
	}
	c.Learn(sync, kmsg.NewPtrSyncGroupResponse())
	if !c.Synced {
		t.Fatal("not synced")
	}
	beat := kmsg.NewPtrHeartbeatResponse()
	beat.ErrorCode = 27
	c.Learn(c.Heartbeat(), beat)
	if c.Synced || !c.Rejoin || c.JoinID != "a1" {
		t.Fatalf("after REBALANCE_IN_PROGRESS: %+v", c)
	}
	answer(0, 2, "a1", "b1")
	if c.Leads() || c.Rejoin || len(c.SyncGroup(strings.ToUpper).GroupAssignment) != 0 {
		t.Fatalf("follower: %+v", c)
	}
	beat.ErrorCode = 25
	c.Learn(c.Heartbeat(), beat)
	if c.JoinID != "" {
		t.Fatalf("after UNKNOWN_MEMBER_ID: %+v", c)
	}
	answer(79, -1, "a2", "")
	if c.ID() != "a2" || len(c.Ids) != 2 {
		t.Fatalf("new id: %+v", c)
	}
	g := &Generator{clients: []*Client{c}}
	if g.Who("a1") != "A'1" || g.Who("a2") != "A" || g.Who("") != "none" || g.Who(Stranger) != "stranger" || g.Who("z") != "unseen" {
		t.Errorf("names: %s %s %s %s %s", g.Who("a1"), g.Who("a2"), g.Who(""), g.Who(Stranger), g.Who("z"))
	}
}
