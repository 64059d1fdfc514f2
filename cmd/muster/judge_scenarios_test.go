package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/internal/verdict"
)

// A scenario that fails and then passes leaves the verdict on a stranger open, and it is said what to do.
func TestUnsteadyScenariosAreTold(t *testing.T) {
	v := verdict.New(version, "127.0.0.1:9092", "", 1)
	v.Scenarios = &verdict.ScenarioCounts{}
	w := &scenarioWatch{judge: &scenarioJudge{}}
	w.tell(v, conformance.Result{Scenario: "session-expires", Status: conformance.Pass, Unsteady: &conformance.Failure{Scenario: "session-expires", Text: "- A: NONE\n+ A: UNKNOWN_MEMBER_ID\n"}})
	v.Finish(verdict.Scenarios)
	v.Close(false, nil, time.Second)
	var table, asJSON bytes.Buffer
	if err := v.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	if err := v.WriteJSON(&asJSON); err != nil {
		t.Fatal(err)
	}
	if v.Result != verdict.Inconclusive || !strings.Contains(table.String(), "session-expires failed at first") || !strings.Contains(table.String(), "+ A: UNKNOWN_MEMBER_ID") || !strings.Contains(table.String(), "muster run session-expires") {
		t.Errorf("table:\n%s", table.String())
	}
	if !strings.Contains(asJSON.String(), `"unsteady": [`) || !strings.Contains(asJSON.String(), `"text": "- A: NONE\n+ A: UNKNOWN_MEMBER_ID\n"`) {
		t.Errorf("JSON:\n%s", asJSON.String())
	}
}

// A failure in the verdict says whose text was seen, as a go test does.
func TestFindingSaysWhoseTextWasSeen(t *testing.T) {
	f := &conformance.Failure{Scenario: "commit-unknown-group", Text: "- A: NONE\n+ A: UNKNOWN_MEMBER_ID\n", Others: []string{"[<4.0]"}, Note: "It failed so once."}
	got := (&scenarioJudge{}).finding(f).Text
	want := f.Text + "\nWhat was seen is the text of [<4.0]: the releases of Kafka for which that holds answer so.\nIt failed so once.\n"
	if got != want || !strings.Contains(f.String(), strings.Split(want, "\n")[3]) {
		t.Errorf("%q, want %q, as in\n%s", got, want, f)
	}
	if f.Others, f.Note = nil, ""; (&scenarioJudge{}).finding(f).Text != f.Text {
		t.Error("something is added where there is nothing to say")
	}
}
