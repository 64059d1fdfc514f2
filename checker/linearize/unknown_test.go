package linearize

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker/history"
)

// TestUnknown holds that what cannot be told is not called legal, and that the reason is given.
func TestUnknown(t *testing.T) {
	commits := func(b *book) {
		for i := range 6 {
			b.commit("a", i*10, i*10+5, "", -1, int64(i), 0)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, test := range []struct {
		name   string
		ctx    context.Context
		limits Limits
		write  func(b *book)
		reason string
	}{
		{"nothing", nil, Limits{}, func(*book) {}, "no call about a group"},
		{"a connection that the target closed", nil, Limits{}, func(b *book) {
			commits(b)
			c := b.commit("b", 7, 8, "", -1, 9, 0)
			c.Outcome, c.Response = history.Closed, nil
		}, "closed the connection of 1 calls"},
		{"too many operations", nil, Limits{Operations: 4}, commits, "only the first 4 operations were judged, 2 were not"},
		{"too many explanations", nil, Limits{Explanations: 1}, func(b *book) {
			b.alone()
			b.heartbeat("a", 140, 141, "A", 1, 25) // A's session has ended, now or before
			b.heartbeat("a", 120, 142, "A", 1, 25)
			b.heartbeat("a", 120, 142, "A", 1, 0)
		}, "capacity: "},
		{"a run that stalled", nil, Limits{}, func(b *book) {
			commits(b)
			b.Header.Ran, b.Header.StalledFor = time.Second, 600*time.Millisecond
		}, "stalled for 60 %"},
		{"a check that was stopped", stopped, Limits{}, commits, "stopped: context canceled"},
		{"something that is not modelled", nil, Limits{}, func(b *book) {
			c := b.commit("a", 0, 1, "", -1, 1, 0)
			req, _ := c.DecodeRequest()
			resp, _ := c.DecodeResponse()
			c.Version = 10
			c.Request, c.Response = history.EncodeRequest(req, c.Version), history.EncodeResponse(resp, c.Version)
		}, "not modelled: topic ids"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBook("reference")
			test.write(b)
			ctx := test.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			v, err := Check(ctx, &b.History, test.limits)
			if err != nil {
				t.Fatal(err)
			}
			if v.Result != Unknown || !strings.Contains(v.Reason, test.reason) {
				t.Errorf("%v %q, want unknown: %s", v.Result, v.Reason, test.reason)
			}
		})
	}
}

// TestTimeout judges a history that is too wide to be judged in no time.
func TestTimeout(t *testing.T) {
	b := newBook("reference")
	for i := range 12 {
		b.commit("a", 0, 100, "", -1, int64(i), 0)
	}
	b.fetch("b", 200, 201, 99) // nobody committed it
	began := time.Now()
	v, err := Check(t.Context(), &b.History, Limits{Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if v.Result != Unknown || !strings.Contains(v.Reason, "no verdict within 50ms") {
		t.Errorf("%v %q", v.Result, v.Reason)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestBadHeader judges histories whose header makes no sense.
func TestBadHeader(t *testing.T) {
	for _, test := range []struct {
		want string
		edit func(*history.Header)
	}{
		{`no profile is called "kafkaesque"`, func(h *history.Header) { h.Profile = "kafkaesque" }},
		{"max_session_ns is 0", func(h *history.Header) { h.MaxSession = 0 }},
		{"must not be negative", func(h *history.Header) { h.Slack = -1 }},
	} {
		b := newBook("reference")
		b.alone()
		test.edit(&b.Header)
		if v, err := Check(t.Context(), &b.History, Limits{}); err == nil || !strings.Contains(err.Error(), test.want) || v.Result != Unknown {
			t.Errorf("%v %v, want %s", v.Result, err, test.want)
		}
	}
}

// TestCheckFile judges files: a whole one, one that was cut off, and none.
func TestCheckFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "h.jsonl")
	b := newBook("reference")
	b.alone()
	if err := b.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	if v, h, err := CheckFile(t.Context(), file, Limits{}); err != nil || v.Result != Legal || len(h.Calls) != 3 {
		t.Error(v, err)
	}
	b.Calls = b.Calls[1:] // call 1 is missing
	if err := b.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	if v, _, err := CheckFile(t.Context(), file, Limits{}); err == nil || v.Result != Unknown || len(v.Problems) == 0 {
		t.Error(v, err)
	}
	b = newBook("reference")
	b.alone()
	b.Calls = append(b.Calls[:1], b.Calls[2:]...)
	b.heartbeat("a", 6, 7, "nobody", 1, 25)
	b.Calls[2].ID = 4
	if err := b.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	if _, _, err := CheckFile(t.Context(), file, Limits{}); err == nil {
		t.Error("nothing is left before call 2, which is missing")
	}
	if v, _, err := CheckFile(t.Context(), file+".no", Limits{}); err == nil || v.Result != Unknown {
		t.Error(v, err)
	}
}

// TestDoubtfulRecord holds that a record with a line that cannot be read is never a pass, and that what breaks a rule in it breaks it all the same.
func TestDoubtfulRecord(t *testing.T) {
	for code, want := range map[int16]Result{25: Unknown, 0: Illegal} {
		b := newBook("reference")
		b.alone()
		b.heartbeat("a", 6, 7, "nobody", 1, code)
		var text strings.Builder
		if err := b.Write(&text); err != nil {
			t.Fatal(err)
		}
		head, rest, _ := strings.Cut(text.String(), "\n")
		file := filepath.Join(t.TempDir(), "h.jsonl")
		if err := os.WriteFile(file, []byte(head+"\nrubbish\n"+rest), 0o600); err != nil {
			t.Fatal(err)
		}
		v, h, err := CheckFile(t.Context(), file, Limits{})
		if err != nil || len(h.Calls) != 4 || len(v.Problems) == 0 || v.Result != want || (v.Reason == "") != (want == Illegal) {
			t.Errorf("%v %q, %d problems, %v; want %v", v.Result, v.Reason, len(v.Problems), err, want)
		}
	}
}
