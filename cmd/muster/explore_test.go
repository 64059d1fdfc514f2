package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/muster-kafka/muster/checker/runs"
)

func TestExploreList(t *testing.T) {
	t.Parallel()
	e := muster(t, 20*time.Second, "explore", "--list")
	e.expect(t, 0)
	for _, r := range runs.All() {
		if !regexp.MustCompile(`(?m)^  ` + regexp.QuoteMeta(r.Name) + ` +\d+ +(\d+ +\d+ +\d+|not known).* ` + regexp.QuoteMeta(r.For) + `$`).MatchString(e.stdout) {
			t.Errorf("the list does not tell of %q:\n%s", r.Name, e.stdout)
		}
	}
}

func TestExploreWrongUsage(t *testing.T) {
	other := writeText(t, "other.txt", "something else\n")
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"no such run":            {[]string{"--run", "cores"}, []string{"cores", "crash-pairs", "muster explore --list"}},
		"no such property":       {[]string{"--run", "offsets", "--property", "cores"}, []string{"cores", "muster explore --run 'offsets' --list shows all"}},
		"nearly a property":      {[]string{"--run", "offsets", "--property", "Invariant i2"}, []string{"do you mean one of these?\n  invariant I2: "}},
		"no such event":          {[]string{"--run", "offsets", "--without", "Hart"}, []string{"Hart", "Heartbeat, LeaveGroup"}},
		"no such coordinator":    {[]string{"--profile", "9.9.9"}, []string{"9.9.9", "Java, Scala, contract"}},
		"until when":             {[]string{"--until", "soon"}, []string{"states=100000", "10m"}},
		"until no state":         {[]string{"--until", "states=0"}, []string{"states=100000"}},
		"so many members":        {[]string{"--run", "core", "--members", "8"}, []string{"1 to 7"}},
		"no members":             {[]string{"--run", "core", "--members", "0"}, []string{"--members 0", "1 to 7"}},
		"members of what":        {[]string{"--members", "3"}, []string{"--run", "crash-pairs"}},
		"a run of the night":     {[]string{"--night", "--run", "core"}, []string{"leave --run out"}},
		"more than the memory":   {[]string{"--run", "core, 4 members", "--max-memory", "20MiB"}, []string{"128878 states", "60 bytes each", "20 MiB are allowed", "--until states=N"}},
		"a bound beyond it":      {[]string{"--run", "core", "--members", "6", "--until", "states=1000000000", "--max-memory", "1GiB"}, []string{"may reach 1000000000 states", "1024 MiB are allowed"}},
		"how much memory":        {[]string{"--max-memory", "much"}, []string{"800MiB"}},
		"no checkpoint":          {[]string{"--resume", "/no/such/file"}, []string{"/no/such/file"}},
		"some other file":        {[]string{"--resume", other}, []string{"other.txt is no checkpoint"}},
		"two runs at once":       {[]string{"--resume", other, "--run", "core"}, []string{"leave --run"}},
		"one file for many runs": {[]string{"--run", "limits", "--checkpoint", "c"}, []string{"for one run"}},
		"a file in no folder":    {[]string{"--run", "core, 3 members", "--checkpoint", "no/such/c"}, []string{"there is no folder no/such", "nothing was explored"}},
		"a file of another kind": {[]string{"--run", "core, 3 members", "--checkpoint", other}, []string{"is no checkpoint", "nothing was explored"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			muster(t, 30*time.Second, append([]string{"explore"}, c.args...)...).expect(t, 64, c.want...)
		})
	}
}

func TestExploreHolds(t *testing.T) {
	t.Parallel()
	asJSON := filepath.Join(t.TempDir(), "v.json")
	e := muster(t, time.Minute, "explore", "--run", "3 static members", "--run", "2 static clients", "--workers", "1", "--json", asJSON)
	e.expect(t, 0, "3 static members   1126     263327", "verdict: pass, exit code 0")
	if !regexp.MustCompile(`3 static members: \d+ states, \d+ states/s, \d+ transitions/s, depth \d+, frontier \d+, \d+ MiB`).MatchString(e.stderr) {
		t.Errorf("progress: %q", e.stderr)
	}
	muster(t, time.Minute, "explore", "--run", "crash-pairs", "--members", "1").expect(t, 0, "crash-pairs, 1 member", "compared with nothing")
	v := readVerdict(t, asJSON)["exploration"].(map[string]any)
	all := v["runs"].([]any)
	if v["complete"] != true || v["states"] != 1126.0+3302 || len(all) != 2 || all[0].(map[string]any)["depth"] != 12.0 {
		t.Errorf("%v", v)
	}
}

// What is broken is told with its trace, and as a scenario that holds on the specification; its own command is the next one. What clients cannot
// do is untimed, and says why.
func TestExploreFinds(t *testing.T) {
	t.Parallel()
	cmd := command(t, time.Minute, "explore", "--run", "2 members, write in flight", "--broken", "sync.parked.aborted")
	e := finish(t, cmd)
	e.expect(t, 1, "FAILURE 1", "broken: waiting SyncGroups are answered with an error when their generation ends", "3. JoinGroup of A", "verdict: fail, exit code 1", "untimed: another timer fires first")
	file := regexp.MustCompile(`scenario: (\S+sync\.parked\.aborted\.txt)`).FindStringSubmatch(e.stdout)
	if file == nil || !strings.Contains(e.stdout, "replay: muster run "+file[1]+" --target kafka:4.3.1\n") {
		t.Fatalf("no scenario and its command in\n%s", e.stdout)
	}
	if text, err := os.ReadFile(filepath.Join(cmd.Dir, file[1])); err != nil || !strings.Contains(string(text), "# rule: sync.parked.aborted") {
		t.Errorf("%v:\n%s", err, text)
	}
	for _, target := range []string{"model", "impl"} {
		again := command(t, time.Minute, "run", file[1], "--target", target)
		again.Dir = cmd.Dir
		finish(t, again).expect(t, 0)
	}
}

// The reference coordinator is explored beside the specification: where the one breaks a rule, the other contradicts it. What it finds is a scenario
// whose expected text a broker has to write.
func TestExploreBeside(t *testing.T) {
	t.Parallel()
	muster(t, time.Minute, "explore", "--run", "joint-lists", "--members", "1").
		expect(t, 0, "judged the reference coordinator against the specification", "joint-lists, 1 member", "compared with nothing", "verdict: pass")
	cmd := command(t, time.Minute, "explore", "--run", "joint-lists", "--members", "1", "--broken", "heartbeat.generation.illegal", "--property", "Heartbeat")
	e := finish(t, cmd)
	e.expect(t, 1, "broken: the answer to Heartbeat (rule heartbeat.generation.illegal)", "expected: NONE", "got: ILLEGAL_GENERATION")
	file := regexp.MustCompile(`replay: muster run --rewrite --target kafka:4.3.1 (\S+) && muster run --target impl (\S+)`).FindStringSubmatch(e.stdout)
	if file == nil || file[1] != file[2] {
		t.Fatalf("no scenario and its command in\n%s", e.stdout)
	}
	if text, err := os.ReadFile(filepath.Join(cmd.Dir, file[1])); err != nil || !strings.Contains(string(text), "# rule: heartbeat.generation.illegal\n") {
		t.Errorf("%v:\n%s", err, text)
	}
	muster(t, time.Minute, "explore", "--run", "joint-lists", "--members", "1", "--broken", "sync.write.fails").expect(t, 1, "untimed: a write takes its time")
	muster(t, time.Minute, "explore", "--run", "joint-lists", "--members", "1", "--until", "states=5").expect(t, 2, "not complete", "a joint run has to be made anew")
}

func TestExploreOfClientsIsUntimed(t *testing.T) {
	t.Parallel()
	muster(t, time.Minute, "explore", "--run", "failover, one static client", "--broken", "join.complete.timeout").
		expect(t, 1, "untimed: what clients know is not told as a scenario", "replay: muster explore --run 'failover, one static client' --broken join.complete.timeout")
}

// A run that is interrupted says how to go on, and ends as if nothing had been: with the numbers of a whole one, which are known.
func TestExploreInterrupted(t *testing.T) {
	t.Parallel()
	found, err := runs.Find("3 clients", 0)
	if err != nil {
		t.Fatal(err)
	}
	known, _ := found[0].Known()
	whole := fmt.Sprintf("3 clients %d %d %d holds", known.States, known.Transitions, known.Depth)
	cmd := command(t, time.Minute, "explore", "--run", "3 clients", "--run", "offsets")
	run := start(t, cmd)
	run.stderr.await(t, "3 clients: ", time.Minute)
	if err := run.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	e := run.end(t)
	e.expect(t, 2, "3 clients: not complete: ", "frontier ", "offsets: not begun", "verdict: inconclusive, exit code 2")
	resume := regexp.MustCompile(`go on with: muster (explore --resume (\S+))`).FindStringSubmatch(e.stdout)
	if resume == nil {
		t.Fatalf("it does not say how to go on:\n%s", e.stdout)
	}
	left := filepath.Join(cmd.Dir, resume[2])
	if again := readExplored(t, "explore", "--resume", left); again != whole {
		t.Errorf("resumed it ends with %q, in one go with %q", again, whole)
	}
	muster(t, time.Minute, "explore", "--resume", left, "--until", "states=60000").expect(t, 2, "more than 60000 states", "go on with: muster explore --resume "+left)
}

// readExplored makes the one run of a command and returns its numbers.
func readExplored(t *testing.T, args ...string) string {
	t.Helper()
	asJSON := filepath.Join(t.TempDir(), "v.json")
	e := muster(t, 2*time.Minute, append(args, "--json", asJSON)...)
	e.expect(t, 0)
	readVerdict(t, asJSON)
	for _, line := range strings.Split(e.stdout, "\n") {
		if f := strings.Fields(line); len(f) > 5 && f[0] != "RUN" && f[0] != "muster" {
			return strings.Join(append(f[:len(f)-2:len(f)-2], f[len(f)-1]), " ") // without the seconds
		}
	}
	t.Fatalf("no run in\n%s", e.stdout)
	return ""
}

func TestExploreBounds(t *testing.T) {
	t.Parallel()
	muster(t, time.Minute, "explore", "--run", "core", "--members", "6", "--until", "1s").expect(t, 2, "core, 6 members: not complete: ", "--until 1s is over")
	muster(t, time.Minute, "explore", "--run", "core", "--members", "6", "--max-memory", "12MiB", "--until", "45s").expect(t, 2, "more than 12 MiB of memory")
	cmd := command(t, time.Minute, "explore", "--run", "core, 4 members", "--until", "states=500", "--checkpoint", "here")
	finish(t, cmd).expect(t, 2, "more than 500 states", "muster explore --resume here")
	if _, err := os.Stat(filepath.Join(cmd.Dir, "here")); err != nil {
		t.Error(err)
	}
	in := func(args ...string) ended {
		again := command(t, time.Minute, append([]string{"explore", "--checkpoint", "here"}, args...)...)
		again.Dir = cmd.Dir
		return finish(t, again)
	}
	e := in("--run", "core, 4 members", "--until", "states=50")
	e.expect(t, 2, "an earlier attempt at this run came further", "kept in place of this one's; go on with: muster explore --resume here")
	if !strings.Contains(e.stderr, "here is there, from an earlier attempt") {
		t.Errorf("before it begins it does not tell of what is there: %s", e.stderr)
	}
	in("--run", "core, 3 members").expect(t, 64, `the checkpoint of another run, "core, 4 members"`, "nothing was explored")
	in("--run", "joint-lists, 2 members").expect(t, 64, "leaves no checkpoint")
}

func TestBytes(t *testing.T) {
	for text, want := range map[string]bytesValue{"800MiB": 800 << 20, "1.5GiB": 3 << 29, "64KiB": 64 << 10} {
		var v bytesValue
		if err := v.Set(text); err != nil || v != want {
			t.Errorf("%s is %d (%v), want %d", text, v, err, want)
		}
	}
	for _, text := range []string{"", "12", "GiB", "-1GiB", "0MiB", "1e30TiB", "12GB"} {
		var v bytesValue
		if err := v.Set(text); err == nil {
			t.Errorf("%q is %d", text, v)
		}
	}
	if n, err := defaultMemory(); err != nil || n < 64<<20 {
		t.Errorf("this machine has room for %d bytes (%v)", n, err)
	}
}
