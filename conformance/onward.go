package conformance

import (
	"slices"
	"strings"

	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/model/classic"
)

// A difference in a compat rule or a quirk does not end a scenario where the rest of it means the same as before: what comes after may break a contract.
// It means the same where the differing lines leave the group, and what the actors know of it, as the text has them.

// goesOn reports whether the scenario makes sense after this block, whose text differs.
func (r *run) goesOn(v *script.Variant, got []string) bool {
	if len(v.Lines) != len(got) || len(r.rendered) != len(got) || r.stopped != nil {
		return false
	}
	for i := range got {
		if !v.Lines[i].Match(got[i]) && !harmless(r.rendered[i], v.Lines[i].Text, got[i]) {
			return false
		}
	}
	return true
}

// harmless reports whether a line that differs leaves all else as it is.
func harmless(l *line, want, got string) bool {
	wantWho, want, _ := strings.Cut(want, ": ")
	gotWho, got, _ := strings.Cut(got, ": ")
	if l.req == nil || wantWho != gotWho {
		return false
	}
	w, g := strings.Fields(want), strings.Fields(got)
	if len(w) == 0 || len(g) == 0 || slices.Contains([]string{"parked", closedText, unreadableText}, g[0]) || w[0] == "parked" {
		return false
	}
	switch l.req.verb {
	case "fetch", "find-coordinator", "leave":
		return true
	case "commit":
		return l.req.actor != nil || accepts(w) == accepts(g) // one of nobody may create the group
	case "list":
		return sameNames(entryNames(want, "["), entryNames(got, "["))
	case "describe":
		return state(w) == state(g) && sameNames(entryNames(want, "members=["), entryNames(got, "members=["))
	case "join":
		return refuses(w[0]) && refuses(g[0]) || w[0] == "NONE" && g[0] == "NONE" && fields(w) == fields(g)
	case "sync":
		return refuses(w[0]) && refuses(g[0]) || w[0] == "NONE" && g[0] == "NONE" && len(w) > 1 && len(g) > 1 && w[1] == g[1]
	case "heartbeat":
		return refuses(w[0]) && refuses(g[0])
	}
	return false
}

// refuses reports whether an answer is an error after which an actor does not do otherwise.
func refuses(first string) bool {
	return !slices.Contains([]string{"NONE", "parked", "MEMBER_ID_REQUIRED", "UNKNOWN_MEMBER_ID", "REBALANCE_IN_PROGRESS"}, first)
}

func accepts(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(w, ":NONE") })
}

// fields are those of a JoinGroup answer that an actor acts on.
func fields(words []string) string {
	var kept []string
	for i, w := range words {
		key, _, _ := strings.Cut(w, "=")
		if slices.Contains([]string{"gen", "leader", "protocol", "members"}, key) || !strings.Contains(w, "=") && i > 0 {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

func state(words []string) string {
	for _, w := range words {
		if slices.Contains([]string{"Empty", "Stable", "PreparingRebalance", "CompletingRebalance", "Dead"}, w) {
			return w
		}
	}
	return ""
}

// entryNames are the names of the entries in brackets.
func entryNames(text, open string) []string {
	_, rest, _ := strings.Cut(text, open)
	if end := strings.LastIndexByte(rest, ']'); end >= 0 {
		rest = rest[:end]
	}
	var out []string
	for _, entry := range strings.Fields(rest) {
		name, _, _ := strings.Cut(entry, ":")
		name, _, _ = strings.Cut(name, "->")
		name, _, _ = strings.Cut(name, "(")
		out = append(out, name)
	}
	return out
}

func sameNames(a, b []string) bool {
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// onlyFetches reports whether all lines that differ are fetches: after a difference the ledger judges those.
func (r *run) onlyFetches(v *script.Variant, got []string) bool {
	if len(v.Lines) != len(got) || len(r.rendered) != len(got) {
		return false
	}
	for i := range got {
		if !v.Lines[i].Match(got[i]) && (r.rendered[i].req == nil || r.rendered[i].req.verb != "fetch") {
			return false
		}
	}
	return true
}

func isContract(f *Failure) bool {
	return f.Class != classic.Compat.String() && f.Class != classic.Quirk.String()
}
