// Package faults is what a person wants to happen to which request of a coordinator, read from a small text: docs/serve.md has its grammar.
package faults

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Action is what happens.
type Action string

// The actions. Those on a request happen before the coordinator sees it.
const (
	DropRequest  Action = "drop the request"
	DropReply    Action = "drop the reply"
	DelayRequest Action = "delay the request"
	DelayReply   Action = "delay the reply"
	CloseBefore  Action = "close the connection before"
	CloseAfter   Action = "close the connection after"
	Answer       Action = "answer"
	FailAppend   Action = "fail"
	Move         Action = "move the coordinator at"
)

// Fault is one line.
type Fault struct {
	File   string
	Line   int
	Text   string // without comment
	Action Action
	API    kmsg.Key // not of FailAppend
	Group  *string  // nil for any
	Client *string  // a client id, nil for any
	Node   *int32   // that is asked, nil for any

	nth   int // which of those that fit: 0 for all
	every int // each that is a multiple; 0 for none

	Code      int16         // of Answer and FailAppend
	Delay     time.Duration // of DelayRequest and DelayReply
	To        *int32        // of Move: the node; nil for the next
	Loading   time.Duration // of Move: how long the new coordinator loads
	fits, hit int
}

// Request is what decides whether a fault fits.
type Request struct {
	API    kmsg.Key
	Groups []string // that it is about
	Client string
	Node   int32
}

// Status is how often a fault's requests, or writes, have come, and how often it happened.
type Status struct {
	Line      int    `json:"line"`
	Text      string `json:"fault"`
	Fits      int    `json:"fits"`
	Happened  int    `json:"happened"`
	Exhausted bool   `json:"exhausted"` // it cannot happen any more
}

// Set is the faults of a file, with their counts. A nil Set has none. Its methods may be called from several goroutines.
type Set struct {
	mu     sync.Mutex
	faults []*Fault
}

// Meet counts a request and returns what is to happen to it, in the order of the lines.
func (s *Set) Meet(r Request) []Fault {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Fault
	for _, f := range s.faults {
		if f.Action != FailAppend && f.suits(r) && f.count() {
			out = append(out, *f)
		}
	}
	return out
}

// Append counts a write for a group and says whether it is to fail.
func (s *Set) Append(group string) (Fault, bool) {
	if s == nil {
		return Fault{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var out Fault
	fails := false
	for _, f := range s.faults {
		if f.Action == FailAppend && (f.Group == nil || *f.Group == group) && f.count() && !fails {
			out, fails = *f, true
		}
	}
	return out, fails
}

// Fit says whether the nodes that the faults name are among that many.
func (s *Set) Fit(nodes int) error {
	if s == nil {
		return nil
	}
	var errs []error
	for _, f := range s.faults {
		for _, n := range []*int32{f.Node, f.To} {
			if n == nil {
				continue
			}
			if err := exists(*n, nodes); err != nil {
				errs = append(errs, fmt.Errorf("%s:%d: %w", f.File, f.Line, err))
			}
		}
	}
	return errors.Join(errs...)
}

// exists says whether a node is one of that many.
func exists(node int32, nodes int) error {
	switch {
	case int(node) < nodes:
		return nil
	case nodes == 1:
		return fmt.Errorf("there is no node %d; there is node 0 alone", node)
	}
	return fmt.Errorf("there is no node %d; there are 0 to %d", node, nodes-1)
}

func (f Fault) String() string { return fmt.Sprintf("fault of %s:%d: %s", f.File, f.Line, f.Text) }

// Hit is the fault with the request that it happened to.
func (f Fault) Hit(r Request) string {
	text := fmt.Sprintf("%v, which hit %s of client %q", f, r.API.Name(), r.Client)
	switch n := len(r.Groups); {
	case f.Group != nil:
		text += fmt.Sprintf(", group %q", *f.Group)
	case n == 1:
		text += fmt.Sprintf(", group %q", r.Groups[0])
	case n > 1:
		text += fmt.Sprintf(", %d groups, %q the first", n, r.Groups[0])
	}
	return text
}

// HitWrite is the fault with the group whose write it happened to.
func (f Fault) HitWrite(group string) string {
	return fmt.Sprintf("%v, which hit a write of group %q", f, group)
}

// Status is how far the faults have come.
func (s *Set) Status() []Status {
	out := []Status{}
	if s == nil {
		return out
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		out = append(out, Status{f.Line, f.Text, f.fits, f.hit, f.nth > 0 && f.fits >= f.nth})
	}
	return out
}

func (f *Fault) suits(r Request) bool {
	return f.API == r.API && (f.Group == nil || slices.Contains(r.Groups, *f.Group)) &&
		(f.Client == nil || *f.Client == r.Client) && (f.Node == nil || *f.Node == r.Node)
}

// count counts one that fits, and says whether it is one that the fault happens to.
func (f *Fault) count() bool {
	f.fits++
	if f.nth > 0 && f.fits != f.nth || f.every > 0 && f.fits%f.every != 0 {
		return false
	}
	f.hit++
	return true
}
