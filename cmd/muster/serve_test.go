package main

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// What is served answers like the target of that name, and an interrupt ends it in order.
func TestServe(t *testing.T) {
	t.Parallel()
	for name, tells := range map[string]string{"kfake": "group.min.session.timeout.ms=10", "impl": "muster-reference-node"} {
		run := start(t, command(t, 2*time.Minute, "serve", name))
		run.stderr.await(t, name+" serves groups at", time.Minute)
		run.stdout.await(t, "\n", time.Minute)
		addr := strings.TrimSpace(run.stdout.String())
		muster(t, time.Minute, "verify", addr, "--dry-run").expect(t, 0, tells, "scenarios on "+addr)
		if _, port, _ := strings.Cut(addr, ":"); port != "" { // it is taken
			muster(t, time.Minute, "serve", name, "--port", port).expect(t, 3, "address already in use")
		}
		run.cmd.Process.Signal(syscall.SIGTERM)
		run.end(t).expect(t, 0)
	}
	muster(t, time.Minute, "serve", "kfaek").expect(t, 64, "do you mean kfake?", "muster kafka start")
	muster(t, time.Minute, "serve", "kfake", "--port", "70000").expect(t, 64, "--port 70000")
}
