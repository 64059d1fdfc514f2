package fuzz_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/checker/linearize"
	"github.com/muster-kafka/muster/checker/ownership"
	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/conformance/target"
)

// FuzzScenario parses text as a scenario, arguments of verbs included. What is taken for one prints as it is read.
func FuzzScenario(f *testing.F) {
	f.Fuzz(func(t *testing.T, src []byte) {
		defer hangs(t)()
		s, err := conformance.Parse("x.txt", src)
		if err != nil {
			return
		}
		once := script.Print(s.File)
		again, err := conformance.Parse("x.txt", once)
		if err != nil {
			t.Fatalf("what was printed is no scenario: %v\n%q", err, once)
		}
		if twice := script.Print(again.File); !bytes.Equal(twice, once) {
			t.Fatalf("printing again gives another text:\n%q\n%q", once, twice)
		}
		if s.Estimate(target.Capabilities{Scale: 1}) < 0 {
			t.Fatal("it takes less than no time")
		}
	})
}

// FuzzHistory judges text as a history of concurrent calls, as muster check does.
func FuzzHistory(f *testing.F) {
	f.Fuzz(func(t *testing.T, src []byte) {
		defer hangs(t)()
		h, problems, err := history.Read(bytes.NewReader(src))
		if err != nil {
			return
		}
		limits := linearize.Limits{Timeout: 200 * time.Millisecond, Operations: 200, Explanations: 64}
		v, err := linearize.Check(t.Context(), h, limits)
		if err != nil {
			return
		}
		for _, g := range v.Groups {
			if g.Result != linearize.Illegal {
				continue
			}
			found, err := linearize.Explain(t.Context(), h, g.Group, linearize.Explaining{Limits: limits, Again: true, Budget: 200 * time.Millisecond})
			if err != nil || found.Text == "" {
				t.Fatalf("group %q is illegal, and why is not told: %v", g.Group, err)
			}
			break
		}
		if len(problems) > 0 {
			return // what was not understood is not written again
		}
		var text bytes.Buffer
		if err := h.Write(&text); err != nil {
			t.Fatal(err)
		}
		if again, problems, err := history.Read(&text); err != nil || len(problems) > 0 || len(again.Calls) != len(h.Calls) {
			t.Fatalf("written and read again: %v %v", problems, err)
		}
	})
}

// FuzzOwnership judges text as a log of who owned what, as muster check does.
func FuzzOwnership(f *testing.F) {
	f.Add([]byte(`{"header":{"format":"muster-ownership/1","target":"t","seed":1,"group":"g","session_ns":1,"calm_ns":1}}
{"event":"topic","at":1,"topic":"t","count":3}
{"event":"started","at":1,"client":"a"}
{"event":"joined","at":3,"began":2,"client":"a","member":"A","generation":1,"protocol":"range","leader":"A","members":["A"],"topics":["t"]}
{"event":"planned","at":4,"client":"a","member":"A","generation":1,"plan":{"A":["t/0","t/1"]}}
{"event":"synced","at":6,"began":5,"client":"a","member":"A","generation":1,"partitions":["t/0","t/1"]}
{"event":"assigned","at":7,"client":"a","member":"A","generation":1,"partitions":["t/0","t/1"]}
{"event":"commit","at":9,"began":8,"client":"a","member":"A","generation":1,"partitions":["t/0"]}
{"event":"quiet","at":50,"began":10,"patient":true}
{"event":"joined","at":61,"began":60,"client":"b","member":"B","instance":"i","generation":2,"protocol":"cooperative-sticky","cooperative":true,"leader":"B","members":["B"],"owned":["t/0"]}
{"event":"revoked","at":62,"client":"a","member":"A","generation":1,"partitions":["t/0"]}
{"event":"restart","at":70,"began":65}
{"event":"left","at":72,"began":71,"member":"B"}
{"event":"crashed","at":80,"client":"b"}
{"end":{"events":13}}
`))
	f.Fuzz(func(t *testing.T, src []byte) {
		defer hangs(t)()
		l, problems, err := ownership.Read(bytes.NewReader(src))
		if err != nil {
			return
		}
		v := ownership.Judge(l)
		for n, one := range v.Violations {
			if n == 5 {
				break
			}
			if _, ok := ownership.FindRule(one.Rule); !ok || ownership.Tell(l, one) == "" {
				t.Fatalf("a violation that cannot be told: %+v", one)
			}
		}
		if len(problems) > 0 {
			return
		}
		var text bytes.Buffer
		if err := l.Write(&text); err != nil {
			t.Fatal(err)
		}
		if again, problems, err := ownership.Read(&text); err != nil || len(problems) > 0 || len(again.Events) != len(l.Events) {
			t.Fatalf("written and read again: %v %v", problems, err)
		}
	})
}
