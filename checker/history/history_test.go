package history_test

import (
	"bytes"
	"errors"
	"fmt"
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
			ID: int64(i + 1), Groups: []string{"g"}, Client: "c", API: "Heartbeat", Key: 12, Version: 4, Request: history.EncodeRequest(req, 4),
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

// TestDamage reads histories that something has happened to. Each must say what, and keep what can still be judged.
func TestDamage(t *testing.T) {
	change := func(old, new string) func(string) string {
		return func(l string) string { return strings.Replace(l, old, new, 1) }
	}
	for _, test := range []struct {
		name  string
		edit  func(lines []string) []string // line 0 is the header, lines 1 to 5 the calls, line 6 the end
		want  string                        // part of a problem, or of the error
		calls int                           // that can be judged; 0 is none
		open  int                           // of those, without their end
	}{
		{"a gap", func(l []string) []string { return append(l[:3], l[4:]...) }, "call 3 is missing", 1, 0},
		{"the first is missing", func(l []string) []string { return append(l[:1], l[2:]...) }, "call 1 is missing", 0, 0},
		{"half a line at the end", func(l []string) []string { l[5] = l[5][:40]; return l[:6] }, "line 6: half a line at the end", 3, 0},
		{"no end line", func(l []string) []string { return l[:6] }, "the end line is missing", 4, 0},
		{"the last calls are missing", func(l []string) []string { return append(l[:4], l[6]) }, "calls 4 to 5 are missing", 2, 0},
		{"a duplicate", func(l []string) []string { return append(l[:5], l[4], l[5], l[6]) }, "line 6: call 4 was on line 5 already", 3, 0},
		{"return before call", func(l []string) []string { l[4] = change(`"return":35`, `"return":25`)(l[4]); return l }, "call 4 returns at 25 ns, before its call at 30 ns", 3, 1},
		{"the clock stepped back", func(l []string) []string {
			l[4] = change(`"call":30,"return":35`, `"call":12,"return":17`)(l[4])
			return l
		}, "the clock stepped back: call 4 at 12 ns", 2, 1},
		{"before the start", func(l []string) []string { l[1] = change(`"call":0,`, `"call":-5,`)(l[1]); return l }, "before the start", 0, 0},
		{"an answer that is none", func(l []string) []string { l[3] = change(`"response":"`, `"response":"////`)(l[3]); return l }, "line 4: call 3: bytes are not an answer to Heartbeat version 4", 2, 0},
		{"an unknown API", func(l []string) []string { l[3] = change(`"key":12`, `"key":9999`)(l[3]); return l }, "no API has key 9999", 2, 0},
		{"an unknown outcome", func(l []string) []string { l[3] = change(`"answered"`, `"maybe"`)(l[3]); return l }, `outcome "maybe" is none of`, 2, 0},
		{"garbage between", func(l []string) []string { l[3] = "garbage\n"; return l }, "line 4: not a line of a history", 1, 0},
		{"an unknown field", func(l []string) []string { l[3] = change(`"client"`, `"klient"`)(l[3]); return l }, `unknown field "klient"`, 1, 0},
		{"no header", func(l []string) []string { return l[1:] }, "line 1 must be a header", 0, 0},
		{"another format", func(l []string) []string { l[0] = change(history.Format, "other/9")(l[0]); return l }, `format "other/9"`, 0, 0},
		{"nothing", func([]string) []string { return nil }, "it is empty", 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			h, problems, err := history.Read(strings.NewReader(strings.Join(test.edit(text(t, sample(5))), "")))
			if all := fmt.Sprint(problems, err); !strings.Contains(all, test.want) {
				t.Errorf("%s\ndoes not say %q", all, test.want)
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
			if last := problems[len(problems)-1].String(); !strings.Contains(last, "judged up to") {
				t.Errorf("the last problem does not say what can be judged: %s", last)
			}
		})
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
