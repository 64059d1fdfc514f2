package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/mattn/go-isatty"
)

// progress tells what a run is at: one line that changes on a terminal, a plain line every few seconds elsewhere. Its methods may be
// called from several goroutines.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	live  bool
	every time.Duration // how often step may print
	last  time.Time
	wrote bool // the live line is on the screen
}

func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	p := &progress{w: w, every: 5 * time.Second}
	if ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd())) {
		p.live, p.every = true, 50*time.Millisecond
	}
	return p
}

// step says how far a judge has come. Many steps may come in a second.
func (p *progress) step(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.last) < p.every {
		return
	}
	p.last = now
	if p.live {
		fmt.Fprintf(p.w, "\r\x1b[K"+format, args...)
		p.wrote = true
		return
	}
	fmt.Fprintf(p.w, format+"\n", args...)
}

// say prints a line that stays.
func (p *progress) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintf(p.w, format+"\n", args...)
}

// done takes the live line off the screen.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func (p *progress) clear() {
	if p.wrote {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.wrote = false
	}
}
