package house

import (
	"fmt"
	"strings"
	"testing"
)

// rule says what the packages of a folder may import besides the standard library and packages of their own folder.
type rule struct {
	folder  string
	ours    []string // folders of this module
	foreign []string // modules, or packages of modules
	tests   []string // folders of this module that _test.go files may import as well
}

const (
	kmsg  = "github.com/twmb/franz-go/pkg/kmsg"
	franz = "github.com/twmb/franz-go"
)

// rules are the arrows between the parts. The most specific folder counts; a folder without a rule is a failure, so that a new part
// has to say what it may know.
var rules = []rule{
	// The specification knows nothing but the standard library, and the reference coordinator knows no judge: the two are
	// independent readings of one fact sheet.
	{folder: "model"},
	{folder: "impl", ours: []string{"impl/core", "impl/record", "impl/store", "internal/nearest"}, foreign: []string{franz, "github.com/prometheus/client_golang", "golang.org/x/sync"}, tests: []string{"impl"}},
	{folder: "impl/core", foreign: []string{kmsg}, tests: []string{"impl"}},
	{folder: "impl/record", ours: []string{"impl/core"}, foreign: []string{franz}, tests: []string{"impl", "internal/kafka"}},
	{folder: "impl/store", ours: []string{"impl/core", "impl/record"}, foreign: []string{"github.com/cockroachdb/pebble/v2"}, tests: []string{"impl"}},

	{folder: "checker", ours: []string{"model", "internal/input", "internal/nearest", "internal/files", "internal/pages", "fuzz/gen", "conformance/script", "conformance/target"}, foreign: []string{franz, "github.com/anishathalye/porcupine", "pgregory.net/rapid", "golang.org/x/sync", "golang.org/x/time"}},

	// The specimen is a machine of its own; only its tests look up what Kafka does.
	{folder: "checker/variant", ours: []string{"checker/explore"}, tests: []string{"model"}},

	{folder: "conformance/script"},
	{folder: "conformance/target", foreign: []string{kmsg}},
	{folder: "conformance/targets", ours: []string{"conformance/target"}, foreign: []string{franz, "golang.org/x/time", "golang.org/x/sync"}, tests: []string{"conformance", "internal/clientprops"}},
	{folder: "conformance/targets/model", ours: []string{"model", "checker", "conformance/script", "conformance/target"}, foreign: []string{kmsg}, tests: []string{"conformance", "fuzz"}},
	{folder: "conformance/targets/embedded", ours: []string{"impl", "model", "checker", "fuzz/gen", "conformance/target", "conformance/targets/wire"}, foreign: []string{kmsg}, tests: []string{"fuzz", "conformance"}},
	{folder: "conformance/targets/rdkafka", ours: []string{"conformance/target", "conformance/targets/wire"}, foreign: []string{kmsg}, tests: []string{"conformance"}},
	{folder: "conformance/targets/kafka", ours: []string{"internal/kafka", "conformance/target", "conformance/targets/wire"}, foreign: []string{franz}, tests: []string{"conformance"}},
	{folder: "conformance", ours: []string{"model", "internal/input", "internal/nearest", "checker", "fuzz", "conformance/script", "conformance/target", "conformance/targets/model"}, foreign: []string{franz, "golang.org/x/sync"}, tests: []string{"impl", "internal/kafka", "internal/verdict", "internal/findings", "conformance"}},

	{folder: "fuzz/gen", foreign: []string{kmsg}},
	{folder: "fuzz/mutants", ours: []string{"fuzz/bugs", "internal/files"}, tests: []string{"impl", "model", "checker", "conformance", "fuzz", "internal/stamp"}},
	{folder: "fuzz/bugs", tests: []string{"impl", "model", "checker", "conformance", "fuzz"}},
	{folder: "fuzz", ours: []string{"model", "checker", "fuzz/gen", "conformance/script", "conformance/target"}, foreign: []string{kmsg, "pgregory.net/rapid"}, tests: []string{"impl", "conformance"}},

	{folder: "internal/kafka", foreign: []string{franz, "golang.org/x/sync"}},
	{folder: "internal/clientprops", ours: []string{"internal/input"}, foreign: []string{franz, "github.com/magiconair/properties"}},
	{folder: "internal/verdict", ours: []string{"model", "internal/input", "internal/pages"}, foreign: []string{"github.com/jstemmer/go-junit-report/v2"}},
	{folder: "internal/findings", ours: []string{"conformance", "internal/verdict"}},
	{folder: "internal/anomaly"},
	{folder: "internal/input"},
	{folder: "internal/nearest"},
	{folder: "internal/stamp"},
	{folder: "internal/pages", tests: []string{"internal/files"}},
	{folder: "internal/files"},
	{folder: "internal/golden", foreign: []string{"github.com/google/go-cmp"}},
	{folder: "internal/doctor", ours: []string{"internal/anomaly"}, foreign: []string{franz, "golang.org/x/time"}, tests: []string{"internal/kafka"}},
	{folder: "internal/atlas", ours: []string{"conformance", "model", "internal/kafka", "internal/stamp"}, foreign: []string{"golang.org/x/sync"}, tests: []string{"conformance"}},
	{folder: "internal/retell", ours: []string{"conformance", "checker", "model"}},
	{folder: "internal/coverage", ours: []string{"conformance", "checker", "model", "internal/retell"}},
	{folder: "internal/differ", ours: []string{"conformance", "model", "checker", "fuzz/gen"}, foreign: []string{kmsg}},
	{folder: "internal/pairs", ours: []string{"conformance", "model", "internal/differ", "internal/stamp"}, tests: []string{"conformance"}},
	{folder: "internal/cputime"},
	{folder: "internal/servebench", ours: []string{"internal/cputime", "internal/kafka"}, foreign: []string{franz}},
	{folder: "internal/house"},
	{folder: "internal/ruledoc", ours: []string{"model"}},
	{folder: "internal/divergences", ours: []string{"model", "conformance"}},

	{
		folder: "cmd", ours: []string{"model", "impl", "checker", "conformance", "fuzz", "internal"},
		foreign: []string{franz, "github.com/spf13/cobra", "github.com/mattn/go-isatty", "github.com/KimMachineGun/automemlimit", "github.com/jstemmer/go-junit-report/v2", "golang.org/x/sync"},
	},
}

// testHelp is ours and testModules are others' that any _test.go file may import.
var testHelp = []string{"internal/golden", "internal/cputime"}

var testModules = []string{"github.com/cockroachdb/pebble/v2", "github.com/google/go-cmp", "go.uber.org/goleak", "pgregory.net/rapid", franz}

// ruleOf finds the most specific rule for a package.
func ruleOf(pkg string) (rule, bool) {
	var best rule
	found := false
	for _, r := range rules {
		if within(pkg, r.folder) && (!found || len(r.folder) > len(best.folder)) {
			best, found = r, true
		}
	}
	return best, found
}

// againstDirections lists every import that the rules do not allow.
func againstDirections(all []source) []string {
	var faults []string
	for _, s := range all {
		r, ok := ruleOf(s.pkg)
		if !ok {
			faults = append(faults, fmt.Sprintf("%s: package %q has no rule; say in internal/house what it may import", s.path, s.pkg))
			continue
		}
		for _, imported := range s.imports {
			if !allowed(r, s, imported) {
				faults = append(faults, fmt.Sprintf("%s: %s must not import %s", s.path, r.folder, imported))
			}
		}
	}
	return faults
}

func allowed(r rule, s source, imported string) bool {
	if ours, ok := strings.CutPrefix(imported, module+"/"); ok {
		// A folder's own packages are its own affair, unless a more specific rule speaks for them.
		if owner, found := ruleOf(ours); found && owner.folder == r.folder {
			return true
		}
		return withinAny(ours, r.ours) || s.test && (withinAny(ours, r.tests) || withinAny(ours, testHelp))
	}
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
		return true // the standard library
	}
	return withinAny(imported, r.foreign) || s.test && withinAny(imported, testModules)
}

func TestImportDirections(t *testing.T) {
	all, err := sources(root(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 15 {
		t.Fatalf("only %d Go files found: the walk is broken", len(all))
	}
	for _, fault := range againstDirections(all) {
		t.Error(fault)
	}
}
