package pages

import (
	"html/template"
	"io"
	"slices"
)

// Index is the page of a whole run.
type Index struct {
	Title   string
	Verdict string
	Colour  string // of the verdict: good, bad, unsure
	Summary string
	Facts   []Fact
	Doubts  []string

	Rows     []Row
	Lists    []List
	Tables   []Table
	Warnings []string
	Links    []Link
}

// Failed reports whether there are failures: these come before what could not be told.
func (i *Index) Failed() bool {
	return slices.ContainsFunc(i.Lists, func(l List) bool { return l.Anchor == "failures" })
}

// Row is what a judge has done.
type Row struct{ Name, HowMuch, Result string }

// List is findings of one kind.
type List struct {
	Anchor, Title string
	Findings      []Finding
}

// Finding is one of them.
type Finding struct {
	Anchor, Heading, Sentence, Suffers string
	Notes                              []string
	Links                              []Link
	Replay, Text                       string
}

// Table is something that was counted, as rows or as single words.
type Table struct {
	Anchor, Title, Intro string
	Head                 []string
	Rows                 [][]Cell
	Tags                 []string
}

// Cell is part of a row; with Href it is a link.
type Cell struct{ Text, Href string }

// WriteIndex writes the page of a run.
func WriteIndex(w io.Writer, i *Index) error {
	return templates.ExecuteTemplate(w, "index.html", struct {
		*Index
		Style template.CSS
	}{i, style()})
}
