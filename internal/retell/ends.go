package retell

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	c "github.com/muster-kafka/muster/model/classic"
)

// Ends are commands that may show what has come of the way, the least first: nothing more, what operators see, what the members are told, and
// what comes of it when time passes.
func (l *Teller) Ends() [][]string {
	describe := "describe group=" + l.group
	var beats []string
	for i := range l.state.Slots {
		if l.state.Slots[i].Kind == c.Member && l.who[i] != "" {
			name := l.who[i]
			gen := ""
			if g, ok := l.actorGen[name]; !ok || g != l.gen {
				gen = " gen=" + strconv.Itoa(l.gen)
			}
			beats = append(beats, fmt.Sprintf("heartbeat %s group=%s%s", name, l.group, gen))
		}
	}
	var joins []string
	for i := range l.actors {
		if name := string(rune('A'+i%26)) + l.tag; !slices.ContainsFunc(l.state.Slots[:], func(s c.Slot) bool { return s.Joining || s.Syncing }) {
			joins = append(joins, fmt.Sprintf("join %s group=%s", name, l.group))
		}
	}
	ends := [][]string{nil, {describe}}
	for _, wait := range []time.Duration{0, short - margin, short + margin, Long + margin} {
		var passes []string
		if wait > 0 {
			passes = append(passes, "advance "+Duration(wait))
		}
		for _, first := range [][]string{nil, beats} {
			for _, then := range [][]string{{describe}, append(slices.Clone(joins), describe)} {
				ends = append(ends, slices.Concat(first, []string{Pause}, passes, then))
			}
		}
	}
	return ends
}
