package ownership

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// script makes a log by hand: instants count up by 100 ms from event to event.
type script struct {
	log Log
	at  int64
}

const step = int64(100_000_000)

func write(events ...Event) *Log {
	s := &script{log: Log{Header: Header{Group: "g", Session: 1_000_000_000, Calm: 2 * 100_000_000}}}
	for _, e := range events {
		s.at += step
		if e.At == 0 {
			e.At = s.at
		}
		s.log.Events = append(s.log.Events, e)
	}
	s.log.Sort()
	return &s.log
}

func parts(text string) []Partition {
	all := []Partition{}
	for _, p := range strings.Fields(text) {
		all = append(all, Partition(p))
	}
	return all
}

// The events of a life, with the member id of a consumer "a" being "A".
func member(client string) string { return strings.ToUpper(client) }

func started(client string) Event { return Event{Kind: Started, Client: client} }

func joined(client string, generation int32, leader string, members ...string) Event {
	for i := range members {
		members[i] = member(members[i])
	}
	return Event{
		Kind: Joined, Client: client, Member: member(client), Generation: generation, Protocol: "range", Leader: member(leader), Members: members, Topics: []string{"t"},
	}
}

func static(e Event, instance string) Event {
	e.Instance = instance
	return e
}

func coop(e Event, owned string) Event {
	e.Cooperative, e.Protocol, e.Owned = true, "cooperative-sticky", parts(owned)
	return e
}

func planned(client string, generation int32, plan ...string) Event {
	e := Event{Kind: Planned, Client: client, Member: member(client), Generation: generation, Plan: map[string][]Partition{}}
	for _, one := range plan {
		name, some, _ := strings.Cut(one, ":")
		e.Plan[member(name)] = parts(some)
	}
	return e
}

func synced(client string, generation int32, some string) Event {
	return Event{Kind: Synced, Client: client, Member: member(client), Generation: generation, Partitions: parts(some)}
}

func assigned(client string, generation int32, some string) Event {
	return Event{Kind: Assigned, Client: client, Member: member(client), Generation: generation, Partitions: parts(some)}
}

func revoked(client string, generation int32, some string) Event {
	return Event{Kind: Revoked, Client: client, Member: member(client), Generation: generation, Partitions: parts(some)}
}

func lost(client string, generation int32, some string) Event {
	return Event{Kind: Lost, Client: client, Member: member(client), Generation: generation, Partitions: parts(some)}
}

func commit(client string, generation int32, some string, began int64) Event {
	return Event{Kind: Commit, Client: client, Member: member(client), Generation: generation, Partitions: parts(some), Began: began * step}
}

func left(client string) Event { return Event{Kind: Left, Client: client, Member: member(client)} }

func topic(count int32) Event { return Event{Kind: Topic, Topic: "t", Count: count} }

func quiet(patient bool, began int64) Event {
	return Event{Kind: Quiet, Began: began * step, Patient: patient}
}

func restart(began int64) Event { return Event{Kind: Restart, Began: began * step} }

// began says when the request of an event was sent.
func began(at int64, e Event) Event {
	e.Began = at * step
	return e
}

// at puts an event at an instant of its own.
func at(at int64, e Event) Event {
	e.At = at * step
	return e
}

// TestHand judges logs that were written by hand: of each rule one that breaks it, and those that look alike and are right.
func TestHand(t *testing.T) {
	// Two members of generation 1, at event 8.
	two := []Event{
		started("a"), started("b"), joined("a", 1, "a", "a", "b"), joined("b", 1, "a"), planned("a", 1, "a:t/0", "b:t/1"),
		synced("a", 1, "t/0"), synced("b", 1, "t/1"), assigned("a", 1, "t/0"), assigned("b", 1, "t/1"),
	}
	with := func(more ...Event) []Event { return append(slices.Clone(two), more...) }
	// The same under a cooperative protocol, and a third that joins generation 2, at event 9.
	cooperative := []Event{
		started("a"), started("b"), started("c"), coop(joined("a", 1, "a", "a", "b"), ""), coop(joined("b", 1, "a"), ""), planned("a", 1, "a:t/0 t/1", "b:t/2"),
		synced("a", 1, "t/0 t/1"), synced("b", 1, "t/2"), assigned("a", 1, "t/0 t/1"), assigned("b", 1, "t/2"),
		began(11, coop(joined("a", 2, "a", "a", "b", "c"), "t/0 t/1")), began(11, coop(joined("b", 2, "a"), "t/2")), began(11, coop(joined("c", 2, "a"), "")),
	}
	round := func(more ...Event) []Event { return append(slices.Clone(cooperative), more...) }
	for _, test := range []struct {
		name   string
		events []Event
		want   string // the rules that are broken
	}{
		{"nothing", nil, ""},
		{"two members", two, ""},
		{"owned twice", []Event{
			started("a"), started("b"), joined("a", 1, "a", "a", "b"), joined("b", 1, "a"), assigned("a", 1, "t/0"), assigned("b", 1, "t/0 t/1"),
		}, Once},
		{"owned one after the other in one generation", []Event{
			started("a"), started("b"), joined("a", 1, "a", "a", "b"), joined("b", 1, "a"), assigned("a", 1, "t/0"), revoked("a", 1, "t/0"), assigned("b", 1, "t/0"),
		}, Once},
		{"owned by each in turn", with(revoked("a", 1, "t/0"), revoked("b", 1, "t/1"), joined("a", 2, "a", "a", "b"), joined("b", 2, "a"),
			planned("a", 2, "a:t/1", "b:t/0"), synced("a", 2, "t/1"), synced("b", 2, "t/0"), assigned("a", 2, "t/1"), assigned("b", 2, "t/0")), ""},
		{"told twice of the same", with(assigned("a", 1, "t/0")), ""},

		{"a zombie that cannot commit", with(joined("b", 2, "b", "b"), planned("b", 2, "b:t/0 t/1"), synced("b", 2, "t/0 t/1"), revoked("b", 2, "t/1"),
			assigned("b", 2, "t/0 t/1"), lost("a", 1, "t/0")), ""},
		{"a zombie that can", with(joined("b", 2, "b", "b"), planned("b", 2, "b:t/0 t/1"), synced("b", 2, "t/0 t/1"), assigned("b", 2, "t/0 t/1"),
			commit("a", 1, "t/0", 14)), Zombie},
		{"a commit that was on its way", with(joined("b", 2, "b", "b"), planned("b", 2, "b:t/0 t/1"), synced("b", 2, "t/0 t/1"), assigned("b", 2, "t/0 t/1"),
			commit("a", 1, "t/0", 11)), ""},
		{"a commit of nobody's member", with(joined("b", 2, "b", "b"), planned("b", 2, "b:t/0 t/1"), synced("b", 2, "t/0 t/1"), commit("a", -1, "t/0", 13)), ""},
		{"a commit before a generation is assigned", with(joined("b", 2, "b", "b"), commit("a", 1, "t/0", 11)), ""},
		{"a count that begins again", with(began(10, joined("a", 1, "a", "a")), joined("b", 3, "b", "b"), planned("b", 3, "b:t/0"), synced("b", 3, "t/0"),
			began(14, joined("a", 1, "a", "a")), planned("a", 1, "a:t/1"), synced("a", 1, "t/1"), assigned("a", 1, "t/1"), commit("a", 1, "t/1", 18)), ""},

		{"at rest", append([]Event{topic(2)}, with(at(20, quiet(true, 12)))...), ""},
		{"an orphan", append([]Event{topic(3)}, with(at(20, quiet(true, 12)))...), Orphan},
		{"an orphan, looked at too early", append([]Event{topic(3)}, with(at(20, quiet(false, 12)))...), ""},
		{"the orphan of one that was killed", append([]Event{topic(2)}, with(Event{Kind: Crashed, Client: "b"}, at(20, quiet(true, 12)))...), Orphan},
		{"not at rest: one joins for ever", append([]Event{topic(2)}, with(joined("b", 2, "b", "b"), synced("b", 2, "t/1"), planned("b", 2, "b:t/1"), assigned("b", 2, "t/1"),
			at(40, quiet(true, 16)))...), Rest + " " + Plan},
		{"not at rest: one never joins", append([]Event{topic(2)}, with(started("c"), at(40, quiet(true, 12)))...), Rest},
		{"not at rest: it goes round", append([]Event{topic(2)}, with(at(39, joined("a", 1, "a", "a", "b")), at(40, quiet(true, 12)))...), Rest},
		{"not at rest, looked at too early", append([]Event{topic(2)}, with(at(39, joined("a", 1, "a", "a", "b")), at(40, quiet(false, 12)))...), ""},
		{"one that ends is not missed", append([]Event{topic(1)}, with(Event{Kind: Leaving, Client: "b"}, at(39, revoked("b", 1, "t/1")), at(40, quiet(true, 12)))...), ""},

		{"an assignment of its own", []Event{started("a"), started("b"), joined("a", 1, "a", "a", "b"), joined("b", 1, "a"), planned("a", 1, "a:t/0", "b:t/1"), synced("b", 1, "t/2")}, Plan},
		{"an assignment before the leader's", []Event{started("a"), started("b"), joined("a", 1, "a", "a", "b"), joined("b", 1, "a"), synced("b", 1, ""), planned("a", 1, "a:t/0", "b:t/1")}, Plan},
		{"nothing before the leader's, after a crash in which its assignment was lost", []Event{started("a"), started("b"), joined("a", 1, "a", "a", "b"), joined("b", 1, "a"), restart(5), synced("b", 1, ""), planned("a", 1, "a:t/0", "b:t/1")}, ""},
		{"something before the leader's, after a crash", []Event{started("a"), started("b"), joined("a", 1, "a", "a", "b"), joined("b", 1, "a"), restart(5), synced("b", 1, "t/1"), planned("a", 1, "a:t/0", "b:t/1")}, Plan},
		{"nothing before the leader's, and a crash after that", []Event{started("a"), started("b"), joined("a", 1, "a", "a", "b"), joined("b", 1, "a"), synced("b", 1, ""), restart(7), planned("a", 1, "a:t/0", "b:t/1")}, Plan},
		{"nothing, and in no plan", []Event{started("a"), started("b"), joined("a", 1, "a", "a", "b"), joined("b", 1, "a"), planned("a", 1, "a:t/0"), synced("b", 1, "")}, ""},
		{"a leader who is not seen", []Event{started("b"), joined("b", 1, "x"), synced("b", 1, "t/2")}, ""},
		{"a plan that is sent again", with(planned("a", 1, "a:t/1", "b:t/0"), synced("b", 1, "t/1")), ""},

		{"another has the place of a member", with(Event{Kind: Crashed, Client: "a"}, started("c"), static(joined("c", 1, "c", "c", "b"), "i"), synced("c", 1, "t/0"), assigned("c", 1, "t/0")), OneLeader + " " + Once + " " + Plan},
		{"a static member comes back", append([]Event{
			started("a"), started("b"), static(joined("a", 1, "a", "a", "b"), "i"), joined("b", 1, "a"), planned("a", 1, "a:t/0", "b:t/1"),
			synced("a", 1, "t/0"), synced("b", 1, "t/1"), assigned("a", 1, "t/0"), assigned("b", 1, "t/1"),
		},
			Event{Kind: Crashed, Client: "a"}, started("c"), static(joined("c", 1, "c", "c", "b"), "i"), synced("c", 1, "t/0"), assigned("c", 1, "t/0")), ""},
		{"two leaders", []Event{started("a"), started("b"), joined("a", 1, "a", "a", "b"), joined("b", 1, "b", "a", "b")}, OneLeader},
		{"two leaders, one told of", []Event{started("a"), started("b"), joined("a", 1, "x"), joined("b", 1, "y")}, OneLeader},
		{"a number that is given again after a crash", []Event{started("a"), started("b"), joined("a", 1, "a", "a", "b"), restart(4), began(5, joined("b", 1, "b", "b"))}, ""},

		{"a member that has left and is there", with(began(9, left("b")), began(11, joined("a", 2, "a", "a", "b"))), Gone},
		{"a list from before it left", with(began(9, left("b")), began(9, joined("a", 2, "a", "a", "b"))), ""},
		{"a list that was asked for at the instant at which it had left", with(began(9, left("b")), began(10, joined("a", 2, "a", "a", "b"))), ""},
		{"a leave that a crash undid", with(began(9, left("b")), restart(11), began(13, joined("a", 2, "a", "a", "b"))), ""},

		{"a cooperative rebalance", round(planned("a", 2, "a:t/0", "b:t/2", "c:"), synced("a", 2, "t/0"), synced("b", 2, "t/2"), synced("c", 2, ""),
			revoked("a", 2, "t/1"), assigned("a", 2, ""), assigned("b", 2, ""), assigned("c", 2, ""),
			began(22, coop(joined("a", 3, "a", "a", "b", "c"), "t/0")), began(22, coop(joined("b", 3, "a"), "t/2")), began(22, coop(joined("c", 3, "a"), "")),
			planned("a", 3, "a:t/0", "b:t/2", "c:t/1"), synced("c", 3, "t/1"), synced("a", 3, "t/0"), assigned("c", 3, "t/1"), assigned("a", 3, "")), ""},
		{"taken although it stays", round(planned("a", 2, "a:t/0 t/1", "b:t/2", "c:"), synced("a", 2, "t/0 t/1"), revoked("a", 2, "t/1")), Cooperative},
		{"taken by one that leaves", round(planned("a", 2, "a:t/0 t/1", "b:t/2", "c:"), synced("a", 2, "t/0 t/1"), Event{Kind: Leaving, Client: "a"}, revoked("a", 2, "t/0 t/1")), ""},
		{"given before it is given up", round(planned("a", 2, "a:t/0", "b:t/2", "c:t/1"), synced("a", 2, "t/0"), synced("c", 2, "t/1"), assigned("c", 2, "t/1"),
			revoked("a", 2, "t/1"), assigned("a", 2, "")), Cooperative},
		{"given after it was given up, although its former owner still names it", append(slices.Clone(cooperative[:10]), revoked("a", 1, "t/1"), began(12, coop(joined("a", 2, "a", "a", "b", "c"), "t/0 t/1")),
			coop(joined("c", 2, "a"), ""), planned("a", 2, "a:t/0", "b:t/2", "c:t/1"), synced("c", 2, "t/1"), assigned("c", 2, "t/1")), ""},
		{"given while its former owner has it, and does not say so", append(slices.Clone(cooperative[:10]), began(11, coop(joined("a", 2, "a", "a", "b", "c"), "t/0")),
			coop(joined("c", 2, "a"), ""), planned("a", 2, "a:t/0", "b:t/2", "c:t/1"), synced("c", 2, "t/1"), assigned("c", 2, "t/1")), ""},
		{"given up at the end of a generation, as nobody wants it any more", round(planned("a", 2, "a:t/0 t/1", "b:t/2", "c:"), synced("a", 2, "t/0 t/1"), assigned("a", 2, ""),
			revoked("a", 2, "t/1")), ""},
		{"given to one of two that say to own it", append(slices.Clone(cooperative[:12]), began(11, coop(joined("c", 2, "a"), "t/1")), planned("a", 2, "a:t/0", "b:t/2", "c:t/1"),
			synced("a", 2, "t/0"), synced("c", 2, "t/1"), assigned("c", 2, "t/1"), revoked("a", 2, "t/1"), assigned("a", 2, "")), ""},
		{"given after it was lost", append(slices.Clone(cooperative[:10]), lost("a", 1, "t/0 t/1"), coop(joined("a", 2, "a", "a", "b", "c"), ""), coop(joined("c", 2, "a"), ""),
			planned("a", 2, "a:t/0", "b:t/2", "c:t/1"), synced("a", 2, "t/0"), synced("c", 2, "t/1"), assigned("c", 2, "t/1")), ""},
		{"given after it was lost, and the generation forgotten and made again", round(restart(13), lost("b", 1, "t/2"), began(16, coop(joined("a", 2, "a", "a", "b", "c"), "t/0 t/1")),
			began(16, coop(joined("b", 2, "a"), "")), began(16, coop(joined("c", 2, "a"), "")), planned("a", 2, "a:t/0 t/1", "b:", "c:t/2"), synced("c", 2, "t/2"), assigned("c", 2, "t/2")), ""},
		{"given after it was lost, and the generation goes on", round(lost("b", 1, "t/2"), began(16, coop(joined("a", 2, "a", "a", "b", "c"), "t/0 t/1")),
			began(16, coop(joined("b", 2, "a"), "")), began(16, coop(joined("c", 2, "a"), "")), planned("a", 2, "a:t/0 t/1", "b:", "c:t/2"), synced("c", 2, "t/2"), assigned("c", 2, "t/2")), Cooperative},
		{"given before it is given up, and a crash after that", round(planned("a", 2, "a:t/0", "b:t/2", "c:t/1"), synced("a", 2, "t/0"), synced("c", 2, "t/1"), assigned("c", 2, "t/1"), restart(16),
			revoked("a", 2, "t/1"), assigned("a", 2, "")), Cooperative},
		{"taken and given back", round(planned("a", 2, "a:t/0", "b:t/2", "c:"), synced("a", 2, "t/0"), synced("b", 2, "t/2"), synced("c", 2, ""),
			revoked("a", 2, "t/1"), assigned("a", 2, ""), assigned("b", 2, ""), assigned("c", 2, ""),
			coop(joined("a", 3, "a", "a", "b", "c"), "t/0"), coop(joined("b", 3, "a"), "t/2"), coop(joined("c", 3, "a"), ""),
			planned("a", 3, "a:t/0 t/1", "b:t/2", "c:"), synced("a", 3, "t/0 t/1"), assigned("a", 3, "t/1")), Cooperative},
		{"taken and given back two generations later, as nobody knows why it was not before", round(planned("a", 2, "a:t/0", "b:t/2", "c:"), synced("a", 2, "t/0"), synced("b", 2, "t/2"), synced("c", 2, ""),
			revoked("a", 2, "t/1"), assigned("a", 2, ""), assigned("b", 2, ""), assigned("c", 2, ""),
			coop(joined("a", 4, "a", "a", "b", "c"), "t/0"), coop(joined("b", 4, "a"), "t/2"), coop(joined("c", 4, "a"), ""),
			planned("a", 4, "a:t/0 t/1", "b:t/2", "c:"), synced("a", 4, "t/0 t/1"), assigned("a", 4, "t/1")), ""},
		{"taken and given back, as the one that was to have it has gone", round(planned("a", 2, "a:t/0", "b:t/2", "c:"), synced("a", 2, "t/0"), synced("b", 2, "t/2"), synced("c", 2, ""),
			revoked("a", 2, "t/1"), assigned("a", 2, ""), assigned("b", 2, ""), assigned("c", 2, ""),
			coop(joined("a", 3, "a", "a", "b"), "t/0"), coop(joined("b", 3, "a"), "t/2"),
			planned("a", 3, "a:t/0 t/1", "b:t/2"), synced("a", 3, "t/0 t/1"), assigned("a", 3, "t/1")), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := write(test.events...)
			v := Judge(l)
			var broken []string
			for _, one := range v.Violations {
				broken = append(broken, one.Rule)
				text := Tell(l, one)
				for _, want := range []string{one.Rule, one.Text, `Group "g"`} {
					if !strings.Contains(text, want) {
						t.Errorf("what is told lacks %q:\n%s", want, text)
					}
				}
			}
			want := strings.Fields(test.want)
			slices.Sort(broken)
			slices.Sort(want)
			if !slices.Equal(broken, want) {
				t.Errorf("broken %v, want %v", broken, want)
				for _, one := range v.Violations {
					t.Logf("\n%s", Tell(l, one))
				}
			}
		})
	}
}

// TestVeryManyPartitions holds that a topic is not gone through partition by partition, and that no number is believed.
func TestVeryManyPartitions(t *testing.T) {
	events := []Event{topic(mostPartitions), started("a"), joined("a", 1, "a", "a"), assigned("a", 1, "t/1")}
	for n := range 500 {
		events = append(events, at(int64(20+n), quiet(n == 499, 10)))
	}
	v := Judge(write(events...))
	if v.Unrested != 499 || len(v.Violations) != 1 || !strings.Contains(v.Violations[0].Text, "nobody owns t/0 t/2 t/3 t/4 t/5 t/6 and 1999993 more.") {
		t.Errorf("%+v", v)
	}
	if e := topic(mostPartitions + 1); e.check() == nil {
		t.Error("more partitions than there can be")
	}
	for p, want := range map[Partition]bool{"t/1": true, "t/01": false, "t/+1": false, "t/-1": false, "t": false, "a/b/3": true, "t/4294967296": false} {
		if _, _, ok := p.split(); ok != want {
			t.Errorf("%s is a partition: %v", p, ok)
		}
	}
}

// TestJudgeWithin holds that judging ends with its context.
func TestJudgeWithin(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	v, err := JudgeWithin(ctx, write(topic(2), started("a"), joined("a", 1, "a", "a"), assigned("a", 1, "t/1")))
	if !errors.Is(err, context.Canceled) || v.Claims != 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestCounts holds what a verdict counts.
func TestCounts(t *testing.T) {
	v := Judge(write(topic(2), started("a"), started("b"), joined("a", 1, "a", "a", "b"), joined("b", 1, "a"), assigned("a", 1, "t/0"), assigned("b", 1, "t/1"),
		at(20, quiet(false, 10)), at(21, joined("b", 2, "b", "b")), at(22, assigned("b", 2, "t/0")), at(22, quiet(false, 10)), at(23, lost("a", 1, "t/0"))))
	if v.Generations != 2 || v.Claims != 4 || v.Zombies != 1 || v.Refused != 1 || v.Rests != 1 || v.Unrested != 1 || len(v.Violations) > 0 {
		t.Errorf("%+v", v)
	}
}
