package main

import (
	"strings"
	"testing"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"a line\n\tand another\n":   "a line\n\tand another\n",
		"\x1b[2J\a\r":               `\x1b[2J\a\r`,
		"abc\u202edef\u2066":        `abc\u202edef\u2066`,
		"\u009b31m":                 `\u009b31m`,
		"ein Bär, \ufffd and \"'\\": "ein Bär, \ufffd and \"'\\",
		"\xff\x00":                  `\xff\x00`,
	} {
		var b strings.Builder
		if n, err := (plain{&b}).Write([]byte(text)); n != len(text) || err != nil || b.String() != want {
			t.Errorf("%q is written as %q (%d, %v), want %q", text, b.String(), n, err, want)
		}
	}
}
