package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/conformance/target"
)

// Player runs scenarios on one target for their text alone: nothing is judged. It may be used from several goroutines, on a virtual target
// from one at a time.
type Player struct {
	tg     target.Target
	health *health
}

// NewPlayer returns a player on the target.
func NewPlayer(tg target.Target) *Player { return &Player{tg: tg, health: newHealth()} }

// Target is what it plays on.
func (p *Player) Target() target.Target { return p.tg }

// Remarks are what a reader has to know of how the target was spoken to.
func (p *Player) Remarks() []string { return p.health.remarks() }

// Play says how a scenario is played.
type Play struct {
	// Promised are texts that the blocks are thought to give. They only say what is waited for: an answer that they have with patience,
	// silence where they have a request parked. From the first block that gives another text on nothing is promised any more, unless the
	// rest means the same all the same.
	Promised [][]string

	// Whole plays on after a block that does not give what was promised, in any case.
	Whole bool

	// Stretch is by how much slower than usual time passes on a network; 0 is not.
	Stretch float64
}

// Played is what came of it.
type Played struct {
	Texts    [][]string // of the blocks that ran, each played to its end
	Stopped  string     // why it did not come to its end, where that is the scenario's own fault; empty if it came there, or did not have to
	Leftover []string   // groups that could not be removed afterwards

	Last time.Time // when something was sent or answered last, on the target's clock

	Strained int // the first block, from 1, by whose end this machine had not kept up, so that it may give another text for that alone; 0 is none

	Requests int           // that were answered at once
	Waited   time.Duration // for all of these
}

// Play runs the scenario. An error says that the target could not be asked.
func (p *Player) Play(ctx context.Context, s *Scenario, how Play) (Played, error) {
	caps := p.tg.Capabilities()
	played := Played{}
	if reason := s.skip(caps, true).why(); reason != "" {
		played.Stopped = reason
		return played, nil
	}
	promise(s, how.Promised)
	if chooser, ok := p.tg.(Chooser); ok {
		chooser.Reset(nil)
	}
	m := manner{health: p.health, stretch: how.Stretch, unpromised: len(how.Promised) == 0}
	left, err := s.attempt(ctx, p.tg, freshGroup(caps, s), m, func(r *run, i int, got []string) bool {
		played.Texts = append(played.Texts, got)
		played.Last = r.activity
		if played.Strained == 0 && r.strain.excuse() != "" && !caps.Virtual {
			played.Strained = i + 1
		}
		n, waited := r.roundTrips()
		played.Requests, played.Waited = played.Requests+n, played.Waited+waited
		if i >= len(how.Promised) {
			r.unpromised = true
			return true
		}
		v := &s.File.Blocks[i].Variants[0]
		if v.Diff(got) < 0 {
			return true
		}
		if !r.goesOn(v, got) {
			r.unpromised = true
			return how.Whole
		}
		return true
	})
	played.Leftover = left
	var cannot *cannotError
	var skip *skipError
	switch {
	case errors.As(err, &cannot):
		played.Stopped, err = cannot.Error(), nil
	case errors.As(err, &skip):
		played.Stopped, err = skip.reason, nil
	}
	return played, err
}

// promise makes texts the only ones that the scenario's blocks may give.
func promise(s *Scenario, texts [][]string) {
	for i, b := range s.File.Blocks {
		v := script.Variant{}
		if i < len(texts) {
			for _, l := range texts[i] {
				v.Lines = append(v.Lines, script.NewExpect(l))
			}
		}
		b.Variants = []script.Variant{v}
	}
}

// roundTrips counts the requests of the block that the target had no reason to hold, and how long they took together.
func (r *run) roundTrips() (n int, waited time.Duration) {
	for _, l := range r.lines {
		if l.req != nil && l.req.taken && !l.req.parks {
			n, waited = n+1, waited+l.req.call.Finished().Sub(l.req.call.Sent)
		}
	}
	return n, waited
}

// Accepted is how far a specification follows texts.
type Accepted struct {
	Blocks  int      // how many of the texts it gives, from the first on
	Instead []string // what it gives for the next one, in the run that came furthest
	Stopped string   // why it could say nothing
	Rules   []string // that decided the last block, if the specification cites them
}

// Accepts asks a specification whether it gives the texts: whether one of the runs that it allows does.
func (s *Scenario) Accepts(ctx context.Context, tg Chooser, texts [][]string) (Accepted, error) {
	if reason := s.skip(tg.Capabilities(), true).why(); reason != "" {
		return Accepted{Stopped: reason}, nil
	}
	promise(s, texts)
	s.File.Blocks = s.File.Blocks[:len(texts)]
	a := &acceptor{s: s, tg: tg, furthest: -1, lenient: true}
	res := a.accept(ctx)
	switch {
	case ctx.Err() != nil:
		return Accepted{}, ctx.Err()
	case res.Status == Pass:
		return Accepted{Blocks: len(texts), Rules: a.cited}, nil
	case res.Status == Fail:
		return Accepted{Blocks: res.Failure.Block - 1, Instead: res.Failure.Got, Rules: a.cited}, nil
	}
	return Accepted{Stopped: res.Reason}, nil
}

// Recorded is the scenario as a file that expects the texts; a second release that gives others has them under its condition.
func (s *Scenario) Recorded(texts [][]string, release string, others [][]string) []byte {
	promise(s, texts)
	for i, b := range s.File.Blocks {
		if release != "" && i < len(others) {
			record(b, release, others[i])
		}
	}
	return script.Print(s.File)
}

// Line is one command of a scenario with what its verb may have, for those who make scenarios.
func Line(text string) (script.Command, error) {
	f, err := script.Parse("line", fmt.Appendf(nil, "# One line.\n# rule: -\n\n%s\n----\n", text), grammar())
	if err != nil {
		return script.Command{}, err
	}
	return f.Blocks[0].Commands[0], nil
}
