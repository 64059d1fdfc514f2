package store_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/muster-kafka/muster/impl/store"
)

const killed = 23 // the seed of what the process that is killed writes

// TestKilledProcess is no test of its own: TestKill runs it as a process. It prints a line for each write that was acknowledged.
func TestKilledProcess(t *testing.T) {
	folder := os.Getenv("MUSTER_TEST_KILLED")
	if folder == "" {
		t.Skip("is run by TestKill")
	}
	l, err := store.Open(store.Options{Dir: folder, Durability: store.Durability(os.Getenv("MUSTER_TEST_DURABILITY")), CompactAfter: 50})
	if err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	for n, w := range workload(killed, 200) {
		if err := put(l, w); err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		fmt.Println(n + 1)
	}
	time.Sleep(time.Minute)
}

// A process is killed at any time: what it had acknowledged is there, whole. Its folder is its own as long as it lives, and free afterwards.
func TestKill(t *testing.T) {
	if raceEnabled {
		t.Skip("has nothing to do with races") // and takes long with the detector
	}
	writes := workload(killed, 200)
	states := prefixes(t, writes)
	for i, d := range []store.Durability{store.OS, store.OS, store.Fsync} {
		t.Run(fmt.Sprint(d, i), func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledProcess$")
			cmd.Env = append(os.Environ(), "MUSTER_TEST_KILLED="+folder, "MUSTER_TEST_DURABILITY="+string(d))
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			acknowledged := 0
			for lines := bufio.NewScanner(out); lines.Scan(); {
				if acknowledged, err = strconv.Atoi(lines.Text()); err != nil {
					t.Errorf("the process says %s", lines.Text())
					break
				}
				if acknowledged == 10 {
					_, err := store.Open(store.Options{Dir: folder})
					says(t, err, store.ErrLocked, folder)
				}
				if acknowledged == 80+30*i {
					_ = cmd.Process.Kill() // what it has printed until it ends is read
				}
			}
			_ = cmd.Wait()
			l := open(t, vfs.Default, as(d), func(o *store.Options) { o.Dir = folder })
			defer shut(t, l)
			got := slices.Index(states, loaded(t, l))
			if got < 0 || !slices.Contains(states[acknowledged:], states[got]) {
				t.Errorf("%d writes were acknowledged; after the kill there is the state of %d (-1: of none)", acknowledged, got)
			}
		})
	}
}
