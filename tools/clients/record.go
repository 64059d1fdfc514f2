package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// record is what was seen of a client, as kept in testdata/seen; docs/clients.md is made of these.
type record struct {
	Version string   `json:"version"`
	Muster  versions `json:"muster"`
	Kafka   versions `json:"kafka"`
	Log     []string `json:"log"`
}

func recordFile(client string) string { return filepath.Join("testdata", "seen", client+".json") }

func readRecord(client string) (*record, error) {
	text, err := os.ReadFile(recordFile(client))
	if err != nil {
		return nil, err
	}
	r := new(record)
	return r, json.Unmarshal(text, r)
}

func (r *record) write(client string) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return err
	}
	// A list of versions on a line.
	return os.WriteFile(recordFile(client), []byte(oneLine.ReplaceAllStringFunc(text.String(), func(s string) string { return strings.Join(strings.Fields(s), " ") })), 0o644)
}

// differences tells what another record says otherwise.
func (r *record) differences(now *record) []string {
	var d []string
	if r.Version != now.Version {
		d = append(d, fmt.Sprintf("version %s, on record %s", now.Version, r.Version))
	}
	for _, side := range []struct {
		name      string
		kept, now versions
	}{{"muster serve", r.Muster, now.Muster}, {"Kafka", r.Kafka, now.Kafka}} {
		if !maps.EqualFunc(side.kept, side.now, slices.Equal) {
			d = append(d, fmt.Sprintf("sends %s %v, on record %v", side.name, side.now, side.kept))
		}
	}
	if a, b := strings.Join(r.Log, "\n"), strings.Join(now.Log, "\n"); a != b {
		d = append(d, fmt.Sprintf("observed\n%s\non record\n%s", b, a))
	}
	return d
}
