package retell

import (
	"fmt"
	"strings"

	"github.com/muster-kafka/muster/checker/explore"
	c "github.com/muster-kafka/muster/model/classic"
)

// The commands of single requests.

func (l *Teller) join(e *c.Event) string {
	var args strings.Builder
	var name string
	switch {
	case e.Ref.Kind == c.KnownID && e.Instance.Kind == c.NoInstance && l.instance[l.who[e.Ref.Slot]] == "",
		e.Ref.Kind == c.KnownID && e.Instance.Kind == c.KnownInstance && e.Instance.Slot == e.Ref.Slot:
		name = l.who[e.Ref.Slot]
		if l.state.Slots[e.Ref.Slot].Joining {
			args.WriteString(" -again")
		}
	default:
		name = l.fresh()
		switch e.Ref.Kind {
		case c.KnownID:
			fmt.Fprintf(&args, " member=%s", l.who[e.Ref.Slot])
		case c.UnknownID:
			args.WriteString(" member=stranger")
		}
		switch e.Instance.Kind {
		case c.KnownInstance:
			l.instance[name] = l.instance[l.who[e.Instance.Slot]]
			args.WriteString(" static=" + l.instance[name])
		case c.UnknownInstance:
			l.instance[name] = strings.ToLower(name)
			args.WriteString(" static=own")
		}
		l.lists[name] = 0
		i := l.actors - 1
		l.session[name], l.balance[name] = Long, Long
		if 2*i+1 < len(l.times) {
			l.session[name], l.balance[name] = l.times[2*i], l.times[2*i+1]
		}
		if l.timed {
			fmt.Fprintf(&args, " session=%s rebalance=%s", Duration(l.session[name]), Duration(l.balance[name]))
		}
	}
	switch {
	case e.List == 0:
		args.WriteString(" -empty")
	case l.lists[name] != e.List:
		letters, metadata := l.walk.List(e.List)
		for _, letter := range letters {
			fmt.Fprintf(&args, " %s=%s", protocolNames[letter], metadataNames[metadata])
		}
		l.lists[name] = e.List
	}
	switch {
	case explore.Other(e.Type):
		args.WriteString(" type=connect")
	case e.Type == 0:
		args.WriteString(" type=none")
	}
	if e.BadSession {
		args.WriteString(" session=above-max")
	}
	switch {
	case e.Ref.Kind == c.NoID && e.Instance.Kind == c.NoInstance && !e.NeedsID:
		args.WriteString(" v=3")
	case e.Instance.Kind == c.KnownInstance && e.Ref.Kind == c.NoID && !e.Skips:
		args.WriteString(" v=8")
	}
	l.say("join %s%s%s", name, l.in(e), args.String())
	return name
}

var (
	protocolNames = map[rune]string{'a': "range", 'b': "sticky"}
	metadataNames = [...]string{"topics(t)", "topics(u)", "x"}
)

func (l *Teller) sync(e *c.Event) {
	if e.BadGroup {
		l.say("sync %s group=none", l.anyone())
		return
	}
	var more string
	switch {
	case e.NoProtocol:
		more += " type=none"
	case explore.Other(e.Type):
		more += " type=connect"
	case explore.Other(e.Protocol):
		more += " protocol=other"
	case e.Type == 0:
		more += " v=4" // version 5 names both
	}
	if e.Ref.Kind == c.KnownID && l.state.Slots[e.Ref.Slot].Syncing {
		more += " -again"
	}
	for i, symbol := range e.Assign {
		if symbol != 0 {
			more += fmt.Sprintf(" %s=x", l.who[i])
		}
	}
	l.plain("sync", e, l.genOf(e, true)+more)
}

func (l *Teller) leave(e *c.Event) {
	if e.BadGroup {
		l.say("leave %s group=none", l.anyone())
		return
	}
	if e.OldLeave {
		one := *e
		one.Ref = e.Leaves[0]
		name, args := l.speaker(&one)
		l.say("leave %s%s v=2", name, args)
		return
	}
	var words []string
	for i, ref := range e.Leaves {
		word := "none"
		switch ref.Kind {
		case c.KnownID:
			word = l.who[ref.Slot]
		case c.UnknownID:
			word = "stranger"
		}
		if i < len(e.Instances) {
			switch in := e.Instances[i]; in.Kind {
			case c.KnownInstance:
				word += "@" + l.instance[l.who[in.Slot]]
			case c.UnknownInstance:
				word += "@nobody"
			}
		}
		words = append(words, word)
	}
	l.say("leave-batch %s%s", strings.Join(append(words, ""), " "), strings.TrimSpace(l.in(e)))
}

// offsets are what a commit commits: of a topic that no group of the explored alphabets is subscribed to before a generation says so.
func (l *Teller) offsets(tooLarge bool) string {
	l.owned++
	if tooLarge {
		return fmt.Sprintf(" t/0=%d:x*4097", l.owned)
	}
	return fmt.Sprintf(" t/0=%d", l.owned)
}

func (l *Teller) commit(e *c.Event) {
	var more string
	if e.CommitVersion == 8 {
		more = " v=8"
	}
	if e.Ref.Kind == c.NoID && e.Instance.Kind == c.NoInstance && e.Gen == c.NoGen {
		l.say("commit -%s%s%s", l.offsets(e.TooLarge), l.in(e), more)
		return
	}
	name, args := l.speaker(e)
	l.say("commit %s%s%s%s%s", name, l.offsets(e.TooLarge), args, l.genOf(e, true), more)
}

func (l *Teller) txnCommit(e *c.Event) {
	if e.BadGroup {
		l.fail("the transaction's group is checked first")
		return
	}
	if !l.began {
		l.say("txn-begin P%s group=%s", l.tag, l.group)
		l.began = true
	}
	if e.Ref.Kind == c.NoID && e.Instance.Kind == c.NoInstance && e.Gen == c.NoGen {
		l.say("txn-commit P%s%s group=%s", l.tag, l.offsets(e.TooLarge), l.group)
		return
	}
	name, args := l.speaker(e)
	l.say("txn-commit P%s%s as=%s%s%s", l.tag, l.offsets(e.TooLarge), name, args, l.genOf(e, true))
}

func (l *Teller) offsetDelete(e *c.Event) {
	var words string
	for i, name := range []string{" t/0", " u/0"} {
		if e.Topics>>i&1 == 1 {
			words += name
		}
	}
	if words == "" && !e.BadGroup {
		words = " nosuch/0"
	}
	if e.BadGroup {
		words = " t/0"
	}
	l.say("offset-delete%s%s", words, l.in(e))
}
