// Package retell turns ways through an exploration of the specification into scenarios.
package retell

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/muster-kafka/muster/checker/explore"
	c "github.com/muster-kafka/muster/model/classic"
)

// Alphabet is what a teller knows of an exploration: an explore.Walk is one, and so is a Group.
type Alphabet interface {
	Model() *c.Model
	List(symbol uint8) (letters string, metadata int) // a protocol list, and which metadata it comes with
}

// Teller turns a way through an exploration into the commands of a scenario, for one group of it. Whether the commands do what the way
// does is not promised: whoever uses them looks at what they visit.
type Teller struct {
	walk  Alphabet
	group string // the scenario's name of the group
	tag   string // ends the names of its actors
	times []time.Duration
	timed bool // timers fire on this way, so that clients say how long theirs are

	state    c.State // canonical
	who      [c.MaxSlots]string
	until    [c.MaxSlots]time.Duration // deadlines of session timers
	joinEnd  time.Duration
	syncEnd  time.Duration
	now      time.Duration
	gen      int
	actors   int
	actorGen map[string]int
	instance map[string]string // of actors
	lists    map[string]uint8  // what an actor's next JoinGroup says by itself
	session  map[string]time.Duration
	balance  map[string]time.Duration
	owned    int  // committed offsets so far, so that each has another value
	began    bool // the producer has begun a transaction
	ends     bool // a write that is told of the SyncGroup before

	// Aside is a group of its own for whoever sends requests while nobody has joined; empty where nobody does.
	Aside string
	apart bool // it has joined that

	commands []string
	told     bool // the last command's request waits, or somebody who waited has been answered: the next one comes in a block of its own
	err      error
}

// Pause between commands ends a block: what waited is answered first.
const Pause = ""

// The two lengths of timers that clients ask for, how far from a deadline time stops, and how long a way may take. What is not to fire is so
// long that a slow machine does not let it: durations are scaled down on brokers.
const (
	short, Long = 40 * time.Second, 10 * time.Minute
	margin      = 8 * time.Second
	patience    = 2 * time.Minute
)

// Duration is a duration without needless zeros: 10m, not 10m0s.
func Duration(d time.Duration) string {
	s := strings.TrimSuffix(d.String(), "0s")
	if s == "" || strings.HasSuffix(d.String(), "m0s") {
		return s
	}
	return d.String()
}

// New is a teller for one group of a scenario, whose actors' names end in tag. Timed says that timers fire on the way; times are the session and
// the rebalance timeout of one client after the other.
func New(w Alphabet, group, tag string, timed bool, times []time.Duration) *Teller {
	return &Teller{
		walk: w, group: group, tag: tag, timed: timed, times: times, actorGen: map[string]int{}, instance: map[string]string{}, lists: map[string]uint8{},
		session: map[string]time.Duration{}, balance: map[string]time.Duration{},
	}
}

func (l *Teller) fail(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf(format, args...)
	}
}

func (l *Teller) say(format string, args ...any) {
	if l.told && len(l.commands) > 0 {
		l.commands = append(l.commands, Pause)
	}
	l.told = false
	l.commands = append(l.commands, fmt.Sprintf(format, args...))
}

// fresh is a new actor.
func (l *Teller) fresh() string {
	name := string(rune('A'+l.actors%26)) + l.tag
	l.actors++
	return name
}

// anyone is an actor that may speak for others: one that has joined.
func (l *Teller) anyone() string {
	for i := range l.state.Slots {
		if l.state.Slots[i].Kind == c.Member && l.who[i] != "" {
			return l.who[i]
		}
	}
	if l.actors > 0 {
		return "A" + l.tag
	}
	if l.Aside != "" {
		if !l.apart {
			l.commands, l.apart = append([]string{"join Z" + l.tag + " group=" + l.Aside + " range=x", Pause}, l.commands...), true
		}
		return "Z" + l.tag
	}
	l.fail("nobody is there to send it")
	return "A" + l.tag
}

// Commands are what has been told since they were asked for last, and Err why the way cannot be told.
func (l *Teller) Commands() []string {
	told := l.commands
	l.commands = nil
	return told
}

// Err is why the way cannot be told; nil if it can.
func (l *Teller) Err() error { return l.err }

// Took is how much time passes on the way.
func (l *Teller) Took() time.Duration { return l.now }

// Way tells a way. Where an assignment takes time to be written, that is told of the SyncGroup that it comes with.
func (l *Teller) Way(events []explore.Happening) {
	for i := range events {
		e := events[i].Event
		begins := e.Kind == c.SyncGroup && i+1 < len(events) && events[i+1].Event.Kind == c.WriteDone
		if begins && events[i+1].Event.Write == c.WriteFailed {
			l.say("broker refuses-writes")
		}
		l.ends = i > 0 && events[i-1].Event.Kind == c.SyncGroup && l.state.Writing
		l.Take(&e, events[i].Outcome)
		if l.ends && e.Write == c.WriteFailed {
			l.accept()
		}
	}
}

// Take tells one event and follows it to the outcome that came.
func (l *Teller) Take(e *c.Event, outcome int) {
	before := len(l.commands)
	if e.Write == c.WriteFailed && e.Kind.Request() {
		l.say("broker refuses-writes")
		defer l.accept()
		before++
	}
	speaker := l.tell(e)
	if l.err != nil {
		return
	}
	if e.Kind.Request() && len(l.commands) == before {
		l.fail("%v tells nothing", e.Kind)
		return
	}
	l.walk.Model().Step(&l.state, e, func(t *c.Transition) bool {
		if outcome > 0 {
			outcome--
			return true
		}
		l.follow(e, t, speaker)
		return false
	})
}

// accept has the broker write again.
func (l *Teller) accept() {
	l.told = false // the next request has to wait for it
	l.say("broker accepts-writes")
}

// follow takes over what a transition does.
func (l *Teller) follow(e *c.Event, t *c.Transition, speaker string) {
	former := l.who
	for _, slot := range []int8{t.Minted, t.Rekeyed} {
		if slot >= 0 {
			l.who[slot] = speaker
		}
	}
	l.gen = int(t.Generation.After(int32(l.gen)))
	l.told = e.Kind.Request() && len(t.Replies) == 0
	for _, r := range t.Replies {
		l.told = l.told || r.To.Kind != c.Caller
		if r.Error == c.CodeNone && r.Echo == c.EchoSlot && r.Member >= 0 { // a JoinGroup's
			l.actorGen[l.who[r.Member]] = l.gen
		}
	}
	for _, timer := range t.Timers {
		var d time.Duration
		switch timer.For {
		case c.Cancel:
			continue
		case c.SessionOfSlot:
			d = l.session[l.who[timer.Slot]]
		case c.FormerSession:
			d = l.session[former[timer.Slot]]
		case c.NewMemberTimeout:
			d = 5 * time.Minute
		case c.MaxRebalance:
			for i := range t.Next.Slots {
				if t.Next.Slots[i].Kind == c.Member || timer.Also>>i&1 == 1 {
					d = max(d, l.balance[l.who[i]])
				}
			}
		default:
			l.fail("nobody knows how long a timer runs")
			return
		}
		switch timer.Timer {
		case c.SessionTimer:
			l.until[timer.Slot] = l.now + d
		case c.GroupJoinTimer:
			l.joinEnd = l.now + d
		case c.GroupSyncTimer:
			l.syncEnd = l.now + d
		}
	}
	next, from := c.Canonicalize(t.Next)
	who, until := l.who, l.until
	for i := range next.Slots {
		l.who[i], l.until[i] = "", 0
		if next.Slots[i].Kind != c.Free {
			l.who[i], l.until[i] = who[from[i]], until[from[i]]
		}
	}
	l.state = next
}

// tell writes the command of an event, and names the actor that sends it.
func (l *Teller) tell(e *c.Event) string {
	switch e.Kind {
	case c.MemberTimer:
		l.advance(l.until[e.Slot], func(i int) bool { return i == int(e.Slot) }, false, false)
	case c.JoinTimer:
		l.advance(l.joinEnd, func(int) bool { return false }, true, false)
	case c.SyncTimer:
		l.advance(l.syncEnd, func(int) bool { return false }, false, true)
	case c.WriteDone:
		if !l.ends {
			l.fail("something happens while an assignment is being written")
		}
	case c.JoinGroup:
		return l.join(e)
	case c.SyncGroup:
		l.sync(e)
	case c.Heartbeat:
		l.plain("heartbeat", e, l.genOf(e, true))
	case c.LeaveGroup:
		l.leave(e)
	case c.OffsetCommit:
		l.commit(e)
	case c.TxnOffsetCommit:
		l.txnCommit(e)
	case c.OffsetFetch:
		l.say("fetch - t/0 t/1%s", l.in(e))
	case c.DescribeGroups:
		l.say("describe%s", l.in(e))
	case c.ListGroups:
		l.say("list")
	case c.DeleteGroups:
		l.say("delete %s", l.group)
	case c.OffsetDelete:
		l.offsetDelete(e)
	case c.TxnMarker:
		l.say("txn-end P%s %s", l.tag, [...]string{"commit", "abort"}[bit(e.Aborted)])
		l.began = false
	default:
		l.fail("no client can bring it about that %s", deeds[e.Kind])
	}
	return ""
}

// deeds are the happenings that no client brings about.
var deeds = map[c.EventKind]string{
	c.TopicsDeleted: "topics are deleted", c.Cleanup: "offsets expire just then",
	c.Unload: "a coordinator gives the group up", c.LoadStarts: "a coordinator is loading the group", c.Loaded: "another coordinator loads the group",
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// in names the group.
func (l *Teller) in(e *c.Event) string {
	if e.BadGroup {
		return " group=none"
	}
	return " group=" + l.group
}

// speaker is the actor whose own ids a request carries, and the arguments that say otherwise.
func (l *Teller) speaker(e *c.Event) (name, args string) {
	args = l.in(e)
	switch e.Ref.Kind {
	case c.KnownID:
		name = l.who[e.Ref.Slot]
	case c.UnknownID:
		name, args = l.anyone(), args+" member=stranger"
	default:
		name, args = l.anyone(), args+" member=none"
	}
	own := l.instance[name]
	switch e.Instance.Kind {
	case c.NoInstance:
		if own != "" {
			args += " static=none"
		}
	case c.KnownInstance:
		if in := l.instance[l.who[e.Instance.Slot]]; in != own {
			args += " static=" + in
		}
	default:
		args += " static=nobody"
	}
	return name, args
}

// genOf says which generation a request carries, where the actor would not by itself.
func (l *Teller) genOf(e *c.Event, always bool) string {
	switch e.Gen {
	case c.OtherGen:
		return " gen=" + strconv.Itoa(l.gen+7)
	case c.NoGen:
		return " gen=none"
	}
	if e.Ref.Kind == c.KnownID {
		if g, ok := l.actorGen[l.who[e.Ref.Slot]]; ok && g == l.gen {
			return ""
		}
	}
	if !always {
		return ""
	}
	return " gen=" + strconv.Itoa(l.gen)
}

func (l *Teller) plain(verb string, e *c.Event, more string) {
	name, args := l.speaker(e)
	l.say("%s %s%s%s", verb, name, args, more)
}
