package runs

import (
	"embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Known is what is known of a run that is complete: its size, and what it reaches.
type Known struct {
	States, Transitions int64
	Depth               int
	Size                string // in words
	Reached             Reached
}

// The files are written by the tests of this package (go test -update), and compared with what comes of a run.
//
//go:embed known/*.txt
var knownFiles embed.FS

// File is where what is known of a run is kept, in the folder of this package.
func (r Run) File() string { return "known/" + notLetters.ReplaceAllString(r.Name, "-") + ".txt" }

var notLetters = regexp.MustCompile(`[^A-Za-z0-9]+`)

// Known is what is known of the run. Of one that is altered, or has never been seen to end, nothing is.
func (r Run) Known() (Known, bool) {
	if r.altered {
		return Known{}, false
	}
	text, err := knownFiles.ReadFile(r.File())
	if err != nil {
		return Known{}, false
	}
	k, err := readKnown(string(text))
	if err != nil {
		panic(fmt.Sprintf("%s: %v", r.File(), err)) // a test reads them all
	}
	return k, true
}

// width of the lines of what is reached.
const width = 140

// Text is what is known after an outcome, as it is kept.
func (o Outcome) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", o.Run.Name, o.Size())
	for _, kind := range kinds {
		if len(o.Reached[kind]) == 0 {
			continue
		}
		line := kind + ":"
		for _, w := range o.Reached[kind] {
			if len(line)+1+len(w) > width {
				fmt.Fprintln(&b, line)
				line = " "
			}
			line += " " + w
		}
		fmt.Fprintln(&b, line)
	}
	return b.String()
}

var sizes = regexp.MustCompile(`^(\d+) states, (\d+) transitions, depth (\d+)`)

func readKnown(text string) (k Known, err error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) < 2 {
		return k, fmt.Errorf("%d lines; expected a name, a size and what is reached", len(lines))
	}
	m := sizes.FindStringSubmatch(lines[1])
	if m == nil {
		return k, fmt.Errorf("no size in %q", lines[1])
	}
	k = Known{Size: lines[1], Reached: Reached{}}
	k.States, _ = strconv.ParseInt(m[1], 10, 64)
	k.Transitions, _ = strconv.ParseInt(m[2], 10, 64)
	k.Depth, _ = strconv.Atoi(m[3])
	kind := ""
	for _, line := range lines[2:] {
		if name, rest, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, " ") {
			kind, line = name, rest
		}
		if kind == "" {
			return k, fmt.Errorf("%q belongs to nothing", line)
		}
		k.Reached[kind] = append(k.Reached[kind], strings.Fields(line)...)
	}
	return k, nil
}
