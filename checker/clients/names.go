package clients

import (
	"fmt"
	"strings"

	"github.com/muster-kafka/muster/model/classic"
)

// names are what a path calls things: clients A, B, C in the order of the first state, ids by the client that was given them (A1, A2) or,
// where there are no clients, X1, X2; and generations by their numbers.
type names struct {
	clients [maxClients]string
	slots   [classic.MaxSlots]string
	logs    [maxRoom]string
	minted  map[string]int
	base    int // the generation that baseGen stands for
	tracked bool
}

func newNames(m *machine) *names {
	n := &names{minted: map[string]int{}, tracked: m.run.Crash == Log}
	for i := range n.clients {
		n.clients[i] = string(rune('A' + i))
	}
	return n
}

// fresh is the name of a fresh id.
func (n *names) fresh(who int8) string {
	owner := "X"
	if who >= 0 {
		owner = n.clients[who]
	}
	n.minted[owner]++
	return fmt.Sprint(owner, n.minted[owner])
}

func (n *names) permute(p permutation) {
	old := *n
	for i, from := range p.slots {
		if n.slots[i] = ""; from >= 0 {
			n.slots[i] = old.slots[from]
		}
	}
	for i, from := range p.logs {
		n.logs[i] = old.logs[from]
	}
	for i, from := range p.clients {
		n.clients[i] = old.clients[from]
	}
}

func (n *names) gen(g gen) string {
	switch g {
	case noGen:
		return "no generation"
	case oldGen:
		return "an older generation"
	}
	return fmt.Sprintf("generation %d", n.base+int(g-baseGen))
}

// state tells a state.
func (n *names) state(w *world) string {
	parts := []string{n.memory(w)}
	if n.tracked {
		parts = append(parts, "the log: "+n.log(w))
	}
	for i := range w.clients {
		if w.clients[i].is {
			parts = append(parts, n.client(w, int8(i)))
		}
	}
	return strings.Join(parts, "\n       ")
}

// words collects what is so.
type words []string

func (ws *words) add(on bool, format string, args ...any) {
	if on {
		*ws = append(*ws, fmt.Sprintf(format, args...))
	}
}

func (n *names) memory(w *world) string {
	g := &w.group
	if g.Phase == classic.Absent {
		return "no group"
	}
	parts := words{fmt.Sprintf("%s, generation %d", g.Phase, n.base+int(w.ahead))}
	for i := range g.Slots {
		if s := &g.Slots[i]; s.Kind != classic.Free {
			parts = append(parts, n.slots[i]+" ("+slotWords(s)+")")
		}
	}
	parts.add(g.JoinTimer, "join timer")
	parts.add(g.SyncTimer, "sync timer")
	parts.add(g.Writing, "assignment being written")
	return strings.Join(parts, "; ")
}

func slotWords(s *classic.Slot) string {
	var is words
	is.add(s.Kind == classic.Pending, "pending id")
	is.add(s.Static, "static")
	is.add(s.Leader, "leads")
	is.add(s.Joining, "waits in JoinGroup")
	is.add(s.Syncing, "waits in SyncGroup")
	is.add(s.New, "new")
	is.add(s.OwesSync, "owes SyncGroup")
	is.add(s.Given != 0, "has an assignment")
	is.add(!s.Timed, "no timer")
	if len(is) == 0 {
		return "member"
	}
	return strings.Join(is, ", ")
}

func (n *names) log(w *world) string {
	r := &w.log
	if r.Phase == classic.Absent {
		return "nothing"
	}
	parts := words{fmt.Sprintf("%s, generation %d", r.Phase, n.base)}
	for i := range r.Slots {
		if i >= maxRoom || r.Slots[i].Kind == classic.Free {
			continue
		}
		var is words
		is.add(r.Slots[i].Static, "static")
		is.add(r.Slots[i].Leader, "leads")
		is.add(r.Slots[i].Given != 0, "has an assignment")
		one := n.logs[i]
		if len(is) > 0 {
			one += " (" + strings.Join(is, ", ") + ")"
		}
		parts = append(parts, one)
	}
	return strings.Join(parts, "; ")
}

func (n *names) client(w *world, who int8) string {
	c := &w.clients[who]
	var is words
	switch c.holds {
	case noID:
		is.add(true, "has no id")
	case ownID:
		is.add(true, "is %s", n.slots[c.at])
	case logID:
		is.add(true, "is %s", n.logs[c.at-inLog*btoi(c.at >= inLog)])
	case goneID:
		is.add(true, "has an id that is gone")
	}
	if c.gen != noGen {
		holds := "holds " + n.gen(c.gen)
		if c.lost {
			holds += ", which was lost"
		}
		is.add(true, "%s", holds)
		is.add(c.synced, "has its assignment")
		is.add(c.leads, "believes to lead")
	}
	is.add(c.waits == joining, "waits for its JoinGroup")
	is.add(c.waits == syncing, "waits for its SyncGroup")
	is.add(c.transit != noGen, "the answer, of %s, is on its way", n.gen(c.transit))
	return n.clients[who] + ": " + strings.Join(is, ", ")
}

func btoi(b bool) int8 {
	if b {
		return 1
	}
	return 0
}
