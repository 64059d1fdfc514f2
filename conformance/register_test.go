package conformance

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const register2 = `# Of the whole file.

# What it is.
# And why.
one block=2 rule=heartbeat.stable kind=bug status=always
----
A: x

two block=1 rule=heartbeat.stable kind=simplification status=sometimes
----
`

func TestRegister(t *testing.T) {
	r, err := ParseRegister("r.txt", []byte(register2))
	if err != nil {
		t.Fatal(err)
	}
	want := []Entry{
		{Line: 5, Prose: []string{"What it is.", "And why."}, Scenario: "one", Block: 2, Rule: "heartbeat.stable", Kind: Bug, Status: Always, Text: []string{"A: x"}},
		{Line: 9, Scenario: "two", Block: 1, Rule: "heartbeat.stable", Kind: Simplification, Status: Sometimes},
	}
	if diff := cmp.Diff(want, r.Entries); diff != "" {
		t.Error(diff)
	}
	if r.Entries[0].Class() != "contract" {
		t.Errorf("class %s", r.Entries[0].Class())
	}
}

func TestRegisterErrors(t *testing.T) {
	for text, want := range map[string]string{
		"one block=1 rule=heartbeat.stable kind=bug\n\n":                     "r.txt:1: the entry has no line of four dashes",
		"one block=1 rule=heartbeat.stable kind=bug\nA: x\n":                 "r.txt:2: after the entry's line come four dashes",
		"one block=1 rule=heartbeat.stable kind=bug":                         "r.txt:1: the entry has no line of four dashes",
		"one rule=heartbeat.stable kind=bug\n----\n":                         "r.txt:1: an entry needs block=, rule= and kind=",
		"one block=0 rule=heartbeat.stable kind=bug\n----\n":                 "r.txt:1: block=0 is not a number from 1",
		"one block=1 rule=heartbeat.unheard kind=bug\n----\n":                `r.txt:1: no rule "heartbeat.unheard"`,
		"one block=1 rule=heartbeat.stable kind=feature\n----\n":             "r.txt:1: kind=feature is neither bug nor simplification",
		"one block=1 rule=heartbeat.stable kind=bug status=rarely\n----\n":   "r.txt:1: status=rarely is neither always nor sometimes",
		"one block=1 rule=heartbeat.stable kind=bug status=always x\n----\n": `r.txt:1: unknown word "x"; a register has entries as in "fetch-nothing block=2 rule=fetch.nothing kind=bug", and a list that muster verify --write-known writes is another thing, for --known`,
	} {
		if _, err := ParseRegister("r.txt", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// reports builds reports from what each scenario gave: "" passes, "-" was skipped.
func reports(runs ...map[string]string) []Report {
	var out []Report
	for _, run := range runs {
		var rep Report
		for _, name := range []string{"one", "two", "three"} {
			got, ok := run[name]
			if !ok {
				continue
			}
			res := Result{Scenario: name, Status: Pass}
			switch got {
			case "":
			case "-":
				res.Status = Skip
			default:
				got, moved := strings.CutPrefix(got, "3:")
				block := 2
				if moved {
					block = 3
				}
				res.Status = Fail
				res.Failure = &Failure{Scenario: name, Block: block, Rules: []string{"heartbeat.stable"}, Got: strings.Split(got, "|")}
			}
			rep.Results = append(rep.Results, res)
		}
		out = append(out, rep)
	}
	return out
}

func TestCompare(t *testing.T) {
	r, err := ParseRegister("r.txt", []byte(`one block=2 rule=heartbeat.stable kind=bug
----
x

two block=2 rule=heartbeat.stable kind=bug status=sometimes
----
y
`))
	if err != nil {
		t.Fatal(err)
	}
	type run = map[string]string
	cases := []struct {
		name                             string
		runs                             []run
		known, fresh, gone, onesided, no int
	}{
		{"as it says", []run{{"one": "x", "two": "y"}, {"one": "x", "two": ""}}, 3, 0, 0, 0, 0},
		{"a single run", []run{{"one": "x", "two": ""}}, 1, 0, 0, 0, 0},
		{"new", []run{{"one": "x", "two": "", "three": "z"}}, 1, 1, 0, 0, 0},
		{"fixed", []run{{"one": "", "two": ""}}, 0, 0, 1, 0, 0},
		{"another block", []run{{"one": "3:x", "two": ""}}, 0, 1, 1, 0, 0},
		{"another text", []run{{"one": "x2", "two": ""}}, 0, 1, 1, 0, 0},
		{"always is not sometimes", []run{{"one": "x", "two": "y"}, {"one": "", "two": ""}}, 2, 0, 1, 0, 0},
		{"never seen in several runs", []run{{"one": "x", "two": ""}, {"one": "x", "two": ""}}, 2, 0, 1, 0, 0},
		{"seen in every one", []run{{"one": "x", "two": "y"}, {"one": "x", "two": "y"}}, 4, 0, 0, 1, 0},
		{"not run", []run{{"one": "-", "two": "-"}}, 0, 0, 0, 0, 0},
		{"no such scenario", []run{{"two": "y"}}, 1, 0, 0, 0, 1},
	}
	for _, c := range cases {
		got := r.Compare(reports(c.runs...)...)
		if len(got.Known) != c.known || len(got.New) != c.fresh || len(got.Gone) != c.gone || len(got.OneSided) != c.onesided || len(got.Unknown) != c.no {
			t.Errorf("%s: %+v", c.name, got)
		}
		if got.Holds() != (c.fresh+c.gone+c.onesided+c.no == 0) {
			t.Errorf("%s: holds is %v", c.name, got.Holds())
		}
	}
}

// TestWriteKnown holds that what is written, read again, lists just what failed.
func TestWriteKnown(t *testing.T) {
	reps := reports(map[string]string{"one": "x", "two": "y|z", "three": ""}, map[string]string{"one": "x", "two": "", "three": ""})
	var b bytes.Buffer
	if err := WriteKnown(&b, reps...); err != nil {
		t.Fatal(err)
	}
	r, err := ParseRegister("known.txt", b.Bytes())
	if err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	if len(r.Entries) != 2 || r.Entries[0].Status != Always || r.Entries[1].Status != Sometimes {
		t.Errorf("%+v", r.Entries)
	}
	if c := r.Compare(reps...); !c.Holds() || len(c.Known) != 3 {
		t.Errorf("%+v", c)
	}
	if e, ok := r.Find(reps[0].Failures()[1]); !ok || e.Scenario != "two" {
		t.Errorf("%+v %v", e, ok)
	}
}
