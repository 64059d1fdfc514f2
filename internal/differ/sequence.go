package differ

import (
	"slices"
	"strings"

	"github.com/muster-kafka/muster/conformance"
)

// Sequence is a run as lines of scenario text, each a block of its own: its text says after which request the targets part.
type Sequence struct {
	Lines []string
	Seed  uint64 // that it was drawn from
}

// verb is what the line does.
func verb(line string) string {
	v, _, _ := strings.Cut(line, " ")
	return v
}

// text is the sequence as a scenario file without expectations.
func (s Sequence) text(header []string) []byte {
	var b strings.Builder
	for _, l := range header {
		b.WriteString(strings.TrimRight("# "+l, " ") + "\n")
	}
	for _, l := range s.Lines {
		b.WriteString("\n" + l + "\n----\n")
	}
	return []byte(b.String())
}

// anyRule stands where a scenario must name a rule and nobody knows it yet.
const anyRule = "fetch.committed"

// scenario is the sequence for a player. Each player gets one of its own, since it writes into it what is promised.
func (s Sequence) scenario(name string) (*conformance.Scenario, error) {
	return conformance.Parse(name+".txt", s.text([]string{"Drawn at random.", "rule: " + anyRule}))
}

// without is the sequence with some lines left out.
func (s Sequence) without(from, n int) Sequence {
	kept := append([]string(nil), s.Lines[:from]...)
	return Sequence{Lines: append(kept, s.Lines[from+n:]...), Seed: s.Seed}
}

// with is the sequence with another line in place of one.
func (s Sequence) with(at int, line string) Sequence {
	lines := append([]string(nil), s.Lines...)
	lines[at] = line
	return Sequence{Lines: lines, Seed: s.Seed}
}

// upTo is the sequence up to and with a line.
func (s Sequence) upTo(at int) Sequence {
	return Sequence{Lines: append([]string(nil), s.Lines[:at+1]...), Seed: s.Seed}
}

// calm is by how much slower than usual the sequence is played where others would be by stretch. Where time passes it is twice as much: others play
// meanwhile, so that it costs nothing, and a machine that has much to do is late by more than what is scaled so far down allows for.
func (s Sequence) calm(stretch float64) float64 {
	if slices.ContainsFunc(s.Lines, func(l string) bool { return verb(l) == "advance" }) {
		return 2 * max(1, stretch)
	}
	return stretch
}

// namesNobody says whether the sequence uses the empty group id, which all sequences share.
func (s Sequence) namesNobody() bool {
	for _, l := range s.Lines {
		if strings.Contains(l, "group=none") || strings.HasPrefix(l, "delete") && strings.Contains(l, " none") {
			return true
		}
	}
	return false
}

// settled says whether each TxnOffsetCommit is for the group that its transaction was begun for. What a broker answers otherwise depends on
// what its transaction coordinator has heard of meanwhile.
func (s Sequence) settled() bool {
	begun := map[string]string{}
	for _, l := range s.Lines {
		words := strings.Fields(l)
		if len(words) < 2 || !strings.HasPrefix(words[0], "txn-") {
			continue
		}
		group := "group"
		for _, w := range words[2:] {
			if g, ok := strings.CutPrefix(w, "group="); ok {
				group = g
			}
		}
		switch words[0] {
		case "txn-begin":
			begun[words[1]] = group
		case "txn-commit":
			member := strings.Contains(l, " as=") && !strings.Contains(l, " group=")
			if at, ok := begun[words[1]]; !ok || at != group && !member {
				return false
			}
		case "txn-end":
			delete(begun, words[1])
		}
	}
	return true
}

// listsTwice says whether a JoinGroup lists a protocol twice. The specification leaves that out: the group of a Kafka that is sent it stands
// still for good.
func (s Sequence) listsTwice() bool {
	for _, l := range s.Lines {
		c, err := conformance.Line(l)
		if err != nil || c.Verb != "join" {
			continue
		}
		names := map[string]bool{}
		for _, a := range c.Args {
			if names[a.Key] {
				return true
			}
			names[a.Key] = true
		}
	}
	return false
}
