package converge

import (
	"strings"
	"testing"

	"github.com/muster-kafka/muster/fuzz/gen"
)

// TestAgain holds that a member that was never told an error is not said to have been told one.
func TestAgain(t *testing.T) {
	m := &Member{Client: &gen.Client{Name: "c"}}
	if got := m.again(); strings.Contains(got, "told last") || !strings.HasPrefix(got, "c asks again and again") {
		t.Errorf("%q", got)
	}
	m.hears("JoinGroup", 25)
	if got := m.again(); !strings.HasSuffix(got, "was told last JoinGroup: UNKNOWN_MEMBER_ID") {
		t.Errorf("%q", got)
	}
}
