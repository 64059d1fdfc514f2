package mutants

import (
	"go/token"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/fuzz/bugs"
)

const specimen = `package core

func decide(a, b int, on bool) int16 {
	if a < b && on {
		b += a
	}
	for _, x := range []int{a, b} {
		note(x)
	}
	switch a {
	case 1:
		return none
	}
	return refused
}

func note(int) {}

const none, refused int16 = 0, 25
`

// specimenSource is a package of one file.
func specimenSource(t *testing.T, text string) (*source, map[string]string) {
	t.Helper()
	root, err := bugs.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	exports, err := exportData(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	s := &source{part: Core, fset: token.NewFileSet(), files: []sourceFile{{path: "impl/core/specimen.go", text: []byte(text)}}}
	if err := s.check(exports, nil); err != nil {
		t.Fatal(err)
	}
	return s, exports
}

func TestFind(t *testing.T) {
	s, exports := specimenSource(t, specimen)
	next := 0
	found := s.find(s.files[0], &next)
	keys := map[string]Mutant{}
	for _, m := range found {
		keys[m.Key()] = m
	}
	for key, kind := range map[string]Kind{
		"a < b && on => true": Always, "a < b && on => false": Never, "a < b => a <= b": Comparison, "a < b => true": Operand, "on => true": Operand,
		"b += a => nothing": Statement, "b += a => b -= a": Arithmetic, "range []int{a, b} => no round of it": Loop, "note(x) => nothing": Statement,
		"case 1 => never": Case, "none => refused": Code, "refused => none": Code,
	} {
		if m, ok := keys["impl/core/specimen.go decide: "+key]; !ok || m.Kind != kind {
			t.Errorf("%s: %q, want %q", key, m.Kind, kind)
		}
	}
	if len(found) != 12 {
		t.Errorf("%d mutants:\n%v", len(found), keys)
	}
	kept, files, err := s.compile(exports, found)
	if err != nil || len(kept) != len(found) {
		t.Fatal(len(kept), err)
	}
	if text := string(files["impl/core/specimen.go"]); !strings.Contains(text, "musterSwap(5, a<=b, a < b)") {
		t.Errorf("planted:\n%s", text)
	}
}

// Keys stay what they are when lines move, and tell two places in a function apart.
func TestKeysStayWhenLinesMove(t *testing.T) {
	keys := func(text string) (all []string) {
		s, _ := specimenSource(t, text)
		next := 0
		for _, m := range s.find(s.files[0], &next) {
			all = append(all, m.Key())
		}
		return all
	}
	before := keys(specimen)
	after := keys(strings.Replace(specimen, "func decide", "// A comment.\n\nfunc decide", 1))
	if strings.Join(before, "\n") != strings.Join(after, "\n") {
		t.Errorf("before:\n%v\nafter:\n%v", before, after)
	}
	twice := keys(strings.Replace(specimen, "note(x)", "note(x)\n\t\tnote(x)", 1))
	if all := strings.Join(twice, "\n"); !strings.Contains(all, "note(x) => nothing (2)") {
		t.Errorf("not told apart:\n%s", all)
	}
}

// What does not compile is left out, and nothing else.
func TestWhatDoesNotCompileIsLeftOut(t *testing.T) {
	s, exports := specimenSource(t, strings.Replace(specimen, "\treturn refused\n}", "\tfor {\n\t\tif on {\n\t\t\treturn refused\n\t\t}\n\t}\n}", 1))
	next := 0
	found := s.find(s.files[0], &next)
	bad := found[0]
	bad.ID, bad.wrap.before, bad.wrap.after = next+1, "(", " + \"text\")"
	kept, _, err := s.compile(exports, append(found, bad))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range kept {
		if m.ID == bad.ID {
			t.Error("it was kept")
		}
	}
	if len(kept) < len(found)-1 {
		t.Errorf("%d of %d are left", len(kept), len(found))
	}
}
