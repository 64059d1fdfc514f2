package fuzz_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/lockstep"
	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/fuzz/gen"
)

// mostLines of a scenario become events; a longer one is a story of its own, and not where a fuzzer starts.
const mostLines = 16

// kindOf says which kind of runs a scenario is of.
func kindOf(s *conformance.Scenario) (byte, bool) {
	switch s.File.Profile {
	case "", "restart", "retention":
		return 1, true // everything
	case "delay":
		return 2, true
	case "size":
		return 3, true
	}
	return 0, false
}

// eventsOf looks for a script that does what the scenario does, as near as it can: for each line the byte whose event has the same verb, the same actor
// and most of the arguments. What it has are the rules that it comes by.
func eventsOf(t *testing.T, s *conformance.Scenario) ([]byte, []string) {
	kind, ok := kindOf(s)
	lines := linesOf(s)
	if !ok || len(lines) == 0 || len(lines) > mostLines {
		return nil, nil
	}
	settings, options := embedded.Walk(uint64(kind))
	blind := options
	blind.Blind = true
	looking := lockstep.NewScripts(func() checker.Machine { return embedded.NewMachineWith(settings) }, blind)
	input := []byte{0} // the plain head: no static members, nothing left out
	if slices.ContainsFunc(lines, func(l want) bool { return l.args["static"] != "" }) {
		input[0] = staticHead(looking)
	}
	for _, line := range lines {
		best, most := byte(0), 0
		for b := range byte(gen.Wide) {
			if n := line.like(lastLine(looking, append(slices.Clone(input), b))); n > most {
				best, most = b, n
			}
			if most == line.most() {
				break
			}
		}
		if most > 0 {
			input = append(input, best)
		}
	}
	if len(input) < 3 {
		return nil, nil
	}
	_, rules := lockstep.NewScripts(func() checker.Machine { return embedded.NewMachineWith(settings) }, options).Again(input)
	var has []string
	for id := range rules {
		has = append(has, id.String())
	}
	slices.Sort(has)
	return append([]byte{kind}, input...), has
}

// staticHead is a head with which the first client is a static member.
func staticHead(looking *lockstep.Scripts) byte {
	for b := range byte(gen.Wide) {
		if strings.Contains(lastLine(looking, []byte{b, 0}), "static=") {
			return b
		}
	}
	return 0
}

func lastLine(looking *lockstep.Scripts, input []byte) string {
	blocks, _ := looking.Again(input)
	text, _, _ := strings.Cut(blocks[len(blocks)-1], "\n----")
	return text
}

// want is what a line of a scenario does.
type want struct {
	verb, actor string
	args        map[string]string
}

// linesOf are the lines of a scenario, one for each actor.
func linesOf(s *conformance.Scenario) (all []want) {
	for _, b := range s.File.Blocks {
		for _, c := range b.Commands {
			one := want{verb: c.Verb, args: argsOf(c)}
			switch {
			case c.Verb == "group":
			case len(c.Words) > 0 && slices.Contains([]string{"join", "sync", "heartbeat", "leave", "commit", "fetch"}, c.Verb):
				for _, w := range c.Words {
					one.actor = w
					all = append(all, one)
				}
			case c.Verb == "form":
				for _, w := range c.Words {
					all = append(all, want{verb: "join", actor: w, args: one.args}, want{verb: "join", actor: w, args: one.args})
				}
				for _, w := range c.Words {
					all = append(all, want{verb: "sync", actor: w})
				}
			default:
				all = append(all, one)
			}
		}
	}
	return all
}

func argsOf(c script.Command) map[string]string {
	args := map[string]string{}
	for _, a := range c.Args {
		args[a.Key] = a.Value
	}
	for _, f := range c.Flags {
		args["-"+f] = "-" + f
	}
	return args
}

// like says how much an event's line is like it: 0 where it is something else.
func (w want) like(line string) int {
	words := strings.Fields(line)
	if len(words) == 0 || words[0] != w.verb || w.actor != "" && (len(words) < 2 || words[1] != w.actor) {
		return 0
	}
	n := 1
	for key, value := range w.args {
		for _, word := range words[1:] {
			if k, v, _ := strings.Cut(word, "="); k == key {
				n++
				if v == value || word == value {
					n++
				}
			}
		}
	}
	return n
}

// most is what like can come to.
func (w want) most() int { return 1 + 2*len(w.args) }
