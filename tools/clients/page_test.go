package clients

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// clientsPage is made of what is on record.
const clientsPage = "../../docs/clients.md"

// TestPage holds the page against what is on record. It runs after the clients, so that -update takes what they have written.
func TestPage(t *testing.T) {
	records := map[string]*record{}
	for _, c := range All {
		r, err := readRecord(c.Name)
		if err != nil {
			t.Fatalf("nothing is on record of %s (%v): run the test with -update", c.Name, err)
		}
		records[c.Name] = r
	}
	files, err := filepath.Glob(recordFile("*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !slices.ContainsFunc(All, func(c *Client) bool { return recordFile(c.Name) == file }) {
			t.Errorf("%s is of no client", file)
		}
	}
	text := page(records)
	if *update {
		if err := os.WriteFile(clientsPage, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(clientsPage)
	if err != nil || string(kept) != text {
		t.Errorf("docs/clients.md is stale (%v): run go test -run TestPage -update in tools/clients", err)
	}
}

// onRecord holds what was seen of a client against what is on record.
func onRecord(t *testing.T, c *Client, ours, theirs *program) {
	t.Helper()
	now := &record{Version: theirs.version, Muster: ours.wire.seen, Kafka: theirs.wire.seen, Log: theirs.log}
	if *update {
		if err := now.write(c.Name); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := readRecord(c.Name)
	if err != nil {
		t.Fatalf("nothing is on record of %s (%v): run the test with -update", c.Name, err)
	}
	for _, d := range kept.differences(now) {
		if c.Loose && kept.Version != now.Version {
			t.Logf("on record is another version of %s, so this is no failure: %s", c.Name, d)
			continue
		}
		t.Errorf("%s is not as on record (run the test with -update, and read what changes): %s", c.Name, d)
	}
}

// TestDifferences shows that each part of a record is looked at.
func TestDifferences(t *testing.T) {
	fresh := func() *record {
		return &record{Version: "1", Muster: versions{"JoinGroup": {5, 9}}, Kafka: versions{"JoinGroup": {9}}, Log: []string{"A owns [0]"}}
	}
	if d := fresh().differences(fresh()); len(d) != 0 {
		t.Errorf("the same is different: %q", d)
	}
	for what, change := range map[string]func(*record){
		"version":            func(r *record) { r.Version = "2" },
		"sends muster serve": func(r *record) { r.Muster["JoinGroup"] = []int16{9} },
		"sends Kafka":        func(r *record) { r.Kafka["Fetch"] = []int16{1} },
		"sends Kafka no ":    func(r *record) { delete(r.Kafka, "JoinGroup") },
		"observed":           func(r *record) { r.Log = nil },
	} {
		r := fresh()
		change(r)
		if d := fresh().differences(r); len(d) != 1 || !strings.HasPrefix(d[0], strings.Fields(what)[0]) {
			t.Errorf("%s: %q", what, d)
		}
	}
}
