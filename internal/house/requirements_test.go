package house

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// requirements is the short list of the root module: what product packages import, and what their tests do. A user of the library
// inherits it, so linters, foreign clients and the like live in modules of their own.
var requirements = []string{
	"github.com/KimMachineGun/automemlimit",
	"github.com/anishathalye/porcupine",
	"github.com/cockroachdb/pebble/v2",
	"github.com/google/go-cmp", // tests
	"github.com/jstemmer/go-junit-report/v2",
	"github.com/magiconair/properties",
	"github.com/mattn/go-isatty",
	"github.com/prometheus/client_golang",
	"github.com/spf13/cobra",
	"github.com/twmb/franz-go",
	"github.com/twmb/franz-go/pkg/kadm",
	"github.com/twmb/franz-go/pkg/kfake",
	"github.com/twmb/franz-go/pkg/kmsg",
	"go.uber.org/goleak", // tests
	"golang.org/x/sync",
	"golang.org/x/time",
	"pgregory.net/rapid",
}

// directRequirements reads the modules that go.mod requires without an "// indirect" mark.
func directRequirements(gomod string) []string {
	var direct []string
	block := false
	for _, line := range strings.Split(gomod, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "require (":
			block = true
			continue
		case line == ")":
			block = false
			continue
		case strings.HasPrefix(line, "require "):
			line = strings.TrimPrefix(line, "require ")
		case !block:
			continue
		}
		code, comment, _ := strings.Cut(line, "//")
		if fields := strings.Fields(code); len(fields) == 2 && !strings.HasPrefix(strings.TrimSpace(comment), "indirect") {
			direct = append(direct, fields[0])
		}
	}
	return direct
}

// againstRequirements lists what go.mod requires directly and should not, and what the code imports beyond the list.
func againstRequirements(gomod string, all []source) []string {
	var faults []string
	for _, m := range directRequirements(gomod) {
		if !contains(requirements, m) {
			faults = append(faults, fmt.Sprintf("go.mod requires %s, which is not on the short list: put it into a module of its own, or argue for it in internal/house", m))
		}
	}
	for _, s := range all {
		for _, imported := range s.imports {
			first, _, _ := strings.Cut(imported, "/")
			if strings.Contains(first, ".") && !within(imported, module) && !withinAny(imported, requirements) {
				faults = append(faults, fmt.Sprintf("%s imports %s, which is not on the short list of requirements", s.path, imported))
			}
		}
	}
	for _, word := range []string{"replace ", "tool ", "tool ("} {
		for _, line := range strings.Split(gomod, "\n") {
			if strings.HasPrefix(line, word) {
				faults = append(faults, fmt.Sprintf("go.mod says %q: the root module replaces nothing and carries no tools", line))
			}
		}
	}
	return faults
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func TestRequirements(t *testing.T) {
	top := root(t)
	gomod, err := os.ReadFile(filepath.Join(top, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := sources(top)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range againstRequirements(string(gomod), all) {
		t.Error(fault)
	}
}
