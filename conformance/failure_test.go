package conformance

import (
	"os"
	"strings"
	"testing"
)

// TestRemarks holds that a failure says whose text was seen, in the same words for a person and in the file that is kept.
func TestRemarks(t *testing.T) {
	for other, want := range map[string]string{
		"[<4.0]":                     "What was seen is the text of [<4.0]: the releases of Kafka for which that holds answer so.",
		"Kafka 4.3.1":                "What was seen is the text of Kafka 4.3.1.",
		"contract: join.new.timeout": "What was seen is the text of contract: join.new.timeout: who is not Kafka may answer so.",
	} {
		f := Failure{Scenario: "s", Block: 1, Others: []string{other}, Note: "And more."}
		f.save(t.TempDir(), "kfake")
		kept, err := os.ReadFile(f.Artefact)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{f.String(), string(kept), strings.Join(f.Remarks(), "\n")} {
			if !strings.Contains(text, want+"\n") || !strings.Contains(text, "And more.") {
				t.Errorf("%s: %q is missing in:\n%s", other, want, text)
			}
		}
	}
}
