package kafka

import (
	"bytes"
	"regexp"
	"time"
)

// A broker that is late for seconds is taken for dead by its controller, which is the same process here: the machine is too busy. Its log has no leader then, and what asks for a group
// may wait for long, although nobody is told that the coordinator has gone. The broker's log tells of it: the epoch that is fenced is the one with which the broker has been
// registered in this life. After a kill that of the former life is fenced, always.

// fences follows the log.
type fences struct {
	from       int64 // what comes next in the log
	registered map[string]bool
	seen       time.Time // when the last one was seen
}

// recently is for how long after it a fence is what nobody can know the effect of.
const recently = 5 * time.Second

var (
	registers = regexp.MustCompile(`Successfully registered broker \d+ with broker epoch (\d+)`)
	fencing   = regexp.MustCompile(`Fencing broker \d+ at epoch (\d+)`)
)

// Fenced says whether the broker, although it lives, has been taken for dead within the last seconds.
func (t *Target) Fenced() bool {
	t.fencing.Lock()
	defer t.fencing.Unlock()
	if t.fences.read(t.since(t.fences.from)) {
		t.fences.seen = time.Now()
	}
	return time.Since(t.fences.seen) < recently
}

// read takes up what has been written to the log, as far as its lines are whole, and says whether a broker that lives was fenced.
func (s *fences) read(text []byte) (fenced bool) {
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	s.from += int64(len(whole))
	if s.registered == nil {
		s.registered = map[string]bool{}
	}
	for line := range bytes.Lines(whole) {
		if m := registers.FindSubmatch(line); m != nil {
			s.registered[string(m[1])] = true
		}
		if m := fencing.FindSubmatch(line); m != nil {
			fenced = fenced || s.registered[string(m[1])]
		}
	}
	return fenced
}
