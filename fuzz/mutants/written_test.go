package mutants

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/checker/observe"
	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/model"
	"github.com/muster-kafka/muster/model/classic"
)

// What a coordinator writes no client sees, but whoever takes over from it does. Folder testdata/written keeps what real brokers have written to __consumer_offsets while
// scenarios were played on them, a file a release and a line a scenario: its name, then for each of its groups, in the order in which they come up in the log, the writes.
const writtenFolder = "testdata/written"

// What a write is, in these files.
const (
	writesGroup      = "group"      // a record of the group
	writesGone       = "gone"       // its tombstone
	writesOffsets    = "offsets"    // those of one commit
	writesTxn        = "txn"        // those of one commit of a transaction
	writesTombstones = "tombstones" // of offsets that go together
)

var writesOf = map[classic.RecordKind]string{
	classic.GroupRecord: writesGroup, classic.GroupTombstone: writesGone, classic.OffsetRecords: writesOffsets, classic.TxnOffsetRecords: writesTxn,
	classic.OffsetTombstones: writesTombstones, classic.SomeTombstones: writesTombstones,
}

// writes are those of the groups of a scenario.
type writes struct {
	groups []string // in the order in which they come up
	of     map[string][]string
}

func (w *writes) add(group, what string) {
	if w.of == nil {
		w.of = map[string][]string{}
	}
	if w.of[group] == nil {
		w.groups = append(w.groups, group)
	}
	w.of[group] = append(w.of[group], what)
}

// String is the part of a line behind the name of the scenario.
func (w *writes) String() string {
	var all []string
	for _, g := range w.groups {
		all = append(all, strings.Join(w.of[g], " "))
	}
	return strings.Join(all, " | ")
}

// writer is the specification as a target that keeps what it writes. Groups are left as the scenario leaves them.
type writer struct {
	*model.Target
	now *writes  // of the run under way
	all []string // of all runs that gave the text
}

func (w *writer) Capabilities() target.Capabilities {
	caps := w.Target.Capabilities()
	caps.Fleeting = true
	return caps
}

func (w *writer) Reset(choose func(n int) int) {
	w.now = &writes{}
	w.Target.Reset(choose)
}

func (w *writer) step(s *observe.Step) {
	for _, r := range s.Records {
		w.now.add(s.Group, writesOf[r.Kind])
	}
}

// Ended ends a run.
func (w *writer) Ended(whole bool) {
	if whole {
		w.all = append(w.all, w.now.String())
	}
}

// writtenAs is what the specification of a release writes in a scenario: all that it may write where it gives the text.
func writtenAs(ctx context.Context, tg *model.Target, s *conformance.Scenario) ([]string, error) {
	w := &writer{Target: tg}
	tg.Watch(w.step)
	rep, err := conformance.Suite{Scenarios: []*conformance.Scenario{s}, Hasty: true, OutDir: os.DevNull}.Run(ctx, w, nil)
	if err != nil {
		return nil, err
	}
	if r := rep.Results[0]; r.Status != conformance.Pass {
		return nil, fmt.Errorf("%s on %s: %v %s", s.Name, tg.Name(), r.Status, r.Reason)
	}
	return w.all, nil
}

// logs has the specification write what real brokers have written.
func logs(ctx context.Context) string {
	files, err := filepath.Glob(filepath.Join(writtenFolder, "*.txt"))
	if err != nil || len(files) == 0 {
		return fmt.Sprintf("no logs in %s: %v", writtenFolder, err)
	}
	all, err := conformance.Scenarios()
	if err != nil {
		return err.Error()
	}
	for _, file := range files {
		release := strings.TrimSuffix(filepath.Base(file), ".txt")
		text, err := os.ReadFile(file)
		if err != nil {
			return err.Error()
		}
		tg, err := model.New(model.Options{Name: "model:" + release}, nil)
		if err != nil {
			return err.Error()
		}
		for line := range strings.Lines(string(text)) {
			name, want, ok := strings.Cut(strings.TrimSpace(line), ": ")
			if strings.HasPrefix(line, "#") || !ok {
				continue
			}
			at := slices.IndexFunc(all, func(s *conformance.Scenario) bool { return s.Name == name })
			if at < 0 {
				return fmt.Sprintf("%s is of a scenario that is not there, %s: record it anew", file, name)
			}
			got, err := writtenAs(ctx, tg, all[at])
			if err != nil {
				return err.Error()
			}
			if !slices.Contains(got, want) {
				return fmt.Sprintf("%s: Kafka %s writes %q, the specification %q", name, release, want, got)
			}
		}
		if err := tg.Close(); err != nil {
			return err.Error()
		}
	}
	return ""
}

// The specification writes what real brokers have written.
func TestWritten(t *testing.T) {
	if found := logs(t.Context()); found != "" {
		t.Error(found)
	}
}
