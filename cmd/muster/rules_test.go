package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestRules(t *testing.T) {
	t.Parallel()
	muster(t, time.Minute, "rules", "sync", "--json", "/no/such/folder/rules.json").expect(t, 3, "--json: ", "give a path that can be written")
	muster(t, time.Minute, "rules", "sync.stable").expect(t, 0, "sync.stable.repeats (contract, Kafka 2.4-4.4)", "answered at once with the member's stored assignment", "sync.stable.keeps-timer (quirk, ")
	muster(t, time.Minute, "rules", "sync.unstable").expect(t, 64, `"sync.unstable"`, "muster rules")

	file := filepath.Join(t.TempDir(), "rules.json")
	muster(t, time.Minute, "rules", "--coverage", "--json", file, "sync.preparing").expect(t, 0)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rules []ruleJSON
	if err := json.Unmarshal(text, &rules); err != nil {
		t.Fatal(err)
	}
	if len(rules) != 1 || rules[0].ID != "sync.preparing" || rules[0].Class != "contract" || rules[0].Statement == "" {
		t.Fatalf("%+v", rules)
	}
	for _, release := range []string{"4.3.1", "3.9.2"} {
		cells := rules[0].Cells[release]
		if len(cells) != 1 || cells[0].State != "PreparingRebalance" || cells[0].Outcome != "answer" || cells[0].Explored == 0 || cells[0].Witness == "" {
			t.Errorf("%s: %+v", release, cells)
		}
	}
}
