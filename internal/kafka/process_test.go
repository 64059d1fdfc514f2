//go:build unix

package kafka

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// alive says whether a process runs. One that has ended and waits for its parent to notice (as orphans do for a while in a
// container) does not; where there is no /proc it counts as alive until then.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	after := stat[bytes.LastIndexByte(stat, ')')+1:]
	return !bytes.HasPrefix(after, []byte(" Z"))
}

// eventually waits for what another process does.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}

// helperEnv turns this test binary into a program that starts a process with a guard and then waits to be killed.
const helperEnv = "MUSTER_TEST_LAUNCHER"

func TestMain(m *testing.M) {
	dir := os.Getenv(helperEnv)
	if dir == "" {
		os.Exit(m.Run())
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err == nil {
		var p *process
		if p, err = startProcess("/bin/sh", []string{"-c", "trap '' INT TERM HUP; while :; do sleep 1; done"}, dir, log, dir); err == nil {
			fmt.Println(p.pid(), p.guard.cmd.Process.Pid)
			select {}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func launchHelper(t *testing.T) (dir string, cmd *exec.Cmd, pid, guard int) {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "broker-")
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(line, &pid, &guard); err != nil {
		t.Fatal(err)
	}
	if !alive(pid) || !alive(guard) {
		t.Fatalf("process %d and guard %d do not both run", pid, guard)
	}
	return dir, cmd, pid, guard
}

// TestGuard kills the launcher in ways that leave it no chance to clean up.
func TestGuard(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGQUIT} {
		t.Run(sig.String(), func(t *testing.T) {
			dir, cmd, pid, guard := launchHelper(t)
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			eventually(t, "the process is gone", func() bool { return !alive(pid) })
			eventually(t, "the guard is gone", func() bool { return !alive(guard) })
			if _, err := os.Stat(dir); !os.IsNotExist(err) {
				t.Errorf("%s is left: %v", dir, err)
			}
		})
	}
}

// TestKernelEndsTheBroker takes the guard away as well: on Linux the kernel still ends the process with us.
func TestKernelEndsTheBroker(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends a process with its parent")
	}
	_, cmd, pid, guard := launchHelper(t)
	if err := syscall.Kill(guard, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the guard is gone", func() bool { return !alive(guard) })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually(t, "the process is gone", func() bool { return !alive(pid) })
}

// TestTerminate ends a process that obeys SIGTERM, and one that does not.
func TestTerminate(t *testing.T) {
	run := func(script string) *process {
		log, err := os.Create(filepath.Join(t.TempDir(), "log"))
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		p, err := startProcess("/bin/sh", []string{"-c", script}, t.TempDir(), log, "")
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the script has set its trap", func() bool { st, err := os.Stat(log.Name()); return err == nil && st.Size() > 0 })
		return p
	}
	good := run("trap 'exit 143' TERM; echo ready; while :; do sleep 0.01; done")
	if clean, err := good.terminate(context.Background()); err != nil || !clean {
		t.Errorf("an obedient process: clean %v, error %v", clean, err)
	}
	bad := run("trap '' TERM; echo ready; while :; do sleep 0.01; done")
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if clean, err := bad.terminate(ctx); err != nil || clean {
		t.Errorf("a stubborn process: clean %v, error %v", clean, err)
	}
	for _, p := range []*process{good, bad} {
		if alive(p.pid()) {
			t.Errorf("process %d is left", p.pid())
		}
		if clean, err := p.terminate(context.Background()); clean || err != nil {
			t.Errorf("a second time: %v, %v", clean, err)
		}
	}
}
