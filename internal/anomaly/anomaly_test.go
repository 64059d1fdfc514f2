package anomaly

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Virtual time: the watch begins at t0 by the observer's clock, and the coordinator's clock is 3 h ahead of it.
var (
	t0     = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	broker = 3 * time.Hour
)

// story builds a watch step by step.
type story struct {
	w   *Watch
	now time.Time
	o   Observation // carried from look to look, as the observer would
}

func tell(s Settings) *story {
	return &story{w: NewWatch("g", s), now: t0, o: Observation{Log: true, ProtocolType: "consumer"}}
}

// look observes the group at every step until the time is over.
func (s *story) look(state State, during, step time.Duration, members ...Member) *story {
	for end := s.now.Add(during); !s.now.After(end); s.now = s.now.Add(step) {
		o := s.o
		o.At, o.State, o.Members, o.MembersKnown = s.now, state, members, true
		if o.Log {
			o.BrokerNow = s.now.Add(broker)
		}
		s.w.Add(o)
		s.o.Generations, s.o.Committers = nil, nil
	}
	return s
}

// past adds a generation that was completed so long before now.
func (s *story) past(number int32, ago time.Duration, members ...Member) *story {
	g := Generation{Number: number, At: s.now.Add(broker - ago), Members: members}
	if len(members) > 0 {
		g.Leader = members[0].ID
	}
	s.o.Generations = append(s.o.Generations, g)
	return s
}

func (s *story) with(change func(*Observation)) *story {
	change(&s.o)
	return s
}

func noLog(o *Observation) { o.Log = false }

func member(id string) Member {
	return Member{ID: id, Client: "client-" + strings.TrimRight(id, "0123456789"), Host: "/10.0.0.1", Session: 45 * time.Second, RebalanceTimeout: 5 * time.Minute, Assignment: AssignmentGiven}
}

func timed(id string, session, rebalance time.Duration) Member {
	m := member(id)
	m.Session, m.RebalanceTimeout = session, rebalance
	return m
}

// unknown is a member as DescribeGroups alone shows it.
func unknown(id string) Member { return timed(id, 0, 0) }

func lag(committed, end int64) *Lag {
	return &Lag{Total: end - committed, Partitions: []PartitionLag{{Topic: "t", Committed: committed, End: end}}}
}

// flaps tells of a client whose memberships last so long, and come again after a pause, beside a steady one.
func flaps(s *story, times int, lasts, pause time.Duration, make func(id string) Member) *story {
	steady := make("steady")
	period := lasts + pause
	start := time.Duration(times)*period + time.Minute
	number := int32(1)
	s.past(number, start, steady)
	for i := range times {
		m := make(fmt.Sprintf("f%d", i))
		s.past(number+1, start-time.Duration(i)*period-pause, steady, m)
		s.past(number+2, start-time.Duration(i+1)*period, steady)
		number += 2
	}
	return s.look(Stable, 2*time.Second, time.Second, steady)
}

// rolls tells of a restart of n clients, one every interval, that all have one name.
func rolls(s *story, n int, interval time.Duration, cooperative bool) *story {
	var members []Member
	for i := range n {
		members = append(members, member(fmt.Sprintf("c%d", 1000+i)))
	}
	start := time.Duration(n)*interval + time.Minute
	number := int32(1)
	s.past(number, start, members...)
	step := func(at time.Duration) {
		number++
		s.past(number, at, append([]Member(nil), members...)...)
	}
	for i := range n {
		at := start - time.Duration(i)*interval
		members = members[1:]
		step(at - interval/4)
		members = append(members, member(fmt.Sprintf("c%d", 2000+i)))
		step(at - interval/2)
		if cooperative {
			step(at - interval*3/4)
		}
	}
	return s.look(Stable, 2*time.Second, time.Second, members...)
}

const (
	m1 = time.Minute
	s1 = time.Second
)

func TestRules(t *testing.T) {
	def := Defaults()
	a, b, c := member("a"), member("b"), member("c")
	static := member("s")
	static.Instance = "s"
	left := member("l")
	left.Assignment = AssignmentMissing
	day := 24 * time.Hour
	for name, x := range map[string]struct {
		story   *story
		rule    Rule // empty: no finding
		certain bool
		says    string // in the summary or the evidence
		members string
	}{
		"nothing was seen":     {story: tell(def)},
		"healthy":              {story: tell(def).past(1, time.Hour, a, b).look(Stable, 10*m1, s1, a, b)},
		"a group that is gone": {story: tell(def).look(PreparingRebalance, 2*m1, s1, a).look(Dead, s1, s1)},

		"flapping, and gone": {story: flaps(tell(def), 5, 3*s1, 3*s1, func(id string) Member { return timed(id, 2*s1, m1) }).look(Dead, s1, s1)},

		"stuck, one left to rejoin": {tell(def).past(1, time.Hour, a).look(Stable, s1, s1, a).look(PreparingRebalance, m1, s1, a, b), StuckPreparing, true, "only this one is left to rejoin: client-a at /10.0.0.1 (a)", "client-a at /10.0.0.1"},
		"stuck, one of two":         {tell(def).past(1, time.Hour, a, b).look(PreparingRebalance, m1, s1, a, b, c), StuckPreparing, true, "at least one has not: client-a at /10.0.0.1 (a), client-b", ""},
		"stuck, one still commits": {
			tell(def).past(1, time.Hour, a, b).look(PreparingRebalance, 2*s1, s1, a, b).with(func(o *Observation) { o.Committers = []string{"b"} }).look(PreparingRebalance, m1, s1, a, b),
			StuckPreparing, true, "still being committed", "client-b at /10.0.0.1",
		},
		"stuck, without the log":          {tell(def).with(noLog).look(PreparingRebalance, m1, s1, unknown("a"), unknown("b")), StuckPreparing, false, "cannot be seen from outside", ""},
		"not yet stuck":                   {story: tell(def).past(1, time.Hour, a).look(PreparingRebalance, m1-s1, s1, a)},
		"a generation in between":         {story: tell(def).past(1, time.Hour, a).look(PreparingRebalance, 40*s1, s1, a).past(2, 0, a).look(PreparingRebalance, 40*s1, s1, a)},
		"another state in between":        {story: tell(def).past(1, time.Hour, a).look(PreparingRebalance, 40*s1, s1, a).look(CompletingRebalance, 0, s1, a).look(PreparingRebalance, 40*s1, s1, a)},
		"other members, without the log":  {story: tell(def).with(noLog).look(PreparingRebalance, 40*s1, s1, a).look(PreparingRebalance, 40*s1, s1, b)},
		"nobody looked in between":        {story: tell(def).past(1, time.Hour, a).look(PreparingRebalance, 2*m1, 30*s1, a)},
		"static members that stay away":   {tell(def).past(1, time.Hour, static).look(PreparingRebalance, 10*m1, s1, static), StuckPreparing, true, "", "instance s"},
		"stuck at the edge of the wedged": {tell(def).past(1, time.Hour, a).look(PreparingRebalance, 5*m1+4*s1, s1, a), StuckPreparing, true, "", "client-a at /10.0.0.1"},

		"wedged":                        {tell(def).past(1, time.Hour, a).look(PreparingRebalance, 5*m1+5*s1, s1, a), Wedged, true, "longest rebalance timeout of its members is 5m0s", ""},
		"wedged sooner":                 {tell(def).past(1, time.Hour, timed("a", s1, 10*s1)).look(PreparingRebalance, 15*s1, s1, timed("a", s1, 10*s1)), Wedged, true, "", ""},
		"wedged by a newcomer":          {tell(def).past(1, time.Hour, a).look(PreparingRebalance, 6*m1, s1, unknown("b")), Wedged, false, "5m0s is assumed", ""},
		"wedged and empty":              {tell(def).past(1, time.Hour, a).look(PreparingRebalance, 6*m1, s1), Wedged, false, "nobody it could be waiting for", ""},
		"a long timeout is no wedge":    {tell(def).past(1, time.Hour, timed("a", s1, time.Hour)).look(PreparingRebalance, 30*m1, s1, timed("a", s1, time.Hour)), StuckPreparing, true, "1h0m", "client-a at /10.0.0.1"},
		"maybe wedged, without the log": {tell(def).with(noLog).look(PreparingRebalance, 6*m1, s1, unknown("a")), StuckPreparing, false, "may be wedged", ""},
		"wedged and empty, no log":      {tell(def).with(noLog).look(PreparingRebalance, 6*m1, s1), Wedged, false, "nobody it could be waiting for", ""},
		"created and wedged":            {tell(def).past(0, 6*m1).look(PreparingRebalance, 6*m1, s1, unknown("b")), Wedged, false, "no generation is recorded since", ""},

		"leader has not synced":          {tell(def).past(1, time.Hour, b, a).look(CompletingRebalance, 30*s1, s1, a, b), StuckCompleting, true, "client-b at /10.0.0.1 led generation 1", "client-b at /10.0.0.1"},
		"the only member has not synced": {tell(def).with(noLog).look(CompletingRebalance, 30*s1, s1, unknown("a")), StuckCompleting, true, "the leader, client-a", "client-a at /10.0.0.1"},
		"some leader has not synced":     {tell(def).with(noLog).look(CompletingRebalance, 30*s1, s1, unknown("a"), unknown("b")), StuckCompleting, false, "one of its 2 members", ""},
		"a new leader has not synced":    {tell(def).past(1, time.Hour, c).look(CompletingRebalance, 30*s1, s1, a, b), StuckCompleting, false, "one of its 2 members", ""},
		"about to sync":                  {story: tell(def).past(1, time.Hour, a, b).look(CompletingRebalance, 29*s1, s1, a, b)},

		"rebalancing on and on": {func() *story {
			s := tell(def).past(1, time.Hour, a)
			for range 16 {
				s.look(PreparingRebalance, 15*s1, s1, a).look(CompletingRebalance, 5*s1, s1, a)
			}
			return s
		}(), Rebalancing, true, "without being Stable", ""},
		"rebalancing, each time to its end": {story: func() *story {
			s := tell(def).past(1, time.Hour, a)
			for i := range int32(7) {
				s.look(PreparingRebalance, 50*s1, s1, a, b).look(CompletingRebalance, 0, s1, a, b).past(2+i, 0, a, b)
			}
			return s.look(PreparingRebalance, s1, s1, a, b)
		}()},
		"rebalancing with a pause": {story: func() *story {
			s := tell(def).past(1, time.Hour, a)
			for range 16 {
				s.look(PreparingRebalance, 15*s1, s1, a).look(CompletingRebalance, 5*s1, s1, a).look(Stable, 0, s1, a)
			}
			return s
		}()},

		"small session": {flaps(tell(def), 3, 3*s1, 3*s1, func(id string) Member { return timed(id, 2*s1, m1) }), FlappingSession, true, "session timeout of 2s is too small", "client-f at /10.0.0.1"},
		"pauses":        {flaps(tell(def), 4, 47*s1, 3*s1, member), FlappingSession, false, "no heartbeat of it arrives", "client-f at /10.0.0.1"},
		"missed polls":  {flaps(tell(def), 3, 5*m1+10*s1, 3*s1, member), FlappingPoll, false, "about one rebalance timeout (5m0s)", "client-f at /10.0.0.1"},
		"crash loop":    {flaps(tell(def), 3, 20*s1, 3*s1, member), FlappingMembers, true, "after 20s each", "client-f at /10.0.0.1"},
		"lost twice":    {story: flaps(tell(def), 2, 3*s1, 3*s1, func(id string) Member { return timed(id, 2*s1, m1) })},
		"long ago": {story: func() *story {
			s := flaps(tell(def), 4, 3*s1, 3*s1, func(id string) Member { return timed(id, 2*s1, m1) })
			s.now = s.now.Add(def.Recent + 3*time.Hour)
			return s.look(Stable, s1, s1, member("steady"))
		}()},
		"long memberships": {story: flaps(tell(def), 4, 11*m1, s1, member)},
		"flapping, seen without the log": {func() *story {
			s := tell(def).with(noLog)
			for i := range 4 {
				s.look(Stable, 4*s1, s1, a, unknown(fmt.Sprintf("f%d", i))).look(Stable, 2*s1, s1, a)
			}
			return s
		}(), FlappingMembers, false, "timeouts are not known", "client-f at /10.0.0.1"},
		"dropped twice": {func() *story {
			a := timed("a", 45*s1, 10*s1)
			s := tell(def).past(1, m1, timed("x1", 45*s1, 10*s1), a).look(Stable, s1, s1, member("x1"), a)
			s.look(PreparingRebalance, 10*s1, s1, member("x1"), a).look(Stable, s1, s1, a)
			s.past(2, 0, timed("x2", 45*s1, 10*s1), a).look(Stable, s1, s1, member("x2"), a)
			return s.look(PreparingRebalance, 10*s1, s1, member("x2"), a).look(Stable, s1, s1, a)
		}(), FlappingPoll, true, "dropped 2 times when a joining ended", "client-x at /10.0.0.1"},
		"died twice, and waited for longer": {story: func() *story {
			s := tell(def).past(1, m1, timed("x1", 30*s1, 20*s1), timed("a", 45*s1, m1)).look(Stable, s1, s1, member("x1"), a)
			s.look(PreparingRebalance, 30*s1, s1, member("x1"), a).look(Stable, s1, s1, a)
			s.past(2, 0, timed("x2", 30*s1, 20*s1), timed("a", 45*s1, m1)).look(Stable, s1, s1, member("x2"), a)
			return s.look(PreparingRebalance, 30*s1, s1, member("x2"), a).look(Stable, s1, s1, a)
		}()},
		"died twice": {story: func() *story {
			s := tell(def).past(1, m1, timed("x1", 45*s1, m1), a).look(Stable, s1, s1, member("x1"), a)
			s.look(PreparingRebalance, 45*s1, s1, member("x1"), a).look(Stable, s1, s1, a)
			s.past(2, 0, timed("x2", 45*s1, m1), a).look(Stable, s1, s1, member("x2"), a)
			return s.look(PreparingRebalance, 45*s1, s1, member("x2"), a).look(Stable, s1, s1, a)
		}()},
		"dropped once": {story: tell(def).past(1, m1, timed("x1", 45*s1, 10*s1), a).look(Stable, s1, s1, member("x1"), a).look(PreparingRebalance, 10*s1, s1, member("x1"), a).look(Stable, s1, s1, a)},

		"rolling restart":             {story: rolls(tell(def), 50, 2*s1, false)},
		"cooperative rolling restart": {story: rolls(tell(def), 50, 2*s1, true)},
		"two rolling restarts in a row": {story: func() *story {
			s := tell(def)
			var members []Member
			for i := range 20 {
				members = append(members, member(fmt.Sprintf("c%d", i)))
			}
			number, at := int32(1), 6*m1
			s.past(number, at, members...)
			for i := range 40 {
				at -= 6 * s1
				number++
				members = append(append([]Member(nil), members[1:]...), member(fmt.Sprintf("c%d", 100+i)))
				s.past(number, at, members...)
			}
			return s.look(Stable, s1, s1, members...)
		}()},
		"scaled up, each step in three rebalances": {story: func() *story {
			s, all := tell(def), []Member{member("c0")}
			for i := range int32(20) {
				for j := range int32(3) {
					s.past(3*i+j+1, m1-time.Duration(3*i+j)*s1/2, append([]Member(nil), all...)...)
				}
				all = append(all, member(fmt.Sprintf("c%d", i+1)))
			}
			return s.look(Stable, s1, s1, all...)
		}()},
		"scaled up": {story: func() *story {
			s, all := tell(def), []Member{member("c0")}
			for i := range int32(20) {
				s.past(i+1, m1-time.Duration(i)*s1, append([]Member(nil), all...)...)
				all = append(all, member(fmt.Sprintf("c%d", i+1)))
			}
			return s.look(Stable, s1, s1, all...)
		}()},
		"rebalances for nothing": {func() *story {
			s := tell(def)
			for i := range int32(15) {
				s.past(i+1, 5*m1-time.Duration(i)*10*s1, a, b)
			}
			return s.look(Stable, s1, s1, a, b)
		}(), RebalancesOften, true, "changed no member", ""},
		"rebalances for nothing, slowly": {story: func() *story {
			s := tell(def)
			for i := range int32(15) {
				s.past(i+1, 20*m1-time.Duration(i)*61*s1, a, b)
			}
			return s.look(Stable, s1, s1, a, b)
		}()},
		"too few to say": {story: func() *story {
			s := tell(def)
			for i := range int32(10) {
				s.past(i+1, 5*m1-time.Duration(i)*10*s1, a, b)
			}
			return s.look(Stable, s1, s1, a, b)
		}()},
		"consumers for one piece of work each": {func() *story {
			s := tell(def)
			for i := range int32(12) {
				m := member(fmt.Sprintf("w%d", i))
				m.Client = m.ID // each has a name of its own, so none of them comes back
				s.past(2*i+1, 5*m1-time.Duration(i)*20*s1, a, m).past(2*i+2, 5*m1-time.Duration(i)*20*s1-10*s1, a)
			}
			return s.look(Stable, s1, s1, a)
		}(), RebalancesOften, true, "are not explained", ""},

		"left out":            {tell(def).past(1, time.Hour, a, left).look(Stable, 10*s1, s1, a, left), LeftOut, true, "no bytes at all", "client-l at /10.0.0.1"},
		"left out for a look": {story: tell(def).past(1, time.Hour, a, left).look(Stable, 9*s1, s1, a, left)},

		"abandoned":                          {tell(def).past(2, 2*time.Hour).with(func(o *Observation) { o.Lag = lag(3, 10) }).look(Empty, s1, s1), LagWithoutMembers, true, "t-0: committed 3, end 10", ""},
		"abandoned, by a log that is behind": {story: tell(def).with(noLog).past(2, 2*time.Hour).with(func(o *Observation) { o.Lag = lag(3, 10); o.BrokerNow = t0.Add(broker) }).look(Empty, s1, s1)},
		"no lag":                             {story: tell(def).past(2, 2*time.Hour).with(func(o *Observation) { o.Lag = lag(10, 10) }).look(Empty, s1, s1)},
		"less lag than matters":              {story: func() *story { s := def; s.MinLag = 8; return tell(s) }().past(2, 2*time.Hour).with(func(o *Observation) { o.Lag = lag(3, 10) }).look(Empty, s1, s1)},
		"lag with members":                   {story: tell(def).past(2, 2*time.Hour, a).with(func(o *Observation) { o.Lag = lag(3, 10) }).look(Stable, s1, s1, a)},
		"just emptied":                       {story: tell(def).past(2, 59*m1).with(func(o *Observation) { o.Lag = lag(3, 10) }).look(Empty, s1, s1)},
		"a consumer without a group":         {story: tell(def).with(func(o *Observation) { o.Lag, o.ProtocolType, o.LastCommit = lag(3, 10), "", t0.Add(broker-m1) }).look(Empty, s1, s1)},
		"a dead consumer without a group":    {tell(def).with(func(o *Observation) { o.Lag, o.ProtocolType, o.LastCommit = lag(3, 10), "", t0.Add(broker-2*time.Hour) }).look(Empty, s1, s1), LagWithoutMembers, true, "without a commit", ""},
		"old lag, without the log":           {tell(def).with(noLog).with(func(o *Observation) { o.Lag = lag(3, 10); o.Lag.Unread = time.Hour }).look(Empty, s1, s1), LagWithoutMembers, false, "has waited for at least 1h", ""},
		"young lag, without the log":         {story: tell(def).with(noLog).with(func(o *Observation) { o.Lag = lag(3, 10) }).look(Empty, s1, s1)},
		"watched for an hour":                {tell(def).with(noLog).with(func(o *Observation) { o.Lag = lag(3, 10) }).look(Empty, time.Hour, 5*s1), LagWithoutMembers, true, "watched from", ""},
		"commits while watched":              {story: tell(def).with(noLog).with(func(o *Observation) { o.Lag = lag(3, 10) }).look(Empty, 30*m1, 5*s1).with(func(o *Observation) { o.Lag = lag(4, 10) }).look(Empty, 40*m1, 5*s1)},

		"empty for long":                 {tell(def).past(4, 8*day).look(Empty, s1, s1), EmptyLong, true, "generation 4", ""},
		"empty for less":                 {story: tell(def).past(4, 7*day-m1).look(Empty, s1, s1)},
		"empty, without the log":         {story: tell(def).with(noLog).look(Empty, s1, s1)},
		"its offsets were set":           {story: tell(def).past(4, 8*day).with(func(o *Observation) { o.LastCommit = t0.Add(broker - day) }).look(Empty, s1, s1)},
		"never had a member":             {story: tell(def).with(func(o *Observation) { o.ProtocolType, o.LastCommit = "", t0.Add(broker-8*day) }).look(Empty, s1, s1)},
		"rebalancing by looks only":      {story: tell(def).with(noLog).look(PreparingRebalance, 2*s1, s1, a).look(Stable, s1, s1, a)},
		"a completion that was not Sync": {story: tell(def).past(1, m1, a).look(CompletingRebalance, 2*s1, s1, a).look(Stable, s1, s1, a)},
	} {
		t.Run(name, func(t *testing.T) {
			findings := x.story.w.Findings()
			if x.rule == "" {
				if len(findings) > 0 {
					t.Fatalf("a finding where there is none: %+v", findings)
				}
				return
			}
			if len(findings) != 1 {
				t.Fatalf("want %s alone, got %+v", x.rule, findings)
			}
			f := findings[0]
			if f.Rule != x.rule || f.Certain != x.certain || strings.Join(f.Members, ", ") != x.members {
				t.Errorf("got %s, certain %v, members %v; want %s, certain %v, members %q\n%+v", f.Rule, f.Certain, f.Members, x.rule, x.certain, x.members, f)
			}
			if text := f.Summary + "\n" + strings.Join(f.Evidence, "\n"); !strings.Contains(text, x.says) {
				t.Errorf("%q is not in\n%s", x.says, text)
			}
			if f.Group != "g" || f.Severity == "" || len(f.Causes) == 0 || len(f.Do) == 0 || len(f.Evidence) == 0 || f.Summary == "" {
				t.Errorf("something is missing: %+v", f)
			}
		})
	}
}

// A threshold that is passed by the coordinator's clock is certain; one that is passed by the observer's alone is not.
func TestClocks(t *testing.T) {
	s := tell(Defaults()).past(2, 30*m1).with(func(o *Observation) { o.Lag = lag(3, 10) })
	s.now = s.now.Add(broker + time.Hour) // so the observer is ahead
	o := s.o
	o.At, o.State, o.BrokerNow = s.now, Empty, t0.Add(broker)
	s.w.Add(o)
	f := s.w.Findings()
	if len(f) != 1 || f[0].Rule != LagWithoutMembers || f[0].Certain {
		t.Errorf("want %s, inferred: %+v", LagWithoutMembers, f)
	}
}

// A clock that is a day ahead hides nothing that goes on before one's eyes.
func TestFlappingUnderAWrongClock(t *testing.T) {
	for _, goesOn := range []bool{true, false} {
		s := flaps(tell(Defaults()), 3, 3*s1, 3*s1, func(id string) Member { return timed(id, 2*s1, m1) })
		stopped := s.now.Add(broker)
		s = tell(Defaults())
		s.now = s.now.Add(24 * time.Hour)
		o := Observation{At: s.now, State: Stable, Log: true, ProtocolType: "consumer", BrokerNow: stopped, MembersKnown: true}
		old := flaps(tell(Defaults()), 3, 3*s1, 3*s1, func(id string) Member { return timed(id, 2*s1, m1) }).w.generations
		o.Generations = old[:len(old)-1]
		s.w.Add(o)
		o.At, o.Generations = s.now.Add(s1), nil
		if goesOn {
			o.Generations = old[len(old)-1:]
		}
		s.w.Add(o)
		if f := s.w.Findings(); goesOn != (len(f) == 1 && f[0].Rule == FlappingSession) {
			t.Errorf("goes on: %v, findings: %+v", goesOn, f)
		}
	}
}

func TestSettings(t *testing.T) {
	if err := Defaults().Check(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Settings){
		"StuckPreparing": func(s *Settings) { s.StuckPreparing = 0 },
		"Rebalances":     func(s *Settings) { s.Rebalances = maxGenerations },
		"FlapCount":      func(s *Settings) { s.FlapCount = 1 },
		"MinLag":         func(s *Settings) { s.MinLag = 0 },
		"Slack":          func(s *Settings) { s.Slack = -1 },
	} {
		s := Defaults()
		change(&s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is kept of a group that is never quiet stays small.
func TestWatchIsBounded(t *testing.T) {
	s := tell(Defaults())
	for i := range int32(5000) {
		s.past(i, 0, member(fmt.Sprintf("m%d", i))).look(PreparingRebalance, 0, s1, member(fmt.Sprintf("m%d", i))).look(Stable, 0, s1, member(fmt.Sprintf("n%d", i)))
	}
	w := s.w
	if len(w.generations) > maxGenerations || len(w.stints) > maxStints || len(w.drops) > maxDrops || len(w.rotation) > maxGenerations || len(w.present) > 1 {
		t.Errorf("%d generations, %d stints, %d drops, %d rebalances, %d members", len(w.generations), len(w.stints), len(w.drops), len(w.rotation), len(w.present))
	}
	s.w.Findings()
}

// One departure explains one arrival: of two clients that come after it, one is new.
func TestChains(t *testing.T) {
	at := func(s int) time.Time { return t0.Add(time.Duration(s) * time.Second) }
	x := func(from, to int) stint { return stint{member: member("x"), from: at(from), to: at(to)} }
	for name, c := range map[string]struct {
		ended    []stint
		arrivals []time.Time
		longest  int
	}{
		"one client, again and again":   {[]stint{x(0, 10), x(12, 20), x(22, 30)}, []time.Time{at(32)}, 3},
		"it comes back at once":         {[]stint{x(0, 10), x(10, 20), x(20, 30)}, nil, 3},
		"three at once, each once":      {[]stint{x(0, 10), x(1, 11), x(2, 12)}, nil, 1},
		"two come after one has left":   {[]stint{x(0, 10), x(11, 20), x(12, 21)}, nil, 2},
		"and leave one after the other": {[]stint{x(0, 10), x(11, 20), x(12, 13), x(14, 19)}, nil, 2},
		"a long membership in between":  {[]stint{x(0, 10), x(11, 2000), x(2001, 2010)}, nil, 1},
	} {
		best, _ := longest(chains(c.ended, c.arrivals, 10*time.Minute))
		if len(best.stints) != c.longest {
			t.Errorf("%s: %d in a row, want %d", name, len(best.stints), c.longest)
		}
	}
}
