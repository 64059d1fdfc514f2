package observe

import (
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/model/classic"
)

// Branch is one explanation of one group.
type Branch struct {
	head
	holders [classic.MaxSlots]holder // those of slots that are free are zero
}

// head is all of a branch but its holders.
type head struct {
	group      string
	state      classic.State
	generation int32
	joinTimer  Window
	syncTimer  Window
	delay      delay    // of PreparingRebalance that is the initial delay
	emptySince Window   // when the group last became Empty; kept only where offsets expire
	assigns    []string // assignment bytes by symbol; never changed in place, and entry 0 is the empty one
	ledger              // offsets
	unseen     sight    // whether DescribeGroups and ListGroups show the group
	made       Window   // of one whose record may still be on its way: when it was made
	lost       string   // topics that were deleted while the group is loaded, each with a blank after it
	log        *logged  // what the log says; nil for a group that it does not have, and where no log is kept
}

// holder is what the model leaves out of a slot.
type holder struct {
	id                 string // a ghost's starts with ghostMark
	client             string // client id of the JoinGroup that added the member
	instance           string // of a static member
	session, rebalance time.Duration
	timer              Window
	join, sync         parked
}

// parked is a request that waits for its answer.
type parked struct {
	open    bool
	ticket  checker.Ticket
	version int16
	id      string // the member id that the request carried
}

// spent are branches to be used again: they are large, and a judge that drops most of them would otherwise keep the collector busy.
var spent = sync.Pool{New: func() any { return new(Branch) }}

// next is a copy, to be changed.
func (b *Branch) next() *Branch {
	n := spent.Get().(*Branch)
	was, used := n.used(), b.used()
	n.head = b.head
	copy(n.holders[:used], b.holders[:used])
	clear(n.holders[used:max(used, was)])
	return n
}

// used is how many slots there are up to the last that is in use.
func (b *Branch) used() int {
	used := classic.MaxSlots
	for used > 0 && b.state.Slots[used-1].Kind == classic.Free {
		used--
	}
	return used
}

// Recycle gives the branch up. Nobody may use it any more.
func (b *Branch) Recycle() { spent.Put(b) }

// Group is the group's name.
func (b *Branch) Group() string { return b.group }

// State is the model's state.
func (b *Branch) State() classic.State { return b.state }

// Phase is the group's state in Kafka's terms.
func (b *Branch) Phase() classic.Phase { return b.state.Phase }

// Generation is the group's generation; 0 before the first join has completed and where the group does not exist.
func (b *Branch) Generation() int32 { return b.generation }

// Open are the parked requests, in no particular order.
func (b *Branch) Open() []checker.Ticket {
	var open []checker.Ticket
	for i := range b.used() {
		for _, p := range []parked{b.holders[i].join, b.holders[i].sync} {
			if p.open {
				open = append(open, p.ticket)
			}
		}
	}
	return open
}

// HeldUp says whether the parked JoinGroup of a request waits for nothing but pending ids, or for the timer: all members have joined (join.pending.blocks).
func (b *Branch) HeldUp(t checker.Ticket) bool {
	parked, pending := false, false
	for i := range b.used() {
		slot := &b.state.Slots[i]
		if slot.Kind == classic.Member && !slot.Joining {
			return false
		}
		pending = pending || slot.Kind == classic.Pending
		parked = parked || b.holders[i].join.open && b.holders[i].join.ticket == t
	}
	return parked && pending && b.state.Phase == classic.PreparingRebalance && !b.state.Initial
}

// Without is the branch without an id, and nothing else of it changed: no timer is set, nobody is answered. Nil if the id has more to do with the group than to be one of its
// members: it leads it, or a request of it is parked.
func (b *Branch) Without(id string) *Branch {
	i := b.slot(id)
	if i < 0 || b.state.Slots[i].Leader || b.holders[i].join.open || b.holders[i].sync.open {
		return nil
	}
	n := b.next()
	n.state.Slots[i], n.holders[i] = classic.Slot{}, holder{}
	return n
}

// slot is where the id is, or -1.
func (b *Branch) slot(id string) int8 {
	for i := range b.used() {
		if b.state.Slots[i].Kind != classic.Free && b.holders[i].id == id {
			return int8(i)
		}
	}
	return -1
}

// Has says whether the id is a member's or a pending one.
func (b *Branch) Has(id string) bool { return b.slot(id) >= 0 }

// Writing says whether the leader's assignment is being written.
func (b *Branch) Writing() bool { return b.state.Writing }

// Pending says whether the slot is that of an id that has been handed out and has not joined.
func (b *Branch) Pending(slot int8) bool { return b.state.Slots[slot].Kind == classic.Pending }

// Ids are the ids of members and pending ones, sorted.
func (b *Branch) Ids() []string {
	var ids []string
	for i := range b.used() {
		if b.state.Slots[i].Kind != classic.Free {
			ids = append(ids, b.holders[i].id)
		}
	}
	sort.Strings(ids)
	return ids
}

// assign returns the symbol of an assignment. Symbols that no slot holds any more are used again, so that a run may have any number
// of assignments: tables is copied on the first change.
func (b *Branch) assign(tables *[]string, held *[256]bool, bytes []byte) (uint8, error) {
	if len(bytes) == 0 {
		return 0, nil
	}
	s := string(bytes)
	free := -1
	for i := 1; i < len(*tables); i++ {
		if (*tables)[i] == s {
			held[i] = true
			return uint8(i), nil
		}
		if free < 0 && !held[i] {
			free = i
		}
	}
	if free < 0 {
		if free = max(1, len(*tables)); free > 255 {
			return 0, errFull
		}
	}
	own := make([]string, max(len(*tables), free+1))
	copy(own, *tables)
	own[free] = s
	held[free] = true
	*tables = own
	return uint8(free), nil
}

// heldAssigns are the symbols in use.
func (b *Branch) heldAssigns() (held [256]bool) {
	for i := range b.state.Slots {
		held[b.state.Slots[i].Given] = true
		held[b.state.Slots[i].Proposed] = true
	}
	return held
}

func (b *Branch) assignment(symbol uint8) string {
	if symbol == 0 {
		return ""
	}
	return b.assigns[symbol]
}

// String says what the branch believes, on one line.
func (b *Branch) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s %v gen=%d", b.group, b.state.Phase, b.generation)
	if b.state.Serving != classic.Active {
		fmt.Fprintf(&s, " %v", b.state.Serving)
	}
	if b.state.Writing {
		s.WriteString(" writing")
	}
	for i := range b.used() {
		slot, h := &b.state.Slots[i], &b.holders[i]
		if slot.Kind == classic.Free {
			continue
		}
		fmt.Fprintf(&s, " %s(", ShowID(h.id))
		flags := []string{}
		if slot.Static {
			flags = append(flags, "instance "+h.instance)
		}
		for _, f := range []struct {
			on   bool
			name string
		}{
			{slot.Kind == classic.Pending, "pending"},
			{slot.Leader, "leader"},
			{slot.Joining, "joining"},
			{slot.Syncing, "syncing"},
			{slot.New, "new"},
			{slot.OwesSync, "owes sync"},
		} {
			if f.on {
				flags = append(flags, f.name)
			}
		}
		s.WriteString(strings.Join(flags, ", "))
		if slot.Timed {
			fmt.Fprintf(&s, " until %s", showWindow(h.timer))
		}
		s.WriteString(")")
	}
	if b.state.JoinTimer {
		fmt.Fprintf(&s, " join until %s", showWindow(b.joinTimer))
	}
	if b.state.SyncTimer {
		fmt.Fprintf(&s, " sync until %s", showWindow(b.syncTimer))
	}
	return s.String()
}

// ShowID is a member id as people read it, also one that was minted for a request whose answer nobody has seen.
func ShowID(id string) string {
	if isGhost(id) {
		return "an id that nobody has seen (of request " + id[len(ghostMark):] + ")"
	}
	return id
}

func showWindow(w Window) string {
	e := time.Unix(0, w.Earliest).UTC().Format("15:04:05.000")
	if w.Exact() {
		return e
	}
	return e + "-" + time.Unix(0, w.Latest).UTC().Format("15:04:05.000")
}
