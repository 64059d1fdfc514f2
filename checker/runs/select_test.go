package runs

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/checker/explore"
	"github.com/muster-kafka/muster/model/classic"
)

func names(found []Run) (all []string) {
	for _, r := range found {
		all = append(all, r.Name)
	}
	return all
}

func TestFind(t *testing.T) {
	for _, test := range []struct {
		name    string
		members int
		want    []string
	}{
		{"core, 3 members", 0, []string{"core, 3 members"}},
		{"core, 3 members", 3, []string{"core, 3 members"}},
		{"core", 5, []string{"core, 5 members"}},
		{"core", 6, []string{"core, 6 members"}},
		{"subscriptions", 0, []string{"subscriptions, 3 members, no refusals"}},
		{"subscriptions", 4, []string{"subscriptions, 4 members", "subscriptions, 4 members, no refusals"}},
		{"subscriptions", 2, []string{"subscriptions, 2 members"}},
		{"limits", 0, []string{"group.max.size", "group.max.size, Scala"}},
		{"clients", 4, []string{"clients, 4 members"}},
		{"joint-core", 0, []string{"joint-core, 2 members"}},
		{"joint-lists", 3, []string{"joint-lists, 3 members"}},
	} {
		found, err := Find(test.name, test.members)
		if err != nil || !slices.Equal(names(found), test.want) {
			t.Errorf("%s with %d members: %v, %v; want %v", test.name, test.members, names(found), err, test.want)
		}
	}
	for _, test := range []struct {
		asked Asked
		says  string
	}{
		{Asked{Run: "cores"}, "there are the sets core, subscriptions, offsets+txn, replacement, limits, failover, crash-pairs, clients, joint-core, joint-lists, joint-offsets"},
		{Asked{Run: "core, 3 members", Members: 4}, "has 3 members"},
		{Asked{Run: "limits", Members: 5}, "no run of limits has 5 members"},
		{Asked{Run: "core", Members: 8}, "1 to 7 members"},
		{Asked{Run: "subscriptions", Members: 5}, "up to 4 members"},
		{Asked{Run: "clients", Members: 5}, "up to 4 clients"},
		{Asked{Run: "joint-core", Members: 5}, "1 to 4 members"},
		{Asked{Run: "joint-core", Profile: "Scala"}, "leave --profile out"},
		{Asked{Run: "joint-core", Properties: []string{"instance owner"}}, "\n  an instance id has one owner"},
		{Asked{Run: "core", Profile: "Kafka"}, "Java, Scala, contract"},
		{Asked{Run: "core", Properties: []string{"Invariant i2"}}, "\n  invariant I2: "},
		{Asked{Run: "core", Members: 6, Properties: []string{"nosuch"}}, "muster explore --run 'core' --members 6 --list shows all"},
		{Asked{Run: "2 clients", Properties: []string{"coming to rest"}}, "come to rest"},
		{Asked{Run: "2 member"}, "do you mean 2 members?"},
		{Asked{Run: "core", Without: []string{"Heartbeats"}}, "JoinGroup, SyncGroup, Heartbeat"},
		{Asked{Run: "core", Without: []string{"Heartbeats"}}, "do you mean Heartbeat?"},
		{Asked{Run: "2 clients", Without: []string{"Heartbeat"}}, "cannot be left out"},
		{Asked{Run: "core", Broken: "no.such.rule"}, "muster rules lists them"},
		{Asked{Run: "core", Broken: "sync.parked.abort"}, "do you mean sync.parked.aborted?"},
		{Asked{Run: "core", Broken: classic.ListFilters.String()}, "takes no decision"},
	} {
		if _, err := test.asked.Runs(); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%+v: %v; that should say %q", test.asked, err, test.says)
		} else if n := strings.Count(err.Error(), "\n"); n > 5 {
			t.Errorf("%+v: an error of %d lines", test.asked, n)
		}
	}
}

// A run that cannot fit is refused with the reason; one of unknown size is not.
func TestFits(t *testing.T) {
	r := asked(t, Asked{Run: "core, 4 members"})
	if err := r.Fits(1<<30, 2, 0); err != nil {
		t.Error(err)
	}
	err := r.Fits(20<<20, 2, 0)
	if err == nil || !strings.Contains(err.Error(), "128878 states, which take 60 bytes each: about 39 MiB with all that is remembered, and 20 MiB are allowed") {
		t.Error(err)
	}
	if err := asked(t, Asked{Run: "core", Members: 6}).Fits(1, 2, 0); err != nil {
		t.Errorf("nobody knows the size of it: %v", err)
	}
	for most, fits := range map[int64]bool{1000: true, 10_000_000: false, 1 << 30: false} { // 1 << 30 is more than it has
		if err := r.Fits(36<<20, 2, most); (err == nil) != fits {
			t.Errorf("%s, up to %d states: %v", r.Name, most, err)
		}
	}
	err = asked(t, Asked{Run: "core", Members: 6}).Fits(1<<30, 2, 1<<30)
	if err == nil || !strings.Contains(err.Error(), "core, 6 members may reach 1073741824 states") {
		t.Error(err)
	}
	if with, without := asked(t, Asked{Run: "3 clients"}).BytesPerState(2), r.BytesPerState(2); with <= without {
		t.Errorf("clients that heal take %d bytes a state, a group %d", with, without)
	}
}

// Only what is asked for is judged, and a run that is altered is compared with nothing.
func TestAltered(t *testing.T) {
	a := Asked{Run: "3 static members", Broken: classic.StaticRetained.String()}
	all := asked(t, a).Explore(context.Background(), explore.Options{}, nil)
	if len(all.Violations) < 2 || len(all.Missing) > 0 {
		t.Fatal(all)
	}
	for _, v := range all.Violations[:2] {
		a.Properties = []string{v.Property}
		one := asked(t, a).Explore(context.Background(), explore.Options{}, nil)
		if len(one.Violations) != 1 || one.Violations[0].String() != v.String() || one.States != all.States {
			t.Errorf("asked for %q, it finds %v", v.Property, one.Violations)
		}
	}
	without := asked(t, Asked{Run: "3 static members", Without: []string{"LeaveGroup"}}).Explore(context.Background(), explore.Options{}, nil)
	if slices.Contains(without.Reached[events], "LeaveGroup") || len(without.Missing) > 0 {
		t.Errorf("without LeaveGroup it reaches %v, and misses %v", without.Reached[events], without.Missing)
	}
	if r := asked(t, Asked{Run: "3 static members", Profile: "Java"}); r.altered || r.Name != "3 static members" {
		t.Errorf("%q explores another coordinator than its own", r.Name)
	}
}

// A run in which something is unreachable that used to be reached is vacuous: a rule that is never asked, an event that never comes.
func TestVacuousRuns(t *testing.T) {
	r := asked(t, Asked{Run: "3 static members"})
	if out := r.Explore(context.Background(), explore.Options{}, nil); !out.Ok() {
		t.Fatalf("%s misses %v", out, out.Missing)
	}
	g := *r.Group
	g.Without, g.WriteFailures = []classic.EventKind{classic.SyncTimer}, false
	r.Group = &g
	out := r.Explore(context.Background(), explore.Options{}, nil)
	if out.Ok() || len(out.Violations) > 0 {
		t.Error("a run without sync timers and failing writes is as good as any")
	}
	for _, want := range []string{"events: sync-timer", "rules: sync.timer.expels", "faults: write-fails:LeaveGroup"} {
		if !slices.Contains(out.Missing, want) {
			t.Errorf("%q is not missed among %v", want, out.Missing)
		}
	}
	if !strings.HasSuffix(out.Surprise, "; known of it are 1126 states, 263327 transitions, depth 12") {
		t.Errorf("its size is no surprise: %q", out.Surprise)
	}
	if out := r.Explore(context.Background(), explore.Options{MaxStates: 100}, nil); len(out.Missing) > 0 || out.Surprise != "" {
		t.Errorf("one that is not complete misses %v and surprises: %s", out.Missing, out.Surprise)
	}
}

func TestReadKnown(t *testing.T) {
	for _, text := range []string{"", "name\n", "name\nno size\n", "name\n1 states, 2 transitions, depth 3\n  word\n"} {
		if k, err := readKnown(text); err == nil {
			t.Errorf("%q is read as %+v", text, k)
		}
	}
}
