package house

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/muster-kafka/muster"

// source is one Go file of the root module, whatever its build tags.
type source struct {
	path    string // slash-separated, relative to the root
	pkg     string // import path relative to the module: "impl/core"
	test    bool
	lines   int
	imports []string
}

// root finds the top of the module from the test's working directory.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if data, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && strings.HasPrefix(string(data), "module "+module+"\n") {
			return dir
		}
	}
	t.Fatalf("no go.mod of %s above the test's directory", module)
	return ""
}

// sources reads the imports of every Go file under root. Nested modules are others' business, as are testdata and hidden folders.
func sources(root string) ([]source, error) {
	var all []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			name := d.Name()
			if path != root && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || exists(filepath.Join(path, "go.mod"))) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err == nil && bytes.HasPrefix(data, []byte("//go:build ignore\n")) {
			return nil // a program that another module builds
		}
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, data, parser.ImportsOnly)
		if err != nil {
			return fmt.Errorf("%s cannot be parsed: %w", path, err)
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		s := source{path: rel, pkg: pathDir(rel), test: strings.HasSuffix(rel, "_test.go"), lines: bytes.Count(data, []byte("\n"))}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, imported)
		}
		all = append(all, s)
		return nil
	})
	return all, err
}

func pathDir(rel string) string {
	if i := strings.LastIndex(rel, "/"); i >= 0 {
		return rel[:i]
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// within reports whether pkg is dir or below it.
func within(pkg, dir string) bool { return pkg == dir || strings.HasPrefix(pkg, dir+"/") }

// withinAny reports whether pkg is one of dirs or below one.
func withinAny(pkg string, dirs []string) bool {
	for _, dir := range dirs {
		if within(pkg, dir) {
			return true
		}
	}
	return false
}
