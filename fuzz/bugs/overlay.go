package bugs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
)

// switchFile is added to each package that a bug edits.
const switchFile = "muster_bug_switch.go"

const switchText = `package %s

import "os"

var musterBugAwake = os.Getenv(%q)

func musterBug(id string) bool { return musterBugAwake == id }
`

// Compose applies the edits of all bugs to the source tree at root and returns the changed and added files, by slash-separated path
// from root. It fails where an edit's old text is not in its file exactly once, and where two edits overlap.
func Compose(root string, all []Bug) (map[string][]byte, error) {
	byFile := map[string][]placed{}
	for _, bug := range all {
		for _, edit := range bug.Edits {
			byFile[edit.File] = append(byFile[edit.File], placed{bug: bug.ID, edit: edit})
		}
	}
	files := map[string][]byte{}
	for file, edits := range byFile {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			return nil, fmt.Errorf("bug %s edits a file that cannot be read: %w", edits[0].bug, err)
		}
		changed, err := apply(file, text, edits)
		if err != nil {
			return nil, err
		}
		files[file] = changed
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.PackageClauseOnly)
		if err != nil {
			return nil, err
		}
		files[path.Join(path.Dir(file), switchFile)] = fmt.Appendf(nil, switchText, parsed.Name.Name, EnvVar)
	}
	return files, nil
}

// placed is an edit with the bug it belongs to and the place of its old text.
type placed struct {
	bug        string
	edit       Edit
	start, end int
}

func apply(file string, text []byte, edits []placed) ([]byte, error) {
	for i := range edits {
		e := &edits[i]
		switch n := countLines(text, e.edit.Old, &e.start); n {
		case 1:
			e.end = e.start + len(e.edit.Old)
		case 0:
			return nil, fmt.Errorf("bug %s no longer applies: %s does not hold these lines:\n%s", e.bug, file, e.edit.Old)
		default:
			return nil, fmt.Errorf("bug %s is ambiguous: %s holds these lines %d times, quote more of them:\n%s", e.bug, file, n, e.edit.Old)
		}
	}
	sort.Slice(edits, func(i, j int) bool { return edits[i].start < edits[j].start })
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		if e.start < at {
			return nil, fmt.Errorf("bug %s edits lines of %s that another bug edits too: narrow one of them", e.bug, file)
		}
		out.Write(text[at:e.start])
		out.WriteString(strings.ReplaceAll(e.edit.New, Placeholder, fmt.Sprintf("musterBug(%q)", e.bug)))
		at = e.end
	}
	out.Write(text[at:])
	return out.Bytes(), nil
}

// countLines counts where old stands in text as whole lines, and tells where it stands last.
func countLines(text []byte, old string, start *int) int {
	n := 0
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte(old))
		if i < 0 {
			return n
		}
		at += i
		if at == 0 || text[at-1] == '\n' {
			n++
			*start = at
		}
		at++
	}
}

// WriteOverlay writes the composed files under dir and returns the path of the JSON file that `go build -overlay` takes.
func WriteOverlay(root, dir string, files map[string][]byte) (string, error) {
	replace := map[string]string{}
	for file, text := range files {
		copied := filepath.Join(dir, strings.ReplaceAll(file, "/", "__"))
		if err := os.WriteFile(copied, text, 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(root, filepath.FromSlash(file))] = copied
	}
	data, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, data, 0o644)
}
