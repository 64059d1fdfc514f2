package mutants

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker/linearize"
)

// What the sample has of each: 40 in all.
const sampleSource, sampleTexts = 32, 4

// TestSample judges 40 mutants, drawn by a fixed seed: those of the source are tried on the judge that is known to notice them, or are explained.
func TestSample(t *testing.T) {
	if !*sampled {
		t.Skip("make mutants-sample")
	}
	began := time.Now()
	p := found(t)
	judged, why := known(t)
	var all []work
	survive := 0
	r := rand.New(rand.NewPCG(40, 40))
	for _, i := range r.Perm(len(p.Mutants)) {
		m := p.Mutants[i]
		judge, ok := judged[m.Digest()]
		switch {
		case len(all)+survive == sampleSource:
		case !ok, judge == Open:
			t.Logf("not judged yet, and left out: %s", m.Key())
		case judge == "", judge == OwnTests:
			survive++
			if judge == "" && why.Of(m.Key()) == nil {
				t.Errorf("nobody notices, and nobody says why: %s", m.Key())
			}
		default:
			if judge == bySizes {
				judge = byItself
			}
			all = append(all, work{Mutant: m, only: judge})
		}
	}
	noticed := 0
	pool(t, binary(t, p), all, workers, began.Add(time.Hour), nil, func(m Mutant, j Judged) {
		if noticed++; j.Judge == "" {
			t.Errorf("not noticed any more by %s: %s", judged[m.Digest()], m.Key())
		}
	})
	if noticed != len(all) {
		t.Errorf("%d mutants of %d have been judged", noticed, len(all))
	}
	t.Logf("%d mutants of the source noticed, %d explained, %v", noticed, survive, time.Since(began).Round(time.Second))

	// Of texts and histories it is each so many-th.
	for _, name := range []string{"model", "impl"} {
		n, tried := 0, 0
		every := func(string) bool { n++; return n%2000 == 7 && tried < sampleTexts/2 }
		err := texts(t.Context(), name, every, func(key, _ string, refused bool) {
			if tried++; !refused && why.Of(key) == nil {
				t.Errorf("%s accepts %s", name, key)
			}
		})
		if err != nil || tried != sampleTexts/2 {
			t.Error(name, tried, err)
		}
	}
	n, tried := 0, 0
	every := func(string) bool { n++; return n%150 == 7 && tried < sampleTexts }
	err := spoilt(t.Context(), every, func(key, _ string, v linearize.Verdict) {
		if tried++; v.Result != linearize.Illegal && why.Of(key) == nil {
			t.Errorf("%v: %s", v.Result, key)
		}
	})
	if err != nil || tried != sampleTexts {
		t.Error(tried, err)
	}
}
