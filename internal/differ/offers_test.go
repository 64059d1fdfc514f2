package differ

import (
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/fuzz/gen"
)

// What a target offers and cannot read is not drawn, and the other side is not spoken to in it where a line names no version.
func TestNewest(t *testing.T) {
	versions := map[int16]target.VersionRange{}
	for key, v := range gen.Spoken() {
		versions[int16(key)] = target.VersionRange{Min: v.Min, Max: v.Max}
	}
	all := target.Capabilities{Versions: versions}
	some := target.Capabilities{Versions: versions, Newest: map[int16]int16{kmsg.JoinGroup.Int16(): 3, kmsg.LeaveGroup.Int16(): 2}}
	scout := func(seed uint64) checker.Machine { return embedded.NewMachine(seed) }
	for seed := range uint64(200) {
		lines := draw(common(all, some), scout, seed).Lines
		if !strings.Contains(lines[0], " join=v3 leave=v2") {
			t.Fatalf("seed %d begins with %q", seed, lines[0])
		}
		for _, line := range lines {
			if strings.HasPrefix(line, "join ") && slices.ContainsFunc([]string{" v=4", " v=5", " v=6", " v=7", " v=8", " v=9"}, func(v string) bool { return strings.Contains(line, v) }) {
				t.Fatalf("seed %d: %q asks for more than version 3", seed, line)
			}
		}
	}
	if line := draw(common(all, all), scout, 1).Lines[0]; strings.Contains(line, "join=") {
		t.Errorf("where both read all that they offer it begins with %q", line)
	}
}
