package wire

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"github.com/muster-kafka/muster/conformance/target"
)

const patience = 10 * time.Second // for an answer that must come

func newFake(t *testing.T, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{
		kfake.NumBrokers(1),
		kfake.GroupMinSessionTimeout(10 * time.Millisecond),                          // what it does
		kfake.BrokerConfigs(map[string]string{"group.min.session.timeout.ms": "10"}), // what it says
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster
}

func open(t *testing.T, opts Options) *Target {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	tg, err := Open(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tg.Close(); err != nil {
			t.Error(err)
		}
	})
	return tg
}

func dial(t *testing.T, tg target.Target, client string) target.Conn {
	t.Helper()
	c, err := tg.Dial(context.Background(), client)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// answer waits for the answer to a request.
func answer[R kmsg.Response](t *testing.T, c target.Conn, req kmsg.Request, version int16) R {
	t.Helper()
	call := c.Send(req, version)
	if !(target.WallClock{}).Await(context.Background(), call, patience) {
		t.Fatalf("%T is not answered", req)
	}
	resp, err := call.Answer()
	if err != nil {
		t.Fatalf("%T: %v", req, err)
	}
	if call.Sent.IsZero() || call.Finished().Before(call.Sent) {
		t.Errorf("%T was sent at %v and answered at %v", req, call.Sent, call.Finished())
	}
	return resp.(R)
}

func joinRequest(group, member string) *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID = group, member
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 20000, 20000
	req.ProtocolType = "consumer"
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte("x")}}
	return req
}

// join makes a member of a group that nobody else is in, at a version without the MEMBER_ID_REQUIRED round.
func join(t *testing.T, c target.Conn, group string) *kmsg.JoinGroupResponse {
	t.Helper()
	r := answer[*kmsg.JoinGroupResponse](t, c, joinRequest(group, ""), 3)
	if r.ErrorCode != 0 {
		t.Fatalf("JoinGroup: %v", kerr.ErrorForCode(r.ErrorCode))
	}
	return r
}

func names(t *testing.T, addr, prefix string) (groups, topics []string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if groups, err = listGroups(ctx, cl, prefix); err != nil {
		t.Fatal(err)
	}
	if topics, err = listTopics(ctx, cl, prefix); err != nil {
		t.Fatal(err)
	}
	return groups, topics
}

// TestRun opens a foreign target, leaves a member in a group, and closes: nothing of the run may stay, and nothing else may go.
func TestRun(t *testing.T) {
	cluster := newFake(t, kfake.SeedTopics(3, "theirs"))
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	addr := cluster.ListenAddrs()[0]
	ctx := context.Background()

	tg, err := Open(ctx, Options{Addr: addr})
	if err != nil {
		t.Fatal(err)
	}
	caps := tg.Capabilities()
	if tg.Name() != addr || caps.Virtual || caps.MaxGroups != 20 || caps.MinSession != 10*time.Millisecond || caps.Scale != 1.0/20 ||
		caps.Settle < 80*time.Millisecond || caps.Slack < 250*time.Millisecond || !strings.HasPrefix(caps.Prefix, PrefixMark) || caps.Topics["t"] == "" || caps.Cleanup != 10*time.Minute {
		t.Errorf("name %q, capabilities %+v", tg.Name(), caps)
	}
	if groups, topics := names(t, addr, caps.Prefix); len(groups) != 0 || len(topics) != 1 {
		t.Errorf("after opening there are groups %q and topics %q", groups, topics)
	}
	theirs := dial(t, tg, "B")
	join(t, theirs, "theirs")
	join(t, dial(t, tg, "A"), caps.Prefix+"g")

	parked := dial(t, tg, "C").Send(joinRequest(caps.Prefix+"g", ""), 3)
	if tg.Clock().Await(ctx, parked, caps.Settle) {
		t.Fatal("the second member is not parked")
	}
	if err := tg.Close(); err != nil {
		t.Fatal(err)
	}
	if !parked.Ended() {
		t.Fatal("Close left a call open")
	}
	if _, err := parked.Answer(); !errors.Is(err, target.ErrClosed) {
		t.Errorf("the parked call ends with %v, want %v", err, target.ErrClosed)
	}
	if _, err := tg.Dial(ctx, "D"); !errors.Is(err, target.ErrClosed) {
		t.Errorf("Dial after Close: %v", err)
	}
	groups, topics := names(t, addr, "")
	if !slices.Equal(groups, []string{"theirs"}) || !slices.Equal(topics, []string{"theirs"}) {
		t.Errorf("after closing there are groups %q and topics %q", groups, topics)
	}
	if err := tg.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

// TestVersions sees on the other side that each request has the version and the client id that were asked for, and comes once.
func TestVersions(t *testing.T) {
	cluster := newFake(t)
	tg := open(t, Options{Addr: cluster.ListenAddrs()[0], Own: true})
	seen := make(chan int16, 100)
	cluster.ControlKey(kmsg.Heartbeat.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		seen <- req.GetVersion()
		return nil, nil, false
	})
	c := dial(t, tg, "A")
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID = tg.Capabilities().Prefix+"g", "nobody"
	for version := range int16(5) {
		if r := answer[*kmsg.HeartbeatResponse](t, c, req, version); r.ErrorCode == 0 || r.Version != version {
			t.Errorf("version %d: answered in version %d with %v", version, r.Version, kerr.ErrorForCode(r.ErrorCode))
		}
		if got := <-seen; got != version || len(seen) != 0 {
			t.Errorf("sent version %d, seen %d and %d more", version, got, len(seen))
		}
	}
	joined := answer[*kmsg.JoinGroupResponse](t, c, joinRequest(req.Group, ""), 3)
	if !strings.HasPrefix(joined.MemberID, "A-") {
		t.Errorf("the member id %q does not come from the client id A", joined.MemberID)
	}
}

// TestMeasured hides the settings, as a cluster does that lets us describe nothing.
func TestMeasured(t *testing.T) {
	cluster := newFake(t, kfake.BrokerConfigs(map[string]string{"group.min.session.timeout.ms": "750"}))
	cluster.ControlKey(kmsg.DescribeConfigs.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		resp := req.ResponseKind().(*kmsg.DescribeConfigsResponse)
		for _, r := range req.(*kmsg.DescribeConfigsRequest).Resources {
			resp.Resources = append(resp.Resources, kmsg.DescribeConfigsResponseResource{
				ErrorCode: kerr.ClusterAuthorizationFailed.Code, ResourceType: r.ResourceType, ResourceName: r.ResourceName,
			})
		}
		return resp, nil, true
	})
	tg := open(t, Options{Addr: cluster.ListenAddrs()[0], Rate: 1000})
	caps := tg.Capabilities()
	if caps.MinSession < 750*time.Millisecond || caps.MinSession > 775*time.Millisecond {
		t.Errorf("measured a smallest session of %v, want 750 ms or a little more", caps.MinSession)
	}
	if caps.MaxSession != 5*time.Minute || caps.InitialDelay != 0 {
		t.Errorf("measured %v and %v, want 5m and 0", caps.MaxSession, caps.InitialDelay)
	}
	if want := caps.MinSession.Seconds() / 6; caps.Scale != want {
		t.Errorf("scale %v, want %v", caps.Scale, want)
	}
	for _, s := range tg.Findings().Settings {
		if s.How != "measured" {
			t.Errorf("%+v, want it measured", s)
		}
	}
}

// TestCluster uses groups of all brokers through one address.
func TestCluster(t *testing.T) {
	cluster := newFake(t, kfake.NumBrokers(3))
	tg := open(t, Options{Addr: cluster.ListenAddrs()[0], Rate: 1000})
	if got := tg.Findings().Brokers; got != 3 {
		t.Fatalf("found %d brokers", got)
	}
	used := map[int32]bool{}
	for _, g := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		c := dial(t, tg, "A").(*Conn)
		r := join(t, c, tg.caps.Prefix+g)
		used[c.last] = true
		hb := kmsg.NewPtrHeartbeatRequest()
		hb.Group, hb.MemberID, hb.Generation = tg.caps.Prefix+g, r.MemberID, r.Generation
		if r := answer[*kmsg.HeartbeatResponse](t, c, hb, 3); r.ErrorCode == kerr.NotCoordinator.Code {
			t.Errorf("group %s: NOT_COORDINATOR", g)
		}
	}
	if len(used) < 2 {
		t.Errorf("all groups went to %v: no routing was tested", used)
	}
}

// TestKeepsToOneBroker judges the broker of a cluster that is at the address given: it coordinates all groups of the run, and gets what is not for a group.
func TestKeepsToOneBroker(t *testing.T) {
	cluster := newFake(t, kfake.NumBrokers(3))
	for _, addr := range cluster.ListenAddrs() {
		tg := open(t, Options{Addr: addr, Rate: 1000})
		if got := tg.Findings().Home; got != addr {
			t.Errorf("at %s the run keeps to %q", addr, got)
		}
		remove, list := kmsg.NewPtrDeleteGroupsRequest(), kmsg.NewPtrListGroupsRequest()
		c := dial(t, tg, "A")
		var want []string
		for i := range 6 {
			g, err := tg.Capabilities().Named(context.Background(), fmt.Sprintf("%s%d", tg.caps.Prefix, i))
			if err != nil {
				t.Fatal(err)
			}
			if want = append(want, g); i < 3 {
				join(t, c, g)
			}
		}
		var listed []string
		for _, g := range answer[*kmsg.ListGroupsResponse](t, dial(t, tg, "B"), list, 4).Groups {
			if strings.HasPrefix(g.Group, tg.caps.Prefix) && !strings.Contains(g.Group, probeGroup) {
				listed = append(listed, g.Group)
			}
		}
		if slices.Sort(listed); !slices.Equal(listed, want[:3]) {
			t.Errorf("at %s: %q are listed, want %q", addr, listed, want[:3])
		}
		remove.Groups = want
		for i, g := range answer[*kmsg.DeleteGroupsResponse](t, c, remove, 2).Groups {
			code := kerr.NonEmptyGroup.Code
			if i >= 3 {
				code = kerr.GroupIDNotFound.Code
			}
			if g.ErrorCode != code {
				t.Errorf("at %s: group %s is answered %v, want %v", addr, g.Group, kerr.ErrorForCode(g.ErrorCode), kerr.ErrorForCode(code))
			}
		}
	}
}

// TestRate sends more than a second's worth.
func TestRate(t *testing.T) {
	cluster := newFake(t)
	tg := open(t, Options{Addr: cluster.ListenAddrs()[0], Rate: 40})
	c := dial(t, tg, "A")
	start := time.Now()
	for range 60 {
		answer[*kmsg.ApiVersionsResponse](t, c, kmsg.NewPtrApiVersionsRequest(), 0)
	}
	if took := time.Since(start); took < 400*time.Millisecond {
		t.Errorf("60 requests took %v at 40 a second", took)
	}
}

func TestCleanup(t *testing.T) {
	cluster := newFake(t, kfake.SeedTopics(1, "muster-theirs", "muster-0000-t", "muster-0001-t"))
	addr := cluster.ListenAddrs()[0]
	tg := open(t, Options{Addr: addr, Own: true})
	join(t, dial(t, tg, "A"), "muster-0000-g")
	join(t, dial(t, tg, "A"), "muster-0001-g")
	ctx := context.Background()
	for _, bad := range []string{"", "mus", "theirs", "*", "muster-", "muster-0", "muster-000-", "muster-0000", "muster-theirs", "muster-theirs-"} {
		if _, err := Cleanup(ctx, Options{Addr: addr}, bad); !errors.Is(err, ErrPrefix) {
			t.Errorf("prefix %q: error %v", bad, err)
		}
	}
	before, beforeTopics := names(t, addr, "")
	would, err := Cleanup(ctx, Options{Addr: addr, LookOnly: true}, "muster-0000-")
	if after, afterTopics := names(t, addr, ""); err != nil || !slices.Equal(before, after) || !slices.Equal(beforeTopics, afterTopics) {
		t.Errorf("a look changed groups %q and topics %q to %q and %q, error %v", before, beforeTopics, after, afterTopics, err)
	}
	got, err := Cleanup(ctx, Options{Addr: addr}, "muster-0000-")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Groups, []string{"muster-0000-g"}) || !slices.Equal(got.Topics, []string{"muster-0000-t"}) {
		t.Errorf("removed %+v", got)
	}
	if !slices.Equal(would.Groups, got.Groups) || !slices.Equal(would.Topics, got.Topics) {
		t.Errorf("a look promised %+v, and %+v was removed", would, got)
	}
	groups, topics := names(t, addr, "muster-0")
	if !slices.Contains(groups, "muster-0001-g") || slices.Contains(groups, "muster-0000-g") || !slices.Contains(topics, "muster-0001-t") || slices.Contains(topics, "muster-0000-t") {
		t.Errorf("left are groups %q and topics %q", groups, topics)
	}
	if again, err := Cleanup(ctx, Options{Addr: addr}, "muster-0000-"); err != nil || len(again.Groups)+len(again.Topics) != 0 {
		t.Errorf("a second time: %+v, %v", again, err)
	}
}

// TestOwnTopic takes a topic that is there, and leaves it there.
func TestOwnTopic(t *testing.T) {
	cluster := newFake(t, kfake.SeedTopics(2, "theirs"), kfake.SeedTopics(1, "small"))
	addr := cluster.ListenAddrs()[0]
	tg, err := Open(context.Background(), Options{Addr: addr, Topic: "theirs"})
	if err != nil {
		t.Fatal(err)
	}
	if got := tg.Capabilities().Topics["t"]; got != "theirs" {
		t.Errorf("the topic is %q", got)
	}
	if err := tg.Close(); err != nil {
		t.Error(err)
	}
	if _, topics := names(t, addr, ""); !slices.Contains(topics, "theirs") {
		t.Error("the topic is gone")
	}
	for _, bad := range []string{"small", "missing"} {
		if tg, err := Open(context.Background(), Options{Addr: addr, Topic: bad, Timeout: 300 * time.Millisecond}); !errors.Is(err, ErrNoTopic) {
			t.Errorf("topic %s: error %v, want %v; doubts %q", bad, err, ErrNoTopic, tg.Doubts())
		}
	}
}

// TestCloseWhenGone closes a run whose broker has gone: it must end, and say how to clean up.
func TestCloseWhenGone(t *testing.T) {
	cluster := newFake(t)
	tg, err := Open(context.Background(), Options{Addr: cluster.ListenAddrs()[0], Timeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	join(t, dial(t, tg, "A"), tg.caps.Prefix+"g")
	cluster.Close()
	start := time.Now()
	err = tg.Close()
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("closing took %v, as if somebody might answer yet", took)
	}
	if err == nil || !strings.Contains(err.Error(), "muster cleanup "+tg.opts.Addr+" --prefix "+tg.caps.Prefix) {
		t.Errorf("error %v, want the command that cleans up", err)
	}
}

// TestLookOnly looks at a cluster: it must find what the broker tells, assume the rest, and send nothing that leaves a trace.
func TestLookOnly(t *testing.T) {
	for name, told := range map[string]bool{"told": true, "not told": false} {
		t.Run(name, func(t *testing.T) {
			cluster := newFake(t)
			if !told {
				cluster.ControlKey(kmsg.DescribeConfigs.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
					cluster.KeepControl()
					return req.ResponseKind(), nil, true
				})
			}
			cluster.Control(func(req kmsg.Request) (kmsg.Response, error, bool) {
				cluster.KeepControl()
				switch kmsg.Key(req.Key()) {
				case kmsg.ApiVersions, kmsg.Metadata, kmsg.DescribeConfigs:
				default:
					t.Errorf("%s was sent", kmsg.NameForKey(req.Key()))
				}
				return nil, nil, false
			})
			tg := open(t, Options{Addr: cluster.ListenAddrs()[0], LookOnly: true})
			how := map[string]string{}
			for _, s := range tg.Findings().Settings {
				how[s.Name] = s.Value + " " + s.How
			}
			want := "10 described"
			if !told {
				want = "6000 assumed"
			}
			if how[minSessionKey] != want {
				t.Errorf("settings %v, want %s=%s", how, minSessionKey, want)
			}
		})
	}
}

// TestBusyBroker has a broker that is not ready yet for a while.
func TestBusyBroker(t *testing.T) {
	cluster := newFake(t, kfake.BrokerConfigs(map[string]string{"group.min.session.timeout.ms": "750"}))
	refusals := map[int16]int{kmsg.JoinGroup.Int16(): 6, kmsg.DescribeConfigs.Int16(): 1 << 30}
	cluster.Control(func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if refusals[req.Key()] == 0 {
			return nil, nil, false
		}
		refusals[req.Key()]--
		switch r := req.ResponseKind().(type) {
		case *kmsg.JoinGroupResponse:
			codes := []int16{kerr.NotCoordinator.Code, kerr.CoordinatorNotAvailable.Code, kerr.CoordinatorLoadInProgress.Code}
			r.ErrorCode = codes[refusals[req.Key()]%3]
			return r, nil, true
		case *kmsg.DescribeConfigsResponse:
			for _, of := range req.(*kmsg.DescribeConfigsRequest).Resources {
				r.Resources = append(r.Resources, kmsg.DescribeConfigsResponseResource{ErrorCode: kerr.ClusterAuthorizationFailed.Code, ResourceType: of.ResourceType, ResourceName: of.ResourceName})
			}
			return r, nil, true
		}
		return nil, nil, false
	})
	tg := open(t, Options{Addr: cluster.ListenAddrs()[0], Rate: 1000})
	if got := tg.Capabilities().MinSession; got < 750*time.Millisecond || got > 775*time.Millisecond {
		t.Errorf("a smallest session of %v was measured, want 750 ms or a little more: a refusal that passes was taken for an answer about the timeout", got)
	}
}

// TestBusyForGood has a coordinator that never gets ready: the probe must give up, and say what to do.
func TestBusyForGood(t *testing.T) {
	cluster := newFake(t)
	cluster.Control(func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		switch r := req.ResponseKind().(type) {
		case *kmsg.JoinGroupResponse:
			r.ErrorCode = kerr.CoordinatorLoadInProgress.Code
			return r, nil, true
		case *kmsg.DescribeConfigsResponse:
			return r, nil, true
		}
		return nil, nil, false
	})
	_, err := Open(t.Context(), Options{Addr: cluster.ListenAddrs()[0], Rate: 1000, Timeout: 400 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "still answers COORDINATOR_LOAD_IN_PROGRESS") || !strings.Contains(err.Error(), "run again") {
		t.Errorf("error %v, want one that names the answer and what to do", err)
	}
}

// TestDescribedLate has a broker whose first DescribeConfigs fails.
func TestDescribedLate(t *testing.T) {
	cluster := newFake(t)
	left := 2
	cluster.ControlKey(kmsg.DescribeConfigs.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if left == 0 {
			return nil, nil, false
		}
		left--
		resp := req.ResponseKind().(*kmsg.DescribeConfigsResponse)
		for _, of := range req.(*kmsg.DescribeConfigsRequest).Resources {
			resp.Resources = append(resp.Resources, kmsg.DescribeConfigsResponseResource{ErrorCode: kerr.RequestTimedOut.Code, ResourceType: of.ResourceType, ResourceName: of.ResourceName})
		}
		return resp, nil, true
	})
	tg := open(t, Options{Addr: cluster.ListenAddrs()[0]})
	for _, s := range tg.Findings().Settings {
		if s.Name == minSessionKey && s.How != "described" {
			t.Errorf("%+v, want it described", s)
		}
	}
}
