package groupstats

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/muster-kafka/muster/impl/core"
)

// states are those that a group can be met in; one that is Dead is gone.
var states = []core.State{core.Empty, core.PreparingRebalance, core.CompletingRebalance, core.Stable}

// totals are counts over all groups, those that have no metrics of their own included. Their labels come from small fixed sets.
type totals struct {
	begun    map[core.Reason]uint64
	ends     map[Outcome]uint64
	duration prometheus.Histogram
}

func newTotals() totals {
	t := totals{begun: map[core.Reason]uint64{}, ends: map[Outcome]uint64{}}
	t.duration = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "muster_rebalance_duration_seconds", Help: "Time from PreparingRebalance to the end of the rebalance, however it ended.",
		Buckets: []float64{.01, .05, .1, .5, 1, 3, 10, 30, 60, 300, 900},
	})
	return t
}

func (t totals) began(r core.Reason) { t.begun[r]++ }

func (t totals) ended(o Outcome, d time.Duration) {
	t.ends[o]++
	t.duration.Observe(d.Seconds())
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("muster_"+name, help, labels, nil)
}

var (
	groupsDesc     = desc("groups", "Groups by state.", "state")
	unnamedDesc    = desc("groups_without_own_metrics", "Groups beyond the number that have metrics of their own.")
	begunDesc      = desc("rebalances_total", "Rebalances that have begun, by what began them.", "reason")
	endsDesc       = desc("rebalances_ended_total", "Rebalances that have ended, by how.", "outcome")
	stateDesc      = desc("group_state", "1 for the state that the group is in.", "group", "state")
	sinceDesc      = desc("group_state_since_seconds", "Unix time of the group's last transition.", "group")
	inStateDesc    = desc("group_state_age_seconds", "Time since the group's last transition.", "group")
	generationDesc = desc("group_generation", "The group's generation.", "group")
	membersDesc    = desc("group_members", "Members of the group.", "group")
	rebalanceDesc  = desc("group_rebalances_total", "Rebalances of the group that have begun.", "group")
	lastDesc       = desc("group_last_rebalance_duration_seconds", "Duration of the group's last rebalance, so far if it runs.", "group")
)

// Describe is prometheus.Collector's.
func (s *Stats) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{groupsDesc, unnamedDesc, begunDesc, endsDesc, stateDesc, sinceDesc, inStateDesc, generationDesc, membersDesc, rebalanceDesc, lastDesc} {
		ch <- d
	}
	s.totals.duration.Describe(ch)
}

// Collect is prometheus.Collector's. Metrics are made from one instant's numbers; nothing is held while they are handed over.
func (s *Stats) Collect(ch chan<- prometheus.Metric) {
	for _, m := range s.collect() {
		ch <- m
	}
	s.totals.duration.Collect(ch)
}

func (s *Stats) collect() []prometheus.Metric {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []prometheus.Metric
	add := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		out = append(out, prometheus.MustNewConstMetric(d, kind, v, labels...))
	}
	now := s.o.Now()
	in := map[core.State]int{}
	for _, g := range s.groups {
		in[g.State]++
		if !g.named {
			continue
		}
		now := g.at(now)
		for _, state := range states {
			value := 0.0
			if state == g.State {
				value = 1
			}
			add(stateDesc, prometheus.GaugeValue, value, label(g.ID), state.String())
		}
		add(sinceDesc, prometheus.GaugeValue, float64(g.Since.UnixMilli())/1000, label(g.ID))
		add(inStateDesc, prometheus.GaugeValue, now.InState.Seconds(), label(g.ID))
		add(generationDesc, prometheus.GaugeValue, float64(g.Generation), label(g.ID))
		add(membersDesc, prometheus.GaugeValue, float64(g.Members), label(g.ID))
		add(rebalanceDesc, prometheus.CounterValue, float64(g.Rebalances), label(g.ID))
		add(lastDesc, prometheus.GaugeValue, now.Last.Duration.Seconds(), label(g.ID))
	}
	for _, state := range states {
		add(groupsDesc, prometheus.GaugeValue, float64(in[state]), state.String())
	}
	add(unnamedDesc, prometheus.GaugeValue, float64(len(s.groups)-s.named))
	for _, r := range core.Reasons {
		if n := s.totals.begun[r]; n > 0 {
			add(begunDesc, prometheus.CounterValue, float64(n), string(r))
		}
	}
	for _, o := range []Outcome{Completed, Emptied, Interrupted, Ended} {
		add(endsDesc, prometheus.CounterValue, float64(s.totals.ends[o]), string(o))
	}
	return out
}

// label makes a group's name fit for a label: clients choose it, and a label has to be UTF-8. Two names never have the same one, so those that look as if they had been
// quoted are quoted too.
func label(id string) string {
	if utf8.ValidString(id) && !strings.HasPrefix(id, `"`) {
		return id
	}
	return strconv.Quote(id)
}
