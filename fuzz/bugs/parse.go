package bugs

import (
	"fmt"
	"io/fs"
	"strings"
)

// Placeholder stands in an edit's new text for the condition "this bug is awake".
const Placeholder = "$BUG"

// Parse reads a bug.txt:
//
//	# Heartbeat in CompletingRebalance answers REBALANCE_IN_PROGRESS
//	public: KAFKA-10134
//	rule: heartbeat.completing
//	suffers: a slow leader makes members rejoin in circles
//	caught by: lockstep, linearize
//
//	Prose, as long as it takes.
//
//	-- impl/core/heartbeat.go --
//	old:
//		return g.answer(NONE)
//	new:
//		if $BUG {
//			return g.answer(REBALANCE_IN_PROGRESS)
//		}
//		return g.answer(NONE)
//	end:
//
// The headers are required; old and new are whole lines; a file may be edited more than once. "written for it: NAME" is one more header, for a bug that
// a scenario was written for: no judge may know a bug.
func Parse(id, text string) (Bug, error) {
	p := &reader{bug: Bug{ID: id, text: text}, lines: strings.Split(text, "\n")}
	for p.next < len(p.lines) {
		if err := p.line(); err != nil {
			return Bug{}, fmt.Errorf("line %d: %w", p.next, err)
		}
	}
	return p.bug, p.complete()
}

type reader struct {
	bug   Bug
	lines []string
	next  int
	file  string // of the edit that is read
	edits bool   // the prose is over
}

func (p *reader) take() string {
	p.next++
	return p.lines[p.next-1]
}

func (p *reader) line() error {
	line := p.take()
	switch {
	case p.next == 1:
		title, ok := strings.CutPrefix(line, "# ")
		if !ok {
			return fmt.Errorf("begins with %q: the first line is the title, \"# What goes wrong\"", line)
		}
		p.bug.Title = title
	case strings.HasPrefix(line, "-- ") && strings.HasSuffix(line, " --"):
		p.file, p.edits = strings.TrimSuffix(strings.TrimPrefix(line, "-- "), " --"), true
		if !fs.ValidPath(p.file) || !strings.HasSuffix(p.file, ".go") {
			return fmt.Errorf("%q is not the path of a Go file from the module's root", p.file)
		}
	case p.edits && line == "old:":
		return p.edit()
	case p.edits && strings.TrimSpace(line) != "":
		return fmt.Errorf("%q stands between edits: want \"-- FILE --\" or \"old:\"", line)
	case !p.edits:
		p.header(line)
	}
	return nil
}

// header takes a header line, or a line of prose.
func (p *reader) header(line string) {
	for name, field := range map[string]*string{"public": &p.bug.Public, "rule": &p.bug.Rule, "suffers": &p.bug.Suffers, "caught by": &p.bug.CaughtBy, "written for it": &p.bug.Written} {
		if value, ok := strings.CutPrefix(line, name+": "); ok && *field == "" && strings.TrimSpace(p.bug.Prose) == "" {
			*field = strings.TrimSpace(value)
			return
		}
	}
	p.bug.Prose = strings.TrimLeft(p.bug.Prose+line+"\n", "\n")
}

// edit reads the rest of an edit after its "old:" line.
func (p *reader) edit() error {
	if p.file == "" {
		return fmt.Errorf("an edit without a \"-- FILE --\" line before it")
	}
	old, err := p.until("new:")
	if err != nil {
		return err
	}
	changed, err := p.until("end:")
	if err != nil {
		return err
	}
	if strings.TrimSpace(old) == "" {
		return fmt.Errorf("an edit whose old text is blank can stand anywhere: quote the lines it replaces")
	}
	if !strings.Contains(changed, Placeholder) {
		return fmt.Errorf("an edit whose new text does not ask %s is always awake", Placeholder)
	}
	p.bug.Edits = append(p.bug.Edits, Edit{File: p.file, Old: old, New: changed})
	return nil
}

func (p *reader) until(end string) (string, error) {
	var text strings.Builder
	for p.next < len(p.lines) {
		line := p.take()
		if line == end {
			return text.String(), nil
		}
		text.WriteString(line + "\n")
	}
	return "", fmt.Errorf("the file ends before %q", end)
}

func (p *reader) complete() error {
	b := p.bug
	switch {
	case b.Public == "":
		return fmt.Errorf("no \"public:\" header: name the ticket, commit or report of the real bug")
	case b.Rule == "":
		return fmt.Errorf("no \"rule:\" header: name the rule that the bug breaks")
	case b.Suffers == "":
		return fmt.Errorf("no \"suffers:\" header: say what a client suffers")
	case b.CaughtBy == "":
		return fmt.Errorf("no \"caught by:\" header: name the judges that have to notice the bug")
	case strings.TrimSpace(b.Prose) == "":
		return fmt.Errorf("no prose: say what the real bug was")
	case len(b.Edits) == 0:
		return fmt.Errorf("no edit: a bug changes something")
	}
	return nil
}
