package script

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// verbs is a grammar for tests.
var verbs = Verbs{
	"join": {Example: "join A range=x -again", Check: func(c *Command) error {
		if len(c.Words) == 0 {
			return errors.New("name an actor")
		}
		return nil
	}},
	"sync":   {Example: "sync A A=bytes"},
	"commit": {},
}

const whole = `# Why this is here: a colon does not make a line a field.
# rule: a.b, c.d
# rule: e
# profile: delay
# slow: five minutes
# requires: virtual, t

# The first step.
#
# rule: c.d

# Another word on it.
join A  range=x  note="two words" -again
sync A A=[t/0]   # why not
----
A: NONE gen={1|2}  # free: a.b
B: parked          # a remark
---- [<4.0] the old one
---- [3.9, 4.1..4.2] another
A: "a # b"
---- contract: e
A: x
---- contract: e for a reason
A: y

commit - t/0=5
----

# The end.
`

func TestParse(t *testing.T) {
	f, err := Parse("x.txt", []byte(whole), verbs)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.b", "c.d", "e"}, f.Rules); diff != "" {
		t.Error(diff)
	}
	if f.Profile != "delay" || f.Slow != "five minutes" || !cmp.Equal(f.Requires, []string{"virtual", "t"}) {
		t.Errorf("header: %q %q %q", f.Profile, f.Slow, f.Requires)
	}
	if len(f.Blocks) != 2 || len(f.Trailer) != 1 {
		t.Fatalf("%d blocks, trailer %q", len(f.Blocks), f.Trailer)
	}
	b := f.Blocks[0]
	if b.Line != 13 || !cmp.Equal(b.Rules, []string{"c.d"}) {
		t.Errorf("block in line %d, rules %q", b.Line, b.Rules)
	}
	want := []Command{
		{
			Line: 13, Text: `join A  range=x  note="two words" -again`, Verb: "join", Words: []string{"A"},
			Args: []Arg{{"range", "x"}, {"note", "two words"}}, Flags: []string{"again"},
		},
		{Line: 14, Text: "sync A A=[t/0]   # why not", Verb: "sync", Words: []string{"A"}, Args: []Arg{{"A", "[t/0]"}}},
	}
	if diff := cmp.Diff(want, b.Commands); diff != "" {
		t.Error(diff)
	}
	var titles []string
	for i := range b.Variants {
		v := &b.Variants[i]
		titles = append(titles, fmt.Sprintf("%s|%s|%d", v.Title(), v.Reason, len(v.Lines)))
	}
	if diff := cmp.Diff([]string{"||2", "[<4.0]|the old one|0", "[3.9, 4.1..4.2]|another|1", "contract: e||1", "contract: e|for a reason|1"}, titles); diff != "" {
		t.Error(diff)
	}
	if l := b.Variants[0].Lines; l[0].Free != "a.b" || l[0].Text != "A: NONE gen={1|2}" || l[1].Free != "" || l[1].Text != "B: parked" {
		t.Errorf("lines: %+v", l)
	}
	if got := b.Variants[2].Lines[0].Text; got != `A: "a # b"` {
		t.Errorf("a # within quotes is no comment, but the text is %s", got)
	}
	if cmd := f.Blocks[1].Commands[0]; !cmp.Equal(cmd.Words, []string{"-"}) || cmd.Flags != nil {
		t.Errorf("a dash alone is a word: %+v", cmd)
	}
}

func TestPrintIsExact(t *testing.T) {
	f, err := Parse("x.txt", []byte(whole), verbs)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole, string(Print(f))); diff != "" {
		t.Error(diff)
	}
}

func TestPrintMakesCanonical(t *testing.T) {
	const loose = "# why\r\n# rule: a\r\njoin A  \n----\nA: x   \n\n\n\n# two\n\n\n# blocks\n\ncommit -\n----\n\n\n"
	const canonical = "# why\n# rule: a\n\njoin A\n----\nA: x\n\n# two\n\n# blocks\ncommit -\n----\n"
	f, err := Parse("x.txt", []byte(loose), verbs)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(canonical, string(Print(f))); diff != "" {
		t.Error(diff)
	}
}

func TestErrors(t *testing.T) {
	const head = "# why\n# rule: a\n\n"
	cases := []struct{ name, text, want string }{
		{"empty", "", "x.txt:1: the header does not say why the scenario exists; begin the file with lines of prose, each after a #"},
		{"no prose", "# rule: a\n\njoin A\n----\n", "x.txt:1: the header does not say why the scenario exists; begin the file with lines of prose, each after a #"},
		{"no rule", "# why\n\njoin A\n----\n", "x.txt:1: the header names no rule, as in: # rule: join.stable.follower-repeats"},
		{"slow without reason", "# why\n# rule: a\n# slow:\n\njoin A\n----\n", "x.txt:3: slow: needs a reason, as in: # slow: the new member timer is five minutes"},
		{"no block", head, "x.txt:4: no block: a scenario needs commands, a line ---- and the expected lines"},
		{"unknown verb", head + "jion A\n----\n", `x.txt:4: unknown verb "jion"; there are: commit join sync`},
		{"the verb's own check", head + "sync A\njoin\n----\n", "x.txt:5: name an actor\n\texample: join A range=x -again"},
		{"no dashes", head + "join A\nA: x\n\n", "x.txt:5: expected output without ---- before it: a line of four dashes stands between a block's commands and the expected lines"},
		{"no dashes before a late answer", head + "join A\nB(join): NONE gen=2\n----\n", "x.txt:5: expected output without ---- before it: a line of four dashes stands between a block's commands and the expected lines"},
		{"no dashes at all", head + "join A\n", "x.txt:4: the block has no line of four dashes after its commands"},
		{"dashes first", head + "----\nA: x\n", "x.txt:4: a block begins with a command, not with ----"},
		{"base with a condition", head + "join A\n---- [3.9] x\nA: x\n", "x.txt:5: a block's first ---- stands alone (it begins the text of Kafka 4.3.1); conditions follow after its lines"},
		{"no reason", head + "join A\n----\nA: x\n---- [3.9]\nA: y\n", "x.txt:7: a further text needs a condition and a reason, as in: ---- [<4.0] the Scala coordinator answers ILLEGAL_GENERATION"},
		{"no condition", head + "join A\n----\nA: x\n----\nA: y\n", "x.txt:7: a further text needs a condition and a reason, as in: ---- [<4.0] the Scala coordinator answers ILLEGAL_GENERATION"},
		{"bad condition", head + "join A\n----\nA: x\n---- [old] why\nA: y\n", `x.txt:7: "old" is not a release condition; write [3.9], [<4.0], [>=4.4] or [2.8..3.9]`},
		{"contract without rule", head + "join A\n----\nA: x\n---- contract:\nA: y\n", "x.txt:7: contract: needs a rule, as in: ---- contract: join.parked.superseded"},
		{"open alternation", head + "join A\n----\nA: {x\n", "x.txt:6: an alternation is not closed; write {x|y}"},
		{"alternation of one", head + "join A\n----\nA: {x}\n", "x.txt:6: an alternation needs at least two texts; write {x|y}"},
		{"free without rule", head + "join A\n----\nA: x  # free:\n", "x.txt:6: free: needs the id of the rule that leaves the choice open, as in: A: NONE gen={1|2}  # free: join.complete.vote"},
		{"comment for a line", head + "join A\n----\n# x\n", "x.txt:6: an expected line cannot be a comment alone; put comments above the block's commands"},
		{"comment for a command", head + "join A\n# x\n----\n", "x.txt:5: a comment stands between a block's commands; put it above them"},
		{"open quote", head + "join A range=\"x\n----\n", "x.txt:4: a double quote is not closed"},
		{"bad quote", head + "join A range=\"x\"y\n----\n", "x.txt:4: range=\"x\"y is not a quoted text; write key=\"some text\"\n\texample: join A range=x -again"},
		{"no key", head + "sync A =x\n----\n", "x.txt:4: \"=x\" has no key before the =\n\texample: sync A A=bytes"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("x.txt", []byte(c.text), verbs)
			var fault *Error
			if !errors.As(err, &fault) {
				t.Fatalf("want an *Error, got %v", err)
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMatch(t *testing.T) {
	cases := []struct {
		expected, line string
		want           bool
	}{
		{"A: NONE", "A: NONE", true},
		{"A: NONE", "A: NONE ", false},
		{"A: NONE #1", "A: NONE #1", true},
		{"A: NONE # 1", "A: NONE", true},
		{"A: NONE#", "A: NONE#", true},
		{"A: {NONE|parked}", "A: parked", true},
		{"A: {NONE|parked}", "A: {NONE|parked}", false},
		{"{A|AB}{BC|C}", "ABC", true},
		{"{A|AB}{BC|C}", "AC", true},
		{"{A|AB}{BC|C}", "ABBC", true},
		{"{A|AB}{BC|C}", "AB", false},
		{"{|x}y", "y", true},
		{"A: " + strings.Repeat("{a|a}", 60), "A: " + strings.Repeat("a", 59) + "b", false},
	}
	for _, c := range cases {
		e, err := parseExpect(c.expected)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Match(c.line); got != c.want {
			t.Errorf("%q matches %q: %v, want %v", c.expected, c.line, got, c.want)
		}
	}
}

func TestDiff(t *testing.T) {
	v := Variant{Lines: []Expect{NewExpect("a"), NewExpect("b")}}
	for want, lines := range map[int][]string{-1: {"a", "b"}, 1: {"a"}, 2: {"a", "b", "c"}, 0: {"b", "a"}} {
		if got := v.Diff(lines); got != want {
			t.Errorf("%q: line %d, want %d", lines, got, want)
		}
	}
}

func TestCond(t *testing.T) {
	cases := []struct {
		cond, release string
		want          int
	}{
		{"3.9", "3.9.2", 4},
		{"3.9.2", "3.9.2", 5},
		{"3.9.1", "3.9.2", 0},
		{"3.9", "3.90.2", 0},
		{"<4.0", "3.9.2", 1},
		{"<4.0", "4.0.0", 0},
		{"<=3.9", "3.9.2", 1},
		{">3.9", "3.9.2", 0},
		{">3.9", "4.0.0", 1},
		{">=4.4", "4.4.0", 1},
		{">=4.4", "4.3.1", 0},
		{"2.8..3.9", "3.9.2", 2},
		{"2.8..3.9", "2.7.1", 0},
		{"2.8..3.9", "4.0.0", 0},
		{"3.9..3.9", "3.9.0", 4},
		{"<2.0, 4.3", "4.3.1", 4},
		{"<2.0, 4.3", "1.1.0", 1},
		{"3.9", "stranger", 0},
		{"3.9", "", 0},
		{"<4.0", "3.9.2+java", 0},
		{"4.0", "3.9.2+java", 4},
		{"3.9", "3.9.2+java", 0},
		{"3.9+java", "3.9.2", 0},
		{"3.9+java", "3.9.2+java", 14},
		{"<4.0, 3.9.2+java", "3.9.2+java", 15},
		{"<4.0, 3.9+java", "3.8.1", 1},
	}
	for _, c := range cases {
		cond, err := ParseCond(c.cond)
		if err != nil {
			t.Fatal(err)
		}
		if got := cond.Holds(c.release); got != c.want {
			t.Errorf("[%s] for %s: %d, want %d", c.cond, c.release, got, c.want)
		}
	}
	for _, bad := range []string{"", "x", "4.", "<", "4.0..", "..4", "1.2.3.4.5", "-1", "99999999", "+java", "<3.9+java"} {
		if _, err := ParseCond(bad); err == nil {
			t.Errorf("[%s] is a condition", bad)
		}
	}
}

// FuzzParse holds that no input panics and that what is printed reads the same again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("# why\n# rule: a\n\njoin A \"\\\"\n----\n{|}\n---- [<4] x\n----\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := Parse("x.txt", src, verbs)
		if err != nil {
			return
		}
		once := Print(file)
		again, err := Parse("x.txt", once, verbs)
		if err != nil {
			t.Fatalf("what was printed does not parse: %v\n%q", err, once)
		}
		if twice := Print(again); string(twice) != string(once) {
			t.Fatalf("printing again gives another text:\n%q\n%q", once, twice)
		}
		for _, b := range file.Blocks {
			for i := range b.Variants {
				b.Variants[i].Diff([]string{"A: x"})
				b.Variants[i].When.Holds("4.3.1")
			}
		}
	})
}

// TestRuleOfAText holds that a further text may name the rule on which the releases differ there, and that other words with a colon are prose.
func TestRuleOfAText(t *testing.T) {
	const head = "# why\n# rule: a\n\njoin A\n----\nA: x\n---- [<4.0] "
	for title, want := range map[string]string{
		"leave.one-by-one: it reacts to each entry": "leave.one-by-one|it reacts to each entry",
		"it reacts: to each entry":                  "|it reacts: to each entry",
		"reacts: to each entry":                     "|reacts: to each entry",
		"a.B: to each entry":                        "|a.B: to each entry",
	} {
		src := head + title + "\nA: y\n"
		f, err := Parse("x.txt", []byte(src), verbs)
		if err != nil {
			t.Fatal(err)
		}
		v := f.Blocks[0].Variants[1]
		if got := v.Rule + "|" + v.Reason; got != want {
			t.Errorf("%s: %s, want %s", title, got, want)
		}
		if diff := cmp.Diff(src, string(Print(f))); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := Parse("x.txt", []byte(head+"leave.one-by-one:\nA: y\n"), verbs); err == nil {
		t.Error("a rule is no reason")
	}
}
