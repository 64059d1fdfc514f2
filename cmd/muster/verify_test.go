package main

import (
	"bufio"
	"encoding/xml"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/server"
)

func TestVerifyModelWritesReports(t *testing.T) {
	dir := t.TempDir()
	asJSON, asJUnit := filepath.Join(dir, "v.json"), filepath.Join(dir, "v.xml")
	muster(t, time.Minute, "verify", "model", "--seed", "7", "--json", asJSON, "--junit", asJUnit).
		expect(t, 0, "verdict: pass, exit code 0", "not run on this target")

	v := readVerdict(t, asJSON)
	if v["verdict"] != "pass" || v["target"] != "model" || v["seed"] != 7.0 || v["format"] != 1.0 || v["muster"] != version || v["compared_with"] != "Kafka 4.3.1" {
		t.Errorf("verdict %v", v)
	}
	for _, section := range []string{"exploration", "random", "linearizability"} {
		if value, there := v[section]; !there || value != nil {
			t.Errorf("%s is %v, want null", section, value)
		}
	}
	run := v["scenarios"].(map[string]any)["run"].(float64)
	if covered := v["rules"].(map[string]any)["covered"].(float64); run < 5 || covered < 5 {
		t.Errorf("%v scenarios ran, %v rules were covered", run, covered)
	}
	data, err := os.ReadFile(asJUnit)
	if err != nil {
		t.Fatal(err)
	}
	var suites junit.Testsuites
	if err := xml.Unmarshal(data, &suites); err != nil || suites.Tests < int(run) || suites.Failures != 0 {
		t.Errorf("JUnit: %v, %d tests, %d failures", err, suites.Tests, suites.Failures)
	}
}

// A run of a few scenarios can be had as a file too, which names the rules that it did not put to the test.
func TestRunWritesReports(t *testing.T) {
	dir := t.TempDir()
	asJSON, asJUnit := filepath.Join(dir, "v.json"), filepath.Join(dir, "v.xml")
	ran := muster(t, time.Minute, "run", "commit-fetch", "--json", asJSON, "--junit", asJUnit)
	ran.expect(t, 0, "0 failures, 0 differences; 1 scenario run, 0 skipped\n\nverdict: pass")
	if strings.Contains(ran.stdout, "random walks") || strings.Contains(ran.stdout, "not put to the test:") {
		t.Errorf("one scenario was asked for, and more is told of:\n%s", ran.stdout)
	}
	v := readVerdict(t, asJSON)
	if n := len(v["rules"].(map[string]any)["uncovered"].([]any)); v["verdict"] != "pass" || n < 100 {
		t.Errorf("%d rules are listed: %v", n, v)
	}
	if data, err := os.ReadFile(asJUnit); err != nil || !strings.Contains(string(data), `name="commit-fetch"`) {
		t.Errorf("JUnit: %v\n%s", err, data)
	}
	muster(t, time.Minute, "run", "commit-fetch", "--json", "/no/such/folder/v.json").expect(t, 3, "nothing was judged")
}

// The reference coordinator is no Kafka 3.9.2: taken for one it fails, until a list says that this is known.
func TestKnownFailures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list, asJSON := filepath.Join(dir, "known.txt"), filepath.Join(dir, "v.json")
	failed := muster(t, 2*time.Minute, "verify", "impl+tcp", "--as", "kafka:3.9.2", "--strict", "--budget", "5s", "--write-known", list)
	failed.expect(t, 1, "FAILURE 1", " --target impl+tcp --as kafka:3.9.2 --strict\n", "a client suffers", "begins with - is expected")
	replay := regexp.MustCompile(`replay: muster (.*)`).FindStringSubmatch(failed.stdout)
	muster(t, time.Minute, strings.Fields(replay[1])...).expect(t, 1, "FAILURE 1")
	again := muster(t, 2*time.Minute, "verify", "impl+tcp", "--as", "kafka:3.9.2", "--strict", "--budget", "5s", "--known", list, "--json", asJSON)
	if again.code != 0 && (again.code != 2 || !strings.Contains(again.stdout, "too busy")) { // a machine may be, which is no failure
		t.Errorf("exit code %d: %s", again.code, again.stdout)
	}
	again.expect(t, again.code, "KNOWN FAILURE 1")
	v := readVerdict(t, asJSON)
	if len(v["known"].([]any)) == 0 || len(v["failures"].([]any)) != 0 || (v["verdict"] == "pass") != (again.code == 0) {
		t.Errorf("verdict %v, %d known, failures %v", v["verdict"], len(v["known"].([]any)), v["failures"])
	}
	if lin, _ := v["linearizability"].(map[string]any); lin == nil || lin["histories"].(float64) < 1 {
		t.Errorf("no campaign ended it: %v", v["linearizability"])
	}
}

// TestNobodyHome judges addresses where there is nothing to judge.
func TestNobodyHome(t *testing.T) {
	closed := listen(t, func(net.Conn) {})
	closed.Close()
	for name, c := range map[string]struct {
		address string
		want    []string
	}{
		"nobody listens": {closed.Addr().String(), []string{"nothing answers"}},
		"a web server": {listen(t, func(c net.Conn) {
			bufio.NewReader(c).ReadByte()
			io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
		}).Addr().String(), []string{"does not speak Kafka"}},
		"closes at once":           {listen(t, func(net.Conn) {}).Addr().String(), nil},
		"closes in mid-answer":     {listen(t, func(c net.Conn) { bufio.NewReader(c).ReadByte(); c.Write([]byte{0, 0, 1, 0, 0, 0}) }).Addr().String(), nil},
		"promises two gigabytes":   {listen(t, func(c net.Conn) { c.Write([]byte{0x7f, 0xff, 0xff, 0xff}); io.Copy(io.Discard, c) }).Addr().String(), nil},
		"never answers":            {listen(t, func(c net.Conn) { io.Copy(io.Discard, c) }).Addr().String(), nil},
		"release before its time":  {"kafka:1.1.0", []string{"2.4.0"}},
		"a name that nobody knows": {"no-such-host.invalid:9092", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asJSON := filepath.Join(t.TempDir(), "v.json")
			args := []string{"verify", c.address, "--json", asJSON}
			if strings.Contains(c.address, "invalid") {
				args = append(args, "--allow-writes")
			}
			e := muster(t, time.Minute, args...)
			e.expect(t, 3, append(c.want, "verdict: unavailable", "not judged:")...)
			if v := readVerdict(t, asJSON); v["verdict"] != "unavailable" || len(v["reasons"].([]any)) == 0 {
				t.Errorf("verdict %v", v)
			}
		})
	}
}

// listen serves each connection with serve, then closes it.
func listen(t *testing.T, serve func(net.Conn)) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				c.SetDeadline(time.Now().Add(time.Minute))
				serve(c)
			}()
		}
	}()
	return l
}

func TestNoJava(t *testing.T) {
	cmd := command(t, time.Minute, "verify", "kafka:4.3.1")
	cmd.Env = append(cmd.Env, "PATH="+t.TempDir(), "JAVA_HOME=")
	finish(t, cmd).expect(t, 3, "no Java", "JDK")
}

func TestFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /dev/full")
	}
	muster(t, time.Minute, "verify", "model", "--json", "/dev/full").expect(t, 3, "verdict: pass, exit code 3", "--json", "no space left", "free some space")
	muster(t, time.Minute, "verify", "model", "--json", "/no/such/folder/v.json").expect(t, 3, "nothing was judged")

	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	asJSON := filepath.Join(t.TempDir(), "v.json")
	cmd := command(t, time.Minute, "verify", "model", "--json", asJSON)
	cmd.Stdout = full
	finish(t, cmd).expect(t, 3, "the verdict is pass", "no space left")
	if v := readVerdict(t, asJSON); v["verdict"] != "pass" {
		t.Errorf("the other report is lost: %v", v)
	}
}

// reference starts the reference coordinator as a stranger at an address.
func reference(t *testing.T) *server.Server {
	t.Helper()
	s, err := server.Start(server.Options{
		Settings: core.Settings{MinSessionTimeout: 10 * time.Millisecond, MaxSessionTimeout: 30 * time.Minute},
		Topics:   map[string]int32{"t": 3},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// atWork is what a run writes when it has judged some scenarios; plain lines come every few seconds.
const atWork = `scenarios: ([2-9]|\d\d+) of`

// What had been judged before the target died is still told.
func TestTargetDiesMidway(t *testing.T) {
	t.Parallel()
	s := reference(t)
	asJSON := filepath.Join(t.TempDir(), "v.json")
	run := start(t, command(t, 2*time.Minute, "verify", s.Addr(), "--json", asJSON))
	run.stderr.await(t, atWork, time.Minute)
	s.Close()
	run.end(t).expect(t, 3, "verdict: unavailable", "the target has gone", "muster cleanup "+s.Addr())
	v := readVerdict(t, asJSON)
	if run := v["scenarios"].(map[string]any)["run"].(float64); v["verdict"] != "unavailable" || run < 1 {
		t.Errorf("%v scenarios are told of: %v", run, v)
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	s := reference(t)
	asJSON := filepath.Join(t.TempDir(), "v.json")
	run := start(t, command(t, 2*time.Minute, "verify", s.Addr(), "--json", asJSON))
	run.stderr.await(t, atWork, time.Minute)
	run.cmd.Process.Signal(syscall.SIGINT)
	began := time.Now()
	run.end(t).expect(t, 2, "verdict: inconclusive", "interrupted")
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v to end", took)
	}
	v := readVerdict(t, asJSON)
	if run := v["scenarios"].(map[string]any)["run"].(float64); v["verdict"] != "inconclusive" || run < 1 {
		t.Errorf("%v scenarios are told of: %v", run, v)
	}
}

func TestDryRun(t *testing.T) {
	s := reference(t)
	muster(t, time.Minute, "verify", s.Addr(), "--dry-run").expect(t, 0, "group.min.session.timeout.ms", "scenarios on "+s.Addr(), "begin with muster-")
}

// A stranger that behaves like the reference coordinator passes, at the pace that strangers are spared with: those scenarios suffer first
// in which time runs out.
func TestForeignAddress(t *testing.T) {
	t.Parallel()
	s := reference(t)
	args := []string{"run", "--target", s.Addr(), "commit-fetch", "join-timeout-expels", "session-expires", "session-expires-preparing", "sync-timer-expels", "leave-batch"}
	muster(t, 3*time.Minute, args...).expect(t, 0, "verdict: pass", "6 run, 0 skipped", "group.min.session.timeout.ms")
}
