package groupstats_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/groupstats"
	"github.com/muster-kafka/muster/impl/sim"
)

// rig is a coordinator on virtual time with its numbers.
type rig struct {
	*testing.T
	sim    *sim.Sim
	stats  *groupstats.Stats
	log    bytes.Buffer
	ticket core.Ticket
}

func newRig(t *testing.T, maxGroups int) *rig {
	r := &rig{T: t}
	ids := 0
	logger := slog.New(slog.NewTextHandler(&r.log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	r.stats = groupstats.New(groupstats.Options{Logger: logger, MaxGroups: maxGroups, Now: func() time.Time { return r.sim.Now() }})
	r.sim = sim.New(1, core.Settings{
		NewMemberID: func(client string) string { ids++; return fmt.Sprint(client, ids) },
		Report:      func(err error) { t.Error(err) },
		Observe:     r.stats.Observe,
	})
	return r
}

func (r *rig) send(req kmsg.Request, version int16) {
	r.ticket++
	r.sim.Step(core.Request{Ticket: r.ticket, Message: req, Version: version, ClientID: "m", ClientHost: "/1.1.1.1"})
}

func (r *rig) join(group, id, protocol string) {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID, req.ProtocolType, req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = group, id, "consumer", 10000, 30000
	p := kmsg.NewJoinGroupRequestProtocol()
	p.Name, p.Metadata = "range", []byte(protocol)
	req.Protocols = append(req.Protocols, p)
	r.send(req, 3)
}

func (r *rig) sync(group, id string, generation int32) {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Group, req.MemberID, req.Generation = group, id, generation
	r.send(req, 3)
}

func (r *rig) group(id string) groupstats.Group {
	r.Helper()
	g, ok := r.stats.Group(id)
	if !ok {
		r.Fatalf("%s is not there", id)
	}
	return g
}

func TestLifeOfAGroup(t *testing.T) {
	r := newRig(t, 0)
	t0 := r.sim.Now()
	r.join("g", "", "x")
	r.sim.Advance(time.Second)
	r.sync("g", "m1", 1)
	r.sim.Advance(2 * time.Second)
	g := r.group("g")
	if g.State != core.Stable || g.Generation != 1 || g.Members != 1 || g.Rebalances != 1 || g.InState != 2*time.Second || !g.Since.Equal(t0.Add(time.Second)) || g.ProtocolType != "consumer" {
		t.Errorf("after the first sync: %+v", g)
	}
	if l := g.Last; l.Duration != time.Second || l.Reason != core.MemberJoined || l.Outcome != groupstats.Completed || l.Generation != 1 {
		t.Errorf("its rebalance: %+v", l)
	}

	r.join("g", "", "x") // m2 waits for m1
	r.sim.Advance(3 * time.Second)
	if g = r.group("g"); g.State != core.PreparingRebalance || g.Members != 2 || g.Last.Outcome != groupstats.Running || g.Last.Duration != 3*time.Second {
		t.Errorf("while m2 waits: %+v", g)
	}
	r.join("g", "m1", "x")
	r.join("g", "m1", "y") // changed, before anybody has synced
	r.join("g", "m2", "x")
	if g = r.group("g"); g.State != core.CompletingRebalance || g.Generation != 3 || g.Rebalances != 3 {
		t.Errorf("after the change: %+v", g)
	}
	if h := g.History; len(h) != 3 || h[1].Outcome != groupstats.Interrupted || h[2].Outcome != groupstats.Running || h[2].Reason != core.ProtocolsChanged {
		t.Errorf("its history: %+v", h)
	}
	r.sim.Advance(11 * time.Second) // both sessions expire
	if g = r.group("g"); g.State != core.Empty || g.Members != 0 || g.Last.Outcome != groupstats.Emptied || g.Last.Reason != core.SessionExpired {
		t.Errorf("when all have gone: %+v", g)
	}
	del := kmsg.NewPtrDeleteGroupsRequest()
	del.Groups = []string{"g"}
	r.send(del, 2)
	if _, ok := r.stats.Group("g"); ok || len(r.stats.Groups()) != 0 {
		t.Error("a deleted group is still counted")
	}
	lines := strings.Split(strings.TrimSpace(r.log.String()), "\n")
	want := []string{"Dead to=Empty reason=created", "Empty to=PreparingRebalance reason=\"a member joined\"", "PreparingRebalance to=CompletingRebalance", "CompletingRebalance to=Stable reason=\"the leader synced\" generation=1 members=1 after=1s"}
	for i, w := range want {
		if i >= len(lines) || !strings.Contains(lines[i], w) {
			t.Errorf("line %d: want %q in\n%s", i, w, r.log.String())
		}
	}
	if last := lines[len(lines)-1]; !strings.Contains(last, "from=Empty to=Dead reason=deleted") || !strings.Contains(last, "group=g") {
		t.Errorf("the last line is %q", last)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	r := newRig(t, 0)
	r.join("g", "", "x")
	for i := range int32(25) {
		r.sync("g", "m1", i+1)
		r.join("g", "m1", "x") // the leader asks for a rebalance
	}
	g := r.group("g")
	if len(g.History) != groupstats.History || g.Rebalances != 26 || g.Last.Generation != 26 || g.Last.Reason != core.LeaderRejoined || g.History[0].Generation != 17 {
		t.Errorf("%d rebalances, history of %d: %+v", g.Rebalances, len(g.History), g.History)
	}
	g.History[0].Generation = -1
	if r.group("g").History[0].Generation == -1 {
		t.Error("what was handed out is not the reader's own")
	}
}

// Whatever clients do, the number of series is bounded, and a group keeps those it has.
func TestMetrics(t *testing.T) {
	r := newRig(t, 3)
	for i := range 50 {
		name := fmt.Sprintf("g%02d", i)
		if i == 1 {
			name = "bad\xff\xfe"
		}
		r.join(name, "", "x")
	}
	r.sync("g00", "m1", 1)
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(r.stats); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values, series := map[string]float64{}, 0
	for _, f := range families {
		for _, m := range f.GetMetric() {
			series++
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			values[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	for name, want := range map[string]float64{
		"muster_groups Stable": 1, "muster_groups CompletingRebalance": 49, "muster_groups_without_own_metrics": 47,
		"muster_group_state g00 Stable": 1, "muster_group_state g00 Empty": 0, "muster_group_generation g00": 1, "muster_group_members g00": 1,
		`muster_group_members "bad\xff\xfe"`: 1, "muster_rebalances_total a member joined": 50,
		"muster_rebalances_ended_total completed": 1, "muster_rebalance_duration_seconds": 1, "muster_group_rebalances_total g02": 1,
	} {
		if got, ok := values[name]; !ok || got != want {
			t.Errorf("%s is %v (there: %v), want %v", name, got, ok, want)
		}
	}
	if _, ok := values["muster_group_members g03"]; ok || series > 60 {
		t.Errorf("%d series; the fourth group has its own: %v", series, ok)
	}
}

// A group that comes back under its name begins anew.
func TestAgain(t *testing.T) {
	s := groupstats.New(groupstats.Options{})
	life := []core.Change{
		{Group: "g", From: core.Dead, To: core.Empty}, {Group: "g", From: core.Empty, To: core.PreparingRebalance}, {Group: "g", From: core.PreparingRebalance, To: core.Dead},
	}
	for range 2 {
		for i, c := range life {
			s.Observe(c)
			g, there := s.Group("g")
			if gone := i == len(life)-1; there == gone || !gone && g.Rebalances != int64(i) {
				t.Errorf("after %v: there %v, %+v", c.To, there, g)
			}
		}
	}
}
