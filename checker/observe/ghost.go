package observe

import (
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/model/classic"
)

// A ghost is a member id that was minted for a request whose answer nobody has seen. It has a name of its own, after the request, until
// the id itself is seen: in another request, or in the answer to one.
const ghostMark = "\x00ghost:"

func ghost(t checker.Ticket) string { return ghostMark + strconv.FormatUint(uint64(t), 10) }

func isGhost(id string) bool { return strings.HasPrefix(id, ghostMark) }

// Binding gives ghosts their ids.
type Binding map[string]string

// Bind is the branch with ghosts named.
func (b *Branch) Bind(names Binding) *Branch {
	if len(names) == 0 {
		return b
	}
	n := *b
	for i := range n.used() {
		h := &n.holders[i]
		if id, ok := names[h.id]; ok && h.id != "" {
			h.id = id
		}
	}
	n.log = n.log.bind(names)
	return &n
}

// bind is the log with ghosts named.
func (l *logged) bind(names Binding) *logged {
	if l == nil {
		return nil
	}
	n := *l
	if n.before = l.before.bind(names); l.group == nil {
		return &n
	}
	group := *l.group
	for i := range group.holders {
		if id, ok := names[group.holders[i].id]; ok && group.holders[i].id != "" {
			group.holders[i].id = id
		}
	}
	n.group = &group
	return &n
}

// Ghosts are the branch's ids that have not been seen.
func (b *Branch) Ghosts() []string {
	var gs []string
	for i := range b.used() {
		if b.state.Slots[i].Kind != classic.Free && isGhost(b.holders[i].id) {
			gs = append(gs, b.holders[i].id)
		}
	}
	return gs
}

// haunted says whether the branch has a ghost.
func (b *Branch) haunted() bool {
	for i := range b.used() {
		if b.state.Slots[i].Kind != classic.Free && isGhost(b.holders[i].id) {
			return true
		}
	}
	return false
}

// bindings are the branches that result from taking the strange ids of a request for ghosts' in every way, the branch itself first.
func (w *World) bindings(b *Branch, req kmsg.Request) []*Branch {
	ghosts := b.Ghosts()
	if len(ghosts) == 0 {
		return []*Branch{b}
	}
	var strange []string
	for _, id := range requestIDs(req) {
		if id != "" && !b.Has(id) && !w.knows(id) {
			strange = append(strange, id)
		}
	}
	var all []*Branch
	injections(ghosts, strange, false, func(names Binding) bool {
		all = append(all, b.Bind(names))
		return true
	})
	return all
}

func requestIDs(req kmsg.Request) []string {
	switch m := req.(type) {
	case *kmsg.JoinGroupRequest:
		return []string{m.MemberID}
	case *kmsg.SyncGroupRequest:
		ids := []string{m.MemberID}
		for _, a := range m.GroupAssignment {
			ids = appendNew(ids, a.MemberID)
		}
		return ids
	case *kmsg.HeartbeatRequest:
		return []string{m.MemberID}
	case *kmsg.LeaveGroupRequest:
		ids := []string{m.MemberID}
		for _, l := range m.Members {
			ids = appendNew(ids, l.MemberID)
		}
		return ids
	case *kmsg.OffsetCommitRequest:
		return []string{m.MemberID}
	case *kmsg.TxnOffsetCommitRequest:
		return []string{m.MemberID}
	}
	return nil
}

func appendNew(ids []string, id string) []string {
	for _, known := range ids {
		if known == id {
			return ids
		}
	}
	return append(ids, id)
}

// injections yields the ways to give ghosts distinct ids: all of them if total, any number, none first, if not.
func injections(ghosts, ids []string, total bool, yield func(Binding) bool) bool {
	taken := make([]bool, len(ids))
	names := Binding{}
	var walk func(i int) bool
	walk = func(i int) bool {
		if i == len(ghosts) {
			one := Binding{}
			for g, id := range names {
				one[g] = id
			}
			return yield(one)
		}
		if !total && !walk(i+1) {
			return false
		}
		for k, id := range ids {
			if taken[k] {
				continue
			}
			taken[k], names[ghosts[i]] = true, id
			more := walk(i + 1)
			taken[k] = false
			delete(names, ghosts[i])
			if !more {
				return false
			}
		}
		return true
	}
	return walk(0)
}
