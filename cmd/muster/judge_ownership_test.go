package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker/campaign"
	"github.com/muster-kafka/muster/checker/consumers"
	"github.com/muster-kafka/muster/checker/ownership"
	"github.com/muster-kafka/muster/internal/verdict"
)

// TestCheckOwnership judges logs of ownership: what breaks a rule, what does not, what is not whole, what is none.
func TestCheckOwnership(t *testing.T) {
	const (
		header = `{"header":{"format":"muster-ownership/1","target":"t","seed":1,"group":"g","session_ns":1,"calm_ns":1}}` + "\n"
		a      = `{"event":"assigned","at":1,"client":"a","member":"A","generation":1,"partitions":["t/0"]}` + "\n"
		b      = `{"event":"assigned","at":2,"client":"b","member":"B","generation":1,"partitions":["t/0"]}` + "\n"
	)
	for _, test := range map[string]struct {
		text string
		code int
		want []string
	}{
		"twice":       {header + a + b + `{"end":{"events":2}}` + "\n", 1, []string{"rule ownership.once", "In generation 1 t/0 was given to a", "a client suffers: two consumers"}},
		"once":        {header + a + `{"end":{"events":1}}` + "\n", 0, []string{"1 claim in 1 generation", "holds: nothing was owned twice; whether anything was left over was not judged"}},
		"cut short":   {header + a, 2, []string{"there is no end line", "not decided"}},
		"too much":    {header + a + `{"event":"topic","at":2,"topic":"t","count":2147483647}` + "\n", 2, []string{"line 3:", "t has 2147483647 partitions, more than 2000000", "not decided"}},
		"nothing":     {header + `{"end":{"events":0}}` + "\n", 2, []string{"nobody owned anything"}},
		"of tomorrow": {strings.Replace(header, "/1", "/9", 1), 64, []string{`its format is "muster-ownership/9"`, "docs/ownership.md"}},
	} {
		file := writeText(t, "ownership.jsonl", test.text)
		doc := filepath.Join(t.TempDir(), "verdict.json")
		muster(t, time.Minute, "check", file, "--json", doc).expect(t, test.code, test.want...)
		holdChecked(t, doc, "ownership", test.code)
	}
	muster(t, time.Minute, "check", "--timeout", "1ns", writeText(t, "ownership.jsonl", header+a+`{"end":{"events":1}}`+"\n")).expect(t, 2, "no verdict within 1ns: raise --timeout")
	muster(t, time.Minute, "explain", "ownership.zombie").expect(t, 0, "A commit of an older generation is refused", "a client suffers")
	muster(t, time.Minute, "explain", "ownership.nothing").expect(t, 64, "no rule of ownership is called ownership.nothing")
}

// TestTellOwnership hands a campaign's findings on, with what did not happen and what could not.
func TestTellOwnership(t *testing.T) {
	told := func(short bool, edit func(*campaign.Consumers)) *verdict.Verdict {
		rule, _ := ownership.FindRule(ownership.Once)
		r := campaign.Consumers{
			Groups: 2, Generations: 9, Claims: 30, Zombies: 4, Rests: 3, Broken: 2, Asked: []consumers.Trigger{consumers.Join, consumers.Leave},
			Triggers: map[consumers.Trigger]int{consumers.Join: 1}, Impossible: map[consumers.Trigger]string{consumers.Match: "no topics"},
			Failures: []campaign.OwnershipFailure{{Rule: rule, Group: "g", Text: "twice", File: "ownership-1.jsonl", Replay: "muster check ownership-1.jsonl"}},
		}
		if edit != nil {
			edit(&r)
		}
		v := verdict.New("v", "kfake", "Kafka", 1)
		v.Linearizability, v.Campaign = &verdict.LinearizabilityCounts{}, &verdict.CampaignCounts{}
		tellOwnership(v, r, true, short)
		v.Finish(verdict.Linearizability)
		return v
	}
	known, err := verdict.ReadKnown(writeText(t, "known.txt", "ownership ownership.once *\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range []*verdict.KnownList{nil, known} {
		v := told(false, nil)
		v.Close(false, list, time.Second)
		found := v.Failures
		if list != nil {
			found = v.Known
		}
		if len(found) != 1 || found[0].Rule != ownership.Once || found[0].Class != "contract" || found[0].Suffers == "" || found[0].Scenario != "ownership-1.jsonl" {
			t.Errorf("known %v: %+v", list != nil, v)
		}
		c := v.Campaign.Consumers
		if c.Claims != 30 || c.Broken != 2 || c.Triggers["member-leaves"] != 0 || c.Triggers["member-joins"] != 1 || c.Skipped["topic-matches"] != "no topics" {
			t.Errorf("counts %+v", c)
		}
		if got := strings.Join(v.Reasons, "\n"); !strings.Contains(got, `ownership: "member-leaves" was to happen`) {
			t.Errorf("reasons %q", got)
		}
		if got := strings.Join(v.Warnings, "\n"); !strings.Contains(got, "1 more times") || !strings.Contains(got, `"topic-matches" does not happen to consumers here: no topics`) {
			t.Errorf("warnings %q", got)
		}
		var table strings.Builder
		if err := v.WriteTable(&table); err != nil || !strings.Contains(table.String(), "2 groups of real consumers, 30 claims in 9 generations, 4 zombies") || !strings.Contains(table.String(), "1 of 2 triggers") {
			t.Errorf("%s%v", table.String(), err)
		}
	}
	if v := told(true, nil); len(v.Reasons) > 0 {
		t.Errorf("a campaign that was cut short has doubts of its own: %v", v.Reasons)
	}
	if v := told(false, func(r *campaign.Consumers) { *r = campaign.Consumers{} }); v.Campaign.Consumers != nil || len(v.Reasons) > 0 {
		t.Errorf("without consumers: %+v", v)
	}
	if _, err := verdict.ReadKnown(writeText(t, "slip.txt", "random ownership.once *\n"), nil); err == nil {
		t.Error("another judge is said to know rules of ownership")
	}
}

// TestCheckInterrupted holds that an interrupt ends the judging of a log that takes long: each of many commits is held against each of many generations.
func TestCheckInterrupted(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString(`{"header":{"format":"muster-ownership/1","target":"t","seed":1,"group":"g","session_ns":1,"calm_ns":1}}` + "\n")
	for n := range 20_000 {
		fmt.Fprintf(&text, `{"event":"assigned","at":%d,"client":"a","member":"A","generation":%d,"partitions":["t/0"]}`+"\n", n, n+1)
	}
	for n := range 200_000 {
		fmt.Fprintf(&text, `{"event":"commit","at":%d,"began":19999,"client":"a","member":"A","generation":20000,"partitions":["t/0"]}`+"\n", 20_000+n)
	}
	fmt.Fprintln(&text, `{"end":{"events":220000}}`)
	run := start(t, command(t, 2*time.Minute, "check", "--timeout", "10m", writeText(t, "ownership.jsonl", text.String())))
	run.stdout.await(t, "who owned what", time.Minute) // it has been read, and is judged
	if err := run.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := run.cmd.Wait()
	var ended *exec.ExitError
	if !errors.As(err, &ended) || ended.ExitCode() != 2 || !strings.Contains(run.stderr.String(), "not decided: interrupted") {
		t.Errorf("%v: %s", err, run.stderr.String())
	}
}
