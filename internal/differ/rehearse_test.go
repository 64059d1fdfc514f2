package differ

import (
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
	"github.com/muster-kafka/muster/conformance/targets/model"
	"github.com/muster-kafka/muster/model/classic"
)

func openModel(release string, adjust func(*classic.Profile), broken ...classic.RuleID) (conformance.Chooser, error) {
	return model.New(model.Options{Name: "model:" + release, Adjust: adjust, Broken: broken}, nil)
}

// What the specification of both releases gives is made small on these: the sides have no target here that could be played on.
func TestRehearsed(t *testing.T) {
	of := func(release string) *side { return &side{caps: target.Capabilities{Release: release}} }
	seq := Sequence{Lines: []string{"commit - t/0=5", "join A range=x static=a", "fetch A t/0", "heartbeat A", "describe"}}
	d := difference("heartbeat A", 3, []string{"A: REBALANCE_IN_PROGRESS"}, []string{"A: NONE"})
	r := &run{o: Options{Model: openModel}, a: of("2.6.0"), b: of("2.6.1")}
	small := r.rehearsed(t.Context(), seq, d, true)
	if small == nil || len(small.Lines) != 2 || !strings.HasPrefix(small.Lines[1], "heartbeat") {
		t.Fatalf("%+v, want a join and a heartbeat", small)
	}
	if r.rehearsed(t.Context(), seq, d, false) != nil {
		t.Error("what is not known is rehearsed")
	}
	r.b = of("")
	if r.rehearsed(t.Context(), seq, d, true) != nil {
		t.Error("a stranger is rehearsed")
	}
}

// A play in which the machine did not keep up and the difference did not show is played again, more slowly, so many times; one in which it kept up counts.
func TestConfirmed(t *testing.T) {
	seq := Sequence{Lines: []string{"join A range=x", "advance 8s", "heartbeat A"}}
	d := difference("heartbeat A", 2, []string{"A: NONE"}, []string{"A: UNKNOWN_MEMBER_ID"})
	side := func(last string, strained int) outcome {
		return outcome{texts: [][]string{{"A: x"}, nil, {"A: " + last}}, strained: strained}
	}
	for _, c := range []struct {
		name, plays string // d: it differs; n: not; l: not, and the machine was late by then; a: not, and late after that
		steady      bool
		stretches   []float64
	}{
		{"it shows", "ddd", true, []float64{2, 2, 2}},
		{"it does not", "dn", false, []float64{2, 2}},
		{"a late machine", "ldldd", true, []float64{2, 4, 4, 8, 8}},
		{"a machine that is late again and again", "lll", false, []float64{2, 4, 8}},
		{"a machine that is late afterwards", "a", false, []float64{2}},
	} {
		var stretches []float64
		got, err := confirmed(seq, d, 3, func(_ [][]string, stretch float64) (a, b outcome, err error) {
			b = side("UNKNOWN_MEMBER_ID", 0)
			switch c.plays[len(stretches)] {
			case 'd':
				a = side("NONE", 0)
			case 'n':
				a = side("UNKNOWN_MEMBER_ID", 0)
			case 'l':
				a = side("UNKNOWN_MEMBER_ID", 3)
			case 'a':
				a = side("UNKNOWN_MEMBER_ID", 4)
			}
			stretches = append(stretches, stretch)
			return a, b, nil
		})
		if err != nil || got.steady != c.steady || !slices.Equal(stretches, c.stretches) {
			t.Errorf("%s: %+v after %v, %v; want steady %v after %v", c.name, got, stretches, err, c.steady, c.stretches)
		}
	}
}

func TestCalm(t *testing.T) {
	for _, c := range []struct {
		line          string
		stretch, want float64
	}{{"describe", 0, 0}, {"describe", 2, 2}, {"advance 8s", 0, 2}, {"advance 8s", 2, 4}} {
		if got := (Sequence{Lines: []string{"join A range=x", c.line}}).calm(c.stretch); got != c.want {
			t.Errorf("%s, %v: %v, want %v", c.line, c.stretch, got, c.want)
		}
	}
}

// A commit for a group that is no part of the transaction is drawn where there is one answer to it.
func TestAlone(t *testing.T) {
	for newest, want := range map[int16]bool{3: true, 4: false} {
		caps := target.Capabilities{Topics: map[string]string{"t": "t"}, Features: []target.Feature{target.Transactions}}
		caps.Versions = map[int16]target.VersionRange{int16(kmsg.TxnOffsetCommit): {Max: newest}}
		other := caps
		other.Versions = map[int16]target.VersionRange{int16(kmsg.TxnOffsetCommit): {Max: 3}}
		drawn := 0
		for seed := range uint64(60) {
			s := draw(common(caps, other), func(seed uint64) checker.Machine { return embedded.NewMachine(seed) }, seed)
			if slices.ContainsFunc(s.Lines, func(l string) bool { return strings.HasSuffix(l, " -alone") }) {
				drawn++
			}
		}
		if (drawn > 0) != want {
			t.Errorf("TxnOffsetCommit up to %d: %d of 60 sequences", newest, drawn)
		}
	}
}
