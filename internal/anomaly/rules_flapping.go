package anomaly

import (
	"fmt"
	"slices"
	"time"
)

// past is what the flapping rules look at: the recorded generations where there are any, else what was seen.
type past struct {
	ended    []stint
	lasting  []stint
	now      time.Time // on the clock of the stints
	recorded bool
}

func (w *Watch) past() past {
	if len(w.generations) > 1 {
		p := past{recorded: true, now: w.last.At}
		p.ended, p.lasting = memberships(w.generations)
		// A generation that was read during the watch is recent whatever the clocks say.
		newest := w.generations[len(w.generations)-1].At
		if w.freshUntil(newest) {
			p.now = newest
		}
		if w.last.BrokerNow.After(p.now) {
			p.now = w.last.BrokerNow
		}
		return p
	}
	p := past{ended: w.stints, now: w.last.At}
	for _, m := range w.members {
		p.lasting = append(p.lasting, stint{member: m, from: w.present[m.ID]})
	}
	return p
}

// freshUntil reports whether the observer's clock is the one that is wrong: the group was seen to complete a generation during the
// watch, and its stamp lies far from the observer's time.
func (w *Watch) freshUntil(newest time.Time) bool {
	return !w.completedAt.IsZero() && w.last.At.Sub(w.completedAt) <= w.settings.Recent && w.last.At.Sub(newest) > w.settings.Recent
}

// flapping: a client that loses its membership early, comes back, and loses it again.
func (w *Watch) flapping() (Finding, bool) {
	if f, ok := w.droppedAgain(); ok {
		return f, true
	}
	p := w.past()
	byWho := map[who]*struct {
		ended    []stint
		arrivals []time.Time
	}{}
	var order []who
	of := func(m Member) *struct {
		ended    []stint
		arrivals []time.Time
	} {
		k := m.who()
		if byWho[k] == nil {
			byWho[k] = &struct {
				ended    []stint
				arrivals []time.Time
			}{}
			order = append(order, k)
		}
		return byWho[k]
	}
	for _, s := range p.ended {
		of(s.member).ended = append(of(s.member).ended, s)
	}
	for _, s := range p.lasting {
		if e := of(s.member); !s.from.IsZero() {
			e.arrivals = append(e.arrivals, s.from)
		}
	}
	var flappers []chain
	for _, k := range order {
		c, ok := longest(chains(byWho[k].ended, byWho[k].arrivals, w.settings.ShortStint))
		if ok && len(c.stints) >= w.settings.FlapCount && p.now.Sub(c.last().to) <= w.settings.Recent {
			flappers = append(flappers, c)
		}
	}
	if len(flappers) == 0 {
		return Finding{}, false
	}
	slices.SortStableFunc(flappers, func(a, b chain) int { return len(b.stints) - len(a.stints) })
	return w.flappingBecause(flappers, p), true
}

// flappingBecause tells the reason from how long the memberships last: the timer that ends them shows.
func (w *Watch) flappingBecause(flappers []chain, p past) Finding {
	worst := flappers[0]
	m, typical := worst.last().member, worst.typical()
	f := Finding{Certain: p.recorded, Members: []string{}}
	for _, c := range flappers {
		f.Members = append(f.Members, c.last().member.Name())
	}
	f.Evidence = append(f.Evidence, fmt.Sprintf("%s lost its membership %d times in a row, from %s to %s, after %s each (the median)",
		m.Name(), len(worst.stints), stamp(worst.stints[0].to), stamp(worst.last().to), length(typical)))
	if m.Session > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("its session timeout is %s, its rebalance timeout %s", length(m.Session), length(m.RebalanceTimeout)))
	} else {
		f.Evidence = append(f.Evidence, "its timeouts are not known")
	}
	if n := len(flappers); n > 1 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%d clients do so", n))
	}
	switch w.timerOf(m, typical) {
	case FlappingSession:
		w.blameSession(&f, m, typical)
	case FlappingPoll:
		w.blamePoll(&f, m, fmt.Sprintf("its memberships last about one rebalance timeout (%s)", length(m.RebalanceTimeout)))
		f.Certain = false // it might restart itself at just that interval
	default:
		f.Rule = FlappingMembers
		f.Summary = m.Name() + " comes and goes: no membership lasts"
		if m.Session == 0 {
			f.Causes = []string{"a session timeout that is too small for the heartbeat interval, or a poll interval that is missed: with READ on __consumer_offsets the timeouts would be known, and tell"}
		}
		f.Causes = append(f.Causes, []string{"the process crashes or is killed and started again (out of memory, a failing health check)", "a client that is opened for each piece of work and closed after it", "an autoscaler that goes up and down"}...)
		f.Do = []string{"look at the restarts of the process, and why it ended", "keep one consumer open", "with few restarts and quick ones: static membership (group.instance.id) and a session timeout longer than a restart"}
	}
	return f
}

// timerOf tells which timer ends memberships of this length: the longer of the two that is over by then, unless it has been over for
// long. A member is missed when a timer is due, and seen to be gone when the others have rejoined, up to a heartbeat interval later.
func (w *Watch) timerOf(m Member, typical time.Duration) Rule {
	best, rule := time.Duration(0), FlappingMembers
	for _, t := range []struct {
		timeout time.Duration
		rule    Rule
	}{{m.Session, FlappingSession}, {m.RebalanceTimeout, FlappingPoll}} {
		if t.timeout > best && typical >= t.timeout*9/10 && typical <= t.timeout*3/2+2*w.settings.HeartbeatInterval {
			best, rule = t.timeout, t.rule
		}
	}
	return rule
}

func (w *Watch) blameSession(f *Finding, m Member, typical time.Duration) {
	f.Rule = FlappingSession
	needs := 3 * w.settings.HeartbeatInterval
	if m.Session < needs {
		f.Summary = fmt.Sprintf("%s flaps: its session timeout of %s is too small", m.Name(), length(m.Session))
		f.Evidence = append(f.Evidence, fmt.Sprintf("clients heartbeat every %s unless told otherwise, and a session should outlast three heartbeats (%s)", length(w.settings.HeartbeatInterval), length(needs)))
		f.Causes = []string{"session.timeout.ms is smaller than three times heartbeat.interval.ms", "the heartbeat thread is held up: garbage collection, a starved container, a slow network"}
	} else {
		f.Certain = false // that it was the session timer is read off the lengths alone
		f.Summary = fmt.Sprintf("%s flaps: no heartbeat of it arrives within its session timeout of %s", m.Name(), length(m.Session))
		f.Causes = []string{"the process is stopped or starved for longer than its session timeout: garbage collection, CPU limits, suspended machines", "a network that drops its heartbeats", "it dies without leaving and is started again"}
	}
	f.Evidence = append(f.Evidence, fmt.Sprintf("its memberships last about one session timeout (%s after %s)", length(typical), length(m.Session)))
	f.Do = []string{"raise session.timeout.ms to 45 s, the default since 3.0, or lower heartbeat.interval.ms to a third of it", "look at pauses of the process (GC log, CPU throttling)"}
}

func (w *Watch) blamePoll(f *Finding, m Member, evidence string) {
	f.Rule = FlappingPoll
	f.Summary = m.Name() + " misses its poll interval: it works on a batch for longer than its rebalance timeout"
	f.Evidence = append(f.Evidence, evidence)
	f.Causes = []string{"a batch takes longer than max.poll.interval.ms to process", "the thread that polls is blocked: a call without a timeout, a lock, a full queue", "the broker only sees the rebalance timeout; a client that restarts itself at that interval looks the same"}
	f.Do = []string{"lower max.poll.records, or raise max.poll.interval.ms above the longest batch", "move long work off the thread that polls, and pause() the partitions meanwhile", "look for \"poll timeout has expired\" or UNKNOWN_MEMBER_ID in the client's log"}
}

// droppedAgain is what a watch sees of a member that works on while the others rejoin: it is gone when the joining ends by its timeout,
// and comes back.
func (w *Watch) droppedAgain() (Finding, bool) {
	const enough = 2
	type dropped struct {
		count  int
		last   drop
		longer time.Duration
	}
	byWho := map[who]*dropped{}
	for _, d := range w.drops {
		// A joining ends by the longest rebalance timeout of all members, whoever is missing.
		r := d.member.RebalanceTimeout
		for _, g := range w.generations {
			if slices.ContainsFunc(g.Members, func(m Member) bool { return m.ID == d.member.ID }) {
				r = g.longestRebalanceTimeout()
			}
		}
		// The looks at both ends of the joining may each have missed a little of it. A member that died is gone sooner, with its session.
		if r == 0 || d.waited < r/2 || d.most < r*19/20 || w.last.At.Sub(d.at) > w.settings.Recent {
			continue
		}
		e := byWho[d.member.who()]
		if e == nil {
			e = &dropped{}
			byWho[d.member.who()] = e
		}
		e.count++
		e.last, e.longer = d, r
	}
	var worst *dropped
	for _, d := range w.drops { // in order, so that the same past gives the same finding
		if e := byWho[d.member.who()]; e != nil && e.count >= enough && (worst == nil || e.count > worst.count) {
			worst = e
		}
	}
	if worst == nil {
		return Finding{}, false
	}
	f := Finding{Certain: w.last.Log, Members: []string{}}
	for _, d := range w.drops {
		if e := byWho[d.member.who()]; e != nil && e.count >= enough && !slices.Contains(f.Members, d.member.Name()) {
			f.Members = append(f.Members, d.member.Name())
		}
	}
	w.blamePoll(&f, worst.last.member, fmt.Sprintf("%s was dropped %d times when a joining ended, the last time at %s after %s to %s of waiting; the longest rebalance timeout is %s",
		worst.last.member.Name(), worst.count, stamp(worst.last.at), length(worst.last.waited), length(worst.last.most), length(worst.longer)))
	return f, true
}

// rebalancesOften: many rebalances in a short time that arrivals and departures do not explain. A rolling restart or a group that is
// scaled up rebalances as often, and is healthy: each of those rebalances brings or loses a member for good.
func (w *Watch) rebalancesOften() (Finding, bool) {
	n := w.settings.Rebalances
	f := Finding{Rule: RebalancesOften, Members: []string{}}
	var average time.Duration
	if g := w.generations; len(g) > n {
		g = g[len(g)-n-1:] // the one before the last n, for comparison
		first, last := g[1].At, g[len(g)-1].At
		p := w.past()
		average = last.Sub(first) / time.Duration(n-1)
		unexplained, silent := w.unexplained(g)
		if average >= w.settings.RebalanceInterval || p.now.Sub(last) > w.settings.Recent || unexplained <= n/2 {
			return f, false
		}
		f.Certain = true
		f.Evidence = []string{
			fmt.Sprintf("generations %d to %d were completed from %s to %s", g[1].Number, g[len(g)-1].Number, stamp(first), stamp(last)),
			fmt.Sprintf("%d of these %d rebalances are not explained by a member that came to stay or left for good", unexplained, n),
		}
		if silent > 0 {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%d of them changed no member: somebody asked for them", silent))
		}
	} else {
		if len(w.generations) > 0 || len(w.rotation) < n {
			return f, false
		}
		r := w.rotation[len(w.rotation)-n:]
		average = r[n-1].Sub(r[0]) / time.Duration(n-1)
		short := 0
		for _, s := range w.stints {
			if s.short(w.settings.ShortStint) && !s.to.Before(r[0]) {
				short++
			}
		}
		quiet := len(w.stints) == 0 && !slices.ContainsFunc(w.members, func(m Member) bool { return !w.present[m.ID].IsZero() })
		if average >= w.settings.RebalanceInterval || w.last.At.Sub(r[n-1]) > w.settings.Recent || (short <= n/2 && !quiet) {
			return f, false
		}
		f.Evidence = []string{fmt.Sprintf("%d rebalances were seen to begin from %s to %s", n, stamp(r[0]), stamp(r[n-1])), fmt.Sprintf("%d memberships ended early meanwhile", short)}
	}
	f.Summary = fmt.Sprintf("the last %d rebalances came every %s on average", n, length(average))
	f.Causes = []string{"a subscription that changes all the time, as by a pattern that matches short-lived topics, or topics whose partitions grow", "consumers that are opened for one piece of work each", "an application that calls enforceRebalance or subscribe again and again"}
	f.Do = []string{"look for the reason that clients give for joining: brokers from 3.2 on log it", "subscribe once, to names", "keep consumers open"}
	return f, true
}

// unexplained counts the rebalances after the first generation that neither brought a member that stayed nor lost one that had stayed,
// and those among them that changed nothing. A cooperative assignment is worked off in up to two rebalances that change no member.
func (w *Watch) unexplained(g []Generation) (count, silent int) {
	unstable := map[string]bool{}
	ended, _ := memberships(w.generations)
	for _, s := range ended {
		if s.short(w.settings.ShortStint) {
			unstable[s.member.ID] = true
		}
	}
	followUps := 2
	for i := 1; i < len(g); i++ {
		changed, good := false, false
		for _, pair := range [][2][]Member{{g[i-1].Members, g[i].Members}, {g[i].Members, g[i-1].Members}} {
			for _, m := range pair[0] {
				if !slices.ContainsFunc(pair[1], func(o Member) bool { return o.ID == m.ID }) {
					changed = true
					good = good || !unstable[m.ID]
				}
			}
		}
		switch {
		case good:
			followUps = 2
		case !changed && followUps > 0:
			followUps--
		default:
			count++
			if !changed {
				silent++
			}
		}
	}
	return count, silent
}
