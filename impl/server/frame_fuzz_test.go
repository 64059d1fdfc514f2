package server

import (
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// FuzzReadRequest feeds random bytes to a connection's reader: an error or a request that is served here, never a panic.
func FuzzReadRequest(f *testing.F) {
	for key, r := range Versions() {
		req := kmsg.RequestForKey(int16(key))
		req.SetVersion(r.Max)
		f.Add(kmsg.NewRequestFormatter(kmsg.FormatterClientID("c")).AppendRequest(nil, req, 1))
	}
	f.Add([]byte{0x7f, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		limits := Limits{Frame: 1 << 16}.withDefaults()
		ours, theirs := net.Pipe()
		defer ours.Close()
		go func() {
			_, _ = theirs.Write(data)
			_ = theirs.Close()
		}()
		frame, err := newConn(ours, limits, newMemory(limits)).read()
		if err != nil {
			return
		}
		h, req, err := parseRequest(frame, Versions())
		if err != nil {
			return
		}
		if r, ok := Versions()[kmsg.Key(h.key)]; !ok || req.Key() != h.key || h.version < r.Min || h.version > r.Max && kmsg.Key(h.key) != kmsg.ApiVersions {
			t.Fatalf("let through: %+v", h)
		}
	})
}
