package linearize

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/model/classic"
)

// minimise makes an illegal history of one group small. First it looks for the shortest beginning that is illegal: what ends it is the
// wrong call, the first answer (or silence) that nothing explains. Then it leaves out calls for as long as the fault stays the same
// one. A history can also become illegal because a call was left out, as a member whose JoinGroup is gone is unknown. So what may have had an
// effect is left out only where the history is illegal whether it had one or not, would be legal if nothing were known of how the wrong
// call ended, and has that end in another way than it did for no other reason.
func minimise(ctx context.Context, h *history.History, group string, limits Limits, budget time.Duration) (*history.History, *finding) {
	m := &minimiser{group: group, limits: limits.withDefaults()}
	m.best = h.Keep(func(c *history.Call) bool { return slices.Contains(c.Groups, group) })
	if !m.shorten(ctx) {
		return m.best, nil
	}
	if m.found = find(ctx, m.best, group, m.wrong, m.limits); m.found == nil {
		return m.best, nil
	}
	m.rule, _ = m.found.rule()
	m.reasons, m.mints, m.races = m.found.reasons(), mints(m.best), racing(m.best, m.wrong)
	// What is found until here is needed, however long it takes. The rest is for the eye: no try may use up the budget.
	m.until = time.Now().Add(budget)
	m.limits.Timeout = min(m.limits.Timeout, max(budget/10, 100*time.Millisecond))
	m.pasts(ctx)
	m.try(ctx, func(c *history.Call) bool { return !looks(c) })
	m.try(ctx, func(c *history.Call) bool { return !idle(c) })
	m.faults(ctx)
	for changed := true; changed && m.time(ctx); {
		changed = m.clients(ctx)
		changed = m.chunks(ctx) || changed
	}
	m.faults(ctx)
	return m.best, m.found
}

type minimiser struct {
	group  string
	limits Limits
	until  time.Time
	best   *history.History
	wrong  int64 // id of the wrong call

	found   *finding // about best
	rule    classic.RuleID
	reasons []string // why the call is wrong
	mints   map[string]int64
	races   map[int64]bool // calls that were open at the same time as the wrong one, of the same member or instance: they may be why it is wrong
}

func (m *minimiser) time(ctx context.Context) bool {
	return ctx.Err() == nil && time.Now().Before(m.until)
}

func (m *minimiser) check(ctx context.Context, h *history.History) Result {
	config, p, err := prepare(h, m.group, m.limits)
	if err != nil {
		return Unknown
	}
	return checkGroup(ctx, config, p, m.limits).Result
}

// shorten cuts the history after the first call that nothing explains. It fails where that cannot be found in time.
func (m *minimiser) shorten(ctx context.Context) bool {
	ends := make([]int64, len(m.best.Calls))
	for i := range m.best.Calls {
		ends[i] = m.best.Calls[i].Return + 1
	}
	slices.Sort(ends)
	// A longer beginning says more, so it is illegal if a shorter one is.
	first := sort.Search(len(ends), func(i int) bool { return m.check(ctx, m.best.Cut(ends[i])) == Illegal })
	if first == len(ends) {
		return false
	}
	cut := m.best.Cut(ends[first])
	for i := len(cut.Calls) - 1; i >= 0; i-- {
		if c := &cut.Calls[i]; c.Return+1 == ends[first] && c.Outcome != history.Open {
			m.wrong = c.ID
			break
		}
	}
	cut.CutAt = 0
	m.best = cut
	return m.check(ctx, forget(cut, m.wrong)) == Legal
}

// forget is the history without what is known of the end of one call.
func forget(h *history.History, id int64) *history.History {
	open := &history.History{Header: h.Header, Calls: slices.Clone(h.Calls), Faults: h.Faults}
	for i := range open.Calls {
		if c := &open.Calls[i]; c.ID == id {
			c.Outcome, c.Response, c.Error = history.Open, nil, ""
		}
	}
	return open
}

// try takes the smaller history if it shows the same fault.
func (m *minimiser) try(ctx context.Context, keep func(*history.Call) bool) bool {
	needed := map[int64]bool{m.wrong: true}
	for i := range m.best.Calls {
		if c := &m.best.Calls[i]; c.ID == m.wrong || m.races[c.ID] || keep(c) {
			needed[c.ID] = true
			for _, id := range needs(m.mints, c) {
				needed[id] = true
			}
		}
	}
	all := func(c *history.Call) bool { return needed[c.ID] }
	smaller := m.best.Keep(all)
	return len(smaller.Calls) < len(m.best.Calls) && m.take(ctx, smaller, m.maybe(all))
}

// maybe is the best history with nothing known of the calls that are not kept, but that they were sent: each may have had its effect or not. Where
// that is illegal the smaller history is too, and not because something that mattered is missing. Calls that only look, and those that had no effect
// by their answers, are just gone.
func (m *minimiser) maybe(keep func(*history.Call) bool) *history.History {
	open := m.best.Keep(func(c *history.Call) bool { return keep(c) || !looks(c) && !idle(c) })
	open.Calls = slices.Clone(open.Calls)
	for i := range open.Calls {
		if c := &open.Calls[i]; !keep(c) && c.Outcome != history.NotSent {
			c.Outcome, c.Response, c.Error = history.Open, nil, ""
		}
	}
	return open
}

// take takes the smaller history if the other, which says no more than both, shows the same fault, and says whether it does.
func (m *minimiser) take(ctx context.Context, smaller, both *history.History) bool {
	if !m.time(ctx) {
		return false
	}
	if m.check(ctx, smaller) != Illegal || m.check(ctx, forget(smaller, m.wrong)) != Legal {
		return false
	}
	if both != smaller && m.check(ctx, both) != Illegal { // last, as it takes longest
		return false
	}
	found := find(ctx, smaller, m.group, m.wrong, m.limits)
	if found == nil {
		return false
	}
	for _, reason := range found.reasons() {
		if !slices.Contains(m.reasons, reason) {
			return false
		}
	}
	if id, _ := found.rule(); id == classic.JoinPreparingParks && m.rule == classic.JoinPendingBlocks {
		return false // the id is gone that was pending
	}
	m.best, m.found = smaller, found
	return true
}

// pasts leaves out what had ended before the group was deleted, the latest deletion first.
func (m *minimiser) pasts(ctx context.Context) {
	for i := len(m.best.Calls) - 1; i >= 0; i-- {
		c := m.best.Calls[i]
		if c.Key != int16(kmsg.DeleteGroups) || c.Outcome != history.Answered || refused(&c) {
			continue
		}
		smaller := m.best.Keep(func(old *history.Call) bool {
			return old.ID == m.wrong || old.Return >= c.Call || old.Outcome.Unknown()
		})
		if len(smaller.Calls) < len(m.best.Calls) && m.take(ctx, smaller, smaller) {
			return
		}
	}
}

// faults leaves out what was done to the target before the first call or after the last. What was done to connections is told by their calls.
func (m *minimiser) faults(ctx context.Context) {
	without := func(keep func(*history.Fault) bool) *history.History {
		smaller := *m.best
		smaller.Faults = nil
		for i := range m.best.Faults {
			if keep(&m.best.Faults[i]) {
				smaller.Faults = append(smaller.Faults, m.best.Faults[i])
			}
		}
		return &smaller
	}
	m.best = without(func(f *history.Fault) bool {
		return f.Client == "" || slices.ContainsFunc(m.best.Calls, func(c history.Call) bool {
			return c.Client == f.Client && c.Outcome == history.Lost && c.Call <= f.At && f.At <= c.Return
		})
	})
	first, last := m.best.Calls[0].Call, (&history.History{Calls: m.best.Calls}).End()
	smaller := without(func(f *history.Fault) bool { return f.Client != "" || f.End() >= first && f.At <= last })
	if len(smaller.Faults) < len(m.best.Faults) {
		m.take(ctx, smaller, smaller)
	}
}

// looks says whether a call only reads.
func looks(c *history.Call) bool {
	switch kmsg.Key(c.Key) {
	case kmsg.OffsetFetch, kmsg.DescribeGroups, kmsg.ListGroups:
		return true
	}
	return false
}

// idle says whether the call was refused, and has changed nothing. A JoinGroup that is refused may have made the group, or removed an id.
func idle(c *history.Call) bool {
	return c.Key != int16(kmsg.JoinGroup) && refused(c) && !slices.ContainsFunc(codesOf(c), func(code int16) bool { return slices.Contains(doubtful, code) })
}

// doubtful are errors of requests that may have had their effect all the same.
var doubtful = []int16{kerr.UnknownServerError.Code, kerr.RequestTimedOut.Code, kerr.CoordinatorNotAvailable.Code, kerr.NotCoordinator.Code}

// refused says whether all that the call asked for was answered with an error. MEMBER_ID_REQUIRED is none: it has an effect.
func refused(c *history.Call) bool {
	all := codesOf(c)
	return len(all) > 0 && !slices.Contains(all, 0) && !slices.Contains(all, kerr.MemberIDRequired.Code)
}

// codesOf are the error codes of a call's answer; none without one.
func codesOf(c *history.Call) []int16 {
	if c.Outcome != history.Answered {
		return nil
	}
	resp, err := c.DecodeResponse()
	if err != nil {
		return nil
	}
	return codes(resp)
}

// clients leaves out all calls of one client at a time.
func (m *minimiser) clients(ctx context.Context) (changed bool) {
	var clients []string
	for i := range m.best.Calls {
		if c := m.best.Calls[i].Client; !slices.Contains(clients, c) {
			clients = append(clients, c)
		}
	}
	for _, client := range clients {
		changed = m.try(ctx, func(c *history.Call) bool { return c.Client != client }) || changed
	}
	return changed
}

// chunks leaves out runs of calls, from the last to the first, and halves the length of the runs until it is one.
func (m *minimiser) chunks(ctx context.Context) (changed bool) {
	for size := max(1, len(m.best.Calls)/4); ; size /= 2 {
		for end := len(m.best.Calls); end > 0; end -= size {
			calls := m.best.Calls
			end = min(end, len(calls))
			first, last := calls[max(0, end-size)].ID, calls[end-1].ID
			changed = m.try(ctx, func(c *history.Call) bool { return c.ID < first || c.ID > last }) || changed
		}
		if size <= 1 {
			return changed
		}
	}
}

// densely renumbers a small history before it is told of, so that text, file and page name its calls alike. Where the fault cannot be
// told anew in time, the text keeps the numbers of the whole run.
func densely(ctx context.Context, small *history.History, found *finding, group string, limits Limits) (*history.History, *finding) {
	dense := renumber(small)
	if found == nil {
		return dense, nil
	}
	for i := range small.Calls {
		if small.Calls[i].ID != found.wrong.id {
			continue
		}
		if again := find(ctx, dense, group, dense.Calls[i].ID, limits.withDefaults()); again != nil {
			return dense, again
		}
	}
	return dense, found
}

// wasNumbers lists the numbers that renumbered calls had, several to a line; empty where none has changed.
func wasNumbers(h *history.History) string {
	var text strings.Builder
	changed, inLine := false, 0
	for i := range h.Calls {
		c := &h.Calls[i]
		if c.Was == 0 {
			continue
		}
		changed = changed || c.Was != c.ID
		if inLine == 8 {
			text.WriteString("\n")
			inLine = 0
		}
		if inLine++; inLine == 1 {
			text.WriteString(" ")
		}
		fmt.Fprintf(&text, " #%d=#%d", c.ID, c.Was)
	}
	if !changed {
		return ""
	}
	return text.String() + "\n"
}

// renumber gives the calls dense ids, as a saved history must have, and keeps the old ones.
func renumber(h *history.History) *history.History {
	dense := &history.History{Header: h.Header, Calls: slices.Clone(h.Calls), Faults: h.Faults}
	for i := range dense.Calls {
		c := &dense.Calls[i]
		if c.Was == 0 {
			c.Was = c.ID
		}
		c.ID = int64(i + 1)
	}
	return dense
}
