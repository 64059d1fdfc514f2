package lockstep

import (
	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/model/classic"
)

// Scripts walks machines by scripts (gen.Script): bytes that somebody else has made up, such as a fuzzer. It must not be used from two goroutines
// at a time.
type Scripts struct {
	newMachine func() checker.Machine
	options    Options
	world      *observe.World
}

// NewScripts returns one; newMachine must give machines that do the same for the same steps. Of the options Seed, Checks and Steps mean nothing.
func NewScripts(newMachine func() checker.Machine, o Options) *Scripts {
	return &Scripts{newMachine, o, observe.NewWorld(o.World)}
}

// Walk walks a machine by the script, to its end. What leaves the specification is made as short as it can be.
func (s *Scripts) Walk(script []byte) Report {
	src := &scripted{script: gen.NewScript(script)}
	w := newWalk(s.newMachine(), s.world.Again(), s.options.World.MaxSize, s.options.Setup, src).judging(s.options)
	var v *Violation
	for v == nil && !src.script.Ended() && w.stats.Inconclusive == "" {
		v = w.event()
	}
	if v == nil && s.options.Heal && w.stats.Inconclusive == "" {
		v = w.heal()
	}
	r := Report{Sequences: 1, Steps: w.stats.Steps, Branches: w.stats.Branches, Rules: w.stats.Rules, Healed: w.stats.Healed, Emptied: w.stats.Emptied}
	if w.stats.Inconclusive != "" {
		r.Capacity = 1
	}
	if v != nil {
		small := &shrinker{newMachine: s.newMachine, options: s.options, world: s.world, best: src.made(), found: v}
		small.shrink()
		r.Violation = small.found
	}
	return r
}

// Again walks the script and tells what happens, an event after the other, as scenario text without what was answered: for whoever looks for a
// script that does what he means. It ends where the machine leaves the specification.
func (s *Scripts) Again(script []byte) (lines []string, rules map[classic.RuleID]int64) {
	src := &scripted{script: gen.NewScript(script)}
	w := newWalk(s.newMachine(), s.world.Again(), s.options.World.MaxSize, s.options.Setup, src).judging(s.options).inWords()
	for !src.script.Ended() && w.stats.Inconclusive == "" {
		if w.event() != nil {
			break
		}
	}
	return w.trace, w.stats.Rules
}

// scripted is a source that reads a script and remembers what it chose.
type scripted struct {
	script *gen.Script
	log
}

func (s *scripted) event() {
	s.log.event()
	s.script.Event()
}

func (s *scripted) Intn(n int, label string) int { return s.note(s.script.Intn(n, label)) }
