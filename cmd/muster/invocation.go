package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/muster-kafka/muster/conformance"
)

// invocation is how the command was called, for the commands that replay what it finds.
type invocation struct {
	open   openOptions
	strict bool
}

// flags are those that bear on what a replay finds.
func (i invocation) flags() string {
	var b strings.Builder
	for _, f := range []struct{ name, value string }{{"as", i.open.as}, {"config", i.open.config}, {"topic", i.open.topic}} {
		if f.value != "" {
			fmt.Fprintf(&b, " --%s %s", f.name, quoted(f.value))
		}
	}
	if i.open.allowWrites {
		b.WriteString(" --allow-writes")
	}
	if i.strict {
		b.WriteString(" --strict")
	}
	return b.String()
}

// scenario is the command that runs the scenario of a failure again, from the file that it was read from.
func (i invocation) scenario(f *conformance.Failure) string {
	which := f.Scenario
	if f.File != "" {
		which = f.File
	}
	return fmt.Sprintf("muster run %s --target %s%s", quoted(which), quoted(i.open.name), i.flags())
}

// walk is the command that makes the random walks of a seed again.
func (i invocation) walk(seed uint64) string {
	return fmt.Sprintf("muster verify %s --seed %d%s", quoted(i.open.name), seed, i.flags())
}

// quoted is a word as a shell takes it.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:+@,=", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// counted is a number with its noun, whose plural ends in s.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// rounded is a duration without digits that nobody reads.
func rounded(d time.Duration) time.Duration {
	switch {
	case d < time.Millisecond:
		return d.Round(10 * time.Microsecond)
	case d < time.Second:
		return d.Round(100 * time.Microsecond)
	default:
		return d.Round(10 * time.Millisecond)
	}
}
