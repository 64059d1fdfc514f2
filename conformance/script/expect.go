package script

import (
	"errors"
	"iter"
	"slices"
	"strings"
)

// Expect is one expected line. Text may hold alternations, {x|y}; a comment "# free: RULE" says that the rule leaves the choice
// open, so that a specification may give either.
type Expect struct {
	Raw  string // the line as it is
	Text string // without the comment
	Free string // rule id

	parts [][]string // alternatives, one after the other
}

// NewExpect is an expected line that matches exactly the given text.
func NewExpect(text string) Expect {
	return Expect{Raw: text, Text: text, parts: [][]string{{text}}}
}

func parseExpect(raw string) (Expect, error) {
	e := Expect{Raw: raw, Text: raw}
	if i := commentAt(raw); i >= 0 {
		e.Text = strings.TrimRight(raw[:i], blanks)
		note := strings.TrimSpace(raw[i+1:])
		if rule, ok := strings.CutPrefix(note, "free:"); ok {
			e.Free = strings.TrimSpace(rule)
			if e.Free == "" {
				return e, errors.New("free: needs the id of the rule that leaves the choice open, as in: A: NONE gen={1|2}  # free: join.complete.vote")
			}
		}
	}
	if e.Text == "" {
		return e, errors.New("an expected line cannot be a comment alone; put comments above the block's commands")
	}
	var err error
	e.parts, err = alternatives(e.Text)
	return e, err
}

// commentAt finds the # of a comment: at the beginning or after a blank, and followed by a blank or nothing. It is not looked for
// within double quotes.
func commentAt(s string) int {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '#' && !quoted && (i == 0 || isBlank(s[i-1])) && (i+1 == len(s) || isBlank(s[i+1])):
			return i
		}
	}
	return -1
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

func alternatives(text string) ([][]string, error) {
	var parts [][]string
	for text != "" {
		open := strings.IndexByte(text, '{')
		if open < 0 {
			return append(parts, []string{text}), nil
		}
		if open > 0 {
			parts = append(parts, []string{text[:open]})
		}
		end := strings.IndexByte(text[open:], '}')
		if end < 0 {
			return nil, errors.New("an alternation is not closed; write {x|y}")
		}
		choice := strings.Split(text[open+1:open+end], "|")
		if len(choice) < 2 {
			return nil, errors.New("an alternation needs at least two texts; write {x|y}")
		}
		parts = append(parts, choice)
		text = text[open+end+1:]
	}
	return parts, nil
}

// Arms are the texts of the line's alternations, each with the line that allows no other in its place.
func (e *Expect) Arms() iter.Seq2[string, Expect] {
	return func(yield func(string, Expect) bool) {
		for i, choice := range e.parts {
			if len(choice) < 2 {
				continue
			}
			for _, word := range choice {
				only := *e
				only.parts = slices.Clone(e.parts)
				only.parts[i] = []string{word}
				if !yield(word, only) {
					return
				}
			}
		}
	}
}

// Match reports whether the line is one that is expected.
func (e *Expect) Match(line string) bool {
	at := map[int]bool{0: true}
	for _, choice := range e.parts {
		next := map[int]bool{}
		for pos := range at {
			for _, c := range choice {
				if strings.HasPrefix(line[pos:], c) {
					next[pos+len(c)] = true
				}
			}
		}
		at = next
	}
	return at[len(line)]
}

// Diff returns the index of the first line that differs, or -1. A missing line differs.
func (v *Variant) Diff(lines []string) int {
	for i := range max(len(lines), len(v.Lines)) {
		if i >= len(lines) || i >= len(v.Lines) || !v.Lines[i].Match(lines[i]) {
			return i
		}
	}
	return -1
}

// Texts returns the expected lines without comments.
func (v *Variant) Texts() []string {
	out := make([]string, len(v.Lines))
	for i, l := range v.Lines {
		out[i] = l.Text
	}
	return out
}
