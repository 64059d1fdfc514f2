package differ

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/muster-kafka/muster/fuzz/gen"
)

// unlike says in which versions of requests the sides cannot be compared, since only one of them offers them; empty where there are none. A client that
// speaks only these is refused by the other, which no sequence can show.
func unlike(a, b *side) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(gen.Spoken())) {
		x, knownX := a.caps.Versions[int16(key)]
		y, knownY := b.caps.Versions[int16(key)]
		if knownX && knownY && x != y {
			parts = append(parts, fmt.Sprintf("%s %d-%d and %d-%d", key.Name(), x.Min, x.Max, y.Min, y.Max))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("%s offers other versions than %s, and only what both have was compared: %s", a.name(), b.name(), strings.Join(parts, ", "))
}
