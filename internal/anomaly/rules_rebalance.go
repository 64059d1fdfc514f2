package anomaly

import (
	"fmt"
	"slices"
	"strings"
)

// wedged: a joining ends when all have rejoined, or when the longest rebalance timeout is over. One that goes on after both is over for
// good. Where a newcomer's timeout is not known, one that is usual is assumed, and the finding inferred. Static members that stay away are another matter: for them alone the coordinator starts its timer anew.
func (w *Watch) wedged() (Finding, bool) {
	timeout, known := w.longestRebalanceTimeout()
	if w.span.state != PreparingRebalance || w.span.length() < timeout+w.settings.Slack || w.onlyStatic() {
		return Finding{}, false
	}
	if len(w.members) > 0 && !known && !w.last.Log {
		return Finding{}, false // any member may have a longer timeout than is assumed
	}
	f := Finding{
		Rule: Wedged, Certain: known && w.last.Log,
		Summary:  fmt.Sprintf("wedged in PreparingRebalance: %s after every rebalance timeout it is still waiting, and nothing is left that could end it", length(w.span.length()-timeout)),
		Evidence: []string{w.seenLine()},
		Members:  []string{},
		Causes: []string{
			"a JoinGroup that the broker can never answer, as one that lists a protocol name twice (every release of Kafka)",
			"a coordinator that lost its timer or failed while completing the join; look for errors of the group in the broker's log",
		},
		Do: []string{
			"stop all clients of the group, the faulty one above all: members that join later are parked for good as well",
			"restart the broker that coordinates the group, or move the leadership of its __consumer_offsets partition: the group is loaded anew from its last recorded generation; leaving and DeleteGroups do not help",
			"keep the faulty client from coming back: see which one was deployed last, and what protocols it lists",
		},
	}
	if known {
		f.Evidence = append(f.Evidence, "the longest rebalance timeout of its members is "+length(timeout))
	} else {
		f.Evidence = append(f.Evidence, fmt.Sprintf("the members' rebalance timeouts are not all known; %s is assumed", length(timeout)))
	}
	if len(w.members) == 0 {
		f.Evidence = append(f.Evidence, "it has no member: there is nobody it could be waiting for")
	} else {
		f.Evidence = append(f.Evidence, "it lists "+list(w.members))
	}
	f.Evidence = append(f.Evidence, w.generationLine())
	return f, true
}

func (w *Watch) onlyStatic() bool {
	return len(w.members) > 0 && !slices.ContainsFunc(w.members, func(m Member) bool { return m.Instance == "" })
}

// stuckPreparing: a joining waits for members that have not rejoined. Who they are is said as far as the evidence goes.
func (w *Watch) stuckPreparing() (Finding, bool) {
	if w.span.state != PreparingRebalance || w.span.length() < w.settings.StuckPreparing {
		return Finding{}, false
	}
	timeout, known := w.longestRebalanceTimeout()
	f := Finding{
		Rule: StuckPreparing, Certain: w.last.Log,
		Evidence: []string{w.seenLine()},
		Causes: []string{
			"a member that is busy with what it polled last and does not poll again (long processing, a blocked thread, a debugger); it rejoins at its next poll",
			"a member that heartbeats and ignores REBALANCE_IN_PROGRESS: a client that is broken or not driven any more",
			"a client that took a member id and never joined with it; that ends with its session timeout",
		},
		Do: []string{
			"look at the members named above: thread dumps of those that do not poll",
			"lower max.poll.records, or raise max.poll.interval.ms, until a batch is worked off well within it",
			"restart a member that does not come back; the others go on as soon as it is gone",
		},
	}
	g, _ := w.Generation()
	switch {
	case known:
		f.Evidence = append(f.Evidence, fmt.Sprintf("waited for is the rebalance timeout, %s at most; whoever has not rejoined by then is dropped", length(timeout)))
	case len(g.Members) > 0:
		f.Evidence = append(f.Evidence, fmt.Sprintf("waited for is the longest rebalance timeout: %s was that of generation %d, and newcomers may have a longer one", length(g.longestRebalanceTimeout()), g.Number))
	default:
		f.Evidence = append(f.Evidence, fmt.Sprintf("waited for is the longest rebalance timeout, which is not known (Java clients: max.poll.interval.ms, %s unless set)", length(w.settings.RebalanceTimeout)))
	}
	f.Evidence = append(f.Evidence, w.generationLine())
	f.Members = names(w.blamed(&f))
	f.Summary = "stuck in PreparingRebalance: " + w.awaited(f.Members)
	if w.span.length() > timeout+w.settings.Slack {
		f.Evidence = append(f.Evidence, fmt.Sprintf("that is longer than %s: it may be wedged, unless a member has a longer rebalance timeout", length(timeout)))
		f.Do = append(f.Do, "where nobody has a longer rebalance timeout, restart the broker that coordinates the group: a wedged group does not go on by itself")
	}
	if w.onlyStatic() {
		f.Causes = slices.Insert(f.Causes, 0, "static members that have not come back: the coordinator waits for them again and again until their sessions expire")
	}
	return f, true
}

func (w *Watch) awaited(singled []string) string {
	switch n := len(w.members); {
	case len(singled) > 0:
		return "it waits for " + strings.Join(singled[:min(len(singled), 3)], ", ")
	case n == 0:
		return "it has no member any more, and waits for a client that holds a member id and has not joined"
	case n == 1:
		return "it waits for its only member, or for a client that holds a member id and has not joined"
	default:
		return fmt.Sprintf("it waits for one or more of its %d members", n)
	}
}

// blamed says who has and who may not have rejoined, and returns those whom the evidence singles out.
func (w *Watch) blamed(f *Finding) []Member {
	var singled, busy []Member
	for _, m := range w.members {
		if _, ok := w.committed[m.ID]; ok {
			busy = append(busy, m)
		}
	}
	if len(busy) > 0 {
		f.Evidence = append(f.Evidence, "offsets of partitions that belong to these are still being committed, so they work and, with an eager protocol, have not rejoined: "+list(busy))
		singled = busy
	}
	if g, ok := w.Generation(); ok && w.last.Log && len(g.Members) > 0 {
		in := func(m Member) bool {
			return slices.ContainsFunc(g.Members, func(o Member) bool { return o.ID == m.ID })
		}
		var old, arrived []Member
		for _, m := range w.members {
			if in(m) {
				old = append(old, m)
			} else {
				arrived = append(arrived, m)
			}
		}
		if len(arrived) > 0 {
			f.Evidence = append(f.Evidence, fmt.Sprintf("not in generation %d, so these have sent a JoinGroup since: %s", g.Number, list(arrived)))
		}
		switch len(old) {
		case 0:
		case 1:
			f.Evidence = append(f.Evidence, fmt.Sprintf("of generation %d only this one is left to rejoin: %s", g.Number, list(old)))
			singled = old
		default:
			f.Evidence = append(f.Evidence, fmt.Sprintf("of generation %d these have to rejoin, and at least one has not: %s", g.Number, list(old)))
		}
	} else if len(w.members) > 0 {
		f.Evidence = append(f.Evidence, "members: "+list(w.members)+"; which of them have rejoined cannot be seen from outside")
	}
	for _, d := range w.drops {
		if i := slices.IndexFunc(w.members, func(m Member) bool { return m.who() == d.member.who() }); i >= 0 && len(singled) == 0 {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s was dropped when an earlier joining ended at %s, after %s", d.member.Name(), stamp(d.at), length(d.waited)))
			singled = append(singled, w.members[i])
		}
	}
	return singled
}

// stuckCompleting: the group stays in CompletingRebalance until its leader's SyncGroup has been written.
func (w *Watch) stuckCompleting() (Finding, bool) {
	if w.span.state != CompletingRebalance || w.span.length() < w.settings.StuckCompleting {
		return Finding{}, false
	}
	leader, certain := w.leader()
	f := Finding{
		Rule: StuckCompleting, Certain: certain,
		Evidence: []string{w.seenLine()},
		Members:  names(leader),
		Causes: []string{
			"the leader computes the assignment for long, or died while it did: it asks for the metadata of every topic that the group subscribes to",
			"the leader's SyncGroup is refused, as with INCONSISTENT_GROUP_PROTOCOL where it names another protocol than the one that was chosen (eager and cooperative members mixed), and it does not join again",
			"the coordinator cannot write: too few in-sync replicas of __consumer_offsets",
		},
		Do: []string{
			"look at the leader's log, and take thread dumps of it",
			"restart the leader; the others join again and another one leads",
			"if every group of the coordinator is affected, look at the replicas of __consumer_offsets",
		},
	}
	if len(leader) == 1 {
		f.Summary = "stuck in CompletingRebalance: the leader, " + leader[0].Name() + ", has not synced"
	} else {
		f.Summary = fmt.Sprintf("stuck in CompletingRebalance: the leader, one of its %s, has not synced", count(len(w.members), "member"))
	}
	timeout, known := w.longestRebalanceTimeout()
	why := ""
	if !known {
		why = " (assumed; not all are known)"
	}
	f.Evidence = append(f.Evidence, fmt.Sprintf("from Kafka 2.8.1 on, members that have not synced are expelled after the longest rebalance timeout, %s%s", length(timeout), why))
	if g, ok := w.Generation(); ok && len(leader) == 1 && len(w.members) > 1 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s led generation %d and is still there; a leader that rejoins stays the leader", leader[0].Name(), g.Number))
	}
	if len(leader) == 1 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("the others wait for the assignment: %s", list(slices.DeleteFunc(slices.Clone(w.members), func(m Member) bool { return m.ID == leader[0].ID }))))
		if len(w.members) == 1 {
			f.Evidence[len(f.Evidence)-1] = "it is the only member: " + list(leader)
		}
	} else {
		f.Evidence = append(f.Evidence, "members: "+list(w.members))
	}
	f.Evidence = append(f.Evidence, w.generationLine())
	return f, true
}

// leader is the member that leads the generation in the making, where that can be known.
func (w *Watch) leader() ([]Member, bool) {
	if len(w.members) == 1 {
		return w.members, true
	}
	g, ok := w.Generation()
	if !ok || g.Leader == "" {
		return nil, false
	}
	// In CompletingRebalance every dynamic member has rejoined, so the last leader, if it is still there, leads on. A static one may be
	// listed without having rejoined.
	for _, m := range w.members {
		if m.ID == g.Leader {
			return []Member{m}, w.last.Log && m.Instance == ""
		}
	}
	return nil, false
}

// rebalancing: no phase lasts, and yet the group is never Stable.
func (w *Watch) rebalancing() (Finding, bool) {
	if w.unrest.length() < w.settings.Rebalancing {
		return Finding{}, false
	}
	f := Finding{
		Rule: Rebalancing, Certain: w.last.Log,
		Summary:  fmt.Sprintf("rebalancing for at least %s without being Stable", length(w.unrest.length())),
		Evidence: []string{fmt.Sprintf("PreparingRebalance or CompletingRebalance at all %d looks from %s on", w.unrest.looks, stamp(w.unrest.since)), w.generationLine()},
		Members:  []string{},
		Causes: []string{
			"members that come and go faster than a rebalance can end",
			"a leader that needs longer for the assignment than the others keep waiting",
			"members whose session expires while they wait for the assignment",
		},
		Do: []string{
			"see who comes and goes: the members below, and the clients' logs",
			"stop scaling or deploying the group until it is Stable once",
			"consider static membership (group.instance.id), so that a restart is no rebalance",
		},
	}
	if !w.last.Log {
		f.Evidence = append(f.Evidence, "moments of Stable between two looks would not have been seen")
	}
	if gone := w.comings(); len(gone) > 0 {
		f.Evidence = append(f.Evidence, "left meanwhile: "+strings.Join(gone, ", "))
	}
	if len(w.members) > 0 {
		f.Evidence = append(f.Evidence, "members now: "+list(w.members))
	}
	return f, true
}

// comings are the names of those that were seen to go, most often first.
func (w *Watch) comings() []string {
	times := map[string]int{}
	for _, s := range w.stints {
		times[s.member.Name()]++
	}
	var out []string
	for name := range times {
		out = append(out, name)
	}
	slices.SortFunc(out, func(a, b string) int {
		if times[a] != times[b] {
			return times[b] - times[a]
		}
		return strings.Compare(a, b)
	})
	out = out[:min(len(out), 5)]
	for i, name := range out {
		out[i] = fmt.Sprintf("%s (%d times)", name, times[name])
	}
	return out
}
