package conformance

import (
	"fmt"
	"sort"
	"strings"
)

// strangerID is the member id that scenarios call "stranger": one that no coordinator hands out.
const strangerID = "stranger-00000000-0000-0000-0000-000000000000"

// names turns what differs from run to run into what scenarios call it, and back: member ids, group and topic names, and the
// actors whom a role names.
type names struct {
	byID   map[string]handed
	groups map[string]string // real name to scenario name
	roles  map[string]string // actor to role
	actors map[string]string // role to actor
}

// handed is a member id that an actor got: the n-th of its ids, from 1.
type handed struct {
	actor *actor
	n     int
}

func newNames() *names {
	return &names{
		byID: map[string]handed{}, groups: map[string]string{},
		roles: map[string]string{}, actors: map[string]string{},
	}
}

// hand notes that the actor was given the id. An id that somebody has already keeps its name.
func (n *names) hand(a *actor, id string) {
	if _, known := n.byID[id]; known || id == "" {
		return
	}
	a.ids = append(a.ids, id)
	n.byID[id] = handed{a, len(a.ids)}
}

// member renders a member id: the name of the actor that it was given to last, A'1 for the first of several ids of A, - for the
// empty string, ? for one that nobody was given.
func (n *names) member(id string) string {
	if id == "" {
		return "-"
	}
	if id == strangerID {
		return "stranger"
	}
	h, ok := n.byID[id]
	if !ok {
		return "?"
	}
	if h.n == len(h.actor.ids) {
		return n.actor(h.actor.name)
	}
	return fmt.Sprintf("%s'%d", n.actor(h.actor.name), h.n)
}

// actor renders an actor's name: its role, if it has one.
func (n *names) actor(name string) string {
	if role, ok := n.roles[name]; ok {
		return role
	}
	return name
}

func (n *names) group(real string) string {
	if name, ok := n.groups[real]; ok {
		return name
	}
	return "?"
}

// setRole names an actor; a role that another actor had passes to it.
func (n *names) setRole(role, actor string) {
	if old, ok := n.actors[role]; ok {
		delete(n.roles, old)
	}
	if old, ok := n.roles[actor]; ok {
		delete(n.actors, old)
	}
	n.roles[actor] = role
	n.actors[role] = actor
}

// raw renders bytes: as they are if they are harmless text, else quoted.
func raw(b []byte) string {
	if len(b) == 0 {
		return `""`
	}
	for _, c := range b {
		if c <= ' ' || c > '~' || strings.IndexByte("{}|#,:\"\\'", c) >= 0 {
			return quote(b)
		}
	}
	return string(b)
}

// quote is Go's quoting, with what means something in expected text escaped as well.
func quote(b []byte) string {
	s := fmt.Sprintf("%q", b)
	return strings.NewReplacer("{", `\x7b`, "}", `\x7d`, "|", `\x7c`, "#", `\x23`).Replace(s)
}

// text renders a string that may be absent.
func text(s *string) string {
	if s == nil {
		return "null"
	}
	return raw([]byte(*s))
}

func sortedBrackets(items []string) string {
	sort.Strings(items)
	return brackets(items)
}

func brackets(items []string) string { return "[" + strings.Join(items, " ") + "]" }
