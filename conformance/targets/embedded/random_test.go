package embedded_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/lockstep"
	"github.com/muster-kafka/muster/checker/monitor"
	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/conformance/targets/embedded"
)

// traces is a number that stands for all that some walks have done.
func traces(t *testing.T) string {
	t.Helper()
	all := ""
	for seed := range uint64(6 * len(embedded.WalkKinds)) {
		settings, o := embedded.Walk(seed)
		o.Checks, o.Steps, o.Heal, o.Digest = 5, 60, seed%2 == 0, true
		r := lockstep.Rapid(func() checker.Machine { return embedded.NewMachineWith(settings) }, o)
		if r.Err != nil || r.Violation != nil {
			t.Fatal(r.Err, r.Violation)
		}
		all += fmt.Sprintf(" %x", r.Digest)
	}
	return all
}

const inChild = "MUSTER_TRACES"

// The same seed gives the same trace: twice in one process, and in another one.
func TestTheSameSeedGivesTheSameTraces(t *testing.T) {
	first := traces(t)
	if os.Getenv(inChild) != "" {
		fmt.Printf("traces:%s.\n", first)
		return
	}
	if again := traces(t); again != first {
		t.Errorf("in one process:\n%s\n%s", first, again)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), self, "-test.run=^TestTheSameSeedGivesTheSameTraces$", "-test.v")
	child.Env = append(os.Environ(), inChild+"=1")
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	found := regexp.MustCompile(`traces:([^.]*)\.`).FindSubmatch(out)
	if found == nil || string(found[1]) != first {
		t.Errorf("in another process:\n%s\n%s", first, out)
	}
}

// Groups of 30 members that share 8 instance ids, which are more than the specification has room for: the monitors look on, and the clients have
// to get together in the end.
func TestLargeGroups(t *testing.T) {
	for seed := range uint64(4) {
		settings, o := embedded.Walk(4*(2*seed) + 1) // everything
		o.Setup.Groups, o.Setup.Clients, o.Setup.Instances = 1+int(seed%2), 30, 8
		o.Checks, o.Steps, o.Watch, o.Blind, o.Heal = *checks/8, 400, monitor.All(), true, true
		r := lockstep.Rapid(func() checker.Machine { return embedded.NewMachineWith(settings) }, o)
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		if r.Violation != nil {
			t.Errorf("%d: %s", seed, r.Violation.String())
		}
		t.Logf("%d sequences, %d steps, together in %v, Empty in %v", r.Sequences, r.Steps, r.Healed, r.Emptied)
	}
}

// A failure that has been shrunk is a scenario that stands on its own: played on a coordinator that is right, it gives what the one that was
// not should have answered.
func TestShrunkFailuresReplay(t *testing.T) {
	settings, o := embedded.Walk(0)
	o.Checks = 200
	r := lockstep.Rapid(func() checker.Machine {
		d := &double{Broker: embedded.NewMachineWith(settings)}
		heartbeatPasses(22)(d)
		return d
	}, o)
	if r.Violation == nil {
		t.Fatal("not caught", r.Err)
	}
	text := r.Violation.Scenario()
	s, err := conformance.Parse("found.txt", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	tg, err := embedded.New(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	played, err := conformance.NewPlayer(tg).Play(t.Context(), s, conformance.Play{})
	if err != nil || played.Stopped != "" {
		t.Fatalf("%v %s\n%s", err, played.Stopped, text)
	}
	recorded := s.Recorded(played.Texts, "", nil)
	if !strings.HasSuffix(strings.TrimSpace(string(recorded)), "ILLEGAL_GENERATION") {
		t.Errorf("played again:\n%s", recorded)
	}
	if s, err = conformance.Parse("found.txt", recorded); err != nil {
		t.Fatalf("%v\n%s", err, recorded)
	}
	report, err := conformance.Suite{Scenarios: []*conformance.Scenario{s}, Exact: true}.Run(t.Context(), tg, nil)
	if err != nil || report.Count(conformance.Pass) != 1 {
		t.Errorf("%v %v\n%s", err, report.Failures(), recorded)
	}
}
