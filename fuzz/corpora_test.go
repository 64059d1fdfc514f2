package fuzz_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/record"
	"github.com/muster-kafka/muster/impl/sim"
	"github.com/muster-kafka/muster/internal/golden"
)

// corpora are where the fuzzer starts: inputs made from scenarios, under the names of these. A scenario is taken where it adds something that none of
// the smaller ones has, so that they are few.
var corpora = map[string]func(*testing.T, *conformance.Scenario) (input []byte, has []string){
	"FuzzEvents":   eventsOf,
	"FuzzFrames":   wireOf,
	"FuzzLog":      writtenBy,
	"FuzzScenario": textOf,
	"FuzzHistory":  callsOf,
}

// mostSeeds of a target, each of at most so many bytes, are kept.
const (
	mostSeeds = 60
	mostBytes = 6 << 10
)

// TestCorpora holds that what the fuzzer starts from is little, and made from scenarios that there are. With -update it makes it anew.
func TestCorpora(t *testing.T) {
	all, err := conformance.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(all, func(a, b *conformance.Scenario) int { return len(script.Print(a.File)) - len(script.Print(b.File)) })
	for name, input := range corpora {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("testdata", "fuzz", name)
			if *golden.Update {
				export(t, dir, all, input)
			}
			kept, err := filepath.Glob(filepath.Join(dir, seed("*")))
			if err != nil || len(kept) == 0 || len(kept) > mostSeeds {
				t.Errorf("%s: %d seeds, %v", dir, len(kept), err)
			}
			for _, path := range kept {
				scenario := strings.TrimPrefix(filepath.Base(path), seed(""))
				if !slices.ContainsFunc(all, func(s *conformance.Scenario) bool { return s.Name == scenario }) {
					t.Errorf("%s is of no scenario: go test ./fuzz -run '^TestCorpora$' -update makes them anew", path)
				}
			}
		})
	}
}

// seed is the name of a file that was made from a scenario; what the fuzzer has found has a name of digits.
func seed(scenario string) string { return "scenario-" + scenario }

func export(t *testing.T, dir string, all []*conformance.Scenario, input func(*testing.T, *conformance.Scenario) ([]byte, []string)) {
	old, err := filepath.Glob(filepath.Join(dir, seed("*")))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	kept, size := 0, 0
	for _, s := range all {
		bytes, has := input(t, s)
		fresh := slices.DeleteFunc(has, func(h string) bool { return seen[h] })
		if len(bytes) == 0 || len(bytes) > mostBytes || len(fresh) == 0 || kept == mostSeeds {
			continue
		}
		for _, h := range fresh {
			seen[h] = true
		}
		kept, size = kept+1, size+len(bytes)
		text := fmt.Sprintf("go test fuzz v1\n[]byte(%q)\n", bytes)
		if err := os.WriteFile(filepath.Join(dir, seed(s.Name)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%s: %d of %d scenarios, %d bytes, for %d things", dir, kept, len(all), size, len(seen))
}

// textOf is the scenario itself; what it has are verbs with their arguments, and the fields of its head.
func textOf(_ *testing.T, s *conformance.Scenario) ([]byte, []string) {
	has := []string{"profile " + s.File.Profile}
	for _, b := range s.File.Blocks {
		for _, c := range b.Commands {
			has = append(has, c.Verb)
			for _, a := range c.Args {
				has = append(has, c.Verb+" "+a.Key)
			}
			for _, f := range c.Flags {
				has = append(has, c.Verb+" -"+f)
			}
		}
		for i := range b.Variants {
			has = append(has, b.Variants[i].Title())
		}
	}
	return script.Print(s.File), has
}

// callsOf are its calls as a history, where that is legal; what it has are calls and how they are answered.
func callsOf(t *testing.T, s *conformance.Scenario) ([]byte, []string) {
	h := play(t, s)
	if h == nil || len(h.Calls) == 0 || len(h.Calls) > 40 {
		return nil, nil
	}
	if v, err := linearize.Check(t.Context(), h, linearize.Limits{}); err != nil || v.Result != linearize.Legal {
		return nil, nil // what it does besides is in no call
	}
	var text bytes.Buffer
	if err := h.Write(&text); err != nil {
		t.Fatal(err)
	}
	var has []string
	for i := range h.Calls {
		has = append(has, fmt.Sprint(h.Calls[i].Key, h.Calls[i].Outcome))
	}
	return text.Bytes(), append(has, s.File.Profile)
}

// wireOf are its requests as frames; what it has are versions.
func wireOf(t *testing.T, s *conformance.Scenario) (input []byte, has []string) {
	h := play(t, s)
	if h == nil || len(h.Calls) > mostFrames {
		return nil, nil
	}
	for i := range h.Calls {
		c := &h.Calls[i]
		req, err := c.DecodeRequest()
		if err != nil {
			t.Fatal(err)
		}
		input = append(append(input, byte(c.Conn)%wires), kmsg.NewRequestFormatter(kmsg.FormatterClientID("c")).AppendRequest(nil, req, int32(c.ID))...)
		has = append(has, fmt.Sprint(c.Key, " ", c.Version))
	}
	return input, has
}

// writtenBy is the log that its requests leave, asked of a coordinator of its own, up to where it has the most: in the end the runner removes the groups.
// What it has are kinds of records.
func writtenBy(t *testing.T, s *conformance.Scenario) (input []byte, has []string) {
	h := play(t, s)
	if h == nil {
		return nil, nil
	}
	best := tape{}
	log := &tape{}
	replayed(t, h, log, func() {
		if log.live() >= best.live() {
			best = *log
		}
	})
	return best.input, best.has
}

// tape is a log as an input.
type tape struct {
	input []byte
	has   []string
}

// live is how many records are left of it.
func (l *tape) live() int { return len(logOf(l.input).Records()) }

func (l *tape) write(w core.Append) {
	for _, r := range w.Records {
		producer := int64(0)
		if r.Producer != nil {
			producer = 1 + r.Producer.ID%3
		}
		kind := fmt.Sprint(r.Kind, producer > 0)
		switch r.Kind {
		case core.GroupRecord:
			static := slices.ContainsFunc(r.Metadata.Members, func(m kmsg.GroupMetadataValueMember) bool { return m.InstanceID != nil })
			kind = fmt.Sprint(kind, min(3, len(r.Metadata.Members)), r.Metadata.Protocol != nil, static)
			l.input = appendRecord(l.input, producer, record.GroupKey(r.Group), record.GroupValue(r.Metadata))
		case core.GroupTombstone:
			l.input = appendRecord(l.input, producer, record.GroupKey(r.Group), nil)
		case core.OffsetRecord:
			kind = fmt.Sprint(kind, r.Partition, r.Offset.Metadata != "", r.Offset.Version)
			l.input = appendRecord(l.input, producer, record.OffsetKey(r.Group, r.Topic, r.Partition), record.OffsetValue(r.Offset))
		case core.OffsetTombstone:
			l.input = appendRecord(l.input, producer, record.OffsetKey(r.Group, r.Topic, r.Partition), nil)
		case core.CommitMarker, core.AbortMarker:
			l.input = appendMarker(l.input, producer, r.Kind == core.CommitMarker)
		}
		l.has = append(l.has, kind)
	}
}

// replayed asks a coordinator for what a history asks for, and hands on what it writes, call by call. Its answers are those of the history, since it draws the same
// member ids from the same seed.
func replayed(t *testing.T, h *history.History, log *tape, after func()) {
	s := sim.New(0, core.Settings{MinSessionTimeout: h.Header.MinSession, Transactions: true, TopicExists: func(topic string, _ int32) bool { return h.Header.Topics[topic] > 0 }})
	now := int64(0)
	for i := range h.Calls {
		c := &h.Calls[i]
		req, err := c.DecodeRequest()
		if err != nil {
			t.Fatal(err)
		}
		if c.Call > now {
			s.Advance(time.Duration(c.Call - now))
			now = c.Call
		}
		s.Step(core.Request{Ticket: core.Ticket(c.ID), Message: req, Version: c.Version, ClientID: "c"})
		for _, w := range s.Drain().Appends {
			log.write(w)
		}
		after()
	}
}
