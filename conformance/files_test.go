package conformance_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/model/classic"
)

func scenarios(t *testing.T) []*conformance.Scenario {
	t.Helper()
	all, err := conformance.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestFiles holds the scenario files to the house's form: canonical, every block with a text, rules that exist.
func TestFiles(t *testing.T) {
	all := scenarios(t)
	if len(all) < 40 {
		t.Errorf("only %d scenarios", len(all))
	}
	for _, s := range all {
		src, err := os.ReadFile(s.Path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(src), string(script.Print(s.File))); diff != "" {
			t.Errorf("%s is not canonical:\n%s", s.Path, diff)
		}
		cited := slices.Clone(s.File.Rules)
		for _, b := range s.File.Blocks {
			cited = append(cited, b.Rules...)
			for _, v := range b.Variants {
				if v.Contract != "" {
					cited = append(cited, v.Contract)
				}
				for _, l := range v.Lines {
					if l.Free != "" {
						cited = append(cited, l.Free)
					}
				}
			}
		}
		for _, id := range cited {
			if _, ok := classic.FindRule(id); !ok {
				t.Errorf("%s cites %s, which is no rule", s.Path, id)
			}
		}
	}
}

// unwitnessed are the rules that no scenario shows, with the reason.
var unwitnessed = map[string]string{
	"fetch.unstable.plain":    "one broker alone writes at once: a commit under way is seen on two brokers only",
	"load.epoch":              "one broker alone coordinates every group: judged in process and on two brokers",
	"max-size.load":           "no profile changes a setting between two lives of a broker",
	"commit.topic-id":         "scenarios name topics, and speak the versions that do",
	"join.protocol.duplicate": "such a group is stuck for good and cannot be removed from a broker afterwards",
}

// TestEveryRuleHasAScenario holds that the rules are witnessed by recordings.
func TestEveryRuleHasAScenario(t *testing.T) {
	cited := map[string]bool{}
	for _, s := range scenarios(t) {
		for _, id := range s.File.Rules {
			cited[id] = true
		}
	}
	for _, r := range classic.Rules() {
		reason, excused := unwitnessed[r.ID]
		if !cited[r.ID] && !excused {
			t.Errorf("no scenario cites %s: %s", r.ID, r.Sentence)
		}
		if cited[r.ID] && excused {
			t.Errorf("a scenario cites %s, which is said to have none: %s", r.ID, reason)
		}
	}
}

// TestConventions holds the convention that time passes 20 % or more away from what sessions of 10 s and the like would notice, as far as a
// file shows it: no advance is between 8 s and 12 s on its own.
func TestConventions(t *testing.T) {
	short := regexp.MustCompile(`session=([0-9]+)s\b`)
	for _, s := range scenarios(t) {
		for _, b := range s.File.Blocks {
			for _, c := range b.Commands {
				if m := short.FindStringSubmatch(c.Text); m != nil && len(m[1]) == 1 && m[1] < "6" {
					t.Errorf("%s:%d: brokers with Kafka's defaults refuse sessions below 6 s", s.Path, c.Line)
				}
				if c.Verb == "advance" && (c.Words[0] == "9s" || c.Words[0] == "10s" || c.Words[0] == "11s") {
					t.Errorf("%s:%d: %s is too near to a session of 10 s", s.Path, c.Line, c.Text)
				}
			}
		}
	}
}

// TestLoad reads the same files from the disk.
func TestLoad(t *testing.T) {
	all, err := conformance.Load("scenarios")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(scenarios(t)) {
		t.Errorf("%d scenarios from the disk, %d embedded", len(all), len(scenarios(t)))
	}
	if _, err := conformance.Load(filepath.Join("scenarios", "no-such.txt")); err == nil {
		t.Error("a file that does not exist loads")
	}
	if _, err := conformance.Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "holds no scenario") {
		t.Errorf("an empty folder: %v", err)
	}
}
