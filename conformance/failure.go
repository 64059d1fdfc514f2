package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/model/classic"
)

// class is that of the first rule; what has no rule that is known counts as contract, so that nothing is taken lightly.
func class(rules []string) string {
	if len(rules) > 0 {
		if id, ok := classic.FindRule(rules[0]); ok {
			return id.Rule().Class.String()
		}
	}
	return classic.Contract.String()
}

// excerpt is the scenario up to the failing block, which shows both texts: a line begins with - where only the expected text has it
// and with + where only the target's has.
func (s *Scenario) excerpt(failing int, expected *script.Variant, got []string) string {
	var b strings.Builder
	for _, l := range s.File.Header {
		b.WriteString(l + "\n")
	}
	for i, blk := range s.File.Blocks[:failing+1] {
		b.WriteString("\n")
		for _, c := range blk.Commands {
			b.WriteString(c.Text + "\n")
		}
		b.WriteString("----\n")
		if i < failing {
			for _, l := range blk.Variants[0].Lines {
				b.WriteString(l.Text + "\n")
			}
			continue
		}
		b.WriteString(diff(expected, got))
	}
	return b.String()
}

// Legend explains the failing block of Failure.Text.
const Legend = "(- expected, + what the target answered)"

func diff(expected *script.Variant, got []string) string {
	var b strings.Builder
	for i := range max(len(expected.Lines), len(got)) {
		hasWant, hasGot := i < len(expected.Lines), i < len(got)
		if hasWant && hasGot && expected.Lines[i].Match(got[i]) {
			fmt.Fprintf(&b, "  %s\n", got[i])
			continue
		}
		if hasWant {
			fmt.Fprintf(&b, "- %s\n", expected.Lines[i].Text)
		}
		if hasGot {
			fmt.Fprintf(&b, "+ %s\n", got[i])
		}
	}
	return b.String()
}

// save keeps the failure's text in a file of the folder.
func (f *Failure) save(dir, target string) {
	if dir == "" || os.MkdirAll(dir, 0o755) != nil {
		return
	}
	clean := strings.NewReplacer("/", "_", ":", "_", "[", "", "]", "").Replace(target)
	name := fmt.Sprintf("%s.%s.txt", f.Scenario, clean)
	if f.later {
		name = fmt.Sprintf("%s.block-%d.%s.txt", f.Scenario, f.Block, clean)
	}
	file := filepath.Join(dir, name)
	var b strings.Builder
	fmt.Fprintf(&b, "# target: %s\n# failed at block %d, line %d; rules: %s (%s)\n", target, f.Block, f.Line, strings.Join(f.Rules, ", "), f.Class)
	for _, r := range f.Remarks() {
		fmt.Fprintf(&b, "# %s\n", r)
	}
	b.WriteString("# " + Legend + "\n\n" + f.Text)
	if os.WriteFile(file, []byte(b.String()), 0o644) == nil {
		f.Artefact = file
	}
}

// Remarks are what the two texts do not say, in sentences.
func (f *Failure) Remarks() []string {
	var told []string
	for _, o := range f.Others {
		switch {
		case strings.HasPrefix(o, "["):
			told = append(told, fmt.Sprintf("What was seen is the text of %s: the releases of Kafka for which that holds answer so.", o))
		case strings.HasPrefix(o, "contract:"):
			told = append(told, fmt.Sprintf("What was seen is the text of %s: who is not Kafka may answer so.", o))
		default:
			told = append(told, fmt.Sprintf("What was seen is the text of %s.", o))
		}
	}
	if f.Note != "" {
		told = append(told, f.Note)
	}
	return told
}

// String is the failure for a person.
func (f *Failure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, block %d (line %d): %s, rule %s\n", f.Scenario, f.Block, f.Line, f.Class, strings.Join(f.Rules, ", "))
	if s := f.Suffers(); s != "" {
		fmt.Fprintf(&b, "a client suffers: %s\n", s)
	}
	for _, r := range f.Remarks() {
		fmt.Fprintf(&b, "%s\n", r)
	}
	b.WriteString("\n" + f.Text + "\n" + Legend + "\n")
	if f.Artefact != "" {
		fmt.Fprintf(&b, "\nkept in %s\n", f.Artefact)
	}
	return b.String()
}
