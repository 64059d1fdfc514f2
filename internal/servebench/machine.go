package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muster-kafka/muster/internal/cputime"
)

// tick is what Linux counts processor time in, for all its programs.
const tick = 10 * time.Millisecond

// spent is the processor time that a process has had; 0 where the system does not tell.
func spent(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return ticks(strings.Fields(rest), 11, 12)
}

// busy is the processor time that everybody on the machine has had.
func busy() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return ticks(strings.Fields(first), 1, 2, 3, 6, 7)
}

func ticks(fields []string, which ...int) (all time.Duration) {
	for _, i := range which {
		if i < len(fields) {
			n, _ := strconv.ParseInt(fields[i], 10, 64)
			all += time.Duration(n) * tick
		}
	}
	return all
}

// own is the processor time of this process and of its children that have ended.
func own() time.Duration { return cputime.Used() + cputime.Children() }

// syncLatency is how long it takes to append 512 bytes to a file and sync it, in the folder that servers have theirs in: the median.
func syncLatency() (time.Duration, error) {
	dir, err := os.MkdirTemp("", "muster-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	f, err := os.Create(filepath.Join(dir, "f"))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	block := make([]byte, 512)
	var took []time.Duration
	for range 200 {
		begun := time.Now()
		if _, err := f.Write(block); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}
