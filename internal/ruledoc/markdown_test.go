package main

import (
	"os"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/model/classic"
)

func TestRulesPageIsCurrent(t *testing.T) {
	got, err := os.ReadFile("../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != markdown() {
		t.Error("docs/rules.md is not what the registry says: go run ./internal/ruledoc")
	}
}

func TestEveryRuleIsOnThePageOnce(t *testing.T) {
	page, _, _ := strings.Cut(markdown(), "\n## Variation points")
	for _, rule := range classic.Rules() {
		if n := strings.Count(page, "\n| `"+rule.ID+"`"); n != 1 {
			t.Errorf("%s is on the page %d times", rule.ID, n)
		}
	}
}
