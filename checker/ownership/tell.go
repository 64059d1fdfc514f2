package ownership

import (
	"fmt"
	"slices"
	"strings"
)

// Tell says what a violation is: the rule, what happened, who owned what when, and what the consumers in question went through.
func Tell(l *Log, v Violation) string {
	rule, _ := FindRule(v.Rule)
	var b strings.Builder
	fmt.Fprintf(&b, "Group %q, rule %s: %s\n%s\n", l.Header.Group, v.Rule, rule.Sentence, v.Text)
	if picture := draw(l, v); picture != "" {
		fmt.Fprintf(&b, "\n%s", picture)
	}
	fmt.Fprintf(&b, "\n%s", doings(l, v))
	return b.String()
}

// width of the picture, in characters.
const width = 72

// shown is the time before the violation that is shown, at least, in nanoseconds.
const shown = int64(1_000_000_000)

// window is the time that is shown: from some time before the first of the joins that matter until a little after the end.
func window(l *Log, v Violation) (from, to int64) {
	from, to = v.At, v.At+shown/4
	for i := range l.Events {
		e := &l.Events[i]
		if slices.Contains([]Kind{Joined, Assigned}, e.Kind) && slices.Contains(v.Clients, e.Client) && e.Generation >= v.Generation-1 && e.At <= v.At {
			from = min(from, e.At)
		}
	}
	return max(0, min(from, v.At-shown)-shown/10), to
}

// draw shows for each partition in question which of the consumers held it when, with the generations of their claims.
func draw(l *Log, v Violation) string {
	from, to := window(l, v)
	j := trace(l)
	partitions := v.Partitions
	if len(partitions) > 3 {
		partitions = partitions[:3]
	}
	var b strings.Builder
	column := func(at int64) int { return int((min(max(at, from), to) - from) * (width - 1) / max(1, to-from)) }
	for _, p := range partitions {
		fmt.Fprintf(&b, "who owned %s\n", p)
		for _, client := range v.Clients {
			row := []byte(strings.Repeat(".", width))
			for _, c := range j.claims {
				if c.partition != p || c.client != client || c.until < from || c.from > to {
					continue
				}
				a, z := column(c.from), column(c.until)
				for i := a; i <= z; i++ {
					row[i] = '='
				}
				row[a] = '['
				copy(row[min(a+1, z):z], fmt.Sprintf("g%d", c.generation))
				switch {
				case c.until == openEnd:
				case c.end == string(Lost):
					row[z] = 'x'
				case c.end == string(Crashed):
					row[z] = '!'
				default:
					row[z] = ']'
				}
			}
			fmt.Fprintf(&b, "  %-12s %s\n", client, row)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	left, right := seconds(from), seconds(to)
	fmt.Fprintf(&b, "  %-12s %s%s%s\n", "", left, strings.Repeat(" ", max(1, width-len(left)-len(right))), right)
	b.WriteString("  [g7= owned in generation 7, ] given up, x lost, ! killed\n")
	return b.String()
}

// trace replays the log for its claims alone.
func trace(l *Log) *judge {
	j := newJudge(l)
	j.keep = true
	for i := range l.Events {
		j.take(&l.Events[i])
	}
	return j
}

// mostDoings is how many lines are told at most: the last ones.
const mostDoings = 40

// doings are what the consumers in question went through, without heartbeats.
func doings(l *Log, v Violation) string {
	from, to := window(l, v)
	var lines []string
	for i := range l.Events {
		e := &l.Events[i]
		concerned := e.Client == "" || slices.Contains(v.Clients, e.Client)
		if e.At < from || max(e.Began, e.At) > to || !concerned || e.Kind == Beat || e.Kind == Commit && (v.Rule != Zombie || e.At != v.At && e.Generation != v.Generation) {
			continue
		}
		lines = append(lines, fmt.Sprintf("  %9s  %-10s %s\n", seconds(e.At), e.Client, e.tell()))
	}
	cut := ""
	if len(lines) > mostDoings {
		cut = fmt.Sprintf("  ... %d lines before\n", len(lines)-mostDoings)
		lines = lines[len(lines)-mostDoings:]
	}
	return cut + strings.Join(lines, "")
}

// tell is an event in words.
func (e *Event) tell() string {
	asked := ""
	if e.Began > 0 {
		asked = fmt.Sprintf(" (asked at %s)", seconds(e.Began))
	}
	switch e.Kind {
	case Joined:
		text := fmt.Sprintf("joined generation %d, %s", e.Generation, e.Protocol)
		if e.Leader == e.Member {
			text += fmt.Sprintf(", leads %d members", len(e.Members))
		}
		if len(e.Owned) > 0 {
			text += ", says that it owns " + list(e.Owned)
		}
		return text + asked
	case Planned:
		var parts []string
		for member, some := range e.Plan {
			parts = append(parts, fmt.Sprintf("%s: %s", member, list(some)))
		}
		slices.Sort(parts)
		return fmt.Sprintf("sends the assignment of generation %d: %s", e.Generation, strings.Join(parts, "; "))
	case Synced:
		return fmt.Sprintf("is assigned %s in generation %d%s", list(e.Partitions), e.Generation, asked)
	case Assigned:
		if len(e.Partitions) == 0 {
			return fmt.Sprintf("begins generation %d with nothing new", e.Generation)
		}
		return fmt.Sprintf("begins generation %d and owns %s from here on", e.Generation, list(e.Partitions))
	case Revoked:
		return "has given up " + list(e.Partitions)
	case Lost:
		return "has lost " + list(e.Partitions)
	case Commit:
		return fmt.Sprintf("commit of %s with generation %d accepted%s", list(e.Partitions), e.Generation, asked)
	case Left:
		return fmt.Sprintf("leave of %s accepted%s", e.Member, asked)
	case Topic:
		return fmt.Sprintf("topic %s has %d partitions", e.Topic, e.Count)
	case Restart:
		return fmt.Sprintf("the target serves again; it was killed at %s", seconds(e.Began))
	case Quiet:
		return fmt.Sprintf("nothing was done since %s", seconds(e.Began))
	case Note:
		return e.What
	}
	if e.What != "" {
		return string(e.Kind) + ": " + e.What
	}
	return string(e.Kind)
}
