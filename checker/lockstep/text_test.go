package lockstep

import "testing"

// TestBytes holds that what is no text is quoted.
func TestBytes(t *testing.T) {
	for b, want := range map[string]string{"": `""`, "A.2": "A.2", "\x00\x01t\xff": `"\x00\x01t\xff"`, "a b": `"a b"`} {
		if got := bytes([]byte(b)); got != want {
			t.Errorf("%q: %s, want %s", b, got, want)
		}
	}
}
