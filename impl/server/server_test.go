package server_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start runs a server for the test; what it reports can be read from the channel.
func start(t *testing.T, change ...func(*server.Options)) (*server.Server, <-chan error) {
	t.Helper()
	reports := make(chan error, 100)
	o := server.Options{
		Topics:   map[string]int32{"t": 2},
		Settings: core.Settings{MinSessionTimeout: 10 * time.Millisecond, Node: core.Node{ID: 3}},
		Report:   func(err error) { reports <- err },
	}
	for _, c := range change {
		c(&o)
	}
	s, err := server.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, reports
}

func dial(t *testing.T, s *server.Server) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// frame is a request as a client sends it.
func frame(req kmsg.Request, version int16, correlation int32) []byte {
	req.SetVersion(version)
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("client")).AppendRequest(nil, req, correlation)
}

// read reads one answer to req.
func read(t *testing.T, c net.Conn, req kmsg.Request, correlation int32) kmsg.Response {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	var head struct{ Size, Correlation int32 }
	if err := binary.Read(c, binary.BigEndian, &head); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, head.Size-4)
	if _, err := io.ReadFull(c, body); err != nil {
		t.Fatal(err)
	}
	if head.Correlation != correlation {
		t.Errorf("correlation %d, want %d", head.Correlation, correlation)
	}
	resp := req.ResponseKind()
	if resp.SetVersion(req.GetVersion()); resp.IsFlexible() && req.Key() != 18 {
		body = body[1:]
	}
	if err := resp.ReadFrom(body); err != nil {
		t.Fatalf("%T v%d: %v", resp, req.GetVersion(), err)
	}
	return resp
}

func ask(t *testing.T, c net.Conn, req kmsg.Request, version int16) kmsg.Response {
	t.Helper()
	write(t, c, frame(req, version, 77))
	return read(t, c, req, 77)
}

func write(t *testing.T, c net.Conn, b []byte) {
	t.Helper()
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
}

func joinReq(group, member string) *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID, req.ProtocolType = group, member, "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 10_000, 10_000
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte("x")}}
	return req
}

func syncReq(group, member string, generation int32) *kmsg.SyncGroupRequest {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Group, req.MemberID, req.Generation = group, member, generation
	req.ProtocolType, req.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	req.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: member, MemberAssignment: []byte("mine")}}
	return req
}

// Every API in every version answers an empty request.
func TestEveryVersion(t *testing.T) {
	s, _ := start(t)
	c := dial(t, s)
	for key, versions := range server.Versions() {
		for v := versions.Min; v <= versions.Max; v++ {
			if resp := ask(t, c, kmsg.RequestForKey(int16(key)), v); resp.Key() != int16(key) {
				t.Errorf("%s v%d: %T", key.Name(), v, resp)
			}
		}
	}
}

// A real client, franz-go, goes through JoinGroup, SyncGroup, Heartbeat, OffsetCommit, OffsetFetch and LeaveGroup.
func TestFranzGo(t *testing.T) {
	s, _ := start(t)
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.Addr()), kgo.ClientID("app"))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx := t.Context()
	first, err := joinReq("g", "").RequestWith(ctx, cl)
	if err != nil || first.ErrorCode != core.MemberIDRequired || !strings.HasPrefix(first.MemberID, "app-") {
		t.Fatalf("first JoinGroup: %+v, %v", first, err)
	}
	joined, err := joinReq("g", first.MemberID).RequestWith(ctx, cl)
	if err != nil || joined.ErrorCode != 0 || joined.Generation != 1 {
		t.Fatalf("second JoinGroup: %+v, %v", joined, err)
	}
	synced, err := syncReq("g", first.MemberID, 1).RequestWith(ctx, cl)
	if err != nil || string(synced.MemberAssignment) != "mine" {
		t.Fatalf("SyncGroup: %+v, %v", synced, err)
	}
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Group, beat.MemberID, beat.Generation = "g", first.MemberID, 1
	if r, err := beat.RequestWith(ctx, cl); err != nil || r.ErrorCode != 0 {
		t.Errorf("Heartbeat: %+v, %v", r, err)
	}
	describe := kmsg.NewPtrDescribeGroupsRequest()
	describe.Groups = []string{"g"}
	if r, err := describe.RequestWith(ctx, cl); err != nil || r.Groups[0].State != "Stable" || r.Groups[0].Members[0].ClientHost != "/127.0.0.1" {
		t.Errorf("DescribeGroups: %+v, %v", r, err)
	}
	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Group, leave.Members = "g", []kmsg.LeaveGroupRequestMember{{MemberID: first.MemberID}}
	if r, err := leave.RequestWith(ctx, cl); err != nil || r.ErrorCode != 0 || r.Members[0].ErrorCode != 0 {
		t.Errorf("LeaveGroup: %+v, %v", r, err)
	}
}

// Requests of one connection are answered one at a time, in order; a parked one holds those behind it.
func TestInOrder(t *testing.T) {
	s, _ := start(t)
	a, b := dial(t, s), dial(t, s)
	leader := ask(t, a, joinReq("g", ""), 3).(*kmsg.JoinGroupResponse).MemberID
	ask(t, a, syncReq("g", leader, 1), 5)
	join, list := joinReq("g", ""), kmsg.NewPtrListGroupsRequest()
	write(t, b, append(frame(join, 3, 1), frame(list, 5, 2)...)) // in one packet
	waitFor(t, a, "g", "PreparingRebalance", 2)
	if err := b.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Read(make([]byte, 1)); !isTimeout(err) {
		t.Fatalf("something came before the rebalance was over: %v", err)
	}
	ask(t, a, joinReq("g", leader), 9)
	if r := read(t, b, join, 1).(*kmsg.JoinGroupResponse); r.Generation != 2 {
		t.Errorf("%+v", r)
	}
	if r := read(t, b, list, 2).(*kmsg.ListGroupsResponse); len(r.Groups) != 1 {
		t.Errorf("%+v", r)
	}
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// waitFor waits until a group has a state and a number of members.
func waitFor(t *testing.T, c net.Conn, group, state string, members int) {
	t.Helper()
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{group}
	deadline := time.Now().Add(10 * time.Second)
	for {
		d := ask(t, c, req, 5).(*kmsg.DescribeGroupsResponse).Groups[0]
		if d.State == state && len(d.Members) == members {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("group is %s with %d members, want %s with %d", d.State, len(d.Members), state, members)
		}
		time.Sleep(time.Millisecond) // between two looks at a server that runs on wall time
	}
}

// A client that disconnects leaves its member and the effect of its parked request behind; the session timer, on wall time, ends them.
func TestDisconnect(t *testing.T) {
	s, _ := start(t)
	a, b := dial(t, s), dial(t, s)
	leader := ask(t, a, joinReq("g", ""), 3).(*kmsg.JoinGroupResponse).MemberID
	ask(t, a, syncReq("g", leader, 1), 5)
	gone := joinReq("g", "")
	gone.SessionTimeoutMillis = 50
	write(t, b, frame(gone, 3, 1))
	waitFor(t, a, "g", "PreparingRebalance", 2)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if r := ask(t, a, joinReq("g", leader), 9).(*kmsg.JoinGroupResponse); len(r.Members) != 2 {
		t.Errorf("the member of the closed connection is not in the generation: %+v", r)
	}
	waitFor(t, a, "g", "PreparingRebalance", 1) // its session, counted from the join, is over
}

// What is not Kafka's protocol closes the connection, is reported, and disturbs nobody else.
func TestGarbage(t *testing.T) {
	good := frame(joinReq("g", ""), 9, 1)
	unknown := bytes.Clone(good)
	binary.BigEndian.PutUint16(unknown[4:], 999)
	version := bytes.Clone(good)
	binary.BigEndian.PutUint16(version[6:], 99)
	longID := bytes.Clone(good)
	binary.BigEndian.PutUint16(longID[12:], 30000)
	tags := bytes.Clone(good)
	tags[20] = 9 // the header's count of tagged fields, after a client id of six bytes
	produce := frame(kmsg.NewPtrProduceRequest(), 9, 1)
	for name, input := range map[string][]byte{
		"not Kafka at all":      []byte("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"),
		"a negative size":       {0xff, 0xff, 0xff, 0xff},
		"a size that is huge":   {0x7f, 0xff, 0xff, 0xff, 0, 11},
		"a frame without head":  {0, 0, 0, 2, 0, 11},
		"an empty frame":        {0, 0, 0, 0},
		"an unknown API":        unknown,
		"an API not served":     produce,
		"an unknown version":    version,
		"a body that ends":      append([]byte{0, 0, 0, 20}, good[4:24]...),
		"a body of random":      append([]byte{0, 0, 0, 40}, append(bytes.Clone(good[4:21]), bytes.Repeat([]byte{0xfe}, 23)...)...),
		"a client id too long":  longID,
		"tagged fields missing": tags,
	} {
		t.Run(name, func(t *testing.T) {
			s, reports := start(t)
			c := dial(t, s)
			write(t, c, input)
			if err := c.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if n, err := c.Read(make([]byte, 1)); n > 0 || isTimeout(err) {
				t.Errorf("read %d bytes, %v; want the connection closed", n, err)
			}
			if err := <-reports; err == nil || !strings.Contains(err.Error(), "closed") {
				t.Errorf("reported: %v", err)
			}
			if r := ask(t, dial(t, s), joinReq("g", ""), 9).(*kmsg.JoinGroupResponse); r.ErrorCode != core.MemberIDRequired {
				t.Errorf("another client: %+v", r)
			}
		})
	}
}

// A request that stops in the middle, and a client that says nothing, end with their connection and leave nothing behind.
func TestHalfARequest(t *testing.T) {
	s, reports := start(t)
	for _, n := range []int{0, 2, 4, 10} {
		c := dial(t, s)
		write(t, c, frame(joinReq("g", ""), 9, 1)[:n])
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	ask(t, dial(t, s), kmsg.NewPtrListGroupsRequest(), 5)
	select {
	case err := <-reports:
		t.Errorf("reported: %v", err) // a client that goes is no error
	default:
	}
}

// Closing ends what is parked, what is idle, and is done once.
func TestClose(t *testing.T) {
	s, _ := start(t)
	a, b := dial(t, s), dial(t, s)
	ask(t, a, joinReq("g", ""), 3)
	write(t, b, frame(joinReq("g", ""), 3, 1))
	waitFor(t, a, "g", "PreparingRebalance", 2)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Read(make([]byte, 1)); err == nil {
		t.Error("the parked request was answered")
	}
	if _, err := net.Dial("tcp", s.Addr()); err == nil {
		t.Error("still listening")
	}
	if err := s.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}

func TestStartFails(t *testing.T) {
	s, _ := start(t)
	if _, err := server.Start(server.Options{Addr: s.Addr()}); err == nil || !strings.Contains(err.Error(), "port 0") {
		t.Errorf("a port in use: %v", err)
	}
}

// Many clients at once: under -race, the loop is the only one that touches the coordinator.
func TestConcurrency(t *testing.T) {
	s, _ := start(t)
	var work sync.WaitGroup
	for i := range 8 {
		c := dial(t, s)
		work.Go(func() {
			group := fmt.Sprint("g", i%2)
			for range 20 {
				id := ask(t, c, joinReq(group, ""), 9).(*kmsg.JoinGroupResponse).MemberID
				commit := kmsg.NewPtrOffsetCommitRequest()
				commit.Group, commit.Generation = group, -1
				commit.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Partition: 1, Offset: 5}}}}
				if r := ask(t, c, commit, 9).(*kmsg.OffsetCommitResponse); r.Topics[0].Partitions[0].ErrorCode != 0 {
					t.Errorf("OffsetCommit: %+v", r)
				}
				leave := kmsg.NewPtrLeaveGroupRequest()
				leave.Group, leave.Members = group, []kmsg.LeaveGroupRequestMember{{MemberID: id}}
				if r := ask(t, c, leave, 5).(*kmsg.LeaveGroupResponse); r.Members[0].ErrorCode != 0 {
					t.Errorf("LeaveGroup: %+v", r)
				}
			}
		})
	}
	work.Wait()
}
