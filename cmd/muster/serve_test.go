package main

import (
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What is served answers like the target of that name, and an interrupt ends it in order.
func TestServe(t *testing.T) {
	t.Parallel()
	for name, tells := range map[string]string{"kfake": "group.min.session.timeout.ms=10", "impl": "muster-reference-node"} {
		run := start(t, command(t, 2*time.Minute, "serve", name, "--port", "0"))
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
}

// A cluster says where its nodes are, how its groups do, and which faults have not happened.
func TestServeCluster(t *testing.T) {
	t.Parallel()
	file := writeText(t, "faults.txt", "# Two.\ndrop the reply of the 3rd JoinGroup of group g\n")
	run := start(t, command(t, time.Minute, "serve", "--listen", "127.0.0.1:0", "--nodes", "3", "--faults", file, "--admin", "127.0.0.1:0"))
	run.stdout.await(t, "\n", time.Minute)
	if addrs := strings.Split(strings.TrimSpace(run.stdout.String()), ","); len(addrs) != 3 {
		t.Errorf("addresses: %v", addrs)
	}
	at := run.stderr.await(t, `http://(\S+)/metrics`, time.Minute)[1]
	for path, want := range map[string]string{"/metrics": "muster_groups{", "/groups": `"groups": []`, "/faults": `"fits": 0`} {
		resp, err := http.Get("http://" + at + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, want %q in\n%s", path, err, want, text)
		}
	}
	run.cmd.Process.Signal(syscall.SIGINT)
	run.end(t).expect(t, 0, "faults.txt:2: never happened: drop the reply of the 3rd JoinGroup of group g")
}

func TestServeUsage(t *testing.T) {
	t.Parallel()
	bad := writeText(t, "faults.txt", "drop the reply of the 3rd JionGroup of group g\nmove the coordinator at every Heartbeat to node 1\ndorp the reply\nfail the 2th append with NOT_COORDINATOR\n")
	noNode := writeText(t, "faults.txt", "move the coordinator at every Heartbeat to node 1\n")
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--faults", noNode}, []string{"faults.txt:1: there is no node 1"}},
		{[]string{"kfaek"}, []string{"do you mean kfake?", "muster kafka start"}},
		{[]string{"kfake", "--port", "70000"}, []string{"--port 70000"}},
		{[]string{"kfake", "--nodes", "2"}, []string{"--nodes is for the reference"}},
		{[]string{"--nodes", "0"}, []string{"1 to 20"}},
		{[]string{"--listen", "192.0.2.1:9092"}, []string{"only addresses of this machine"}},
		{[]string{"--listen", "0.0.0.0:9092"}, []string{"only addresses of this machine"}},
		{[]string{"--listen", "9092"}, []string{"HOST:PORT"}},
		{[]string{"--admin", ":0"}, []string{"--admin :0"}},
		{[]string{"--faults", "/no/such/file"}, []string{"/no/such/file"}},
		{[]string{"--faults", bad}, []string{"faults.txt:1", "do you mean JoinGroup?", "faults.txt:2: there is no node 1; there is node 0 alone\n", "faults.txt:3", "do you mean drop?", `faults.txt:4: "2th": want 2nd`, "docs/serve.md"}},
	} {
		muster(t, time.Minute, append([]string{"serve"}, c.args...)...).expect(t, 64, c.want...)
	}
}
