package main

import (
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain writes text for a terminal. A target chooses names and ids, and some of what it may choose moves the cursor, rings or turns the line round:
// such characters are written as Go writes them in a string, as in \x1b.
type plain struct{ w io.Writer }

func (p plain) Write(text []byte) (int, error) {
	if _, err := io.WriteString(p.w, readable(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// readable is the text with what a terminal would obey spelled out.
func readable(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)): // a byte that is no UTF-8
			b.WriteString(strings.Trim(strconv.QuoteToASCII(text[i:i+1]), `"`))
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plainly has a text written so.
func plainly(write func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error { return write(plain{w}) }
}
