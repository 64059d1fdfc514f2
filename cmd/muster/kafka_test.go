package main

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/muster-kafka/muster/conformance"
	"github.com/muster-kafka/muster/internal/coverage"
	"github.com/muster-kafka/muster/internal/kafka/kafkatest"
)

// needKafka skips a test where no broker can be started, unless the environment says that it has to.
func needKafka(t *testing.T) {
	t.Helper()
	kafkatest.Need(t, "4.3.1")
}

// releasesAtOnce is how many releases are judged side by side, each on two brokers: most of it is waiting.
const releasesAtOnce = 2

// TestKafkaScenarios judges real brokers of the releases in MUSTER_KAFKA_RELEASES: not even a difference is allowed.
func TestKafkaScenarios(t *testing.T) {
	needKafka(t)
	t.Parallel()
	slots := make(chan struct{}, releasesAtOnce)
	releases := strings.Fields(os.Getenv("MUSTER_KAFKA_RELEASES"))
	if len(releases) == 0 {
		releases = []string{"4.3.1"}
	}
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			asJSON := filepath.Join(t.TempDir(), "v.json")
			began := time.Now()
			e := muster(t, 4*time.Minute, "verify", "kafka:"+release, "--strict", "--json", asJSON)
			v := readVerdict(t, asJSON)
			if !onlyTooBusy(v) { // beside other tests the campaign at the end may not come to a verdict
				e.expect(t, 0, "verdict: pass")
			}
			counts := v["scenarios"].(map[string]any)
			t.Logf("Kafka %s: %v in %.1f s", release, counts, time.Since(began).Seconds())
			for _, skip := range v["skipped"].([]any) {
				t.Logf("skipped: %v", skip)
			}
			if run := counts["run"].(float64); run < 40 {
				t.Errorf("only %v scenarios ran", run)
			}
			for _, name := range skippedWitnesses(t, release, v["skipped"].([]any)) {
				t.Errorf("%s was skipped, but the coverage counts it as seen on %s", name, release)
			}
			if n := len(v["differences"].([]any)); n > 0 {
				t.Errorf("%d differences from its own recording", n)
			}
		})
	}
}

// onlyTooBusy says whether all that keeps the run from passing is that its campaign could not be judged.
func onlyTooBusy(v map[string]any) bool {
	return v["verdict"] == "inconclusive" && !slices.ContainsFunc(v["reasons"].([]any), func(r any) bool { return !strings.HasPrefix(r.(string), "linearizability: ") })
}

// skippedWitnesses are the scenarios that docs/coverage.md counts as seen on the release, and a run has left out, but for those that wait for
// minutes.
func skippedWitnesses(t *testing.T, release string, skipped []any) (names []string) {
	if !slices.Contains(coverage.Releases, release) {
		return nil
	}
	scenarios, err := conformance.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	visits, err := coverage.Visits(t.Context(), release, scenarios)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range visits {
		left := slices.ContainsFunc(skipped, func(s any) bool { return s.(map[string]any)["scenario"] == v.Scenario.Name })
		if v.OnBroker && left && v.Scenario.File.Slow == "" {
			names = append(names, v.Scenario.Name)
		}
	}
	return names
}

// deadBroker has ended by itself.
type deadBroker struct{ keeping error }

func (b deadBroker) KeepLog() (string, error) { return "/tmp/kept.log", b.keeping }
func (b deadBroker) WhyEnded() error          { return errors.New("out of memory") }

func TestWhyKafkaEnded(t *testing.T) {
	if err := endedByItself(deadBroker{}, "4.3.1"); !strings.Contains(err.Error(), "its log: /tmp/kept.log") {
		t.Error(err)
	}
	full := errors.New("no space left")
	if err := endedByItself(deadBroker{full}, "4.3.1"); !errors.Is(err, full) || !strings.Contains(err.Error(), "out of memory") || strings.Contains(err.Error(), "kept.log") {
		t.Error(err)
	}
}

// TestJudging holds that the command which kafka start names is one that verify takes.
func TestJudging(t *testing.T) {
	for version, want := range map[string]string{
		"4.3.1":      "muster verify 127.0.0.1:9092 --as kafka:4.3.1",
		"3.9.2+java": "muster verify 127.0.0.1:9092 --as kafka:3.9.2+java",
		"4.4.0-rc1":  "muster verify 127.0.0.1:9092",
	} {
		if got := judging("127.0.0.1:9092", version); got != want {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
	}
}

// TestKafkaStart runs a broker as a user would, and interrupts it: nothing may be left.
func TestKafkaStart(t *testing.T) {
	needKafka(t)
	t.Parallel()
	run := start(t, command(t, 2*time.Minute, "kafka", "start", "4.3.1", "--set", "group.min.session.timeout.ms=100"))
	match := run.stderr.await(t, `serves groups at (\S+) \(process (\d+),`, time.Minute)
	next := run.stderr.await(t, `in another terminal: muster (verify \S+ --as \S+)`, time.Minute)[1]
	muster(t, time.Minute, append(strings.Fields(next), "--dry-run")...).expect(t, 0, "nothing was judged")
	if c, err := net.DialTimeout("tcp", match[1], 5*time.Second); err != nil {
		t.Errorf("the broker is said to serve, but: %v", err)
	} else {
		c.Close()
	}
	run.cmd.Process.Signal(syscall.SIGINT)
	run.end(t).expect(t, 0, match[1])
	if pid, err := strconv.Atoi(match[2]); err != nil || syscall.Kill(pid, 0) == nil {
		t.Errorf("process %s is still there", match[2])
	}
}

// TestKafkaInterrupt interrupts a run on a broker of its own.
func TestKafkaInterrupt(t *testing.T) {
	needKafka(t)
	t.Parallel()
	asJSON := filepath.Join(t.TempDir(), "v.json")
	run := start(t, command(t, 2*time.Minute, "verify", "kafka:4.3.1", "--json", asJSON))
	run.stderr.await(t, `scenarios: \d+ of`, time.Minute)
	run.cmd.Process.Signal(syscall.SIGINT)
	run.end(t).expect(t, 2, "interrupted")
	if v := readVerdict(t, asJSON); v["verdict"] != "inconclusive" {
		t.Errorf("verdict %v", v["verdict"])
	}
}

func TestKafkaNoSuchRelease(t *testing.T) {
	needKafka(t)
	t.Parallel()
	muster(t, 2*time.Minute, "verify", "kafka:4.99.0").expect(t, 3, "was to judge kafka:4.99.0", "known are", "verdict: unavailable")
}

// TestKafkaCampaign kills a broker in the middle of what many clients do. Kafka holds, or the machine is too busy to say so. At night there is time
// for two releases, and for each thing that is done to happen.
func TestKafkaCampaign(t *testing.T) {
	needKafka(t)
	releases, budget := []string{"4.3.1"}, "20s"
	if os.Getenv("MUSTER_NIGHTLY") != "" {
		releases, budget = []string{"4.3.1", "3.9.2"}, "3m"
	}
	for _, release := range releases {
		t.Run(release, func(t *testing.T) { campaignOn(t, "kafka:"+release, budget) })
	}
}

func campaignOn(t *testing.T, target, budget string) {
	asJSON := filepath.Join(t.TempDir(), "v.json")
	run := muster(t, 5*time.Minute, "campaign", target, "--budget", budget, "--seed", "1", "--json", asJSON)
	v := readVerdict(t, asJSON)
	campaign := v["campaign"].(map[string]any)
	if run.code != 0 && run.code != 2 || campaign["illegal"] != 0.0 {
		t.Errorf("exit code %d, %v illegal:\n%s", run.code, campaign["illegal"], run.stdout)
	}
	// The others are too rare for a short time. On a busy machine there is none for two of the three that take seconds of it.
	missing := []string{}
	for _, kind := range []string{"restart", "shutdown", "pause", "delay"} {
		if n, _ := campaign["faults"].(map[string]any)[kind].(float64); n == 0 {
			missing = append(missing, kind)
		}
	}
	if most := map[bool]int{true: 0, false: 2}[os.Getenv("MUSTER_NIGHTLY") != ""]; len(missing) > most || slices.Contains(missing, "delay") {
		t.Errorf("never happened: %v", missing)
	}
	t.Logf("%v", campaign)
}
