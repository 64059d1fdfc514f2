package groupstats

import (
	"testing"
	"unicode/utf8"
)

// FuzzLabel looks for two names that have the same label, which would make a page that no Prometheus takes, and for labels that are not UTF-8.
func FuzzLabel(f *testing.F) {
	f.Add("\xff", `"\xff"`)
	f.Add("\xff", `\xff`)
	f.Add(`"a"`, "a")
	f.Add(`"`, `"\""`)
	f.Add("\xff", "\ufffd")
	f.Add("\xff\n", "\"\\xff\\n\"")
	f.Add("g", "")
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, pair := range [][2]string{{a, b}, {a, label(a)}, {a, label(label(a))}} {
			if x, y := label(pair[0]), label(pair[1]); (x == y) != (pair[0] == pair[1]) {
				t.Errorf("%q and %q are %q and %q", pair[0], pair[1], x, y)
			}
		}
		if l := label(a); !utf8.ValidString(l) || utf8.ValidString(a) && (a == "" || a[0] != '"') && l != a {
			t.Errorf("%q is %q", a, l)
		}
	})
}
