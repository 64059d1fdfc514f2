package history_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
)

// sample is a history of n heartbeats, one every 10 ns, each answered after 5 ns.
func sample(n int) *history.History {
	h := &history.History{Header: history.Header{
		Format: history.Format, Target: "t", Profile: "reference", MinSession: 1, MaxSession: 2, NewMemberTimeout: 3, Groups: []string{"g"},
	}}
	for i := range n {
		req, resp := kmsg.NewPtrHeartbeatRequest(), kmsg.NewPtrHeartbeatResponse()
		req.Group, req.Generation = "g", int32(i)
		h.Calls = append(h.Calls, history.Call{
			ID: int64(i + 1), Groups: []string{"g"}, Client: "c", Key: 12, Version: 4, Request: history.EncodeRequest(req, 4),
			Outcome: history.Answered, Response: history.EncodeResponse(resp, 4), Call: int64(i * 10), Return: int64(i*10 + 5),
		})
	}
	return h
}

func text(t *testing.T, h *history.History) []string {
	t.Helper()
	var b bytes.Buffer
	if err := h.Write(&b); err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimSuffix(b.String(), "\n"), "\n")
}

func TestRoundTrip(t *testing.T) {
	h := sample(5)
	got, problems, err := history.Read(strings.NewReader(strings.Join(text(t, h), "") + "\n"))
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	if diff := cmp.Diff(h, got); diff != "" {
		t.Error(diff)
	}
	req, err := got.Calls[3].DecodeRequest()
	if err != nil || req.(*kmsg.HeartbeatRequest).Generation != 3 {
		t.Error(req, err)
	}
}

// TestNoTime writes calls that took no time, each begun at the instant at which the one before has returned: lines come in an order that can be read.
func TestNoTime(t *testing.T) {
	h := sample(3)
	for i := range h.Calls {
		h.Calls[i].Call, h.Calls[i].Return = 7, 7
	}
	got, problems, err := history.Read(strings.NewReader(strings.Join(text(t, h), "") + "\n"))
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	if diff := cmp.Diff(h, got); diff != "" {
		t.Error(diff)
	}
}

// TestFaults writes and reads what was done to the target, and outcomes of each kind.
func TestFaults(t *testing.T) {
	h := sample(6)
	for i, o := range []history.Outcome{history.Answered, history.NotSent, history.GivenUp, history.Closed, history.Lost} {
		h.Calls[i].Outcome = o
		if o != history.Answered {
			h.Calls[i].Response = nil
		}
	}
	h.Calls[3].Error = "reset"
	h.Calls[5].Outcome, h.Calls[5].Response, h.Calls[5].Return = history.Open, nil, 99 // the end, which is that of the restart
	h.Faults = []history.Fault{
		{Kind: history.Cut, At: 31, Client: "c", What: "after 3 bytes"},
		{Kind: history.Pause, At: 33, Until: 38},
		{Kind: history.Restart, At: 60, Gone: 61, Until: 99},
	}
	got, problems, err := history.Read(strings.NewReader(strings.Join(text(t, h), "") + "\n"))
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	if diff := cmp.Diff(h, got); diff != "" {
		t.Error(diff)
	}
	if !got.Restarts() || got.End() != 99 {
		t.Errorf("restarts %v, ends at %d", got.Restarts(), got.End())
	}
	if kept := got.Cut(60).Faults; len(kept) != 2 {
		t.Errorf("cut before the restart, %d faults are left", len(kept))
	}
}

// TestDamage reads histories that something has happened to. Each must say what, and keep what can still be judged.
func TestDamage(t *testing.T) {
	at := func(l []string, i int, old, new string) []string {
		if !strings.Contains(l[i], old) {
			t.Fatalf("line %q does not have %q", l[i], old)
		}
		l[i] = strings.Replace(l[i], old, new, 1)
		return l
	}
	without := func(l []string, gone ...int) (left []string) {
		for i := range l {
			if !slices.Contains(gone, i) {
				left = append(left, l[i])
			}
		}
		return left
	}
	// Line 0 is the header, lines 1 and 2 call 1 and its return, lines 9 and 10 call 5, line 11 the fault, line 12 the end.
	const all = 5
	for _, test := range []struct {
		name  string
		edit  func(lines []string) []string
		want  string // part of a problem, or of the error
		calls int    // that can be judged; 0 is none
		open  int    // of those, without their end
	}{
		{"a gap", func(l []string) []string { return without(l, 5, 6) }, "call 3 is missing", 1, 0},
		{"a return is missing", func(l []string) []string { return without(l, 6) }, "counts 5 returns, 4 are there: how those calls ended counts as unknown", all, 1},
		{"a return without its call", func(l []string) []string { return without(l, 5) }, "line 6: return of call 3, which no line before this one begins", 1, 0},
		{"a return before its call", func(l []string) []string { l[5], l[6] = l[6], l[5]; return l }, "line 7: call 3 begins after its return on line 6", 2, 0},
		{"two returns", func(l []string) []string { l[8] = l[6]; return l }, "line 9: call 3 has returned before", 2, 0},
		{"the first is missing", func(l []string) []string { return without(l, 1, 2) }, "call 1 is missing", 0, 0},
		{"half a line at the end", func(l []string) []string { l[9] = l[9][:40]; return l[:10] }, "line 10: half a line at the end", 3, 0},
		{"half a line at the end, of a return", func(l []string) []string { l[8] = l[8][:20]; return l[:9] }, "line 9: half a line at the end", 3, 0},
		{"no end line", func(l []string) []string { return l[:11] }, "the end line is missing", 4, 0},
		{"the last calls are missing", func(l []string) []string { return without(l, 7, 8, 9, 10) }, "calls 4 to 5 are missing", 2, 0},
		{"the fault is missing", func(l []string) []string { return without(l, 11) }, "counts 1 faults, 0 are there", 0, 0},
		{"the fault is garbage", func(l []string) []string { l[11] = "garbage\n"; return l }, "counts 1 faults, 0 are there", 4, 0},
		{"a duplicate", func(l []string) []string { return slices.Insert(l, 8, l[7]) }, "line 9: call 4 was on line 8 already", 3, 0},
		{"return before call", func(l []string) []string { return at(l, 8, `"at":35`, `"at":25`) }, "call 4 returns at 25 ns, before its call at 30 ns", 3, 1},
		{"the clock stepped back", func(l []string) []string {
			return at(at(l, 7, `"at":30`, `"at":12`), 8, `"at":35`, `"at":17`)
		}, "line 8: the clock stepped back: call 4 is at 12 ns, after a line at 20 ns", 2, 1},
		{"before the start", func(l []string) []string { return at(l, 1, `"at":0`, `"at":-5`) }, "before the start", 0, 0},
		{"an answer that is none", func(l []string) []string { return at(l, 6, `"response":"`, `"response":"////`) }, "line 7: call 3: bytes are not an answer to Heartbeat version 4", 2, 0},
		{"an unknown API", func(l []string) []string { return at(l, 5, `"key":12`, `"key":9999`) }, "no API has key 9999", 2, 0},
		{"another API", func(l []string) []string { return at(l, 5, `"Heartbeat"`, `"JoinGroup"`) }, "key 12 is Heartbeat, not JoinGroup", 2, 0},
		{"an unknown outcome", func(l []string) []string { return at(l, 6, `"answered"`, `"maybe"`) }, `outcome "maybe" is none of`, 2, 0},
		{"an unknown reason", func(l []string) []string { return at(l, 6, `"answered"`, `"unknown","why":"dunno"`) }, `why "dunno" is none of`, 2, 0},
		{"a reason that only a cut history has", func(l []string) []string { return at(l, 6, `"answered"`, `"unknown","why":"open"`) }, `why "open" is none of`, 2, 0},
		{"an unknown fault", func(l []string) []string { return at(l, 11, `"pause"`, `"earthquake"`) }, `line 12: no fault is called "earthquake"`, all, 0},
		{"a fault that ends before it begins", func(l []string) []string { return at(l, 11, `"until":60`, `"until":6`) }, "is over at 6 ns already", all, 0},
		{"a restart without an end", func(l []string) []string { return at(l, 11, `"pause"`, `"restart"`) }, "a restart needs gone and until", all, 0},
		{"a shutdown without an end", func(l []string) []string { return at(l, 11, `"pause"`, `"shutdown"`) }, "a shutdown needs gone and until", all, 0},
		{"garbage for a call", func(l []string) []string { l[5] = "garbage\n"; return l }, "line 6: not a line of a history", 1, 0},
		{"garbage for a return", func(l []string) []string { l[6] = "garbage\n"; return l }, "line 7: not a line of a history", all, 1},
		{"garbage between", func(l []string) []string { return slices.Insert(l, 6, "garbage\n") }, "no call and no fault is missing: all of it is judged", all, 0},
		{"a line that is too long", func(l []string) []string { l[5] = strings.Repeat("x", 9<<20) + "\n"; return l }, "line 6: longer than 8388608 bytes, and not read", 1, 0},
		{"two things on a line", func(l []string) []string { l[5] = l[5][:len(l[5])-2] + "," + l[6][1:]; return l }, "line 6: want one of call, return, fault and end on a line, got 2", 1, 0},
		{"an unknown field", func(l []string) []string { return at(l, 5, `"client"`, `"klient"`) }, `unknown field "klient"`, 1, 0},
		{"a fault without an end in sight", func(l []string) []string { return at(l, 11, `"until":60`, `"until":9223372036854775807`) }, "more than 87600h0m0s after the start", all, 0},
		{"an instant of another age", func(l []string) []string { return at(l, 10, `"at":45`, `"at":9223372036854775807`) }, "call 5 returns at 9223372036854775807 ns: more than", 4, 0},
		{"a call of another age", func(l []string) []string { return at(l, 9, `"at":40`, `"at":9223372036854775807`) }, "call 5 is at 9223372036854775807 ns: more than", 3, 0},
		{"a session of ages", func(l []string) []string { return at(l, 0, `"min_session_ns":`, `"min_session_ns":922337203685477580`) }, "min_session_ns is 922337203685477580", 0, 0},
		{"a time that is negative", func(l []string) []string { return at(l, 0, `"max_session_ns":`, `"max_session_ns":-`) }, "max_session_ns is -", 0, 0},
		{"no header", func(l []string) []string { return l[1:] }, "the beginning is missing", 0, 0},
		{"another format", func(l []string) []string { return at(l, 0, history.Format, "other/9") }, `its format is "other/9"`, 0, 0},
		{"an older format", func(l []string) []string {
			return append([]string{`{"header":{"format":"muster-history/1","elsewhere":1}}` + "\n"}, l[1:]...)
		}, `its format is "muster-history/1", this Muster reads "muster-history/2"`, 0, 0},
		{"nothing", func([]string) []string { return nil }, "it is empty", 0, 0},
		{"a line without end", func([]string) []string { return []string{strings.Repeat("x", 20<<20)} }, "line 1 must be a header", 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := sample(all)
			h.Faults = []history.Fault{{Kind: history.Pause, At: 50, Until: 60}}
			h, problems, err := history.Read(strings.NewReader(strings.Join(test.edit(text(t, h)), "")))
			if told := fmt.Sprint(problems, err); !strings.Contains(told, test.want) {
				t.Errorf("%s\ndoes not say %q", told, test.want)
			}
			if test.calls == 0 {
				if !errors.Is(err, history.ErrNoHistory) {
					t.Errorf("error %v, want ErrNoHistory", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			open := 0
			for _, c := range h.Calls {
				if c.Outcome == history.Open {
					open++
				}
			}
			if len(h.Calls) != test.calls || open != test.open {
				t.Errorf("%d calls, %d of them open; want %d and %d: %v", len(h.Calls), open, test.calls, test.open, problems)
			}
			last := problems[len(problems)-1].String()
			if !strings.Contains(last, "judged") && !strings.Contains(last, "counts as unknown") {
				t.Errorf("the last problem does not say what can be judged: %s", last)
			}
		})
	}
}

// TestManyProblems reads garbage without end: what is told of it, and kept, is bounded.
func TestManyProblems(t *testing.T) {
	garbage := text(t, sample(1))[0] + strings.Repeat("garbage\n", 10_000)
	if _, problems, _ := history.Read(strings.NewReader(garbage)); len(problems) > 110 {
		t.Errorf("%d problems are told", len(problems))
	}
}

func TestRecorder(t *testing.T) {
	start := time.Unix(100, 0)
	now := start
	rec := &history.Recorder{Clock: func() time.Time { now = now.Add(10); return now }, Start: start, Groups: []string{"g", "h"}}
	req := kmsg.NewPtrListGroupsRequest()
	a := rec.Begin("c", 1, req, 4)
	b := rec.Begin("d", 2, kmsg.NewPtrHeartbeatRequest(), 4)
	rec.Finish(b, nil, history.GivenUp, "", rec.Now())
	rec.Finish(a, kmsg.NewPtrListGroupsResponse(), history.Answered, "", 5) // before its call: a clock that is not ours
	h := rec.History(history.Header{})
	first, second := h.Calls[0], h.Calls[1]
	if first.Call != 10 || first.Return != 10 || len(first.Groups) != 2 || first.Outcome != history.Answered {
		t.Errorf("%+v", first)
	}
	if second.Call != 20 || second.Return != 30 || second.Outcome != history.GivenUp || second.Response != nil {
		t.Errorf("%+v", second)
	}
}
