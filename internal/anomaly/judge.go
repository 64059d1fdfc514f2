package anomaly

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Findings judges what has been seen of the group so far. A group gets the most telling rule of each kind: one that is wedged is not
// also reported as stuck, and one that flaps not also as rebalancing often.
func (w *Watch) Findings() []Finding {
	if w.looks == 0 || w.last.State == Dead {
		return nil
	}
	var out []Finding
	add := func(judged ...func() (Finding, bool)) {
		for _, judge := range judged {
			if f, ok := judge(); ok {
				f.Group, f.Severity = w.Group, severityOf(f.Rule)
				out = append(out, f)
				return
			}
		}
	}
	add(w.wedged, w.stuckPreparing, w.stuckCompleting, w.rebalancing)
	add(w.flapping, w.rebalancesOften)
	add(w.leftOut)
	add(w.lagWithoutMembers, w.emptyLong)
	return out
}

// brokerAge is the age of a time on the coordinator's clock: at least so much for sure, and so much if the observer's clock is right.
func (w *Watch) brokerAge(at time.Time) (sure, likely time.Duration) {
	if at.IsZero() {
		return 0, 0
	}
	if !w.last.BrokerNow.IsZero() {
		sure = max(w.last.BrokerNow.Sub(at), 0)
	}
	return sure, max(sure, w.last.At.Sub(at))
}

// longestRebalanceTimeout is that of the members listed, and whether it is known of each of them.
func (w *Watch) longestRebalanceTimeout() (longest time.Duration, known bool) {
	g, ok := w.Generation()
	known = ok && len(w.members) > 0
	for _, m := range w.members {
		r := m.RebalanceTimeout
		if i := slices.IndexFunc(g.Members, func(o Member) bool { return o.ID == m.ID }); r == 0 && i >= 0 {
			r = g.Members[i].RebalanceTimeout
		}
		if r == 0 {
			known = false
			continue
		}
		longest = max(longest, r)
	}
	if !known {
		longest = max(longest, g.longestRebalanceTimeout(), w.settings.RebalanceTimeout)
	}
	return longest, known
}

func (g Generation) longestRebalanceTimeout() (longest time.Duration) {
	for _, m := range g.Members {
		longest = max(longest, m.RebalanceTimeout)
	}
	return longest
}

func (w *Watch) generationLine() string {
	g, ok := w.Generation()
	switch {
	case ok && len(g.Members) == 0 && g.Number == 0:
		return fmt.Sprintf("no generation is recorded since the group was created at %s", stamp(g.At))
	case ok && len(g.Members) == 0:
		return fmt.Sprintf("the last recorded generation, %d at %s, has no member", g.Number, stamp(g.At))
	case ok:
		return fmt.Sprintf("the last recorded generation is %d, completed at %s with %s", g.Number, stamp(g.At), count(len(g.Members), "member"))
	case w.last.Log:
		return "no generation is recorded in what was read of the group's log"
	default:
		return "not known: the last generation and the members' timeouts (__consumer_offsets was not read)"
	}
}

func (w *Watch) seenLine() string {
	return fmt.Sprintf("%s for at least %s (%d looks, from %s on)", w.span.state, length(w.span.length()), w.span.looks, stamp(w.span.since))
}

func names(members []Member) []string {
	out := make([]string, 0, len(members))
	for _, m := range members {
		out = append(out, m.Name())
	}
	return out
}

// list names a few members by name and id, and counts the rest.
func list(members []Member) string {
	const shown = 4
	var parts []string
	for i, m := range members {
		if i == shown {
			parts = append(parts, fmt.Sprintf("and %d more", len(members)-shown))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", m.Name(), m.ID))
	}
	return strings.Join(parts, ", ")
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// length is a duration as people read it.
func length(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	case d < 48*time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	default:
		return fmt.Sprintf("%.1f days", d.Hours()/24)
	}
}
