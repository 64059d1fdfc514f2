package bugs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const sample = `# A door that never opens
public: TICKET-1
rule: join.complete.all-joined
suffers: everybody waits outside
caught by: lockstep, linearize

What was real.
rule: is a word of prose here.

-- house/door.go --
old:
	return open
new:
	if $BUG {
		return shut
	}
	return open
end:
`

func TestParse(t *testing.T) {
	bug, err := Parse("door", sample)
	if err != nil {
		t.Fatal(err)
	}
	if bug.Title != "A door that never opens" || bug.Public != "TICKET-1" || bug.Rule != "join.complete.all-joined" || bug.Suffers != "everybody waits outside" || bug.CaughtBy != "lockstep, linearize" {
		t.Errorf("headers: %+v", bug)
	}
	if want := "What was real.\nrule: is a word of prose here.\n\n"; bug.Prose != want {
		t.Errorf("prose %q, want %q", bug.Prose, want)
	}
	if bug.Written != "" || !bug.Real() {
		t.Errorf("nothing was written for it, and it was real: %+v", bug)
	}
	written, err := Parse("door", strings.Replace(sample, "caught by:", "written for it: door-opens\ncaught by:", 1))
	if err != nil || written.Written != "door-opens" || written.digest() == bug.digest() {
		t.Errorf("a scenario was written for it: %+v, %v", written, err)
	}
	want := Edit{File: "house/door.go", Old: "\treturn open\n", New: "\tif $BUG {\n\t\treturn shut\n\t}\n\treturn open\n"}
	if len(bug.Edits) != 1 || bug.Edits[0] != want {
		t.Errorf("edits %+v, want %+v", bug.Edits, want)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"no title":       {"# A door", "A door", "first line is the title"},
		"no public id":   {"public: TICKET-1\n", "", "public:"},
		"no rule":        {"rule: join.complete.all-joined\n", "", "rule:"},
		"no suffering":   {"suffers: everybody waits outside\n", "", "suffers:"},
		"nobody notices": {"caught by: lockstep, linearize\n", "", "caught by:"},
		"always awake":   {"$BUG", "true", "always awake"},
		"blank anchor":   {"\treturn open\nnew:", "\nnew:", "blank"},
		"no end":         {"end:\n", "", `before "end:"`},
		"outside":        {"house/door.go", "../door.go", "not the path"},
		"stray text":     {"end:\n", "end:\nstray\n", "between edits"},
		"no file":        {"-- house/door.go --\n", "", "no edit"},
		"not a Go file":  {"house/door.go", "house/door.txt", "not the path"},
		"line is named":  {"$BUG", "true", "line 18"},
		"absolute":       {"house/door.go", "/house/door.go", "not the path"},
		"prose required": {"What was real.\nrule: is a word of prose here.\n", "", "no prose"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(sample, c.old, c.new, 1)
			if text == sample {
				t.Fatalf("the case changes nothing")
			}
			if _, err := Parse("door", text); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestCompose(t *testing.T) {
	root := t.TempDir()
	source := "package house\n\nfunc door() int {\n\treturn open\n}\n\nfunc gate() int {\n\treturn ajar\n}\n"
	writeFile(t, filepath.Join(root, "house", "door.go"), source)
	bug := func(id, old string) Bug {
		return Bug{ID: id, Edits: []Edit{{File: "house/door.go", Old: old, New: "\tif $BUG {\n\t\treturn shut\n\t}\n" + old}}}
	}

	// Two bugs in one file, given in the other order.
	files, err := Compose(root, []Bug{bug("gate", "\treturn ajar\n"), bug("door", "\treturn open\n")})
	if err != nil {
		t.Fatal(err)
	}
	want := "package house\n\nfunc door() int {\n\tif musterBug(\"door\") {\n\t\treturn shut\n\t}\n\treturn open\n}\n\nfunc gate() int {\n\tif musterBug(\"gate\") {\n\t\treturn shut\n\t}\n\treturn ajar\n}\n"
	if got := string(files["house/door.go"]); got != want {
		t.Errorf("composed:\n%s\nwant:\n%s", got, want)
	}
	if got := string(files["house/"+switchFile]); !strings.HasPrefix(got, "package house\n") {
		t.Errorf("the switch is not of the package:\n%s", got)
	}
	if len(files) != 2 {
		t.Errorf("%d files, want the edited one and the switch", len(files))
	}

	for name, c := range map[string]struct {
		bugs []Bug
		want string
	}{
		"text is gone":     {[]Bug{bug("x", "\treturn elsewhere\n")}, "no longer applies"},
		"text stands anew": {[]Bug{bug("x", "}\n")}, "2 times"},
		"not whole lines":  {[]Bug{bug("x", "return open\n")}, "no longer applies"},
		"edits overlap":    {[]Bug{bug("x", "\treturn open\n"), bug("y", "func door() int {\n\treturn open\n")}, "another bug edits too"},
		"file is gone":     {[]Bug{{ID: "x", Edits: []Edit{{File: "house/none.go", Old: "a\n", New: "$BUG\n"}}}}, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Compose(root, c.bugs); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
