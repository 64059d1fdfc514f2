// Package golden compares what a test makes with a file that is kept in the tree: sizes, traces, generated pages. `go test PACKAGE -update` writes
// such files anew; the change is read before it is committed.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Update says whether the test run was asked to write its files anew.
var Update = flag.Bool("update", false, "write the files that tests compare with anew; read the change before committing it")

// Compare fails the test where the file does not hold the text. The file is named from the package's folder.
func Compare(t testing.TB, file, text string) {
	t.Helper()
	if *Update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if diff := cmp.Diff(string(kept), text); diff != "" {
		t.Errorf("%s is not current: go test -update writes it anew, then read the change (- kept, + made now)\n%s", file, diff)
	}
}

// Testdata compares with a file of the package's testdata folder.
func Testdata(t testing.TB, name, text string) {
	t.Helper()
	Compare(t, filepath.Join("testdata", name), text)
}
