package conformance

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
)

// TestRoles runs a scenario on coordinators that differ in a free choice only: whom they let lead.
func TestRoles(t *testing.T) {
	for _, leader := range []string{"B", "C", "D"} {
		h := house{state: "PreparingRebalance"}
		var parked []*exchange
		h.special = func(f *fake, x *exchange) bool {
			switch req := x.req.(type) {
			case *kmsg.JoinGroupRequest:
				if req.MemberID == "" {
					required(f, x, x.client+"-id")
				} else if parked = append(parked, x); len(parked) == 3 {
					for _, p := range parked {
						f.answer(p, generation(5, p.client+"-id", leader+"-id", "B-id", "C-id", "D-id"), 0)
					}
				}
			case *kmsg.SyncGroupRequest:
				resp := kmsg.NewPtrSyncGroupResponse()
				resp.ProtocolType, resp.Protocol = req.ProtocolType, req.Protocol
				for _, a := range req.GroupAssignment {
					if a.MemberID == req.MemberID {
						resp.MemberAssignment = a.MemberAssignment
					}
				}
				f.answer(x, resp, 0)
			default:
				return false
			}
			return true
		}
		passes(t, newFake(h.serve), `
join B C D range=x
----
B: MEMBER_ID_REQUIRED
C: MEMBER_ID_REQUIRED
D: MEMBER_ID_REQUIRED

roles L F from B C D
join B C D
----
F1: NONE gen=5 leader=L protocol=range
F2: NONE gen=5 leader=L protocol=range
L: NONE gen=5 leader=L protocol=range members=[F1:x F2:x L:x]

sync L L=first F1=second
----
L: NONE first
`)
	}
}

// TestNames follows the ids that one actor is given.
func TestNames(t *testing.T) {
	var n names = *newNames()
	a, b := &actor{name: "A"}, &actor{name: "B"}
	n.hand(a, "id-1")
	n.hand(b, "id-1") // an id that A has stays A's
	n.hand(a, "id-2")
	got := []string{n.member("id-1"), n.member("id-2"), n.member(""), n.member(strangerID), n.member("else")}
	if diff := cmp.Diff([]string{"A'1", "A", "-", "stranger", "?"}, got); diff != "" {
		t.Error(diff)
	}
	n.setRole("L", "A")
	n.setRole("L", "B")
	if got := []string{n.member("id-1"), n.actor("A"), n.actor("B")}; !cmp.Equal(got, []string{"A'1", "A", "L"}) {
		t.Errorf("a role passes on: %q", got)
	}
}

func TestRaw(t *testing.T) {
	for in, want := range map[string]string{
		"": `""`, "[t/0]": "[t/0]", "a b": `"a b"`, "{x|y}": `"\x7bx\x7cy\x7d"`, "#": `"\x23"`, "\x00\xff": `"\x00\xff"`, "a,b": `"a,b"`,
	} {
		if got := raw([]byte(in)); got != want {
			t.Errorf("%q renders as %s, want %s", in, got, want)
		}
	}
}

// member is a house in which A joins at once, alone.
func member() *house {
	h := &house{state: "Empty"}
	h.special = func(f *fake, x *exchange) bool {
		req, ok := x.req.(*kmsg.JoinGroupRequest)
		switch {
		case !ok:
			return false
		case req.MemberID == "":
			required(f, x, x.client+"-id")
		default:
			f.answer(x, generation(1, req.MemberID, req.MemberID, req.MemberID), 0)
		}
		return true
	}
	return h
}

const alone = "join A range=x\njoin A\n----\nA: MEMBER_ID_REQUIRED\nA: NONE gen=1 leader=A protocol=range members=[A:x]\n"

// TestCleanUp holds that members leave and groups are deleted, also after a failure and when the run is interrupted.
func TestCleanUp(t *testing.T) {
	check := func(t *testing.T, f *fake) {
		t.Helper()
		leave, left := f.sent("muster:LeaveGroup")
		del, deleted := f.sent("muster:DeleteGroups")
		if !left || !deleted || del.Before(leave) {
			t.Errorf("the group was not removed: %q", f.log)
		}
	}
	f := newFake(member().serve)
	passes(t, f, alone)
	check(t, f)

	f = newFake(member().serve)
	gives(t, f, strings.Replace(alone, "gen=1", "gen=2", 1))
	check(t, f)

	ctx, cancel := context.WithCancel(t.Context())
	h := member()
	serve := h.special
	h.special = func(f *fake, x *exchange) bool {
		if x.req.Key() == int16(kmsg.Heartbeat) {
			cancel()
			return true // never answered
		}
		return serve(f, x)
	}
	f = newFake(h.serve)
	rep, err := Suite{Scenarios: []*Scenario{scenario(t, alone+"\nheartbeat A\n----\nA: NONE\n")}, OutDir: t.TempDir()}.Run(ctx, f, nil)
	if err != nil || rep.Results[0].Status != Broken {
		t.Errorf("interrupted: %v %+v", err, rep)
	}
	check(t, f)
}

// TestLeftover holds that a group which cannot be removed is reported, and that this does not take for ever.
func TestLeftover(t *testing.T) {
	h := member()
	serve := h.special
	h.special = func(f *fake, x *exchange) bool {
		if req, ok := x.req.(*kmsg.DeleteGroupsRequest); ok {
			resp := kmsg.NewPtrDeleteGroupsResponse()
			g := kmsg.NewDeleteGroupsResponseGroup()
			g.Group, g.ErrorCode = req.Groups[0], 68
			resp.Groups = append(resp.Groups, g)
			f.answer(x, resp, 0)
			return true
		}
		return serve(f, x)
	}
	f := newFake(h.serve)
	began := f.now
	res := judged(t, f, alone)
	if res.Status != Pass || len(res.Leftover) != 1 || !strings.HasPrefix(res.Leftover[0], "run-test-") {
		t.Errorf("%+v", res)
	}
	if d := f.now.Sub(began); d > 10*time.Second {
		t.Errorf("gave up after %s only", d)
	}
}

func TestSkips(t *testing.T) {
	cases := []struct {
		name, text, reason string
		caps               func(*target.Capabilities)
	}{
		{"version", "join A range=x v=3\n----\n", "the target offers JoinGroup 5 to 9, not 3", func(c *target.Capabilities) {
			c.Versions = map[int16]target.VersionRange{int16(kmsg.JoinGroup): {Min: 5, Max: 9}}
		}},
		{"ceiling", "group join=v3\njoin A range=x\n----\n", "the target offers JoinGroup 5 to 9, not 3", func(c *target.Capabilities) {
			c.Versions = map[int16]target.VersionRange{int16(kmsg.JoinGroup): {Min: 5, Max: 9}}
		}},
		{"too new", "heartbeat A member=none\n----\n", "the target offers Heartbeat 5 to 9, and scenarios speak at most 4: only on targets that offer that", func(c *target.Capabilities) {
			c.Versions = map[int16]target.VersionRange{int16(kmsg.Heartbeat): {Min: 5, Max: 9}}
		}},
		{"no such API", "list\n----\n", "the target does not offer ListGroups: only on targets that do", func(c *target.Capabilities) {
			c.Versions = map[int16]target.VersionRange{int16(kmsg.JoinGroup): {Min: 0, Max: 9}}
		}},
		{"topic", "commit - u/0=1\n----\n", "needs a topic that scenarios call u, which the target has not: only on targets whose Capabilities.Topics has it", nil},
		{"short session", "join A range=x session=500ms\n----\n", "needs a session of 500ms, and the target allows no less than 1s: lower group.min.session.timeout.ms on the broker", nil},
		{"long session", "join A range=x session=2h\n----\n", "needs a session of 2h0m0s, and the target allows no more than 1h0m0s: raise group.max.session.timeout.ms on the broker", nil},
		{"groups", "list\n----\n\ndescribe group=a\n----\n\ndescribe group=b\n----\n", "needs 3 groups at a time, and 2 are allowed there: only on targets that Muster starts for the run", func(c *target.Capabilities) { c.MaxGroups = 2 }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := newFake((&house{}).serve)
			if c.caps != nil {
				c.caps(&f.caps)
			}
			text := c.text
			if strings.HasPrefix(text, "heartbeat") {
				text = "roles A B from A B\n" + text
			}
			if res := judged(t, f, text); res.Status != Skip || res.Reason != c.reason {
				t.Errorf("%s: %s", res.Status, res.Reason)
			}
		})
	}
	for header, reason := range map[string]string{
		"# slow: five minutes":   "slow (runs with --slow, or by its name on muster run; Suite.Slow in a go test): five minutes",
		"# profile: size":        "needs other broker settings, profile size (group.max.size=2): " + onFaces,
		"# requires: virtual":    "needs virtual time: only on impl and model",
		"# requires: t, virtual": "needs virtual time: only on impl and model",
		"# requires: magic":      "requires magic, which this version of Muster does not know: take a newer one",
		"# requires: t":          "",
	} {
		s, err := Parse("test.txt", []byte("# A test.\n# rule: join.new.rebalances\n"+header+"\n\nlist\n----\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.skip(newFake(nil).caps, false).why(); got != reason {
			t.Errorf("%s: %q, want %q", header, got, reason)
		}
		s.Asked = true
		if got := s.skip(newFake(nil).caps, false).why(); s.File.Slow != "" && got != "" {
			t.Errorf("%s: asked for by name it is skipped: %q", header, got)
		}
	}
}

func TestVersions(t *testing.T) {
	f := newFake(member().serve)
	f.caps.Versions = map[int16]target.VersionRange{}
	for _, a := range apis {
		f.caps.Versions[int16(a.key)] = target.VersionRange{Min: 0, Max: 100}
	}
	f.caps.Versions[int16(kmsg.Heartbeat)] = target.VersionRange{Min: 0, Max: 2}
	var got []int16
	serve := f.serve
	f.serve = func(f *fake, x *exchange) {
		if x.client == "A" {
			got = append(got, x.call.Version)
		}
		serve(f, x)
	}
	judged(t, f, alone+"\nheartbeat A\nheartbeat A v=1\n----\nA: NONE\nA: NONE\n\ngroup heartbeat=v0\nheartbeat A\n----\nA: NONE\n")
	if diff := cmp.Diff([]int16{9, 9, 2, 1, 0}, got); diff != "" {
		t.Error(diff)
	}
}

func TestUnreachable(t *testing.T) {
	f := newFake(nil)
	f.noDial = errors.New("connection refused")
	if res := judged(t, f, alone); res.Status != Broken || !strings.Contains(res.Reason, "the target cannot be reached: connection refused") {
		t.Errorf("%s: %s", res.Status, res.Reason)
	}
	f = newFake(func(*fake, *exchange) { panic("boom") })
	if res := judged(t, f, alone); res.Status != Broken || !strings.HasPrefix(res.Reason, "panic: boom") {
		t.Errorf("%s: %s", res.Status, res.Reason)
	}
}

// watch counts what an observer is told.
type watch struct {
	mu            sync.Mutex
	started, done []string
}

func (w *watch) Started(s string) {
	if !w.mu.TryLock() {
		panic("two calls at a time")
	}
	defer w.mu.Unlock()
	w.started = append(w.started, s)
}

func (w *watch) Done(r Result) {
	if !w.mu.TryLock() {
		panic("two calls at a time")
	}
	defer w.mu.Unlock()
	w.done = append(w.done, r.Scenario)
}

// TestSuite runs several scenarios on a virtual target, which takes one at a time, and looks at report, observer and artefact.
func TestSuite(t *testing.T) {
	f := newFake(member().serve)
	f.caps.Virtual = true
	good, bad := scenario(t, alone), scenario(t, strings.Replace(alone, "gen=1", "gen=2", 1))
	good.Name, bad.Name = "good", "bad"
	dir := t.TempDir()
	w := &watch{}
	rep, err := Suite{Scenarios: []*Scenario{bad, good}, OutDir: dir}.Run(t.Context(), f, w)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Count(Pass) != 1 || rep.Count(Fail) != 1 || rep.Target != "fake" || len(rep.Failures()) != 1 {
		t.Errorf("%+v", rep)
	}
	if diff := cmp.Diff([]string{"join.stable.follower-repeats"}, rep.Covered()); diff != "" {
		t.Error(diff)
	}
	slices.Sort(w.done)
	if len(w.started) != 2 || !cmp.Equal(w.done, []string{"bad", "good"}) {
		t.Errorf("observer: %q %q", w.started, w.done)
	}
	fail := rep.Failures()[0]
	if fail.Block != 1 || fail.Line != 4 || fail.Class != "compat" || fail.Suffers() == "" {
		t.Errorf("%+v", fail)
	}
	kept, err := os.ReadFile(fail.Artefact)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# target: fake", "  A: MEMBER_ID_REQUIRED", "- A: NONE gen=2 leader=A", "+ A: NONE gen=1 leader=A"} {
		if !strings.Contains(string(kept), want) {
			t.Errorf("%s lacks %q:\n%s", fail.Artefact, want, kept)
		}
	}
}

func TestSlips(t *testing.T) {
	for text, want := range map[string]string{
		"heartbeat A\n----\n":                            "A has not joined before this line",
		"join A range=x\nheartbeat A member=B\n----\n":   "B has not joined before this line",
		"join A range=x\nsync A B=x\n----\n":             "B has not joined before this line",
		"join A range=x\nleave-batch B'1\n----\n":        "B'1 has not joined before this line",
		"jion A\n----\n":                                 `unknown verb "jion"`,
		"join a range=x\n----\n":                         `"a" is not an actor`,
		"join A range=x v=old\n----\n":                   "v=old",
		"join A range=x session=long\n----\n":            "session=long",
		"join A range=x\nheartbeat A gen=x\n----\n":      "gen=x",
		"join A range=x\nheartbeat A range=x\n----\n":    "heartbeat does not know range=",
		"join A range=x\nheartbeat A -again\n----\n":     "heartbeat does not know -again",
		"join A range=x\nheartbeat A member=who\n----\n": "member=who",
		"commit - x=5\n----\n":                           "commit does not know x=",
		"fetch - t0\n----\n":                             `"t0" is not a partition such as t/0`,
		"fetch\n----\n":                                  "name one actor",
		"advance\n----\n":                                "say how long",
		"advance 2h\n----\n":                             "is not between 0 and an hour",
		"advance -1s\n----\n":                            "say how long",
		"join A range=x sesion=10s\n----\n":              "test.txt:4: sesion= is no argument of join",
		"join A range=x sessoin=10s\n----\n":             "too like session=",
		"join A range=x typ=connect\n----\n":             "write type=",
		"form A range=x rebalanse=9s\n----\n":            "too like rebalance=",
		"roles L F from B\n----\n":                       "name the role of the leader",
		"describe x\n----\n":                             "describe takes no word such as",
		"restart\n----\n":                                "only scenarios of the profile restart",
		"join A static=I range=x\n----\n":                "static=I",
		"txn-end A\n----\n":                              "commit or abort",
		"txn-commit A t/0=5 as=b\n----\n":                "as=b",
		"offset-delete t0\n----\n":                       `"t0" is not a partition`,
		"delete X\n----\n":                               `"X" is not a group`,
	} {
		_, err := Parse("test.txt", []byte(head+text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		} else if !strings.HasPrefix(err.Error(), "test.txt:") {
			t.Errorf("no file and line: %v", err)
		}
	}
}

// TestExamples holds that every verb's example is itself a command that parses.
func TestExamples(t *testing.T) {
	for name, v := range verbs {
		example, _, _ := strings.Cut(v.example, "   ")
		text := "join A B C stranger=x\n" + example + "\n----\n"
		text = strings.Replace(text, " stranger=x", " range=x", 1)
		profile := RestartProfile
		if name == "broker" {
			profile = FaultsProfile
		}
		if _, err := Parse("test.txt", []byte(strings.TrimRight(head, "\n")+"\n# profile: "+profile+"\n\n"+text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
