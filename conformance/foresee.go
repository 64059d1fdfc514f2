package conformance

import (
	"strings"

	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/conformance/target"
)

// Foreseen says why the scenario would be skipped on such a target, also where that shows only on the way, at a command whose version, topic or
// session the target does not have; empty if it would run to its end. With slow, scenarios run that wait for minutes.
func (s *Scenario) Foreseen(caps target.Capabilities, slow bool) string {
	if reason := s.skip(caps, slow); reason != nil {
		return reason.why()
	}
	if n := len(s.groups()); caps.MaxGroups > 0 && n > caps.MaxGroups {
		return tooManyGroups(n, int64(caps.MaxGroups)).Error()
	}
	caps.Scale = s.scale(caps)
	f := &foresight{run: &run{caps: caps, names: newNames(), actors: map[string]*actor{}, set: newSettings()}}
	for _, b := range s.File.Blocks {
		for i := range b.Commands {
			if err := f.command(&b.Commands[i]); err != nil {
				return err.Error()
			}
		}
	}
	return ""
}

func tooManyGroups(n int, limit int64) error {
	return skipf("needs %d groups at a time, and %d are allowed there: %s", n, limit, onOurs)
}

// foresight goes through commands without sending anything.
type foresight struct{ run *run }

// onlyFrom are the versions from which on a request has what a command may ask for.
var onlyFrom = []struct {
	verb    string
	version int16
	asks    func(*script.Command) bool
}{
	{"fetch", 8, has("also")},
	{"list", 4, has("states")},
	{"list", 5, has("types")},
	{"find-coordinator", 4, func(c *script.Command) bool { return len(c.Words) > 1 }},
	{"leave", 3, func(c *script.Command) bool { return c.Verb == "leave-batch" && len(c.Words) != 1 }},
}

func has(key string) func(*script.Command) bool {
	return func(c *script.Command) bool { _, ok := c.Arg(key); return ok }
}

// sends are the requests of a verb whose name is not that of one.
var sends = map[string][]string{
	"form": {"join", "sync"}, "leave-batch": {"leave"}, "txn-begin": {"txn-init", "txn-begin"},
}

// command is why it cannot be sent to the target.
func (f *foresight) command(c *script.Command) error {
	if c.Verb == "group" {
		return runGroup(f.run, c)
	}
	verbs, ok := sends[c.Verb]
	if !ok {
		verbs = []string{c.Verb}
	}
	for _, v := range verbs {
		if _, request := apis[v]; !request {
			continue
		}
		asked := int16(-1)
		if v != "txn-init" && !(c.Verb == "form" && v == "sync") { // the command's version is not theirs
			asked = version(c)
		}
		if set, ok := f.run.set.versions[v]; ok && asked < 0 {
			asked = set
		}
		chosen, err := pick(f.run.caps, v, asked)
		if err != nil {
			return err
		}
		for _, o := range onlyFrom {
			if o.verb == v && chosen < o.version && o.asks(c) {
				return tooOld(f.run.caps, v, o.version, chosen, "")
			}
		}
	}
	if c.Verb == "join" || c.Verb == "form" {
		for _, name := range c.Words {
			if _, err := f.run.session(f.run.actor(name).setting(c, "session", f.run.set.session)); err != nil {
				return err
			}
		}
	}
	return f.topics(c)
}

// topics is why the target has not those that the command names, as partitions or as a subscription.
func (f *foresight) topics(c *script.Command) error {
	names := func(word string) []string {
		if topic, _, err := partition(word); err == nil {
			return []string{topic}
		}
		return nil
	}
	var all []string
	for _, w := range c.Words {
		all = append(all, names(w)...)
	}
	for _, a := range c.Args {
		all = append(all, names(a.Key)...)
		if list, ok := strings.CutPrefix(a.Value, "topics("); ok {
			all = append(all, strings.Split(strings.TrimSuffix(list, ")"), ",")...)
		}
	}
	for _, name := range all {
		if _, err := f.run.topic(strings.TrimSpace(name)); err != nil {
			return err
		}
	}
	return nil
}
