package script

import (
	"errors"
	"fmt"
	"sort"
	"strings"
)

// Error is a fault of a scenario file.
type Error struct {
	File    string
	Line    int
	What    string
	Example string // a line that shows how the verb is used, if the fault is in a command
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.What)
	if e.Example != "" {
		s += "\n\texample: " + e.Example
	}
	return s
}

func (v Verbs) names() []string {
	names := make([]string, 0, len(v))
	for n := range v {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// blanks at the end of a line mean nothing; a carriage return is one, since some editors end lines with it.
const blanks = " \t\r"

// Parse reads a scenario file. The error is an *Error.
func Parse(name string, src []byte, verbs Verbs) (*File, error) {
	p := &parser{file: &File{Name: name}, verbs: verbs, lines: strings.Split(string(src), "\n")}
	for i, l := range p.lines {
		p.lines[i] = strings.TrimRight(l, blanks)
	}
	if err := p.run(); err != nil {
		return nil, err
	}
	return p.file, nil
}

type parser struct {
	file  *File
	verbs Verbs
	lines []string
	at    int // index of the next line
}

func (p *parser) fail(line int, format string, args ...any) error {
	return &Error{File: p.file.Name, Line: line, What: fmt.Sprintf(format, args...)}
}

func (p *parser) more() bool   { return p.at < len(p.lines) }
func (p *parser) line() string { return p.lines[p.at] }

func (p *parser) run() error {
	if err := p.header(); err != nil {
		return err
	}
	for {
		lead := p.lead()
		if !p.more() {
			p.file.Trailer = lead
			break
		}
		b := &Block{Lead: lead}
		for _, l := range lead {
			if value, ok := headerField(l, "rule"); ok {
				b.Rules = append(b.Rules, list(value)...)
			}
		}
		if err := p.block(b); err != nil {
			return err
		}
		p.file.Blocks = append(p.file.Blocks, b)
	}
	if len(p.file.Blocks) == 0 {
		return p.fail(len(p.lines), "no block: a scenario needs commands, a line ---- and the expected lines")
	}
	return nil
}

// header reads the comment lines at the very top.
func (p *parser) header() error {
	f := p.file
	for ; p.more() && strings.HasPrefix(p.line(), "#"); p.at++ {
		l := p.line()
		f.Header = append(f.Header, l)
		if value, ok := headerField(l, "rule"); ok {
			f.Rules = append(f.Rules, list(value)...)
		} else if value, ok := headerField(l, "profile"); ok {
			f.Profile = value
		} else if value, ok := headerField(l, "slow"); ok {
			if value == "" {
				return p.fail(p.at+1, "slow: needs a reason, as in: # slow: the new member timer is five minutes")
			}
			f.Slow = value
		} else if value, ok := headerField(l, "requires"); ok {
			f.Requires = append(f.Requires, list(value)...)
		}
	}
	prose := false
	for _, l := range f.Header {
		prose = prose || isProse(l)
	}
	if !prose {
		return p.fail(1, "the header does not say why the scenario exists; begin the file with lines of prose, each after a #")
	}
	if len(f.Rules) == 0 {
		return p.fail(1, "the header names no rule, as in: # rule: join.stable.follower-repeats")
	}
	return nil
}

// isProse reports whether a header line says something and is no field.
func isProse(line string) bool {
	for _, key := range []string{"rule", "profile", "slow", "requires"} {
		if _, field := headerField(line, key); field {
			return false
		}
	}
	return strings.TrimLeft(line, "# ") != ""
}

// headerField reads "# key: value".
func headerField(line, key string) (string, bool) {
	rest, ok := strings.CutPrefix(line, "# "+key+":")
	return strings.TrimSpace(rest), ok
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

// lead reads blank and comment lines; of blank lines only single ones between comments are kept.
func (p *parser) lead() []string {
	var lead []string
	blank := false
	for ; p.more(); p.at++ {
		switch l := p.line(); {
		case l == "":
			blank = true
		case strings.HasPrefix(l, "#"):
			if blank && len(lead) > 0 {
				lead = append(lead, "")
			}
			blank = false
			lead = append(lead, l)
		default:
			return lead
		}
	}
	return lead
}

func (p *parser) block(b *Block) error {
	b.Line = p.at + 1
	for ; ; p.at++ {
		if !p.more() || p.line() == "" {
			return p.fail(b.Line, "the block has no line of four dashes after its commands")
		}
		if isSeparator(p.line()) {
			break
		}
		c, err := parseCommand(p.line())
		c.Line = p.at + 1
		if err != nil {
			return p.commandError(c, err)
		}
		if p.looksExpected(&c) {
			return p.fail(c.Line, "expected output without ---- before it: a line of four dashes stands between a block's commands and the expected lines")
		}
		if example, err := p.verbs.check(&c); err != nil {
			return &Error{File: p.file.Name, Line: c.Line, What: err.Error(), Example: example}
		}
		b.Commands = append(b.Commands, c)
	}
	if len(b.Commands) == 0 {
		return p.fail(p.at+1, "a block begins with a command, not with ----")
	}
	for p.more() && isSeparator(p.line()) {
		v, err := p.variant(len(b.Variants) == 0)
		if err != nil {
			return err
		}
		b.Variants = append(b.Variants, v)
	}
	return nil
}

// looksExpected reports whether a line where a command should be is one of expected text: "A: NONE", "B(join): parked".
func (p *parser) looksExpected(c *Command) bool {
	_, known := p.verbs[c.Verb]
	return !known && strings.HasSuffix(c.Verb, ":")
}

func (p *parser) commandError(c Command, err error) error {
	e := &Error{File: p.file.Name, Line: c.Line, What: err.Error()}
	if v, ok := p.verbs[c.Verb]; ok {
		e.Example = v.Example
	}
	return e
}

func isSeparator(line string) bool { return line == "----" || strings.HasPrefix(line, "---- ") }

// variant reads a separator and the expected lines after it.
func (p *parser) variant(first bool) (Variant, error) {
	v := Variant{Line: p.at + 1}
	if err := v.parseTitle(strings.TrimSpace(strings.TrimPrefix(p.line(), "----")), first); err != nil {
		return v, p.fail(v.Line, "%v", err)
	}
	for p.at++; p.more() && p.line() != "" && !isSeparator(p.line()); p.at++ {
		e, err := parseExpect(p.line())
		if err != nil {
			return v, p.fail(p.at+1, "%v", err)
		}
		v.Lines = append(v.Lines, e)
	}
	return v, nil
}

// isRule reports whether the first word of a reason names a rule, as in "leave.one-by-one:".
func isRule(word string) bool {
	id, ok := strings.CutSuffix(word, ":")
	return ok && strings.Contains(id, ".") && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789.-") == ""
}

func (v *Variant) parseTitle(title string, first bool) error {
	if first {
		if title != "" {
			return fmt.Errorf("a block's first ---- stands alone (it begins the text of Kafka %s); conditions follow after its lines", BaseRelease)
		}
		return nil
	}
	if rule, ok := strings.CutPrefix(title, "contract:"); ok {
		v.Contract, v.Reason, _ = strings.Cut(strings.TrimSpace(rule), " ")
		v.Reason = strings.TrimSpace(v.Reason)
		if v.Contract == "" {
			return errors.New("contract: needs a rule, as in: ---- contract: join.parked.superseded")
		}
		return nil
	}
	const usage = "a further text needs a condition and a reason, as in: ---- [<4.0] the Scala coordinator answers ILLEGAL_GENERATION"
	end := strings.IndexByte(title, ']')
	if !strings.HasPrefix(title, "[") || end < 0 {
		return errors.New(usage)
	}
	v.Reason = strings.TrimSpace(title[end+1:])
	if first, rest, _ := strings.Cut(v.Reason, " "); isRule(first) {
		v.Rule, v.Reason = strings.TrimSuffix(first, ":"), strings.TrimSpace(rest)
	}
	if v.Reason == "" {
		return errors.New(usage)
	}
	var err error
	v.When, err = ParseCond(strings.TrimSpace(title[1:end]))
	return err
}
