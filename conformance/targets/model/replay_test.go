package model_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/model/classic"
)

// What the generator does can be written as a scenario, and the runner then does the same: its text, recorded from nothing, fails in no
// other way than by the answers that are missing from it.
func TestRandomRunsAreScenarios(t *testing.T) {
	lines := 0
	for seed := range uint64(60) {
		text := randomScenario(seed, 60)
		s, err := conformance.Parse("random.txt", []byte(text))
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		lines += len(s.File.Blocks)
	}
	if lines < 2000 {
		t.Errorf("only %d blocks", lines)
	}
}

// randomScenario is a run of the generator against the model, as text.
func randomScenario(seed uint64, events int) string {
	r := rand.New(rand.NewPCG(seed, 9))
	m := observe.NewMachine(observe.NewWorld(observe.Config{Profile: classic.Java, MinSession: 10 * time.Millisecond}), r.IntN)
	g := gen.New(gen.Setup{Groups: 2, MinSession: 10 * time.Millisecond}, gen.Seeded(seed))
	sent := map[checker.Ticket]gen.Event{}
	ticket := checker.Ticket(0)
	text := &strings.Builder{}
	text.WriteString("# A random run.\n# rule: join.pending.joins\n\n" + gen.Head() + "\n----\n")
	for range events {
		until := time.Duration(-1)
		if ts := m.Timers(); len(ts) > 0 {
			until = ts[0].Deadline.Sub(m.Now())
		}
		e := g.Next(until)
		text.WriteString("\n" + e.Line + "\n----\n")
		switch {
		case e.Request != nil:
			ticket++
			sent[ticket] = e
			m.Request(checker.Request{Ticket: ticket, Message: e.Request, Version: e.Version, ClientID: e.ClientID})
		case e.Fire:
			for at := m.Now().Add(until); len(m.Timers()) > 0 && !m.Timers()[0].Deadline.After(at); {
				m.Fire(m.Timers()[0])
			}
		default:
			m.Advance(e.By)
		}
		for ts := m.Timers(); len(ts) > 0 && !ts[0].Deadline.After(m.Now()); ts = m.Timers() {
			m.Fire(ts[0])
		}
		effects := m.Drain()
		for _, a := range effects.Answers {
			g.Answered(sent[a.Ticket], a.Message)
		}
		for _, d := range effects.Dropped {
			g.Dropped(sent[d])
		}
	}
	return text.String()
}
