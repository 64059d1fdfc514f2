package coverage

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/internal/retell"
)

// File is a scenario without expected text, to be recorded.
type File struct{ Name, Text string }

// perFile is how many ways a file has at most, and how many where time passes: those of one file come one after the other.
const perFile, perTimedFile = 6, 3

// family is the file that a witness belongs into.
func (w *Witness) family() string {
	name, _, _ := strings.Cut(w.Cells[0].Rule.String(), ".")
	switch name {
	case "commit", "fetch", "offset-delete", "expiry", "cleanup":
		name = "offsets"
	case "txn-commit":
		name = "txn"
	case "session":
		name = "heartbeat"
	}
	if w.Profile == "size" {
		name = "max-size"
	}
	if w.Timed {
		name += "-timers"
	}
	return name
}

// Files puts witnesses into files by the family of their rules. taken says whether a scenario of that name exists already.
func Files(found []Witness, taken func(name string) bool) []File {
	var families []string
	of := map[string][]*Witness{}
	for i := range found {
		name := found[i].family()
		if of[name] == nil {
			families = append(families, name)
		}
		of[name] = append(of[name], &found[i])
	}
	slices.Sort(families)
	var files []File
	for _, family := range families {
		n, size := 0, perFile
		if of[family][0].Timed {
			size = perTimedFile
		}
		for share := range slices.Chunk(of[family], size) {
			n++
			name := fmt.Sprintf("cells-%s-%d", family, n)
			for taken(name) {
				n++
				name = fmt.Sprintf("cells-%s-%d", family, n)
			}
			files = append(files, File{name, fileText(share)})
		}
	}
	return files
}

var groupWords = [...]string{"one", "two", "three", "four", "five", "six"}

// placeholder is what Witnesses calls the n-th group and its actors, so that files can number their own.
func placeholder(n int) (group, tag string) { return fmt.Sprintf("g%03d", n), fmt.Sprintf("%03d", n) }

var marked = regexp.MustCompile(`\b([A-Za-z])[0-9]{3}\b`)

func fileText(share []*Witness) string {
	var b strings.Builder
	var rules []string
	var commands []string
	for _, w := range share {
		for _, p := range w.Probes {
			for _, c := range p.Cells {
				if !slices.Contains(rules, c.Rule.String()) {
					rules = append(rules, c.Rule.String())
				}
			}
		}
		commands = append(commands, w.commands()...)
	}
	b.WriteString("# Rules in states in which no other scenario shows them: a coordinator that has a rule in one state only is found here. Exploration of\n" +
		"# the specification found the ways; each group goes the shortest one that leaves a coordinator no choice.\n")
	fmt.Fprintf(&b, "# rule: %s\n", strings.Join(rules, ", "))
	if p := share[0].Profile; p != conformance.DefaultProfile {
		fmt.Fprintf(&b, "# profile: %s\n", p)
	}
	if words := retell.Requires(commands); len(words) > 0 {
		fmt.Fprintf(&b, "# requires: %s\n", strings.Join(words, ", "))
	}
	if !share[0].Timed {
		fmt.Fprintf(&b, "\ngroup session=%s rebalance=%s\n----\n", retell.Duration(retell.Long), retell.Duration(retell.Long))
	}
	for i, w := range share {
		named := func(command string) string {
			return marked.ReplaceAllStringFunc(command, func(m string) string {
				if m[0] == 'g' {
					return groupWords[i]
				}
				if len(share) == 1 {
					return m[:1]
				}
				return fmt.Sprintf("%c%d", m[0], i+1)
			})
		}
		block := func(lead string, commands ...string) {
			b.WriteString("\n" + lead)
			for _, command := range commands {
				if command == retell.Pause {
					b.WriteString("----\n\n")
				} else {
					b.WriteString(named(command) + "\n")
				}
			}
			b.WriteString("----\n")
		}
		if len(w.Setup) > 0 {
			block(fmt.Sprintf("# Group %s.\n", groupWords[i]), w.Setup...)
		}
		for _, p := range w.Probes {
			block(lead(p.Cells), p.Commands...)
		}
		block("", "describe group="+groupWords[i])
	}
	return b.String()
}

// lead is the comment above a block that visits cells.
func lead(cells []Cell) string {
	if len(cells) == 0 {
		return ""
	}
	var seen, ids []string
	for _, c := range cells {
		if where := outcomeWords[c.Outcome] + " in " + c.State.String(); !slices.Contains(seen, where) {
			seen = append(seen, where)
		}
		if id := c.Rule.String(); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return fmt.Sprintf("# %s.\n# rule: %s\n", strings.Join(seen, ", "), strings.Join(ids, ", "))
}

var outcomeWords = [...]string{Answer: "Answered", Parked: "Waits", Silent: "Somebody hears nothing"}

// commands are all commands of the way.
func (w *Witness) commands() []string {
	all := slices.Clone(w.Setup)
	for _, p := range w.Probes {
		all = append(all, p.Commands...)
	}
	return all
}
