package conformance

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/conformance/target"
)

// moody is a specification that leaves each heartbeat's answer open among the given codes.
type moody struct {
	*fake
	codes  []int16
	resets int
	choose func(int) int
}

func newMoody(codes ...int16) *moody {
	m := &moody{codes: codes}
	m.Reset(nil)
	return m
}

func (m *moody) Reset(choose func(int) int) {
	m.resets++
	m.choose = choose
	h := house{}
	h.special = func(f *fake, x *exchange) bool {
		if x.req.Key() != int16(kmsg.Heartbeat) {
			return false
		}
		resp := kmsg.NewPtrHeartbeatResponse()
		resp.ErrorCode = m.codes[0]
		if len(m.codes) > 1 {
			resp.ErrorCode = m.codes[m.choose(len(m.codes))]
		}
		f.answer(x, resp, 0)
		return true
	}
	m.fake = newFake(h.serve)
	m.caps.Virtual, m.caps.Release = true, script.BaseRelease
}

func TestAcceptor(t *testing.T) {
	const known = "roles A B from A B\n----\n\n"
	beat := func(lines ...string) string {
		return known + strings.Repeat("heartbeat A\n", len(lines)) + "----\n" + strings.Join(lines, "\n") + "\n"
	}
	cases := []struct {
		name, text string
		codes      []int16
		status     Status
		note       string
	}{
		{"no choice", beat("A: NONE"), []int16{0}, Pass, ""},
		{"wrong", beat("A: NONE"), []int16{27}, Fail, ""},
		{"unmarked", beat("A: NONE"), []int16{0, 27}, Fail, `the specification leaves line 1 of this block open: another run gives "A: NONE". Mark the line with # free: RULE, or name the choice with roles`},
		{"unmarked, though both are accepted", beat("A: {NONE|REBALANCE_IN_PROGRESS}"), []int16{0, 27}, Fail, `the specification leaves line 1 of this block open: another run gives "A: NONE". Mark the line with # free: RULE, or name the choice with roles`},
		{"marked", beat("A: {NONE|REBALANCE_IN_PROGRESS}  # free: heartbeat.stable"), []int16{0, 27}, Pass, ""},
		{"one of three", beat("A: REBALANCE_IN_PROGRESS  # free: heartbeat.stable"), []int16{0, 22, 27}, Pass, ""},
		{"none of three", beat("A: UNKNOWN_MEMBER_ID  # free: heartbeat.stable"), []int16{0, 22, 27}, Fail, "none of the 3 runs that the specification allows gives the expected text"},
		{"the second of two lines unmarked", beat("A: {NONE|ILLEGAL_GENERATION}  # free: heartbeat.stable", "A: NONE"), []int16{0, 22}, Fail, `the specification leaves line 2 of this block open: another run gives "A: NONE". Mark the line with # free: RULE, or name the choice with roles`},
		{"too many", beat(strings.Split(strings.Repeat("A: {NONE|ILLEGAL_GENERATION}  # free: heartbeat.stable\n", 13), "\n")[:13]...), []int16{0, 22}, Broken, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			res := judged(t, newMoody(c.codes...), c.text)
			if res.Status != c.status {
				t.Fatalf("%s %s %v, want %s", res.Status, res.Reason, res.Failure, c.status)
			}
			if res.Failure != nil {
				if diff := cmp.Diff(c.note, res.Failure.Note); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// TestAcceptorGoesOn holds that a run which gives another text is dropped, and that the failure is told where the last run gave up.
func TestAcceptorGoesOn(t *testing.T) {
	const text = `
roles A B from A B
heartbeat A
----
A: NONE  # free: heartbeat.stable

heartbeat A
----
A: ILLEGAL_GENERATION  # free: heartbeat.stable

heartbeat A
----
A: UNKNOWN_MEMBER_ID  # free: heartbeat.stable
`
	m := newMoody(0, 22)
	res := judged(t, m, text)
	if res.Status != Fail || res.Failure.Block != 3 {
		t.Fatalf("%s, block %+v", res.Status, res.Failure)
	}
	if m.resets != 1+2+1+1 { // the first of New, then: 0|22 at the first, 0|22 at the second, both at the third
		t.Errorf("%d resets", m.resets)
	}
}

func TestCandidates(t *testing.T) {
	s := scenario(t, `
list
----
base
---- [3.9] one
3.9
---- [<4.0] two
old
---- [>=4.4] three
new
---- contract: list.state
contract
`)
	for release, want := range map[string][]string{
		"4.3.1": {"base"}, "3.9.2": {"3.9"}, "3.8.1": {"old"}, "4.4.0": {"new"}, "": {"base", "contract"}, Reference: {"new", "contract"},
	} {
		var got []string
		for _, v := range candidates(s.File.Blocks[0], release) {
			got = append(got, v.Lines[0].Text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", release, diff)
		}
	}
}

func TestRecord(t *testing.T) {
	const before = head + `list
heartbeat A member=none
----
list: {NONE|ERROR_5} []  # a remark
A: parked
B(join): NONE
---- contract: heartbeat.stable
A: x
`
	record := func(t *testing.T, text, release string, code int16) string {
		t.Helper()
		s, err := Parse("test.txt", []byte(strings.Replace(text, "list\n", "roles A B from A B\nlist\n", 1)))
		if err != nil {
			t.Fatal(err)
		}
		h := house{special: func(f *fake, x *exchange) bool {
			switch x.req.(type) {
			case *kmsg.HeartbeatRequest:
				resp := kmsg.NewPtrHeartbeatResponse()
				resp.ErrorCode = code
				f.answer(x, resp, 0)
			case *kmsg.ListGroupsRequest:
				f.answer(x, kmsg.NewPtrListGroupsResponse(), 0)
			default:
				return false
			}
			return true
		}}
		f := newFake(h.serve)
		f.caps.Release = release
		out, err := Record(t.Context(), s, f)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Replace(string(out), "roles A B from A B\n", "", 1)
	}
	base := record(t, before, "4.3.1", 22)
	want := strings.Replace(before, "A: parked\nB(join): NONE\n", "A: ILLEGAL_GENERATION\n", 1)
	if diff := cmp.Diff(want, base); diff != "" {
		t.Errorf("the base release: %s", diff)
	}
	if same := record(t, base, "3.9.2", 22); same != base {
		t.Errorf("a release that does not differ changes the file: %s", cmp.Diff(base, same))
	}
	other := record(t, base, "3.9.2", 25)
	want = strings.Replace(base, "A: ILLEGAL_GENERATION\n", "A: ILLEGAL_GENERATION\n---- [3.9] recorded from 3.9.2\nlist: {NONE|ERROR_5} []  # a remark\nA: UNKNOWN_MEMBER_ID\n", 1)
	if diff := cmp.Diff(want, other); diff != "" {
		t.Errorf("another release: %s", diff)
	}
	again := record(t, other, "3.9.2", 27)
	if diff := cmp.Diff(strings.Replace(other, "A: UNKNOWN_MEMBER_ID", "A: REBALANCE_IN_PROGRESS", 1), again); diff != "" {
		t.Errorf("its text is replaced: %s", diff)
	}

	s := scenario(t, "list\n----\n")
	for _, caps := range []target.Capabilities{{}, {Release: Reference}, {Release: "4.3.1", Virtual: true}} {
		f := newFake(nil)
		f.caps = caps
		if _, err := Record(t.Context(), s, f); err == nil || !strings.Contains(err.Error(), "cannot record") {
			t.Errorf("%+v records: %v", caps, err)
		}
	}
}
