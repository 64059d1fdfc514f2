package wire

import "testing"

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"": true, "127.0.0.1": true, "127.1.2.3": true, "::1": true, "localhost": true, "0.0.0.0": true, "::": true,
		"192.0.2.1": false, "2001:db8::1": false, "no-such-host.invalid": false,
	} {
		if got := loopback(t.Context(), host); got != want {
			t.Errorf("%q is on this machine: %v, want %v", host, got, want)
		}
	}
}
