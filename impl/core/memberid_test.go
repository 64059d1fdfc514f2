package core_test

import (
	"fmt"
	"testing"

	"github.com/muster-kafka/muster/impl/core"
)

// A member id is the client id and a version 4 UUID (§1.11).
func TestMemberID(t *testing.T) {
	for _, bits := range [][2]uint64{{0, 0}, {1, 2}, {0x0123456789abcdef, 0xfedcba9876543210}, {^uint64(0), ^uint64(0)}} {
		high, low := bits[0]&^0xf000|0x4000, bits[1]&^(3<<62)|2<<62
		want := fmt.Sprintf("c-%08x-%04x-%04x-%04x-%012x", high>>32, high>>16&0xffff, high&0xffff, low>>48, low&(1<<48-1))
		if got := core.MemberID("c", bits[0], bits[1]); got != want {
			t.Errorf("%x: %s, want %s", bits, got, want)
		}
	}
}
