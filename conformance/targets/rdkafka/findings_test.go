package rdkafka

import (
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// TestFindings shows what docs/findings.md tells of the mock and no scenario can show; go test -count 3 does so three times. What the mock does there comes from
// memory that it has not set, so that it depends on what was asked before, and on how it was built.
func TestFindings(t *testing.T) {
	if os.Getenv("MUSTER_NIGHTLY") == "" {
		t.Skip("takes a C compiler; MUSTER_NIGHTLY=1 runs it")
	}
	program, err := binary(t.Context(), nil)
	if errors.Is(err, ErrNoCompiler) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	p, err := startProcess(t.Context(), program, "t:2")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.stop)
	for _, step := range []struct{ what, frame string }{
		{"JoinGroup v4, which makes the group g and waits", "00000031000b000400000006000163000167000000640000177000000008636f6e73756d657200000001000572616e676500000000"},
		{"DeleteGroups v1, which the mock does not know: it ends the connection", "00000012002a00010000000700016300000001000167"},
		{"LeaveGroup v1 of the member stranger in another group, refused", "0000001f000d0001000000130001630008636f6e73756d65720008737472616e676572"},
		{"OffsetCommit v0 for g, whose version has no member id", "0000002700080000000000140001630001670000000100017400000001000000010000000080000000ffff"},
	} {
		frame, err := hex.DecodeString(step.frame)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("tcp", p.addr)
		if err != nil {
			t.Fatalf("before %s: %v", step.what, err)
		}
		defer conn.Close()
		if err := conn.SetDeadline(time.Now().Add(60 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(frame); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		answer := make([]byte, 4)
		_, err = io.ReadFull(conn, answer)
		t.Logf("%s: %v", step.what, err)
	}
	select {
	case <-p.ended:
	case <-time.After(5 * time.Second):
		t.Fatal("the mock lives: it has been mended, or was built otherwise")
	}
	if err := p.crashed(); err == nil || !strings.Contains(strings.ToLower(err.Error()), "seg") {
		t.Errorf("it ended with %v, want a segmentation fault", err)
	}
}
