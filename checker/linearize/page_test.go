package linearize

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/converge"
	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/internal/golden"
	"github.com/muster-kafka/muster/model/classic"
)

// script is what a hostile target answers with, in all that it may choose, and what hostile clients send.
const script = `"'><img src=x onerror=owned()></script><script>owned()</script>`

// hostile puts the script into every id, name, metadata and assignment of a history, alike wherever they are alike: what was legal still is.
func hostile(t *testing.T, h *history.History) *history.History {
	t.Helper()
	ids := map[string]bool{}
	for i := range h.Calls {
		if c := &h.Calls[i]; c.Outcome == history.Answered {
			resp, err := c.DecodeResponse()
			if err != nil {
				t.Fatal(err)
			}
			if join, ok := resp.(*kmsg.JoinGroupResponse); ok && join.MemberID != "" {
				ids[join.MemberID] = true
			}
		}
	}
	spoil := func(v reflect.Value) { spoiled(v, ids) }
	out := &history.History{Header: h.Header, Calls: slices.Clone(h.Calls), Faults: slices.Clone(h.Faults)}
	out.Header.Target, out.Header.Groups = script, nil
	for _, g := range h.Header.Groups {
		out.Header.Groups = append(out.Header.Groups, g+script)
	}
	for i := range out.Calls {
		c := &out.Calls[i]
		c.Client += script
		c.Groups = nil
		for _, g := range h.Calls[i].Groups {
			c.Groups = append(c.Groups, g+script)
		}
		req, err := c.DecodeRequest()
		if err != nil {
			t.Fatal(err)
		}
		spoil(reflect.ValueOf(req))
		c.Request = history.EncodeRequest(req, c.Version)
		if c.Outcome == history.Answered {
			resp, err := c.DecodeResponse()
			if err != nil {
				t.Fatal(err)
			}
			spoil(reflect.ValueOf(resp))
			c.Response = history.EncodeResponse(resp, c.Version)
		}
	}
	out.Faults = append(out.Faults, history.Fault{Kind: history.Cut, At: 1, Client: "c0" + script, What: script})
	return out
}

// spoiled walks a message: group names, member ids, metadata and assignments get the script at their end.
func spoiled(v reflect.Value, ids map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			spoiled(v.Elem(), ids)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			spoiled(v.Index(i), ids)
		}
	case reflect.String:
		if ids[v.String()] {
			v.SetString(v.String() + script)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field, name := v.Field(i), v.Type().Field(i).Name
			switch {
			case !field.CanSet():
			case name == "Group" || name == "ClientID", name == "Groups" && field.Type().Elem().Kind() == reflect.String:
				if field.Kind() == reflect.String && field.String() != "" {
					field.SetString(field.String() + script)
				}
				for k := 0; field.Kind() == reflect.Slice && k < field.Len(); k++ {
					field.Index(k).SetString(field.Index(k).String() + script)
				}
			case slices.Contains([]string{"Metadata", "ProtocolMetadata", "MemberAssignment"}, name) && field.Kind() == reflect.Slice && field.Len() > 0:
				field.SetBytes(append(field.Bytes(), script...))
			default:
				spoiled(field, ids)
			}
		}
	}
}

// TestPagesAreInert tells of a target that answers with scripts. What comes of them is kept in testdata, which tools/browser opens in a browser.
func TestPagesAreInert(t *testing.T) {
	t.Parallel()
	legal := hostile(t, simulate(t, simOptions{seed: 4, groups: 1, clients: 4, calls: 60, restarts: true}))
	if v, err := Check(t.Context(), legal, Limits{}); err != nil || v.Result != Legal {
		t.Fatalf("the history before one answer was changed: %v %s %v", v.Result, v.Reason, err)
	}
	i := slices.IndexFunc(mutations, func(m mutation) bool { return m.Name == "another leader" })
	h := mutate(t, rand.New(rand.NewPCG(1, 1)), legal, mutations[i])
	if h == nil {
		t.Fatal("nothing to change")
	}
	var text strings.Builder
	if err := h.Write(&text); err != nil {
		t.Fatal(err)
	}
	golden.Testdata(t, "hostile.jsonl", text.String())
	dir := t.TempDir()
	f, err := Explain(t.Context(), h, h.Header.Groups[0], Explaining{Out: dir, Budget: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if name := filepath.Base(f.Page); !regexp.MustCompile(`^history-4-[-\w]+\.html$`).MatchString(name) {
		t.Errorf("the page is called %s", name)
	}
	page, err := os.ReadFile(f.Page)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(page), "owned()"); n < 10 {
		t.Errorf("the page shows what was answered %d times: it has left it out", n)
	}
	for _, bad := range []string{"<img", "<script"} {
		if at := strings.Index(string(page), bad); at >= 0 {
			t.Errorf("%q is in the page as it was sent: %.200s", bad, page[at:])
		}
	}
	for _, part := range []string{`id="rule"`, `id="seen"`, `id="next"`, `class="bar armed"`, `class="bar fault"`, "muster check ", "What a client suffers", "<iframe"} {
		if !strings.Contains(string(page), part) {
			t.Errorf("the page has no %s", part)
		}
	}
}

// TestPageIsLeftWhateverHappens explains where there is no time at all, and where no wrong answer is known: the page is there. Where it cannot be
// written, the failure is whole and the error says so.
func TestPageIsLeftWhateverHappens(t *testing.T) {
	t.Parallel()
	h, problems, err := history.ReadFile(t.Context(), filepath.Join("testdata", "hostile.jsonl"))
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	group := h.Header.Groups[0]
	over, cancel := context.WithCancel(t.Context())
	cancel()
	f, err := Explain(over, h, group, Explaining{Out: t.TempDir()})
	if _, statErr := os.Stat(f.Page); err != nil || statErr != nil || f.NotFound == "" {
		t.Errorf("without time: %v, page %v, %q", err, statErr, f.NotFound)
	}
	f, err = Explain(t.Context(), h, group, Explaining{Out: t.TempDir(), Undecided: true, Apart: &Apart{Took: time.Second, Why: converge.Reason{
		Text: "the group is " + script, Rules: []classic.RuleID{classic.SessionExpires},
	}}})
	page, readErr := os.ReadFile(f.Page)
	if err != nil || readErr != nil || f.Rule != "session.expires" || !strings.Contains(string(page), "did not get together") || strings.Contains(string(page), "<img") {
		t.Errorf("clients that are apart: %v %v, rule %q", err, readErr, f.Rule)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err = Explain(t.Context(), h, group, Explaining{Out: file, Budget: time.Second})
	if err == nil || !strings.Contains(err.Error(), "save page") || !strings.Contains(err.Error(), "save history") || f.Page != "" || f.File != "" {
		t.Errorf("a folder that is a file: error %v, page %q", err, f.Page)
	}
	if f.Rule == "" || !strings.Contains(f.Text, "In an order that explains all the rest:") {
		t.Errorf("the failure is told without its page as %q: %s", f.Rule, f.Text)
	}
}
