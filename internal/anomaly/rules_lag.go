package anomaly

import (
	"fmt"
	"slices"
	"time"
)

// leftOut: a leader has to give every member something, and be it an assignment of no partitions.
func (w *Watch) leftOut() (Finding, bool) {
	if w.span.state != Stable || w.span.length() < w.settings.LeftOut {
		return Finding{}, false
	}
	var out []Member
	for _, m := range w.members {
		if m.Assignment == AssignmentMissing {
			out = append(out, m)
		}
	}
	if len(out) == 0 {
		return Finding{}, false
	}
	return Finding{
		Rule: LeftOut, Certain: true,
		Summary:  fmt.Sprintf("the leader's assignment says nothing about %s", count(len(out), "member")),
		Evidence: []string{w.seenLine(), "given no bytes at all, where a member without partitions is given an empty list: " + list(out), w.generationLine()},
		Members:  names(out),
		Causes:   []string{"an assignor of the leader's own that forgets members", "members of different versions of an application in one group"},
		Do:       []string{"see which client leads and what assignor it uses", "use one of the client's own assignors, the same one everywhere"},
	}, true
}

// lagWithoutMembers: the group is Empty, records wait for it, and nobody has worked for it for long. A single consumer that is being
// restarted leaves its group just so, but not for long.
func (w *Watch) lagWithoutMembers() (Finding, bool) {
	lag := w.last.Lag
	if w.span.state != Empty || lag == nil || lag.Total < w.settings.MinLag {
		return Finding{}, false
	}
	f := Finding{
		Rule: LagWithoutMembers, Members: []string{},
		Summary: fmt.Sprintf("no member, and %s waiting", count(int(lag.Total), "record")),
		Causes:  []string{"the application was stopped, moved to another group id, or fails before it joins", "a group id that is made anew at each start, so that the old ones stay behind"},
		Do:      []string{"start the application again, if it is still wanted", "delete the group otherwise: kafka-consumer-groups.sh --delete --group " + w.Group, "if it is a batch job, raise the threshold above its interval"},
	}
	idle, known := w.idleSince()
	sure, likely := w.brokerAge(idle)
	switch limit := w.settings.Abandoned; {
	case known && sure >= limit:
		f.Certain = true
		f.Evidence = append(f.Evidence, fmt.Sprintf("Empty, and without a commit, since %s: for at least %s by the coordinator's clock", stamp(idle), length(sure)))
	case known && likely >= limit:
		f.Evidence = append(f.Evidence, fmt.Sprintf("Empty, and without a commit, since %s: for %s if this machine's clock is right", stamp(idle), length(likely)))
	case known:
		return f, false
	case w.still.length() >= limit:
		f.Certain = true
		f.Evidence = append(f.Evidence, fmt.Sprintf("Empty, and without a commit, for at least %s (watched from %s on)", length(w.still.length()), stamp(w.still.since)))
	case lag.Unread >= limit && w.last.ProtocolType != "":
		f.Evidence = append(f.Evidence, fmt.Sprintf("its oldest unread record has waited for at least %s", length(lag.Unread)), "not known: since when the group has been Empty, and its last commit (__consumer_offsets was not read)")
	default:
		return f, false
	}
	const shown = 4
	worst := slices.Clone(lag.Partitions)
	slices.SortStableFunc(worst, func(a, b PartitionLag) int {
		return int(max(min(b.End-b.Committed-a.End+a.Committed, 1), -1))
	})
	for i, p := range worst {
		if i == shown || p.End <= p.Committed {
			break
		}
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s-%d: committed %d, end %d", p.Topic, p.Partition, p.Committed, p.End))
	}
	return f, true
}

// idleSince is when the group was last known to do anything: become Empty, or commit.
func (w *Watch) idleSince() (time.Time, bool) {
	g, ok := w.Generation()
	if ok && len(g.Members) > 0 || !w.last.Log {
		// The record that tells of the last member's end was not read; neither may the last commits have been.
		return time.Time{}, false
	}
	since := w.last.LastCommit
	if ok && g.At.After(since) {
		since = g.At
	}
	return since, !since.IsZero()
}

// emptyLong speaks of groups that once had members. A group of no protocol type never had: its offsets are committed by consumers that
// assign partitions to themselves.
func (w *Watch) emptyLong() (Finding, bool) {
	g, ok := w.Generation()
	if w.span.state != Empty || w.last.ProtocolType == "" {
		return Finding{}, false
	}
	f := Finding{
		Rule: EmptyLong, Members: []string{},
		Causes: []string{"an application that is gone, or that uses another group id now", "offsets are kept for longer than that (offsets.retention.minutes), or the group has been used by hand"},
		Do:     []string{"delete the group if nobody needs its offsets: kafka-consumer-groups.sh --delete --group " + w.Group},
	}
	if since, known := w.idleSince(); ok && known {
		sure, likely := w.brokerAge(since)
		switch {
		case sure > w.settings.EmptyFor:
			f.Certain = true
			f.Evidence = []string{fmt.Sprintf("generation %d, recorded at %s, has no member; nothing was committed after %s", g.Number, stamp(g.At), stamp(since))}
		case likely > w.settings.EmptyFor:
			f.Evidence = []string{fmt.Sprintf("generation %d, recorded at %s, has no member; nothing was committed after %s; the age is by this machine's clock", g.Number, stamp(g.At), stamp(since))}
		default:
			return f, false
		}
		f.Summary = "Empty for " + length(max(sure, likely))
		return f, true
	}
	if d := w.span.length(); d > w.settings.EmptyFor {
		f.Certain, f.Summary, f.Evidence = true, "Empty for at least "+length(d), []string{w.seenLine()}
		return f, true
	}
	return f, false
}
