package main

import (
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance"
	"github.com/twmb/franz-go/pkg/kfake"
)

func TestReplay(t *testing.T) {
	i := invocation{open: openOptions{name: "broker:9092", as: "kafka:4.3.1", config: "my client.properties", allowWrites: true, topic: "t"}, strict: true}
	const flags = " --as kafka:4.3.1 --config 'my client.properties' --topic t --allow-writes --strict"
	for got, want := range map[string]string{
		i.scenario(&conformance.Failure{Scenario: "a"}):                     "muster run a --target broker:9092" + flags,
		i.scenario(&conformance.Failure{Scenario: "a", File: "it's/a.txt"}): `muster run 'it'\''s/a.txt' --target broker:9092` + flags,
		i.walk(7): "muster verify broker:9092 --seed 7" + flags,
		invocation{open: openOptions{name: "impl"}}.walk(7): "muster verify impl --seed 7",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestReplayOfOwnFile runs a user's own scenario, which fails, and then what the verdict says to run.
func TestReplayOfOwnFile(t *testing.T) {
	own := writeText(t, "own.txt", "# A scenario.\n# rule: join.new.rebalances\n\nform A range=x\n----\nform: Stable gen=5 leader=A protocol=range members=[A]\n")
	replay := "replay: muster run " + own + " --target impl --strict\n"
	muster(t, time.Minute, "run", own, "--strict").expect(t, 1, replay, "0 passed, 1 failed")
}

// A dry run names what a real one would do, and how long it takes.
func TestDryRunTellsSlow(t *testing.T) {
	muster(t, time.Minute, "verify", "--dry-run").expect(t, 0, "exploration", "random walks for 5s", "linearizability for 10s")
	s := reference(t)
	muster(t, time.Minute, "verify", s.Addr(), "--dry-run").expect(t, 0, "scenarios on "+s.Addr(), "dry run: nothing was judged", "\nskipped, needs other broker settings, profile delay", "delay-all-leave")
	muster(t, time.Minute, "run", "delay-all-leave", "join-parked-removed", "--target", s.Addr(), "--dry-run").expect(t, 0, "1 to run, 1 to skip", "skipped, needs other broker settings")
	slow := muster(t, time.Minute, "verify", s.Addr(), "--dry-run", "--slow")
	slow.expect(t, 0)
	if !regexp.MustCompile(`to skip, about ([5-9]|\d\d)m\d+s\n`).MatchString(slow.stderr) {
		t.Errorf("minutes are not told of:\n%s", slow.stderr)
	}
}

// A scenario that is named runs even if it is slow; one that a folder holds does not.
func TestNamedIsAsked(t *testing.T) {
	const slow = "join-new-timeout"
	folder := filepath.Join("..", "..", "conformance", "scenarios")
	for arg, asked := range map[string]bool{slow: true, filepath.Join(folder, slow+".txt"): true, folder: false} {
		found, err := findScenarios([]string{arg})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range found {
			if s.Name == slow && s.Asked != asked {
				t.Errorf("%s: asked for is %v, want %v", arg, s.Asked, asked)
			}
		}
	}
}

// TestDryRunWritesNothing looks at a cluster that tells none of its settings.
func TestDryRunWritesNothing(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	cluster.Control(func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		switch kmsg.Key(req.Key()) {
		case kmsg.DescribeConfigs:
			return req.ResponseKind(), nil, true
		case kmsg.ApiVersions, kmsg.Metadata:
		default:
			t.Errorf("%s was sent", kmsg.NameForKey(req.Key()))
		}
		return nil, nil, false
	})
	muster(t, time.Minute, "verify", cluster.ListenAddrs()[0], "--dry-run").expect(t, 0, "group.min.session.timeout.ms=6000 (assumed)", "assumed: the broker does not tell it")
	// Where nobody may write, looking is allowed: this fails for the address alone.
	muster(t, time.Minute, "verify", "no-such-host.invalid:9092", "--dry-run").expect(t, 3, "no-such-host.invalid")
	muster(t, time.Minute, "verify", "no-such-host.invalid:9092", "--json", filepath.Join(t.TempDir(), "v.json")).expect(t, 64, "--allow-writes")
}
