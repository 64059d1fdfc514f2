package store_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/google/go-cmp/cmp"

	"github.com/muster-kafka/muster/impl/store"
)

// The disk is full from one of the writes on. The write that met it and all later ones are refused, who looks after the machine is told,
// the process lives on, and what was acknowledged is there when there is room again.
func TestDiskFull(t *testing.T) {
	writes := workload(31, 40)
	states := prefixes(t, writes)
	for _, d := range []store.Durability{store.OS, store.Fsync} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			refusals := 0
			for room := int64(0); ; room += 1 + room/int64(some(8, 1000)) {
				mem := vfs.NewCrashableMem()
				var used atomic.Int64
				fs := withRoom(mem, room, &used)
				var told atomic.Int64
				l, err := store.Open(store.Options{Dir: dir, FS: fs, Durability: d, SyncInterval: time.Hour, CompactAfter: 10, Report: func(error) { told.Add(1) }})
				if err != nil {
					if !errors.Is(err, syscall.ENOSPC) {
						t.Fatalf("room for %d: opening says %v", room, err)
					}
					continue
				}
				acknowledged := 0
				for _, w := range writes {
					if err = put(l, w); err != nil {
						break
					}
					acknowledged++
				}
				if err != nil {
					refusals++
					if err := put(l, writes[0]); err == nil {
						t.Fatalf("room for %d: a write after one that failed was kept", room)
					}
					if told.Load() == 0 {
						t.Errorf("room for %d: nobody was told", room)
					}
				}
				closed := l.Close()
				crashed := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
				if got := after(t, crashed, d); !slices.Contains(states[acknowledged:], got) {
					t.Fatalf("room for %d: %d acknowledged, and there is the state of %d (-acknowledged +there):\n%s",
						room, acknowledged, slices.Index(states, got), cmp.Diff(lines(states[acknowledged]), lines(got)))
				}
				if err == nil && closed == nil && used.Load() <= room {
					break // there is room for all
				}
			}
			if refusals < some(5, 30) { // under os a write is one operation of the file system
				t.Errorf("the disk was full while writing only %d times", refusals)
			}
		})
	}
}

// What is opened on a full disk says so, and loses nothing: Pebble alone would try for ever to make tables of what its log has.
func TestOpenWhereDiskIsFull(t *testing.T) {
	for _, d := range []store.Durability{store.OS, store.Fsync} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			mem := vfs.NewCrashableMem()
			l := open(t, mem, func(o *store.Options) { o.Durability = d })
			writes := workload(7, 40)
			states := prefixes(t, writes)
			for _, w := range writes {
				if err := put(l, w); err != nil {
					t.Fatal(err)
				}
			}
			all := vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))}
			left := mem.CrashClone(all)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			for room := int64(0); ; room++ {
				var used atomic.Int64
				mem := left.CrashClone(all)
				fs := withRoom(mem, room, &used)
				l, err := store.Open(store.Options{Dir: dir, FS: fs, Durability: d, SyncInterval: time.Hour, Report: func(err error) {
					if room < 3 {
						t.Errorf("room for %d: told besides: %v", room, err)
					}
				}})
				if err == nil {
					if room < 3 {
						t.Errorf("it opens with room for %d operations", room)
					}
					_ = l.Close()
					return
				}
				if !errors.Is(err, syscall.ENOSPC) {
					t.Fatalf("room for %d: opening says %v", room, err)
				}
				if got, want := after(t, mem, d), states[len(writes)]; got != want {
					t.Fatalf("room for %d: once there is more, this is there (-want +got):\n%s", room, cmp.Diff(lines(want), lines(got)))
				}
			}
		})
	}
}

// withRoom is a disk that is full after so many operations that take room, which it counts.
func withRoom(fs vfs.FS, room int64, used *atomic.Int64) vfs.FS {
	return errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if !takesRoom(op) || used.Add(1) <= room {
			return nil
		}
		return syscall.ENOSPC
	}))
}

// takesRoom are the operations that a full disk refuses. Syncing a folder is not one of them.
func takesRoom(op errorfs.Op) bool {
	switch op.Kind {
	case errorfs.OpCreate, errorfs.OpLink, errorfs.OpRename, errorfs.OpReuseForWrite, errorfs.OpMkdirAll, errorfs.OpFileWrite, errorfs.OpFilePreallocate:
		return true
	case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
		return op.Path != dir
	default:
		return false
	}
}
