package history_test

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
)

// wired is a tapped connection and its far end, which sends and gets single bytes, so that no frame comes in one piece.
func wired(t *testing.T) (*history.Tap, net.Conn, net.Conn) {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { near.Close(); far.Close() })
	tap := history.NewTap("g")
	return tap, tap.Conn(near), far
}

func request(version int16) []byte {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.Generation = "g", 7
	req.SetVersion(version)
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("c")).AppendRequest(nil, req, 5)
}

func answer(version int16, code int16) []byte {
	resp := kmsg.NewPtrHeartbeatResponse()
	resp.SetVersion(version)
	resp.ErrorCode = code
	body := binary.BigEndian.AppendUint32(nil, 5)
	if resp.IsFlexible() {
		body = append(body, 0)
	}
	body = resp.AppendTo(body)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func send(t *testing.T, from, to net.Conn, bytes []byte) {
	t.Helper()
	go func() {
		for i := range bytes {
			if _, err := from.Write(bytes[i : i+1]); err != nil {
				return
			}
		}
	}()
	if _, err := io.ReadFull(to, make([]byte, len(bytes))); err != nil {
		t.Error(err)
	}
}

func TestTap(t *testing.T) {
	for _, version := range []int16{3, 4} { // the latter is flexible
		tap, client, server := wired(t)
		send(t, client, server, kmsg.NewRequestFormatter().AppendRequest(nil, kmsg.NewPtrMetadataRequest(), 4)) // which is about no group
		send(t, client, server, request(version))
		if h, _ := tap.History(history.Header{}); len(h.Calls) != 1 || h.Calls[0].Outcome != history.Open {
			t.Fatalf("version %d: before the answer: %+v", version, h.Calls)
		}
		send(t, server, client, answer(version, 27))
		h, err := tap.History(history.Header{Target: "t"})
		if err != nil || len(h.Calls) != 1 {
			t.Fatal(h.Calls, err)
		}
		c := h.Calls[0]
		resp, err := c.DecodeResponse()
		if err != nil || c.Client != "c" || c.Outcome != history.Answered || resp.(*kmsg.HeartbeatResponse).ErrorCode != 27 || h.Header.Ran <= 0 || h.Header.Groups[0] != "g" {
			t.Errorf("version %d: %+v %v", version, c, err)
		}
	}
}

// TestTapEnds ends connections with a call open, from either side.
func TestTapEnds(t *testing.T) {
	for want, end := range map[history.Outcome]func(client, server net.Conn){
		history.GivenUp: func(client, _ net.Conn) { client.Close() },
		history.Closed:  func(client, server net.Conn) { server.Close(); client.Read(make([]byte, 1)); client.Close() },
	} {
		tap, client, server := wired(t)
		send(t, client, server, request(4))
		end(client, server)
		if h, err := tap.History(history.Header{}); err != nil || len(h.Calls) != 1 || h.Calls[0].Outcome != want {
			t.Errorf("want %s: %+v %v", want, h.Calls, err)
		}
	}
}

// TestTapGarbage sends what is no Kafka: it is passed on, and said at the end.
func TestTapGarbage(t *testing.T) {
	for name, bytes := range map[string][]byte{
		"a huge frame":            {0xff, 0xff, 0xff, 0xff},
		"a request without sense": append([]byte{0, 0, 0, 14}, request(4)[4:18]...),
		"an empty frame":          {0, 0, 0, 0},
	} {
		tap, client, server := wired(t)
		send(t, client, server, bytes)
		send(t, client, server, request(4))
		h, err := tap.History(history.Header{})
		if err == nil || !strings.Contains(err.Error(), "connection 1") || len(h.Calls) != 0 {
			t.Errorf("%s: %d calls, error %v", name, len(h.Calls), err)
		}
	}
}
