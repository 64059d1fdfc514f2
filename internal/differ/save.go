package differ

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/conformance/target"
)

// Save writes each class, and what was unsteady, into a folder of its own below dir as scenarios that muster run replays, and sets
// Class.File.
func (rep *Report) Save(dir string, a, b target.Target) error {
	folder := filepath.Join(dir, Folder(rep.A, rep.B))
	if err := os.RemoveAll(folder); err != nil { // of an earlier run
		return err
	}
	if len(rep.Classes)+len(rep.Unsteady)+len(rep.Open) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Join(folder, "unsteady"), 0o755); err != nil {
		return err
	}
	var errs []error
	for i, c := range rep.Classes {
		text, err := c.Scenario(a, b)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		c.File = filepath.Join(folder, fmt.Sprintf("diff-%02d-%s.txt", i+1, slug(c.Verb)))
		errs = append(errs, os.WriteFile(c.File, text, 0o644))
	}
	for i, u := range rep.Unsteady {
		text := u.Sequence.text([]string{fmt.Sprintf("Seed %d, unsteady: at first %s gave %q where %s gave %q, and not when it was played again.", u.Sequence.Seed, rep.A, u.Difference.A, rep.B, u.Difference.B), "rule: " + anyRule})
		errs = append(errs, os.WriteFile(filepath.Join(folder, "unsteady", fmt.Sprintf("unsteady-%03d.txt", i+1)), text, 0o644))
	}
	for i, c := range rep.Open {
		text := c.Sequence.text([]string{fmt.Sprintf("Seed %d, not looked at any more: %s gave %q where %s gave %q.", c.From, rep.A, c.A, rep.B, c.B), "rule: " + anyRule})
		errs = append(errs, os.WriteFile(filepath.Join(folder, "unsteady", fmt.Sprintf("open-%03d.txt", i+1)), text, 0o644))
	}
	return errors.Join(errs...)
}

var unsafe = regexp.MustCompile(`[^A-Za-z0-9.+-]+`)

// Folder is the folder of a pair of targets.
func Folder(a, b string) string {
	return "diff-" + unsafe.ReplaceAllString(a, "_") + "-" + unsafe.ReplaceAllString(b, "_")
}

func slug(text string) string {
	return strings.Trim(strings.ToLower(regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(text, "-")), "-")
}

// Scenario is the smallest sequence as a scenario file. It expects what the side gives that counts more: a Kafka release before others,
// the newer one of two, else the second; the text of an older release stands under its condition.
func (c *Class) Scenario(a, b target.Target) ([]byte, error) {
	relA, relB := a.Capabilities().Release, b.Capabilities().Release
	texts, others, older := c.TextB, c.TextA, ""
	named, other := b.Name(), a.Name()
	switch {
	case script.IsRelease(relA) && script.IsRelease(relB):
		older = relA
		if older == relB {
			older = ""
		}
		if newer(relA, relB) {
			texts, others, older = c.TextA, c.TextB, relB
			named, other = other, named
		}
	case script.IsRelease(relA):
		texts, others = c.TextA, c.TextB
		named, other = other, named
	}
	texts, others = texts[:min(len(texts), c.Block+1)], others[:min(len(others), c.Block+1)]
	rule := c.Rule
	if rule == "" {
		rule = anyRule
	}
	header := []string{
		fmt.Sprintf("%s and %s part here: %s. Drawn with seed %d.", a.Name(), b.Name(), c.Signature, c.From),
		fmt.Sprintf("%s: %s", a.Name(), c.A),
		fmt.Sprintf("%s: %s", b.Name(), c.B),
		fmt.Sprintf("The text is that of %s; %s does not give it.", named, other),
	}
	if c.Known != "" {
		header = append(header, "Known: "+c.Known+".")
	}
	if c.Rule == "" {
		header = append(header, "No rule is known for it; the one that is named is a stand-in.")
	}
	header = append(header, "", "rule: "+rule)
	s, err := conformance.Parse("diff.txt", c.Sequence.upTo(c.Block).text(header))
	if err != nil {
		return nil, err
	}
	return s.Recorded(texts, older, others), nil
}

// newer reports whether release a is newer than b; three numbers each.
func newer(a, b string) bool {
	var x, y [3]int
	fmt.Sscanf(a, "%d.%d.%d", &x[0], &x[1], &x[2])
	fmt.Sscanf(b, "%d.%d.%d", &y[0], &y[1], &y[2])
	for i := range x {
		if x[i] != y[i] {
			return x[i] > y[i]
		}
	}
	return false
}
