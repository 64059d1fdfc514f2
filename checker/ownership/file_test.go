package ownership

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestFile writes logs and reads them again.
func TestFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := life(t)
		var text bytes.Buffer
		if err := l.Write(&text); err != nil {
			t.Fatal(err)
		}
		again, problems, err := Read(&text)
		if err != nil || len(problems) > 0 {
			t.Fatal(problems, err)
		}
		if got, want := Judge(again), Judge(l); !reflect.DeepEqual(got, want) || len(again.Events) != len(l.Events) {
			t.Fatalf("read again it is judged %+v, before %+v", got, want)
		}
	})
}

// TestBadFiles reads what is no log, or none that is whole.
func TestBadFiles(t *testing.T) {
	const header = `{"header":{"format":"muster-ownership/1","target":"t","seed":0,"group":"g","session_ns":1,"calm_ns":1}}` + "\n"
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", "it is empty"},
		{"another file", "hello\n", "line 1 must be a header"},
		{"another format", strings.Replace(header, "/1", "/9", 1), `its format is "muster-ownership/9", this Muster reads "muster-ownership/1"`},
		{"no end", header + `{"event":"started","at":1,"client":"a"}` + "\n", "there is no end line"},
		{"half a line", header + `{"event":"started","at":1,"cl`, "line 2: not an event"},
		{"a slip of the pen", header + `{"event":"started","at":1,"cleint":"a"}` + "\n", `unknown field "cleint"`},
		{"no such event", header + `{"event":"begun","at":1}` + "\n", `line 2: not an event: there is no event "begun"`},
		{"time goes back", header + `{"event":"started","at":5,"client":"a"}` + "\n" + `{"event":"started","at":1,"client":"b"}` + "\n", "it is earlier (1) than the line before (5)"},
		{"it ends before it begins", header + `{"event":"left","at":5,"began":6,"member":"a"}` + "\n", "before it begins"},
		{"before the start", header + `{"event":"started","at":-5,"client":"a"}` + "\n", "before the start"},
		{"nobody", header + `{"event":"joined","at":5,"member":"m"}` + "\n", "client is missing"},
		{"no member", header + `{"event":"joined","at":5,"client":"m"}` + "\n", "member is missing"},
		{"a topic without partitions", header + `{"event":"topic","at":5,"topic":"t"}` + "\n", "want a name and a count"},
		{"events are missing", header + `{"end":{"events":3}}` + "\n", "does not count 0 events"},
		{"more after the end", header + `{"end":{"events":0}}` + "\n" + `{"event":"started","at":1,"client":"a"}` + "\n", "after the end line"},
		{"a long line", header + strings.Repeat("x", maxLine+1) + "\n", "line 2 is longer than"},
	} {
		log, problems, err := Read(strings.NewReader(test.text))
		got := strings.Join(problems, "\n")
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if (err == nil) != (log != nil) || err != nil && !errors.Is(err, ErrNoLog) {
			t.Errorf("%s: log %v, error %v", test.name, log, err)
		}
	}
}

// TestIsFile tells logs from other files.
func TestIsFile(t *testing.T) {
	dir := t.TempDir()
	mine, other := filepath.Join(dir, "ownership.jsonl"), filepath.Join(dir, "history.jsonl")
	if err := (&Log{}).WriteFile(mine); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, []byte(`{"header":{"format":"muster-history/2"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	spaced := filepath.Join(dir, "spaced.jsonl")
	if err := os.WriteFile(spaced, []byte("{ \"header\": {\"target\": \"t\", \"format\": \"muster-ownership/9\"} }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !IsFile(t.Context(), mine) || !IsFile(t.Context(), spaced) || IsFile(t.Context(), other) || IsFile(t.Context(), filepath.Join(dir, "nowhere")) {
		t.Error("logs of ownership are not told from other files")
	}
	l, problems, err := ReadFile(t.Context(), mine)
	if err != nil || len(problems) > 0 || len(l.Events) > 0 || l.Header.Format != Format {
		t.Errorf("%+v %v %v", l, problems, err)
	}
}

// TestPicture holds what a violation looks like.
func TestPicture(t *testing.T) {
	l := write(started("a"), started("b"), joined("a", 1, "a", "a", "b"), joined("b", 1, "a"), assigned("a", 1, "t/0"), assigned("b", 1, "t/0"), lost("a", 1, "t/0"))
	v := Judge(l)
	if len(v.Violations) != 1 {
		t.Fatalf("%+v", v)
	}
	const want = `Group "g", rule ownership.once: In one generation a partition belongs to one member.
In generation 1 t/0 was given to a at 0.500s and to b at 0.600s.

who owned t/0
  a            .........................................[g1==============x.............
  b            ..................................................[g1===================
               0.000s                                                            0.850s
  [g7= owned in generation 7, ] given up, x lost, ! killed

     0.100s  a          started
     0.200s  b          started
     0.300s  a          joined generation 1, range, leads 2 members
     0.400s  b          joined generation 1, range
     0.500s  a          begins generation 1 and owns t/0 from here on
     0.600s  b          begins generation 1 and owns t/0 from here on
     0.700s  a          has lost t/0
`
	if got := Tell(l, v.Violations[0]); got != want {
		t.Errorf("told:\n%s\nwant:\n%s", got, want)
	}
}
