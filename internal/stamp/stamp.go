// Package stamp notes in a generated page what it was made from, so that a test can tell whether it is current without making it again.
package stamp

import "strings"

func mark(by string) string { return "<!-- made by " + by + " from inputs " }

// Line is the line of a page that was made by a command from inputs with this digest.
func Line(by, digest string) string { return mark(by) + digest + " -->" }

// In finds the digest in the text of a page; "" if there is none.
func In(text, by string) string {
	_, rest, _ := strings.Cut(text, mark(by))
	digest, _, _ := strings.Cut(rest, " ")
	return digest
}
