package pages

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/internal/files"
)

const ms = int64(1e6)

// sample has something of everything, and a script in every text.
func sample() *Failure {
	const script = `"'><img src=x onerror=owned()></script><script>owned()</script>`
	bar := func(kind BarKind, from, to, call int64) Bar {
		return Bar{From: from * ms, To: to * ms, Kind: kind, Call: call, Label: string(kind) + script, Tip: script}
	}
	return &Failure{
		Title: "Group g" + script, Facts: []Fact{{script, script}}, Rule: "join.parked.removed" + script, Class: "contract", Sentence: script, Suffers: script,
		Seen: &Call{ID: 2, Client: script, Request: script, Answer: script}, Reasons: []Reason{{script, script, script, script}}, Apart: script, Before: []string{script}, More: 3,
		Commands: []string{"muster check 'a" + script + "'"}, Links: []Link{{"file.jsonl", script, script}},
		Lanes: []Lane{
			{"done on purpose", []Bar{bar(Fault, 400, 900, 0)}},
			{"c0" + script, []Bar{bar(Plain, 0, 1, 1), bar(Wait, 30, 2_000, 3), bar(Silent, 40, 1_900, 4)}},
			{"c1", []Bar{bar(Wrong, 2_100, 2_101, 2)}},
			{"timer: session", []Bar{bar(Armed, 0, 250, 0), bar(Window, 250, 270, 0), bar(Late, 270, 500, 0), bar(Fired, 300, 350, 0)}},
		},
		Bands: []Bar{bar(Fault, 400, 900, 0)},
		Timeline: []Call{
			{ID: 1, When: "0 ms", Client: script, Request: script, Answer: script},
			{When: "400 ms", Request: script, Kind: "fault"},
			{ID: 3, Was: 17, When: "30 ms", Client: script, Request: script, Answer: script},
			{ID: 4, When: "40 ms", Client: script, Request: script, Answer: script},
			{ID: 2, When: "2100 ms", Client: script, Request: script, Answer: script, Kind: "wrong"},
		},
		Lateness: "50ms", NoView: "It is left out: " + script, Text: script,
	}
}

// TestSamplePage escapes all that it is given. Where MUSTER_PAGES names a folder the page goes there too: tools/browser opens it.
func TestSamplePage(t *testing.T) {
	var text strings.Builder
	if err := WriteFailure(&text, sample()); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<img", "<script", "ZgotmplZ"} {
		if at := strings.Index(text.String(), bad); at >= 0 {
			t.Errorf("%q is in the page: %.200s", bad, text.String()[at:])
		}
	}
	if n := strings.Count(text.String(), "owned()"); n < 30 {
		t.Errorf("only %d of the texts are in the page", n)
	}
	if dir := os.Getenv("MUSTER_PAGES"); dir != "" {
		if err := files.Save(filepath.Join(dir, "sample.html"), func(w io.Writer) error { return WriteFailure(w, sample()) }); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPolicy lets the script of a view run, and no other.
func TestPolicy(t *testing.T) {
	f := sample()
	f.View = "<html><script>render()</script></html>"
	var text strings.Builder
	if err := WriteFailure(&text, f); err != nil {
		t.Fatal(err)
	}
	// echo -n 'render()' | openssl dgst -sha256 -binary | base64
	if want := "script-src &#39;sha256-"; !strings.Contains(text.String(), want) || strings.Contains(text.String(), "script-src 'unsafe-inline'") {
		t.Error("the policy does not name the script of the view")
	}
	if !strings.Contains(text.String(), "default-src 'none'") {
		t.Error("the policy lets the page take something from elsewhere")
	}
	if got := digests("no script"); got != "'none'" {
		t.Errorf("without a script %s", got)
	}
}

// TestScale lays out what happens: in order, within the width, and calls wide enough to be read.
func TestScale(t *testing.T) {
	read := []Bar{{From: 0, To: ms}, {From: 5_000 * ms, To: 5_001 * ms}}
	s := newScale([]int64{0, ms, 5_000 * ms, 5_001 * ms, 10_000 * ms}, read)
	last := -1.0
	for _, at := range s.at {
		if x := s.of(at); x <= last || x < 0 || x > 1+1e-9 {
			t.Errorf("%d ms is at %f, what is before at %f", at/ms, x, last)
		}
		last = s.of(at)
	}
	for _, b := range read {
		if w := s.of(b.To) - s.of(b.From); w < readable/1.5 {
			t.Errorf("a call from %d to %d ms takes %f of the width", b.From/ms, b.To/ms, w)
		}
	}
	ticks := s.ticks()
	if len(ticks) < 2 || ticks[0].Label != "0 ms" || ticks[len(ticks)-1].Label != "10000 ms" {
		t.Errorf("ticks %v", ticks)
	}
	one := newScale([]int64{7}, nil)
	if one.of(7) != 0 || len(one.ticks()) != 1 {
		t.Errorf("a single instant is at %f, ticks %v", one.of(7), one.ticks())
	}
	if none := newScale(nil, nil); len(none.ticks()) != 0 {
		t.Error("nothing has ticks")
	}
}

// TestRows puts calls that overlap below each other, and parts of a timer beside each other.
func TestRows(t *testing.T) {
	p := failurePage{Failure: sample()}
	p.layOut()
	if a, b := p.Lanes[1].Bars[1].Top, p.Lanes[1].Bars[2].Top; a == b {
		t.Errorf("two calls that overlap are both at %s", a)
	}
	if p.Lanes[1].Height == p.Lanes[3].Height || p.Lanes[3].Bars[0].Top != p.Lanes[3].Bars[2].Top {
		t.Errorf("heights %s and %s", p.Lanes[1].Height, p.Lanes[3].Height)
	}
}

// TestFailuresFirst holds that failures come before what could not be told, which comes first where there are none.
func TestFailuresFirst(t *testing.T) {
	for _, kind := range []string{"failures", "differences"} {
		var text strings.Builder
		if err := WriteIndex(&text, &Index{Doubts: []string{"doubt"}, Lists: []List{{Anchor: kind, Title: "a list"}}}); err != nil {
			t.Fatal(err)
		}
		list, doubts := strings.Index(text.String(), "a list"), strings.Index(text.String(), `id="doubts"`)
		if first := list < doubts; list < 0 || doubts < 0 || first != (kind == "failures") || strings.Count(text.String(), `id="doubts"`) != 1 {
			t.Errorf("%s at %d, doubts at %d", kind, list, doubts)
		}
	}
}

// TestIndex escapes what it is given, and says where there is nothing.
func TestIndex(t *testing.T) {
	const script = `<script>owned()</script>`
	var text strings.Builder
	err := WriteIndex(&text, &Index{
		Title: script, Verdict: script, Colour: "bad", Summary: script, Facts: []Fact{{script, script}}, Doubts: []string{script}, Rows: []Row{{script, script, script}},
		Lists:  []List{{"failures", script, []Finding{{"f1", script, script, script, []string{script}, []Link{{"javascript:owned()", script, script}}, script, script}}}},
		Tables: []Table{{"t", script, script, []string{script}, [][]Cell{{{script, ""}, {script, "javascript:owned()"}}}, nil}, {Anchor: "empty", Title: "nothing"}}, Warnings: []string{script},
	})
	if err != nil || strings.Contains(text.String(), "<script") || strings.Contains(text.String(), `href="javascript`) || strings.Count(text.String(), "owned()") < 15 {
		t.Errorf("%v: %s", err, text.String())
	}
	if !strings.Contains(text.String(), "<p>None.</p>") {
		t.Error("an empty table says nothing")
	}
}
