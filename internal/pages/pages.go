// Package pages writes what people look at in a browser: a page for each failure of a concurrent history, and one for a whole run. A page is
// one file that takes nothing from a network. All that comes from a target is escaped by html/template; and no script runs but the one of
// porcupine's view, in a frame of its own, as the page's policy names it by its digest.
package pages

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"strings"
)

//go:embed style.css failure.html index.html
var sources embed.FS

var templates = template.Must(template.New("").ParseFS(sources, "*.html"))

// style is the same for all pages.
func style() template.CSS {
	text, err := sources.ReadFile("style.css")
	if err != nil {
		panic(err) // it is embedded
	}
	return template.CSS(text)
}

// Fact is a line of what a page is about.
type Fact struct{ Name, Value string }

// Link is a file beside the page.
type Link struct{ Href, Name, What string }

// digests are the scripts of a page as a policy of content names them; 'none' where there are none.
func digests(page string) string {
	var all []string
	for {
		_, rest, ok := strings.Cut(page, "<script>")
		script, after, closed := strings.Cut(rest, "</script>")
		if !ok || !closed {
			break
		}
		sum := sha256.Sum256([]byte(script))
		all = append(all, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
		page = after
	}
	if len(all) == 0 {
		return "'none'"
	}
	return strings.Join(all, " ")
}
