package conformance

import (
	"slices"
	"strings"

	"github.com/muster-kafka/muster/conformance/script"
)

// What the expected texts promise says how a request is waited for: an answer that must come is waited for with patience, and silence is
// looked for only where a text has it.

const parkedText = ": parked"

// expectedLine is the expected line of a request in one of the texts, nil without one. Lines of actors with roles are sorted, so that the
// label counts more than the place.
func (r *run) expectedLine(v *script.Variant, req *request) *script.Expect {
	i := slices.IndexFunc(r.lines, func(l *line) bool { return l.req == req })
	if i < 0 {
		return nil
	}
	label := r.label(r.lines[i]) + ": "
	if i < len(v.Lines) && strings.HasPrefix(v.Lines[i].Text, label) {
		return &v.Lines[i]
	}
	for n := range v.Lines {
		if r.isRole(req) && strings.HasPrefix(v.Lines[n].Text, label) {
			return &v.Lines[n]
		}
	}
	if i < len(v.Lines) {
		return &v.Lines[i]
	}
	return nil
}

func (r *run) isRole(req *request) bool {
	return req.actor != nil && r.names.roles[req.actor.name] != ""
}

// promisesSilence reports whether every expected text has the request parked.
func (r *run) promisesSilence(req *request) bool {
	for _, v := range r.expected {
		if l := r.expectedLine(v, req); l == nil || !strings.HasSuffix(l.Text, parkedText) {
			return false
		}
	}
	return len(r.expected) > 0
}

// promisesAnswer reports whether no expected text has the request parked.
func (r *run) promisesAnswer(req *request) bool {
	for _, v := range r.expected {
		if l := r.expectedLine(v, req); l == nil || strings.HasSuffix(l.Text, parkedText) {
			return false
		}
	}
	return len(r.expected) > 0
}

// promisesRefusal reports whether every expected text has an error that a coordinator does not wait with.
func (r *run) promisesRefusal(req *request) bool {
	for _, v := range r.expected {
		l := r.expectedLine(v, req)
		if l == nil {
			return false
		}
		_, text, _ := strings.Cut(l.Text, ": ")
		switch first, _, _ := strings.Cut(text, " "); first {
		case "NONE", "REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID", "parked":
			return false
		}
	}
	return len(r.expected) > 0
}

// due reports whether the answer of a request that could wait for others must come before anything else is sent: the text promises it, and
// nothing that follows in the block could be what it waits for, or the coordinator has nobody to wait for.
func (r *run) due(req *request) bool {
	if !r.promisesAnswer(req) {
		return false
	}
	return !r.releaseFollows(req) || r.promisesRefusal(req) || req.alone != nil && req.alone()
}

// releaseFollows reports whether a later request of the block could release one that is parked.
func (r *run) releaseFollows(req *request) bool {
	c := &r.block.Commands[r.command]
	if n := slices.IndexFunc(c.Words, func(w string) bool { return r.actor(w) == req.actor }); n >= 0 && n+1 < len(c.Words) {
		return true
	}
	for _, later := range r.block.Commands[r.command+1:] {
		switch later.Verb {
		case "join", "leave", "leave-batch", "form", "advance", "delete":
			return true
		case "sync":
			if req.verb == "sync" {
				return true
			}
		}
	}
	return false
}

// catchUp waits, before an actor does something, for the answers that it was promised earlier in the block: what it does next depends on them.
func (r *run) catchUp(c *script.Command) {
	if r.caps.Virtual || c.Flag("again") || !slices.Contains([]string{"join", "sync", "heartbeat", "commit"}, c.Verb) {
		return
	}
	for _, req := range slices.Clone(r.open) {
		mine := req.actor != nil && req.line != nil && slices.ContainsFunc(c.Words, func(w string) bool { return w != "-" && r.actor(w) == req.actor })
		if mine && r.promisesAnswer(req) {
			r.await(req, r.patience)
		}
	}
	r.absorb()
}

// missing says which line of a text is not there because its answer never came, where that is all that differs.
func missing(v *script.Variant, got []string) string {
	first, at := "", 0
	for _, want := range v.Lines {
		if at < len(got) && want.Match(got[at]) {
			at++
			continue
		}
		label, _, _ := strings.Cut(want.Text, ": ")
		if at < len(got) && got[at] == label+parkedText {
			at++
		}
		if first == "" {
			first = want.Text
		}
	}
	if at < len(got) {
		return ""
	}
	return first
}
