package pages

import (
	"fmt"
	"html/template"
	"io"
)

// Failure is what a page tells of one group's history.
type Failure struct {
	Title string
	Facts []Fact

	Rule, Class, Sentence, Suffers string // empty where no rule decides

	Seen     *Call    // what nothing explains
	NotFound string   // why that is not known
	Reasons  []Reason // why it does not fit
	Apart    string   // why the clients were not together in the end; empty where that is no question
	Before   []string // where the group stood before; a few of the possibilities
	More     int      // further ones

	Commands []string
	Links    []Link

	Lanes    []Lane
	Bands    []Bar // what was done to the whole target
	Timeline []Call
	Lateness string

	View   string // porcupine's own page; empty where there is none
	NoView string // why
	Rows   int    // of the view
	Text   string // the same in words, for a terminal
}

// Reason is why an order cannot go on.
type Reason struct{ Text, Must, Was, Rules string }

// Call is an entry of the timeline: a call, or what was done on purpose, which has no id and tells in Request what it was.
type Call struct {
	ID, Was                 int64
	When                    string
	Client, Request, Answer string
	Kind                    string // "", "wrong", "fault"
}

// Lane is a row of the picture.
type Lane struct {
	Name string
	Bars []Bar
}

// Bar is something that lasts, in nanoseconds since the start.
type Bar struct {
	From, To   int64
	Kind       BarKind
	Label, Tip string
	Call       int64 // of the timeline; 0 is none
}

// BarKind says how a bar looks.
type BarKind string

// The kinds of bars.
const (
	Plain  BarKind = ""       // a call
	Wait   BarKind = "wait"   // a call that the coordinator may hold back
	Silent BarKind = "silent" // a call without an answer
	Wrong  BarKind = "wrong"  // the call that nothing explains
	Armed  BarKind = "armed"  // a timer that is set
	Window BarKind = "window" // in which it may fire
	Late   BarKind = "late"   // in which it may still fire, as it may be late
	Fired  BarKind = "fired"  // in which it did
	Fault  BarKind = "fault"  // what was done on purpose
)

// WriteFailure writes the page of a failure.
func WriteFailure(w io.Writer, f *Failure) error {
	p := failurePage{Failure: f, Style: style(), Scripts: digests(f.View), MoreBefore: f.More, ViewHeight: template.CSS(fmt.Sprintf("%dpx", 110+45*f.Rows))}
	p.layOut()
	return templates.ExecuteTemplate(w, "failure.html", p)
}

// failurePage is what the template takes.
type failurePage struct {
	*Failure
	Style      template.CSS
	Scripts    string
	MoreBefore int
	ViewHeight template.CSS
	Lanes      []lane
	Bands      []box
	Ticks      []tick
	Timers     bool
}
