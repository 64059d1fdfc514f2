// Package groupstats says how the groups of a coordinator are doing: as Go values, as Prometheus metrics and as log lines. It is fed
// by core.Settings.Observe and changes nothing.
package groupstats

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/muster-kafka/muster/impl/core"
)

// History is how many of a group's last rebalances are kept.
const History = 10

// Options are the settings. The zero value logs nothing and gives 100 groups metrics of their own.
type Options struct {
	Logger *slog.Logger     // gets one line a transition, at level Info; may be nil
	Now    func() time.Time // the clock of the coordinator; default time.Now

	// MaxGroups bounds how many groups have metrics of their own, which carry their names as labels; default 100, negative: none.
	// A group has them from its creation to its end or not at all, so that no series comes and goes in between.
	MaxGroups int
}

// Group is how a group is doing.
type Group struct {
	ID           string
	ProtocolType string
	State        core.State
	Generation   int32
	Members      int
	Since        time.Time // of the last transition
	InState      time.Duration
	Rebalances   int64       // that have begun since the group was created
	Last         Rebalance   // the last one; zero if there was none
	History      []Rebalance // the last ten, the oldest first
}

// Rebalance is one entry into PreparingRebalance and what came of it.
type Rebalance struct {
	Began      time.Time
	Duration   time.Duration // until it ended, or until now
	Reason     core.Reason   // for its beginning
	Outcome    Outcome
	Generation int32 // that it made; of one that has made none yet, the one before
}

// Outcome is how a rebalance ended.
type Outcome string

// The outcomes.
const (
	Running     Outcome = "running"
	Completed   Outcome = "completed"   // the group became Stable
	Emptied     Outcome = "emptied"     // nobody was left
	Interrupted Outcome = "interrupted" // by the next one, before the leader had synced
	Ended       Outcome = "ended"       // with the group
)

// Stats keeps the numbers. Its methods may be called from several goroutines.
type Stats struct {
	o  Options
	mu sync.Mutex

	groups map[string]*tracked
	last   *tracked // whose change was the last one, and often the next; nil once it is gone
	named  int      // groups with metrics of their own
	totals totals
}

type tracked struct {
	Group
	named bool
}

// New returns numbers of no group.
func New(o Options) *Stats {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MaxGroups == 0 {
		o.MaxGroups = 100
	}
	return &Stats{o: o, groups: map[string]*tracked{}, totals: newTotals()}
}

// Observe takes a change; hand it to core.Settings.Observe.
func (s *Stats) Observe(c core.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.last
	if g == nil || g.ID != c.Group {
		g = s.groups[c.Group]
	}
	if g == nil {
		if c.To == core.Dead {
			return // what is said of a group after its end
		}
		g = &tracked{Group: Group{ID: c.Group, State: core.Dead, Since: c.At}, named: s.named < s.o.MaxGroups}
		if g.named {
			s.named++
		}
		s.groups[c.Group] = g
	}
	s.last = g
	g.ProtocolType, g.Generation, g.Members = c.ProtocolType, c.Generation, c.Members
	if c.From == c.To {
		return
	}
	s.log(g, c)
	s.rebalance(g, c)
	g.State, g.Since = c.To, c.At
	if c.To == core.Dead {
		delete(s.groups, c.Group)
		s.last = nil
		if g.named {
			s.named--
		}
	}
}

// rebalance keeps the history.
func (s *Stats) rebalance(g *tracked, c core.Change) {
	end := func(o Outcome) {
		if n := len(g.History); n > 0 && g.History[n-1].Outcome == Running {
			r := &g.History[n-1]
			r.Duration, r.Outcome, r.Generation = c.At.Sub(r.Began), o, c.Generation
			s.totals.ended(o, r.Duration)
		}
	}
	switch c.To {
	case core.PreparingRebalance:
		end(Interrupted)
		g.Rebalances++
		s.totals.began(c.Reason)
		if len(g.History) == History {
			g.History = slices.Delete(g.History, 0, 1)
		}
		g.History = append(g.History, Rebalance{Began: c.At, Reason: c.Reason, Outcome: Running, Generation: c.Generation})
	case core.Stable:
		end(Completed)
	case core.Empty:
		end(Emptied)
	case core.Dead:
		end(Ended)
	case core.CompletingRebalance:
		if n := len(g.History); n > 0 {
			g.History[n-1].Generation = c.Generation
		}
	}
}

func (s *Stats) log(g *tracked, c core.Change) {
	if s.o.Logger == nil {
		return
	}
	s.o.Logger.Info("group transition",
		"group", c.Group, "from", c.From.String(), "to", c.To.String(), "reason", string(c.Reason), "generation", c.Generation,
		"members", c.Members, "after", c.At.Sub(g.Since), "at", c.At)
}

// Group is one group, if it exists.
func (s *Stats) Group(id string) (Group, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.groups[id]
	if g == nil {
		return Group{}, false
	}
	return g.at(s.o.Now()), true
}

// Groups are all groups, by name.
func (s *Stats) Groups() []Group {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.o.Now()
	out := make([]Group, 0, len(s.groups))
	for _, id := range slices.Sorted(maps.Keys(s.groups)) {
		out = append(out, s.groups[id].at(now))
	}
	return out
}

// at is the group as of now, with nothing in common with what is tracked.
func (g *tracked) at(now time.Time) Group {
	out := g.Group
	out.InState = max(0, now.Sub(g.Since))
	out.History = slices.Clone(g.History)
	if n := len(out.History); n > 0 {
		if out.History[n-1].Outcome == Running {
			out.History[n-1].Duration = max(0, now.Sub(out.History[n-1].Began))
		}
		out.Last = out.History[n-1]
	}
	return out
}
