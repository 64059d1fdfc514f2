package kfake

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// childMark, set in the environment, makes this test binary the process that Spawn wants.
const childMark = "MUSTER_TEST_SERVE_KFAKE"

func TestMain(m *testing.M) {
	if os.Getenv(childMark) == "" {
		os.Exit(m.Run())
	}
	if err := Serve(os.Stdin, os.Stdout); err != nil {
		os.Exit(1)
	}
}

// findings are what docs/findings.md tells of kfake and no scenario can show, each from a clean start. Where one is gone, kfake has been mended: take it
// out here, and say so on that page.
var findings = []struct {
	name string
	send [][]byte
	died string // the beginning of the last words; empty where the process goes on
	see  func(t *testing.T, conn net.Conn, answer []byte)
}{
	{name: "api-key-unknown", send: [][]byte{frame(0x7fff, 0, nil)}, died: "panic: runtime error: invalid memory address or nil pointer dereference"},
	{name: "protocol-twice", send: [][]byte{request(join("range", "range"), 3)}, died: "panic: unable to find commonly supported protocol"},
	{name: "protocols-none", send: [][]byte{request(join("range"), 4), request(join(), 1)}, died: "panic: unable to find commonly supported protocol"},
	{name: "replicas-null", send: [][]byte{request(kmsg.NewPtrDescribeTopicPartitionsRequest(), 0)}, see: replicasNull},
	{name: "client-host", send: [][]byte{request(join("range"), 3), request(describe(), 5)}, see: hostWithPort},
	{name: "produce-unknown-ids", send: [][]byte{request(produce([16]byte{1}, [16]byte{2}), 13)}, died: "panic: runtime error: index out of range [0] with length 0"},
	{name: "empty-assignment", send: [][]byte{request(join("range"), 3)}, see: emptyAssigned},
}

// TestFindings shows them; go test -count 3 does so three times.
func TestFindings(t *testing.T) {
	t.Setenv(childMark, "1")
	for _, f := range findings {
		t.Run(f.name, func(t *testing.T) {
			c, err := Spawn(t.Context(), os.Args[0], "-test.run=^$")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			addr, _, _ := c.Clients()
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			answer := exchange(t, conn, f.send)
			if f.see != nil {
				f.see(t, conn, answer)
			}
			if f.died == "" {
				if words, dead := c.Dead(); dead {
					t.Fatalf("the process ended: %s", words)
				}
				return
			}
			select {
			case <-c.ended:
			case <-time.After(20 * time.Second):
				t.Fatal("kfake lives: it has been mended")
			}
			words, _ := c.Dead()
			if !strings.HasPrefix(words, f.died) {
				t.Errorf("the process ended with %q, want %q", words, f.died)
			}
			t.Logf("the process has ended: %s", words)
		})
	}
}

// exchange sends frames, each when the one before is answered or 20 s are over, and returns the last answer; empty where the connection ended.
func exchange(t *testing.T, conn net.Conn, frames [][]byte) (answer []byte) {
	t.Helper()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for _, f := range frames {
		if _, err := conn.Write(f); err != nil {
			return nil
		}
		size := make([]byte, 4)
		if _, err := io.ReadFull(conn, size); err != nil {
			return nil
		}
		answer = make([]byte, binary.BigEndian.Uint32(size))
		if _, err := io.ReadFull(conn, answer); err != nil {
			return nil
		}
	}
	return answer
}

// frame is a request of any key, with no client id.
func frame(key, version int16, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(2+2+4+2+len(body)))
	b = binary.BigEndian.AppendUint16(b, uint16(key))
	b = binary.BigEndian.AppendUint16(b, uint16(version))
	b = binary.BigEndian.AppendUint32(b, 1)
	return append(append(b, 0xff, 0xff), body...)
}

func request(r kmsg.Request, version int16) []byte {
	r.SetVersion(version)
	return kmsg.NewRequestFormatter().AppendRequest(nil, r, 1)
}

func join(protocols ...string) kmsg.Request {
	r := kmsg.NewPtrJoinGroupRequest()
	r.Group, r.ProtocolType, r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = "findings", "consumer", 60_000, 60_000
	for _, name := range protocols {
		p := kmsg.NewJoinGroupRequestProtocol()
		p.Name = name
		r.Protocols = append(r.Protocols, p)
	}
	return r
}

// produce names partition 0 of topics by their ids.
func produce(ids ...[16]byte) kmsg.Request {
	r := kmsg.NewPtrProduceRequest()
	r.Acks = 1
	for _, id := range ids {
		t := kmsg.NewProduceRequestTopic()
		t.TopicID, t.Partitions = id, []kmsg.ProduceRequestTopicPartition{kmsg.NewProduceRequestTopicPartition()}
		r.Topics = append(r.Topics, t)
	}
	return r
}

func describe() kmsg.Request {
	r := kmsg.NewPtrDescribeGroupsRequest()
	r.Groups = []string{"findings"}
	return r
}

// read reads an answer: what comes behind the correlation id and, in newer versions, the tags of the header.
func read(t *testing.T, resp kmsg.Response, version int16, answer []byte) {
	t.Helper()
	resp.SetVersion(version)
	header := 4
	if resp.IsFlexible() {
		header++
	}
	if len(answer) < header {
		t.Fatal("no answer")
	}
	if err := resp.ReadFrom(answer[header:]); err != nil {
		t.Fatal(err)
	}
}

func replicasNull(t *testing.T, _ net.Conn, answer []byte) {
	var resp kmsg.DescribeTopicPartitionsResponse
	read(t, &resp, 0, answer)
	seen := 0
	for _, topic := range resp.Topics {
		for _, p := range topic.Partitions {
			seen++
			if p.EligibleLeaderReplicas != nil || p.LastKnownELR != nil {
				t.Error("the lists are no longer null: kfake has been mended")
			}
		}
	}
	if seen == 0 {
		t.Error("no partition was described")
	}
	t.Logf("%d partitions, without a list in any", seen)
}

func hostWithPort(t *testing.T, _ net.Conn, answer []byte) {
	var resp kmsg.DescribeGroupsResponse
	read(t, &resp, 5, answer)
	if len(resp.Groups) != 1 || len(resp.Groups[0].Members) != 1 {
		t.Fatalf("%+v, want one member", resp.Groups)
	}
	host := resp.Groups[0].Members[0].ClientHost
	if _, _, err := net.SplitHostPort(host); err != nil {
		t.Errorf("the host is %q, without a port: kfake has been mended", host)
	}
	t.Logf("the host is %q", host)
}

// emptyAssigned lets the leader give itself the empty assignment.
func emptyAssigned(t *testing.T, conn net.Conn, answer []byte) {
	var joined kmsg.JoinGroupResponse
	read(t, &joined, 3, answer)
	r := kmsg.NewPtrSyncGroupRequest()
	r.Group, r.Generation, r.MemberID = "findings", joined.Generation, joined.MemberID
	r.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: joined.MemberID, MemberAssignment: []byte{}}}
	var resp kmsg.SyncGroupResponse
	read(t, &resp, 3, exchange(t, conn, [][]byte{request(r, 3)}))
	if resp.ErrorCode != 0 || len(resp.MemberAssignment) != 10 {
		t.Errorf("error %d and assignment %q: kfake has been mended", resp.ErrorCode, resp.MemberAssignment)
	}
	t.Logf("the assignment is %q", resp.MemberAssignment)
}
