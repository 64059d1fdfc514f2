package kafka

import "testing"

// TestFences reads logs of 4.3.1 and 4.4.0, shortened. An epoch of a former life is always fenced, one of this life only where the machine was too busy.
func TestFences(t *testing.T) {
	const (
		registered = "2026-11-30 18:53:43.146 INFO BrokerLifecycleManager - [BrokerLifecycleManager id=1] Successfully registered broker 1 with broker epoch 2375\n"
		former     = "2026-11-30 18:53:42.614 INFO ReplicationControlManager - [QuorumController id=1] Fencing broker 1 at epoch 2275 because its session has timed out.\n"
		own        = "2026-11-30 18:54:04.924 INFO ReplicationControlManager - [QuorumController id=1] Fencing broker 1 at epoch 2375 because its session has timed out.\n"
	)
	for name, test := range map[string]struct {
		parts  []string
		fenced bool
	}{
		"of a former life":  {[]string{former + registered}, false},
		"of this life":      {[]string{former + registered, own}, true},
		"half a line":       {[]string{registered + own[:60]}, false},
		"the other half":    {[]string{registered + own[:60], own}, true}, // what was not whole is read again
		"before it is ours": {[]string{own + registered}, false},
	} {
		s := fences{}
		got, length := false, 0
		for _, part := range test.parts {
			got = s.read([]byte(part))
		}
		for _, part := range test.parts {
			length += len(part)
		}
		if got != test.fenced || int(s.from) > length {
			t.Errorf("%s: %v, want %v; %d of %d bytes read", name, got, test.fenced, s.from, length)
		}
	}
}
