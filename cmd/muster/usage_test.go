package main

import (
	"strings"
	"testing"
	"time"
)

func TestWrongUsage(t *testing.T) {
	badVerb := writeText(t, "verb.txt", "# A scenario.\n# rule: join.new.rebalances\n\nfly A\n----\nA: NONE\n")
	badActor := writeText(t, "actor.txt", "# A scenario.\n# rule: join.new.rebalances\n\nheartbeat Z\n----\nZ: NONE\n")
	badKnown := writeText(t, "known.txt", "only two\n")
	badConfig := writeText(t, "client.properties", "security.protocol=NONSENSE\n")
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"unknown command":          {[]string{"judge"}, []string{"unknown command", "muster --help"}},
		"unknown flag":             {[]string{"verify", "--colour"}, []string{"unknown flag", "muster --help"}},
		"too many targets":         {[]string{"verify", "impl", "model"}, []string{"at most 1"}},
		"no target of that name":   {[]string{"verify", "redpanda"}, []string{`"redpanda"`, "HOST:PORT"}},
		"kafka without release":    {[]string{"verify", "kafka:"}, []string{"kafka:4.3.1"}},
		"model of a bad release":   {[]string{"verify", "model:nine"}, []string{"nine"}},
		"as what":                  {[]string{"verify", "model", "--as", "4.3"}, []string{"kafka:4.3.1"}},
		"no budget":                {[]string{"verify", "model", "--budget", "0s"}, []string{"--budget 30s"}},
		"bad budget":               {[]string{"verify", "model", "--budget", "soon"}, []string{"soon"}},
		"bad seed":                 {[]string{"verify", "model", "--seed", "-1"}, []string{"-1"}},
		"bad list of failures":     {[]string{"verify", "model", "--known", badKnown}, []string{"known.txt:1", "judge, rule and scenario"}},
		"no list of failures":      {[]string{"verify", "model", "--known", "/no/such/file"}, []string{"--write-known"}},
		"writes are not allowed":   {[]string{"verify", "192.0.2.1:9092"}, []string{"--allow-writes"}},
		"bad client properties":    {[]string{"verify", "127.0.0.1:1", "--config", badConfig}, []string{"security.protocol"}},
		"no client properties":     {[]string{"verify", "127.0.0.1:1", "--config", "/no/such/file"}, []string{"/no/such/file"}},
		"run nothing":              {[]string{"run"}, []string{"at least 1"}},
		"no such scenario":         {[]string{"run", "no-such-scenario"}, []string{"no-such-scenario", "come with Muster"}},
		"a verb that nobody knows": {[]string{"run", badVerb}, []string{"verb.txt:4", "fly"}},
		"an actor out of nowhere":  {[]string{"run", badActor}, []string{"actor.txt:4", "Z has not joined", "join Z"}},
		"recording a built-in":     {[]string{"run", "join-new-member-id", "--rewrite"}, []string{"give its path"}},
		"no such history":          {[]string{"check", "/no/such/file"}, []string{"/no/such/file"}},
		"no such rule":             {[]string{"explain", "join.the.circus"}, []string{"join.the.circus", "muster explain"}},
		"a setting without value":  {[]string{"kafka", "start", "4.3.1", "--set", "delay"}, []string{"KEY=VALUE"}},
		"cleaning up everything":   {[]string{"cleanup", "127.0.0.1:1", "--prefix", "prod-"}, []string{"muster-"}},
		"cleaning up without name": {[]string{"cleanup", "127.0.0.1:1"}, []string{"prefix"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			muster(t, 30*time.Second, c.args...).expect(t, 64, c.want...)
		})
	}
}

func TestVersionAndExplain(t *testing.T) {
	muster(t, 10*time.Second, "version").expect(t, 0, "muster "+version)
	muster(t, 10*time.Second, "explain", "join.new.rebalances").expect(t, 0, "class: contract", "A member added to a Stable")
	all := muster(t, 10*time.Second, "explain")
	all.expect(t, 0, "heartbeat.completing")
	if n := strings.Count(all.stdout, "\n"); n < 50 {
		t.Errorf("explain lists %d rules", n)
	}
}
