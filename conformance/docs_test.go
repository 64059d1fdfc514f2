package conformance

import (
	"os"
	"strings"
	"testing"
)

// TestDocs holds docs/scenarios.md to the verbs that there are, and its opening example to the grammar.
func TestDocs(t *testing.T) {
	src, err := os.ReadFile("../docs/scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(src)
	for name, v := range verbs {
		example, _, _ := strings.Cut(v.example, "   ")
		if !strings.Contains(doc, "| `"+name+"` | `"+example+"` |") {
			t.Errorf("docs/scenarios.md does not show %s as %q", name, example)
		}
	}
	var example strings.Builder
	begun := false
	for _, l := range strings.Split(doc, "\n") {
		code, indented := strings.CutPrefix(l, "    ")
		begun = begun || indented
		if begun && !indented && l != "" {
			break
		}
		if begun {
			example.WriteString(code + "\n")
		}
	}
	s, err := Parse("docs.txt", []byte(example.String()))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.File.Blocks) != 3 {
		t.Errorf("the opening example has %d blocks", len(s.File.Blocks))
	}
}
