package conformance

import (
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/conformance/target"
)

// need is the least version of an API with which a target can give the scenario's text.
type need struct {
	key     kmsg.Key
	version int16
	because string
}

// unmet says which version the scenario needs and the target does not offer; empty if there is none.
func (s *Scenario) unmet(caps target.Capabilities) *skipError {
	for _, n := range s.needs(caps.Release) {
		offered, ok := caps.Versions[int16(n.key)]
		if ok && offered.Max < n.version {
			e := offers(n.key, n.version, offered)
			e.reason = n.because + ": " + e.reason
			return e
		}
		if newest := usable(caps, n.key, offered); ok && newest < n.version {
			return skipf("%s: the target can be spoken to in %s %d to %d, not %d", n.because, n.key.Name(), offered.Min, newest, n.version)
		}
	}
	return nil
}

// needs are the versions that commands and expected lines imply.
func (s *Scenario) needs(release string) []need {
	var all []need
	if slices.Contains(s.File.Requires, string(target.Static)) {
		all = append(all, staticNeeds...)
	}
	if slices.Contains(s.File.Requires, string(target.Transactions)) {
		all = append(all, need{kmsg.OffsetFetch, 7, "it fetches stable offsets"})
	}
	for _, b := range s.File.Blocks {
		for i := range b.Commands {
			if n, ok := commandNeeds(&b.Commands[i]); ok {
				all = append(all, n)
			}
		}
		for _, l := range candidates(b, release)[0].Lines {
			if n, ok := lineNeeds(b, l.Text); ok {
				all = append(all, n)
			}
		}
	}
	return all
}

// staticNeeds are the versions from which on requests carry an instance id.
var staticNeeds = []need{
	{kmsg.JoinGroup, 5, "it has static members"},
	{kmsg.SyncGroup, 3, "it has static members"},
	{kmsg.Heartbeat, 3, "it has static members"},
	{kmsg.LeaveGroup, 3, "it has static members"},
	{kmsg.OffsetCommit, 7, "it has static members"},
}

func commandNeeds(c *script.Command) (need, bool) {
	_, named := c.Arg("protocol")
	_, typed := c.Arg("type")
	_, versioned := c.Arg("v")
	_, rebalance := c.Arg("rebalance")
	switch {
	case c.Verb == "leave-batch" && len(c.Words) != 1:
		return need{kmsg.LeaveGroup, 3, "it removes several members with one request"}, true
	case c.Verb == "sync" && (named || typed) && !versioned && !borrowed(c):
		return need{kmsg.SyncGroup, 5, "it names another protocol in SyncGroup"}, true
	case c.Verb == "fetch" && c.Flag("all"):
		return need{kmsg.OffsetFetch, 2, "it fetches all partitions"}, true
	case rebalance && (c.Verb == "join" || c.Verb == "form" || c.Verb == "group"):
		return need{kmsg.JoinGroup, 1, "it sets a rebalance timeout"}, true
	}
	return need{}, false
}

// borrowed reports whether type and protocol only fill in what the actor never learned.
func borrowed(c *script.Command) bool {
	name, _ := c.Arg("protocol")
	typ, _ := c.Arg("type")
	return name == "range" && typ == "consumer"
}

// lineNeeds looks at an expected line. Lines of commands that say their version say nothing.
func lineNeeds(b *script.Block, text string) (need, bool) {
	who, answer, _ := strings.Cut(text, ": ")
	c := commandOf(b, who)
	if c == nil {
		return need{}, false
	}
	if _, versioned := c.Arg("v"); versioned {
		return need{}, false
	}
	switch {
	case c.Verb == "join" && strings.HasPrefix(answer, "MEMBER_ID_REQUIRED"):
		return need{kmsg.JoinGroup, 4, "it shows MEMBER_ID_REQUIRED"}, true
	case c.Verb == "join" && strings.HasSuffix(answer, skipAssignment):
		return need{kmsg.JoinGroup, 9, "it shows that a leader is told to skip the assignment"}, true
	case strings.HasPrefix(c.Verb, "leave") && strings.HasPrefix(answer, "NONE ["):
		return need{kmsg.LeaveGroup, 3, "it shows an answer for each member that leaves"}, true
	case c.Verb == "commit" && strings.Contains(answer, "GROUP_ID_NOT_FOUND"):
		return need{kmsg.OffsetCommit, 9, "it shows GROUP_ID_NOT_FOUND for a commit"}, true
	case c.Verb == "find-coordinator" && strings.HasPrefix(answer, "["):
		return need{kmsg.FindCoordinator, 4, "it shows an answer for each group"}, true
	case c.Verb == "list" && strings.Contains(answer, "/"):
		return need{kmsg.ListGroups, 4, "it shows the states of groups"}, true
	}
	return need{}, false
}

// commandOf is the first command of the block that a line of that label can belong to.
func commandOf(b *script.Block, who string) *script.Command {
	for i := range b.Commands {
		c := &b.Commands[i]
		if c.Verb == who || who == "-" && c.Verb == "leave-batch" {
			return c
		}
		for _, w := range c.Words {
			if w == who && c.Verb != "roles" {
				if c.Verb == "join" || c.Verb == "commit" || c.Verb == "leave" {
					return c
				}
			}
		}
	}
	return nil
}

// versioned reads a word of "# requires:" such as JoinGroup>=4.
func versioned(word string) (key kmsg.Key, version int16, ok bool) {
	name, number, ok := strings.Cut(word, ">=")
	n, err := strconv.ParseInt(number, 10, 16)
	if !ok || err != nil {
		return 0, 0, false
	}
	for _, a := range apis {
		if a.key.Name() == name {
			return a.key, int16(n), true
		}
	}
	return 0, 0, false
}
