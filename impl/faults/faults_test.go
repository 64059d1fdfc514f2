package faults

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

var apis = []kmsg.Key{kmsg.Produce, kmsg.JoinGroup, kmsg.SyncGroup, kmsg.Heartbeat, kmsg.OffsetCommit, kmsg.ListGroups}

func parse(t *testing.T, text string) *Set {
	t.Helper()
	s, err := Parse("f", text, apis, 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLines(t *testing.T) {
	s := parse(t, `
# comment
drop the reply of the 3rd JoinGroup of group g  # as in the issue
drop request of every Heartbeat
delay the reply of every 2nd SyncGroup of group "the # group" by 1.5s
close the connection before the 1st Produce of client "my app" on node 2
answer the 21st OffsetCommit with COORDINATOR_LOAD_IN_PROGRESS
fail every append of group g with NOT_ENOUGH_REPLICAS
move the coordinator at the 4th Heartbeat of group g to node 0 loading for 500ms
`)
	f := s.faults
	if len(f) != 7 {
		t.Fatalf("%d faults", len(f))
	}
	g := func(i int) string { return *f[i].Group }
	for i, ok := range []bool{
		f[0].Action == DropReply && f[0].API == kmsg.JoinGroup && f[0].nth == 3 && g(0) == "g" && f[0].Line == 3 && f[0].Text == "drop the reply of the 3rd JoinGroup of group g",
		f[1].Action == DropRequest && f[1].nth == 0 && f[1].every == 0 && f[1].Group == nil,
		f[2].Action == DelayReply && f[2].every == 2 && g(2) == "the # group" && f[2].Delay == 1500*time.Millisecond,
		f[3].Action == CloseBefore && f[3].API == kmsg.Produce && *f[3].Client == "my app" && *f[3].Node == 2,
		f[4].Action == Answer && f[4].nth == 21 && f[4].Code == 14,
		f[5].Action == FailAppend && f[5].Code == 19 && g(5) == "g",
		f[6].Action == Move && *f[6].To == 0 && f[6].Loading == 500*time.Millisecond && f[6].nth == 4,
	} {
		if !ok {
			t.Errorf("line %d was read as %+v", f[i].Line, *f[i])
		}
	}
}

// Errors that share a name with what is no error keep their code.
func TestCodes(t *testing.T) {
	for name, want := range map[string]int16{"UNKNOWN_SERVER_ERROR": -1, "OFFSET_OUT_OF_RANGE": 1, "REBALANCE_IN_PROGRESS": 27} {
		if got := parse(t, "answer every Heartbeat with "+name).faults[0].Code; got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
}

// Each error names the line, what was wanted, and the nearest name.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"dorp the reply":                                            "do you mean drop?",
		"drop the replay of":                                        "do you mean reply?",
		"drop the reply of the 3rd JionGroup":                       "do you mean JoinGroup?",
		"drop the reply of the 3rd JoinGroup of gruop g":            "do you mean group?",
		"drop the reply of the third JoinGroup":                     "1st, 2nd",
		"drop the reply of the 0th JoinGroup":                       "1st, 2nd",
		"drop the reply of the 2th JoinGroup":                       `"2th": want 2nd`,
		"drop the reply of the 11st JoinGroup":                      `"11st": want 11th`,
		"drop the reply of every 101th JoinGroup":                   `"101th": want 101st`,
		"fail the 23th append with NOT_COORDINATOR":                 `"23th": want 23rd`,
		"drop the reply of every 0th JoinGroup":                     `"0th": want 1st, 2nd`,
		"drop the reply of every 3 JoinGroup":                       `"3": want 1st, 2nd`,
		"drop the reply of the 1000000000th JoinGroup":              "up to 999999999th",
		"drop the reply of evry JoinGroup":                          "do you mean every?",
		"drop the reply of every JoinGroup of group g of group h":   "a second group",
		"drop the reply of every JoinGroup of client g of client h": "a second client",
		"drop the reply of every JoinGroup on node 1 on node 2":     "a second node",
		"drop the reply of":                                         "the line ends where which one",
		"drop the reply of every JoinGroup of group":                "ends where the name of a group",
		"drop the reply of every JoinGroup of group g now":          `"now": the line should have ended`,
		`drop the reply of every JoinGroup of group "g`:             "a quote without its end",
		"delay the reply of every JoinGroup":                        "ends where by should come",
		"delay the reply of every JoinGroup by 2":                   "a duration",
		"delay the reply of every JoinGroup by 2h":                  "at most an hour",
		"delay the reply of every JoinGroup by -1s":                 "a duration",
		"answer every JoinGroup with NOT_COORDINATR":                "do you mean NOT_COORDINATOR?",
		"answer every JoinGroup with NONE":                          "an error of Kafka's",
		"answer every Produce with NOT_COORDINATOR":                 "no API of groups",
		"fail the 1st JoinGroup with NOT_COORDINATOR":               "want append",
		"close the connection at every JoinGroup":                   "before, after",
		"move the coordinator at every Produce":                     "not about a group",
		"move the coordinator at every ListGroups":                  "not about a group",
		"move the coordinator at every JoinGroup to node x":         "number of a node",
		"drop the reply of every FetchSnapshot":                     "an API that is served here",
	} {
		_, err := Parse("f.txt", "\n"+text, apis, 0)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "f.txt:2: ") {
			t.Errorf("%s\n\tgives %v\n\twant %q", text, err, want)
		}
	}
	if _, err := Parse("f", "\ufeffdrop the reply of every JoinGroup", apis, 0); err != nil {
		t.Errorf("with a byte order mark: %v", err)
	}
	text := "x\ndrop the reply of every JoinGroup on node 3\ny\nmove the coordinator at every JoinGroup to node 0"
	_, err := Parse("f", text, apis, 1)
	if got := strings.Split(fmt.Sprint(err), "\n"); len(got) != 3 || !strings.HasPrefix(got[0], "f:1: ") || got[1] != "f:2: there is no node 3; there is node 0 alone" || !strings.HasPrefix(got[2], "f:3: ") {
		t.Errorf("not all errors are told, in the order of their lines: %v", err)
	}
}

// A name that stands before a word which nobody expects may have been meant to go on.
func TestQuotesAreHinted(t *testing.T) {
	const hint = `a name with blanks stands in quotes: "`
	for text, want := range map[string]string{
		"drop the reply of every JoinGroup of group my group":            hint + `my group"`,
		"delay the reply of every JoinGroup of client my app by 2s":      hint + `my app"`,
		"fail the 1st append of group my group with NOT_COORDINATOR":     hint + `my group"`,
		"move the coordinator at the 1st JoinGroup of group my group":    hint + `my group"`,
		"answer the 1st JoinGroup of group a b of client c with UNKNOWN": hint + `a b"`,
		`drop the reply of every JoinGroup of group "my group" now`:      "",
		"drop the reply of every JoinGroup on node 1 now":                "",
		"answer every JoinGroup of group g with NOT_COORDINATOR now":     "",
		"delay the reply of every JoinGroup of group g by":               "",
	} {
		_, err := Parse("f", text, apis, 0)
		if err == nil || want != "" && !strings.Contains(err.Error(), want) || want == "" && strings.Contains(err.Error(), "quotes") {
			t.Errorf("%s\n\tgives %v\n\twant %q", text, err, want)
		}
	}
}

// Each number has one ordinal.
func TestOrdinals(t *testing.T) {
	for n, want := range map[int]string{1: "st", 2: "nd", 3: "rd", 4: "th", 10: "th", 11: "th", 12: "th", 13: "th", 20: "th", 21: "st", 102: "nd", 111: "th", 112: "th", 123: "rd", 1013: "th"} {
		for _, e := range []string{"st", "nd", "rd", "th"} {
			if _, err := Parse("f", fmt.Sprintf("drop the reply of the %d%s JoinGroup", n, e), apis, 0); (err == nil) != (e == want) {
				t.Errorf("%d%s: %v, want %d%s", n, e, err, n, want)
			}
		}
	}
}

func TestCounts(t *testing.T) {
	s := parse(t, "drop the reply of the 2nd JoinGroup of group g\nclose the connection after every 3rd JoinGroup\nfail the 2nd append of group g with NOT_COORDINATOR")
	var happened []string
	for _, group := range []string{"g", "h", "g", "g", "g", "h"} {
		what := ""
		for _, f := range s.Meet(Request{API: kmsg.JoinGroup, Groups: []string{group}}) {
			what += string(f.Action) + ";"
		}
		happened = append(happened, what)
	}
	if got := strings.Join(happened, "|"); got != "||drop the reply;close the connection after;|||close the connection after;" {
		t.Errorf("happened: %s", got)
	}
	for i, want := range []bool{false, true, false} {
		if _, fails := s.Append("g"); fails != want {
			t.Errorf("append %d fails: %v", i+1, fails)
		}
	}
	if _, fails := s.Append("h"); fails {
		t.Error("an append of another group fails")
	}
	if st := s.Status(); st[0].Happened != 1 || st[0].Fits != 4 || !st[0].Exhausted || st[1].Happened != 2 || st[1].Exhausted || st[2].Happened != 1 {
		t.Errorf("status: %+v", st)
	}
	var none *Set
	if _, fails := none.Append("g"); fails || none.Meet(Request{}) != nil || len(none.Status()) != 0 {
		t.Error("no faults at all make some")
	}
}

func TestFit(t *testing.T) {
	s := parse(t, "move the coordinator at every Heartbeat to node 2\n\ndrop the reply of every Heartbeat on node 3")
	if err := s.Fit(4); err != nil {
		t.Error(err)
	}
	if err := s.Fit(3); err == nil || err.Error() != "f:3: there is no node 3; there are 0 to 2" {
		t.Error(err)
	}
	if err := (*Set)(nil).Fit(1); err != nil {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("drop the reply of the 3rd JoinGroup of group g")
	f.Add(`move the coordinator at every 2nd Heartbeat of client "c d" to node 1 loading for 2s # x`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("f", text, apis, 0)
		if err == nil {
			s.Meet(Request{API: kmsg.JoinGroup, Groups: []string{"g"}})
			s.Append("g")
		}
	})
}
