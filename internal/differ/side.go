package differ

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
)

// side is one of the two targets.
type side struct {
	player *conformance.Player
	caps   target.Capabilities
	serial sync.Mutex // a virtual target plays one sequence at a time

	life     sync.RWMutex // held by whoever plays; a Mortal's death is looked into alone
	mu       sync.Mutex
	plays    int
	leftover []string
	suspects []suspect
}

func newSide(tg target.Target) *side {
	return &side{player: conformance.NewPlayer(tg), caps: tg.Capabilities()}
}

func (s *side) name() string { return s.player.Target().Name() }

// outcome is what one side gave for a sequence.
type outcome struct {
	texts  [][]string
	ended  string        // why it did not come to its end; empty if it did
	answer time.Duration // how long a request took that is answered at once, on average

	strained int // see conformance.Played
}

// late reports whether the machine may be why the block, from 0, has the text that it has.
func (o outcome) late(block int) bool { return o.strained > 0 && o.strained <= block+1 }

// play plays the sequence. promised are texts that it may give, nil where nobody knows; a specification is asked whether it may.
func (s *side) play(ctx context.Context, seq Sequence, promised [][]string, whole bool, stretch float64) (out outcome, err error) {
	if s.caps.Virtual {
		s.serial.Lock()
		defer s.serial.Unlock()
		defer func() {
			if p := recover(); p != nil { // a fault of a coordinator in this process is something to tell, not the end
				out, err = outcome{texts: [][]string{{fmt.Sprintf("panic: %v", p)}}, ended: string(debug.Stack())}, nil
			}
		}()
	}
	s.life.RLock()
	defer s.life.RUnlock()
	return s.perform(ctx, seq, promised, whole, stretch)
}

// perform is play by who has the right to.
func (s *side) perform(ctx context.Context, seq Sequence, promised [][]string, whole bool, stretch float64) (outcome, error) {
	sc, err := seq.scenario("diff")
	if err != nil {
		return outcome{}, fmt.Errorf("%w: %w", errUnsayable, err)
	}
	s.mu.Lock()
	s.plays++
	s.mu.Unlock()
	if chooser, ok := s.player.Target().(conformance.Chooser); ok && len(promised) > 0 {
		return s.accepts(ctx, sc, chooser, promised)
	}
	played, err := s.player.Play(ctx, sc, conformance.Play{Promised: promised, Whole: whole, Stretch: stretch})
	for n := 0; n < 3 && err == nil && slices.ContainsFunc(played.Texts, moves) && !s.caps.Virtual; n++ {
		if err := s.player.Target().Clock().Sleep(ctx, 300*time.Millisecond); err != nil {
			return outcome{}, err
		}
		if sc, err = seq.scenario("diff"); err == nil {
			played, err = s.player.Play(ctx, sc, conformance.Play{Promised: promised, Whole: whole, Stretch: stretch})
		}
	}
	if words, dead := s.died(ctx, played, err); dead {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.suspects = append(s.suspects, suspected(seq, played))
		return outcome{texts: played.Texts}, &deathError{words}
	}
	if err != nil {
		return outcome{}, err
	}
	if len(played.Leftover) > 0 {
		s.mu.Lock()
		s.leftover = append(s.leftover, played.Leftover...)
		s.mu.Unlock()
	}
	out := outcome{texts: played.Texts, ended: played.Stopped, strained: played.Strained}
	if played.Requests > 0 {
		out.answer = played.Waited / time.Duration(played.Requests)
	}
	return out, nil
}

// accepts follows the promised texts as far as the specification allows them, and has its own from there on.
func (s *side) accepts(ctx context.Context, sc *conformance.Scenario, ch conformance.Chooser, promised [][]string) (outcome, error) {
	got, err := sc.Accepts(ctx, ch, promised)
	if err != nil || got.Stopped != "" {
		return outcome{ended: got.Stopped}, err
	}
	texts := slices.Clone(promised[:got.Blocks])
	switch {
	case got.Blocks == len(promised):
		return outcome{texts: texts}, nil
	case uncovered(got):
		return outcome{texts: texts, ended: notCovered}, nil
	}
	return outcome{texts: append(texts, got.Instead)}, nil
}

const notCovered = "the specification does not cover it"

// uncovered reports whether the specification has no answer to a request: some are left out of it.
func uncovered(got conformance.Accepted) bool {
	return slices.ContainsFunc(got.Instead, func(l string) bool { return strings.HasSuffix(l, ": NO_READABLE_ANSWER") })
}

// moves reports whether a coordinator says that it does not serve: for a while after a broker has come up that says nothing of it.
func moves(text []string) bool {
	return slices.ContainsFunc(text, func(l string) bool {
		_, a, _ := strings.Cut(l, ": ")
		return slices.Contains([]string{"COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR"}, a)
	})
}
