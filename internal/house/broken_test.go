package house

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each rule of the house is broken in a small tree of its own, so that a rule which cannot fail is found out.
func TestBrokenHousesAreSeen(t *testing.T) {
	importing := func(pkg, path string) string { return "package " + pkg + "\n\nimport _ \"" + path + "\"\n" }
	cases := []struct {
		name, file, text string
		want             string // part of the fault; empty: no fault
	}{
		{"model stays pure", "model/classic/a.go", importing("classic", kmsg), "model must not import " + kmsg},
		{"model knows no judge, in tests either", "model/classic/a_test.go", importing("classic", module+"/checker"), "model must not import"},
		{"impl knows no model", "impl/core/a.go", importing("core", module+"/model/classic"), "impl/core must not import"},
		{"impl tests know no model", "impl/core/a_test.go", importing("core", module+"/model/classic"), "impl/core must not import"},
		{"impl knows no judge", "impl/server/a.go", importing("server", module+"/checker/observe"), "impl must not import"},
		{"the core has no sockets", "impl/core/a.go", importing("core", franz+"/pkg/kgo"), "impl/core must not import"},
		{"the core does not know its shell", "impl/core/a.go", importing("core", module+"/impl/server"), "impl/core must not import"},
		{"the shell may", "impl/server/a.go", importing("server", module+"/impl/core"), ""},
		{"judges do not know the coordinator", "checker/lockstep/a.go", importing("lockstep", module+"/impl/core"), "checker must not import"},
		{"judges do not know the runner", "checker/lockstep/a.go", importing("lockstep", module+"/conformance"), "checker must not import"},
		{"judges know the generators", "checker/lockstep/a.go", importing("lockstep", module+"/fuzz/gen"), ""},
		{"the specimen knows no model", "checker/variant/a.go", importing("variant", module+"/model/classic"), "checker/variant must not import"},
		{"its tests may", "checker/variant/a_test.go", importing("variant", module+"/model/classic"), ""},
		{"judges do not know the specimen", "checker/lockstep/a.go", importing("lockstep", module+"/checker/variant"), "checker must not import"},
		{"script knows nothing of ours", "conformance/script/a.go", importing("script", module+"/conformance/target"), "conformance/script must not import"},
		{"the runner does not know impl", "conformance/a.go", importing("conformance", module+"/impl/core"), "conformance must not import"},
		{"the runner's tests may", "conformance/a_test.go", importing("conformance", module+"/impl/core"), ""},
		{"wire targets do not know impl", "conformance/targets/wire/a.go", importing("wire", module+"/impl/server"), "conformance/targets must not import"},
		{"embedded may", "conformance/targets/embedded/a.go", importing("embedded", module+"/impl/core"), ""},
		{"fuzz tests may use impl", "fuzz/a_test.go", importing("fuzz", module+"/impl/core"), ""},
		{"generators know no model", "fuzz/gen/a.go", importing("gen", module+"/model/classic"), "fuzz/gen must not import"},
		{"nobody imports cmd", "conformance/a_test.go", importing("conformance", module+"/cmd/muster"), "conformance must not import"},
		{"the launcher knows nothing of ours", "internal/kafka/a.go", importing("kafka", module+"/model/classic"), "internal/kafka must not import"},
		{"a new part needs a rule", "shiny/a.go", "package shiny\n", "has no rule"},
		{"a foreign client", "conformance/a_test.go", importing("conformance", "github.com/IBM/sarama"), "not on the short list"},
		{"a linter in go.mod", "go.mod", "module " + module + "\n\nrequire (\n\tmvdan.cc/gofumpt v0.12.0\n\tgolang.org/x/sys v0.1.0 // indirect\n)\n", "go.mod requires mvdan.cc/gofumpt"},
		{"one requirement on a line", "go.mod", "module " + module + "\n\nrequire mvdan.cc/gofumpt v0.12.0\n", "go.mod requires mvdan.cc/gofumpt"},
		{"an indirect requirement is fine", "go.mod", "module " + module + "\n\nrequire golang.org/x/sys v0.1.0 // indirect\n", ""},
		{"a replacement", "go.mod", "module " + module + "\n\nreplace a => b v1.0.0\n", "replaces nothing"},
		{"a long file", "impl/core/a.go", "package core\n" + strings.Repeat("\n", maxLines), "601 lines"},
		{"a file of just the size", "impl/core/a.go", "package core\n" + strings.Repeat("\n", maxLines-1), ""},
		{"a nested module is its own business", "tools/go.mod", "module x\n", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			top := t.TempDir()
			write(t, top, "go.mod", "module "+module+"\n")
			write(t, top, "tools/a.go", importing("tools", "mvdan.cc/gofumpt"))
			write(t, top, "tools/go.mod", "module "+module+"/tools\n")
			write(t, top, c.file, c.text)
			all, err := sources(top)
			if err != nil {
				t.Fatal(err)
			}
			gomod, err := os.ReadFile(filepath.Join(top, "go.mod"))
			if err != nil {
				t.Fatal(err)
			}
			faults := append(againstDirections(all), againstRequirements(string(gomod), all)...)
			found := strings.Join(append(faults, againstSize(all)...), "\n")
			if c.want == "" && found != "" {
				t.Errorf("a sound house is blamed:\n%s", found)
			}
			if !strings.Contains(found, c.want) {
				t.Errorf("not seen: want a fault with %q, got:\n%s", c.want, found)
			}
		})
	}
}

func write(t *testing.T, top, file, text string) {
	t.Helper()
	path := filepath.Join(top, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
