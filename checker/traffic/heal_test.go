package traffic_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/traffic"
)

// club is a coordinator of a group with one member, which may get it wrong.
type club struct {
	mu          sync.Mutex
	joined      bool
	assignment  []byte
	beats       int
	ghost       bool  // shows a member that nobody is
	heartbeat   int16 // what it answers
	refuse      int16 // what it answers to a JoinGroup
	deaf        bool  // never answers a JoinGroup
	forgets     bool  // what the leader has assigned
	lateEnough  int   // heartbeats after which the ghost goes
	unavailable bool  // does not describe groups
}

const only = "the-member"

func (c *club) answer(req kmsg.Request) (kmsg.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	resp := req.ResponseKind()
	switch r := resp.(type) {
	case *kmsg.JoinGroupResponse:
		if c.deaf {
			return nil, nil
		}
		if r.ErrorCode = c.refuse; c.refuse != 0 {
			return r, nil
		}
		c.joined = true
		r.MemberID, r.LeaderID, r.Generation, r.Members = only, only, 1, []kmsg.JoinGroupResponseMember{{MemberID: only}}
	case *kmsg.SyncGroupResponse:
		if a := req.(*kmsg.SyncGroupRequest).GroupAssignment; len(a) > 0 {
			c.assignment = a[0].MemberAssignment
		}
		r.MemberAssignment = c.assignment
	case *kmsg.HeartbeatResponse:
		c.beats++
		r.ErrorCode = c.heartbeat
	case *kmsg.DescribeGroupsResponse:
		g := kmsg.DescribeGroupsResponseGroup{Group: "g", State: "Stable"}
		if c.joined {
			m := kmsg.DescribeGroupsResponseGroupMember{MemberID: only, MemberAssignment: c.assignment}
			if c.forgets {
				m.MemberAssignment = nil
			}
			g.Members = append(g.Members, m)
		}
		if c.ghost && c.beats >= c.lateEnough && c.lateEnough > 0 {
			c.ghost = false
		}
		if c.ghost {
			g.Members = append(g.Members, kmsg.DescribeGroupsResponseGroupMember{MemberID: "ghost"})
		}
		if c.unavailable {
			g.ErrorCode = 15
		}
		r.Groups = append(r.Groups, g)
	}
	return resp, nil
}

// TestHeal leaves clients of coordinators alone: those of one that is right get together, and of the others it is told why they do not.
func TestHeal(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		club   *club
		result traffic.Healing
		says   string
		rule   string
	}{
		"right":                       {&club{}, traffic.Together, "", ""},
		"a member goes in time":       {&club{ghost: true, lateEnough: 3}, traffic.Together, "", ""},
		"a member that nobody is":     {&club{ghost: true}, traffic.Apart, "with members that nobody is any more: the member ghost, which no client has heard of, whose session has not ended", "session.expires"},
		"sent round and round":        {&club{heartbeat: 27}, traffic.Apart, "told last Heartbeat: REBALANCE_IN_PROGRESS", ""},
		"a JoinGroup is not answered": {&club{deaf: true}, traffic.Apart, "c0 has waited", "join.complete.all-joined"},
		"an assignment is forgotten":  {&club{forgets: true}, traffic.Apart, `and the group has "" for it`, "sync.leader.assigns"},
		"nobody can look":             {&club{unavailable: true}, traffic.Apart, "does not say what the group is", ""},
		"there is no room for anyone": {&club{refuse: 81}, traffic.Apart, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := plan(1)
			p.Groups, p.Clients = []string{"g"}, 1
			rec := &history.Recorder{Clock: time.Now, Start: time.Now(), Groups: p.Groups}
			run, err := traffic.Prepare(&fake{answer: test.club.answer}, p, rec)
			if err != nil {
				t.Fatal(err)
			}
			defer run.Close()
			if err := run.Drive(t.Context()); err != nil {
				t.Fatal(err)
			}
			within := time.Second
			if test.result == traffic.Together {
				within = 30 * time.Second // on a machine that does much else
			}
			healed, err := run.Heal(t.Context(), within)
			if err != nil || len(healed) != 1 || healed[0].Group != "g" {
				t.Fatalf("%+v, %v", healed, err)
			}
			h := healed[0]
			if h.Result != test.result || !strings.Contains(h.Why.Text, test.says) || h.Result == traffic.Apart && h.Took < within {
				t.Errorf("result %d after %v, want %d; %s, want %s", h.Result, h.Took, test.result, h.Why.Text, test.says)
			}
			if test.rule != "" && (len(h.Why.Rules) == 0 || h.Why.Rules[0].String() != test.rule) {
				t.Errorf("rules %v, want %s first", h.Why.Rules, test.rule)
			}
			for _, c := range rec.History(history.Header{}).Calls {
				if c.Outcome == history.Open {
					t.Errorf("call %d has no end", c.ID)
				}
			}
		})
	}
}

// TestHealNotTried says why nothing can be told: there was no time, or the target had given up before.
func TestHealNotTried(t *testing.T) {
	t.Parallel()
	start := func(answer func(kmsg.Request) (kmsg.Response, error)) *traffic.Run {
		p := plan(200)
		p.Patience = 5 * time.Millisecond
		run, err := traffic.Prepare(&fake{answer: answer}, p, recorder())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(run.Close)
		if err := run.Drive(t.Context()); err != nil {
			t.Fatal(err)
		}
		return run
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	healed, err := start(stubborn).Heal(short, time.Minute)
	if err != nil || len(healed) != 2 || healed[0].Result != traffic.Untold || !strings.Contains(healed[0].Why.Text, "there was no time") {
		t.Errorf("without time: %+v, %v", healed, err)
	}
	gone := errors.New("gone")
	healed, err = start(func(kmsg.Request) (kmsg.Response, error) { return nil, gone }).Heal(t.Context(), time.Minute)
	if err != nil || len(healed) != 2 || healed[1].Result != traffic.Untold || !strings.Contains(healed[1].Why.Text, "it was not tried") {
		t.Errorf("a target that has gone: %+v, %v", healed, err)
	}
}
