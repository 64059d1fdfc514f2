package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// skipped are files that hold no decision of the protocol, and why.
var skipped = map[string]string{
	"impl/core/copy.go":              "copies a coordinator for exploration",
	"impl/core/view.go":              "shows judges what is in memory",
	"impl/core/memberid.go":          "draws the letters of an id",
	"impl/core/settings.go":          "defaults of settings",
	"impl/core/versions.go":          "the table of versions that are offered",
	"impl/core/observe.go":           "tells metrics of changes; nothing depends on it",
	"model/classic/pack.go":          "packs states for the explorer; tests hold that it is a bijection",
	"model/classic/pack_narrow.go":   "packs states for the explorer; tests hold that it is a bijection",
	"model/classic/check.go":         "invariants that judge the rest",
	"model/classic/defects.go":       "a table of releases",
	"model/classic/release.go":       "reads names of releases",
	"model/classic/variations.go":    "a table of releases",
	"model/classic/breakable.go":     "a table of rules",
	"model/classic/rule.go":          "texts of rules",
	"model/classic/rules.go":         "texts of rules",
	"model/classic/rules_limits.go":  "texts of rules",
	"model/classic/rules_offsets.go": "texts of rules",
	"model/classic/rules_serving.go": "texts of rules",
	"model/classic/rules_static.go":  "texts of rules",
}

// source is a package that mutants are made of.
type source struct {
	part  Part
	name  string
	fset  *token.FileSet
	files []sourceFile
	info  *types.Info
	pkg   *types.Package
}

type sourceFile struct {
	path string // slash-separated, relative to the module's root
	text []byte
	tree *ast.File
}

// load reads and checks the packages of all parts.
func load(ctx context.Context, root string) ([]*source, error) {
	exports, err := exportData(ctx, root)
	if err != nil {
		return nil, err
	}
	var all []*source
	for _, part := range []Part{Core, Model} {
		s := &source{part: part, fset: token.NewFileSet()}
		entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(string(part))))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			name := path.Join(string(part), e.Name())
			if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
			if err != nil {
				return nil, err
			}
			s.files = append(s.files, sourceFile{path: name, text: text})
		}
		if err := s.check(exports, nil); err != nil {
			return nil, fmt.Errorf("%s: %w", part, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// check parses and checks the package; added are files that belong to it too. All faults are in the error, as types.Error.
func (s *source) check(exports map[string]string, added map[string]string) error {
	var trees []*ast.File
	for i, f := range s.files {
		tree, err := parser.ParseFile(s.fset, f.path, f.text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		s.files[i].tree = tree
		trees, s.name = append(trees, tree), tree.Name.Name
	}
	for name, text := range added {
		tree, err := parser.ParseFile(s.fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		trees = append(trees, tree)
	}
	var faults []error
	conf := types.Config{
		Error: func(err error) { faults = append(faults, err) },
		Importer: importer.ForCompiler(s.fset, "gc", func(path string) (io.ReadCloser, error) {
			file, ok := exports[path]
			if !ok {
				return nil, fmt.Errorf("no export data of %s", path)
			}
			return os.Open(file)
		}),
	}
	s.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	s.pkg, _ = conf.Check(string(s.part), s.fset, trees, s.info) // the errors are among the faults
	return errors.Join(faults...)
}

// exportData asks the go command for what the compiler knows of all packages that the parts import.
func exportData(ctx context.Context, root string) (map[string]string, error) {
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Export", "./fuzz/mutants/awake"}
	for _, part := range []Part{Core, Model} {
		args = append(args, "./"+string(part))
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list -export: %w", err)
	}
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return exports, nil
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
	}
}

// at is the offset of a position in its file.
func (s *source) at(p token.Pos) int { return s.fset.Position(p).Offset }

// constants are the package's constants of the type that others may be swapped for, by name, in the order of the source.
func (s *source) constants(of types.Type) (names []string) {
	scope := s.pkg.Scope()
	var found []types.Object
	for _, name := range scope.Names() {
		if c, ok := scope.Lookup(name).(*types.Const); ok && types.Identical(c.Type(), of) {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b types.Object) int { return int(a.Pos() - b.Pos()) })
	for _, c := range found {
		names = append(names, c.Name())
	}
	return names
}
