package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestWrongUsage(t *testing.T) {
	badVerb := writeText(t, "verb.txt", "# A scenario.\n# rule: join.new.rebalances\n\nfly A\n----\nA: NONE\n")
	badActor := writeText(t, "actor.txt", "# A scenario.\n# rule: join.new.rebalances\n\nheartbeat Z\n----\nZ: NONE\n")
	badArgument := writeText(t, "argument.txt", "# A scenario.\n# rule: join.new.rebalances\n\njoin A range=x sesion=10s\n----\n")
	badHeader := writeText(t, "header.txt", "# A scenario.\n# rule: join.new.rebalance\n\njoin A range=x\n----\n")
	badProfile := writeText(t, "profile.txt", "# A scenario.\n# rule: join.new.rebalances\n# profile: huge\n\njoin A range=x\n----\n")
	goodFile := writeText(t, "good.txt", "# A scenario.\n# rule: join.new.rebalances\n\njoin A range=x\n----\n")
	badRule := writeText(t, "known.txt", "# Mine.\nscenarios join.new.rebalance *\n")
	badScenario := writeText(t, "known.txt", "scenarios join.new.rebalances join-stable-new-member\n")
	register := writeText(t, "register.txt", "join-vote block=1 rule=join.complete.vote kind=bug status=always\n----\nA: NONE\n")
	badKnown := writeText(t, "known.txt", "only two\n")
	badConfig := writeText(t, "client.properties", "security.protocol=NONSENSE\n")
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"unknown command":               {[]string{"judge"}, []string{"unknown command", "muster --help"}},
		"unknown flag":                  {[]string{"verify", "--colour"}, []string{"unknown flag", "muster verify --help"}},
		"too many targets":              {[]string{"verify", "impl", "model"}, []string{"takes one TARGET", "given was: impl model", "muster verify 127.0.0.1:9092"}},
		"one target to compare":         {[]string{"diff", "impl"}, []string{"muster diff takes two targets, A and B", "given was: impl\n", "muster diff kafka:3.9.2 kafka:4.3.1", "see: muster diff --help"}},
		"what takes flags alone":        {[]string{"explore", "core"}, []string{"muster explore takes no arguments", "given was: core\n", "muster explore --run core"}},
		"no command of kafka":           {[]string{"kafka", "4.3.1"}, []string{"takes the command start", "muster kafka start 4.3.1"}},
		"no target of that name":        {[]string{"verify", "redpanda"}, []string{`"redpanda"`, "HOST:PORT"}},
		"kafka without release":         {[]string{"verify", "kafka:"}, []string{"kafka:4.3.1"}},
		"model of a bad release":        {[]string{"verify", "model:nine"}, []string{"nine"}},
		"as what":                       {[]string{"verify", "model", "--as", "4.3"}, []string{"kafka:4.3.1"}},
		"as what, with three dots":      {[]string{"verify", "model", "--as", "kafka:a.b.c"}, []string{"three numbers", "kafka:4.3.1"}},
		"no release to start":           {[]string{"kafka", "start", "4.3"}, []string{"three numbers", "muster kafka start 4.3.1"}},
		"a finding of the doctor":       {[]string{"explain", "doctor.wedged"}, []string{"docs/doctor.md"}},
		"a release as another":          {[]string{"verify", "kafka:4.3.1", "--as", "kafka:3.9.2"}, []string{"leave --as out"}},
		"the latest kafka":              {[]string{"verify", "kafka:latest"}, []string{"three numbers", "kafka:4.3.1"}},
		"half a release":                {[]string{"verify", "kafka:4.3"}, []string{"three numbers", "kafka:4.3.1"}},
		"a dry run that reports":        {[]string{"verify", "model", "--dry-run", "--json", "v.json"}, []string{"--dry-run", "--json"}},
		"a dry run with JUnit":          {[]string{"verify", "model", "--dry-run", "--junit", "v.xml"}, []string{"--dry-run"}},
		"a known rule of old":           {[]string{"verify", "model", "--known", badRule}, []string{"known.txt:2", `"join.new.rebalance"`}},
		"a known scenario of old":       {[]string{"verify", "model", "--known", badScenario}, []string{"known.txt:1", `"join-stable-new-member"`, "muster list"}},
		"nearly a scenario":             {[]string{"run", "join-start-rebalance"}, []string{"do you mean join-starts-rebalance?", "muster list"}},
		"no list":                       {[]string{"list", "zoo"}, []string{`"zoo"`}},
		"a slip in an argument":         {[]string{"run", badArgument}, []string{"argument.txt:4", "session="}},
		"a slip in a rule":              {[]string{"run", badHeader}, []string{"header.txt:2", "join.new.rebalances?"}},
		"a slip in a profile":           {[]string{"run", badProfile}, []string{"profile.txt:3", "default"}},
		"recording a fake":              {[]string{"run", goodFile, "--rewrite", "--target", "kfake"}, []string{"kfake cannot record", "kafka:VERSION"}},
		"a walk is no history":          {[]string{"check", "muster-out/walk-17.txt"}, []string{"muster verify impl --seed 17"}},
		"a text is no history":          {[]string{"check", "join-vote.kfake.txt"}, []string{"muster run join-vote"}},
		"no budget":                     {[]string{"verify", "model", "--budget", "0s"}, []string{"--budget 30s"}},
		"bad budget":                    {[]string{"verify", "model", "--budget", "soon"}, []string{"soon"}},
		"bad seed":                      {[]string{"verify", "model", "--seed", "-1"}, []string{"-1"}},
		"bad list of failures":          {[]string{"verify", "model", "--known", badKnown}, []string{"known.txt:1", "judge, rule and scenario"}},
		"a register as a list":          {[]string{"verify", "model", "--known", register}, []string{"register.txt:1", "LoadRegister", "--write-known"}},
		"security of no address":        {[]string{"verify", "kfake", "--config", badConfig}, []string{"only HOST:PORT", "kfake"}},
		"security of two that are none": {[]string{"diff", "impl", "kfake", "--config", badConfig}, []string{"only HOST:PORT"}},
		"no list of failures":           {[]string{"verify", "model", "--known", "/no/such/file"}, []string{"--write-known"}},
		"writes are not allowed":        {[]string{"verify", "192.0.2.1:9092"}, []string{"--allow-writes"}},
		"bad client properties":         {[]string{"verify", "127.0.0.1:1", "--config", badConfig}, []string{"security.protocol"}},
		"no client properties":          {[]string{"verify", "127.0.0.1:1", "--config", "/no/such/file"}, []string{"/no/such/file"}},
		"run nothing":                   {[]string{"run"}, []string{"takes scenarios", "nothing was given", "muster run --help"}},
		"no such scenario":              {[]string{"run", "no-such-scenario"}, []string{"no-such-scenario", "come with Muster"}},
		"a verb that nobody knows":      {[]string{"run", badVerb}, []string{"verb.txt:4", "fly"}},
		"an actor out of nowhere":       {[]string{"run", badActor}, []string{"actor.txt:4", "Z has not joined", "join Z"}},
		"recording a built-in":          {[]string{"run", "join-new-member-id", "--rewrite"}, []string{"give its path"}},
		"no such history":               {[]string{"check", "/no/such/file"}, []string{"/no/such/file"}},
		"no such rule":                  {[]string{"explain", "join.the.circus"}, []string{"join.the.circus", "muster explain"}},
		"nearly a rule":                 {[]string{"explain", "join.parked.remved"}, []string{"do you mean the rule join.parked.removed"}},
		"explain nearly a scenario":     {[]string{"explain", "join-parked-remved"}, []string{"the scenario join-parked-removed?", "muster list"}},
		"many scenarios":                {[]string{"explain", "join-"}, []string{"scenarios begin so: muster list join-"}},
		"nearly a name":                 {[]string{"list", "comit-fetch"}, []string{"do you mean commit-fetch?"}},
		"nearly a target":               {[]string{"verify", "kfaek"}, []string{"do you mean kfake?"}},
		"check nothing":                 {[]string{"check"}, []string{"FILE of a history", "muster verify or muster campaign leaves one", "there is none in muster-out here", "muster check --help"}},
		"recording with a report":       {[]string{"run", goodFile, "--rewrite", "--target", "kafka:4.3.1", "--json", "v.json"}, []string{"leave --json, --junit and --report out"}},
		"a setting without value":       {[]string{"kafka", "start", "4.3.1", "--set", "delay"}, []string{"KEY=VALUE"}},
		"cleaning up everything":        {[]string{"cleanup", "127.0.0.1:1", "--prefix", "prod-"}, []string{"muster-"}},
		"cleaning up without name":      {[]string{"cleanup", "127.0.0.1:1"}, []string{"prefix"}},
		"cleaning up every run":         {[]string{"cleanup", "127.0.0.1:1", "--prefix", "muster-"}, []string{"one run", "4 hex digits"}},
		"cleaning up no address":        {[]string{"cleanup", "127.0.0.1:x", "--prefix", "muster-0000-"}, []string{"65535"}},
		"a port that cannot be":         {[]string{"verify", "127.0.0.1:99999"}, []string{"65535"}},
		"a port that is no number":      {[]string{"verify", "127.0.0.1:abc"}, []string{"65535"}},
		"port zero":                     {[]string{"run", "join-new-member-id", "--target", "127.0.0.1:0"}, []string{"65535"}},
		"a doctor's port":               {[]string{"doctor", "127.0.0.1:99999"}, []string{"65535"}},
		"a release yet to come":         {[]string{"verify", "model:9.9.9"}, []string{"9.9.9", "4.4"}},
		"a pair that there is not":      {[]string{"pairs", "--only", "sync-timers"}, []string{"--only sync-timers", "no such pair", "heartbeat-completing", "sync-timer,"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			muster(t, 30*time.Second, c.args...).expect(t, 64, c.want...)
		})
	}
}

// TestExplainScenario holds that a scenario's prose, rules, needs, sources, command and text are told, of one's own file too.
func TestExplainScenario(t *testing.T) {
	muster(t, 10*time.Second, "explain", "commit-unknown-group").expect(t, 0,
		"A zombie of a group that is gone must not write offsets", "commit.group.unknown.code (compat): OffsetCommit with a generation",
		"recorded from: Kafka 4.3.1\n    with another text: [<4.0] the Scala coordinator", "file: conformance/scenarios/commit-unknown-group.txt",
		"run it: muster run commit-unknown-group --target TARGET\n", "    commit - t/0=5 member=stranger gen=5\n")
	muster(t, 10*time.Second, "explain", "max-size-empty").expect(t, 0, "needs: other broker settings, profile size (group.max.size=2): only where")
	muster(t, 10*time.Second, "explain", "join-new-timeout").expect(t, 0, "runs only when asked for")
	own := writeText(t, "own.txt", "# Mine.\n# rule: join.new.rebalances\n# requires: static\n\njoin A range=x\n----\n")
	muster(t, 10*time.Second, "explain", own).expect(t, 0, "own\n  Mine.\n", "needs: static members (group.instance.id)\n", "run it: muster run "+own+" --target TARGET\n")
}

// TestCheckNothing holds that the histories which a run left are named.
func TestCheckNothing(t *testing.T) {
	cmd := command(t, 10*time.Second, "check")
	if err := os.Mkdir(filepath.Join(cmd.Dir, outDir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cmd.Dir, outDir, "history-7.jsonl"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	finish(t, cmd).expect(t, 64, "here there is:\n  muster check muster-out/history-7.jsonl\n")
}

func TestVersionAndExplain(t *testing.T) {
	muster(t, 10*time.Second, "version").expect(t, 0, "muster "+version)
	muster(t, 10*time.Second, "--version").expect(t, 0, "muster "+version)
	muster(t, 10*time.Second, "explain", "join.new.rebalances").expect(t, 0, "class: contract", "A member added to a Stable", "recorded from Kafka 4.3.1 in: join-starts-rebalance", "muster run join-starts-rebalance --target")
	muster(t, 10*time.Second, "list", "join-starts").expect(t, 0, "A newcomer starts a rebalance", "rules: join.new.rebalances")
	all := muster(t, 10*time.Second, "explain")
	all.expect(t, 0, "heartbeat.completing")
	if n := strings.Count(all.stdout, "\n"); n < 50 {
		t.Errorf("explain lists %d rules", n)
	}
}
