package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/google/go-cmp/cmp"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/store"
)

const dir = "kept"

func open(t *testing.T, fs vfs.FS, change ...func(*store.Options)) *store.Disk {
	t.Helper()
	o := store.Options{Dir: dir, FS: fs, Durability: store.Fsync, SyncInterval: time.Hour, CompactAfter: 20, Report: func(err error) { t.Errorf("reported: %v", err) }}
	for _, c := range change {
		c(&o)
	}
	d, err := store.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func as(d store.Durability) func(*store.Options) {
	return func(o *store.Options) { o.Durability = d }
}

func shut(t *testing.T, l store.Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// put waits for the end of a write.
func put(l store.Log, w core.Append) error {
	end := make(chan error, 1)
	l.Append(0, w, func(err error) { end <- err })
	return <-end
}

// loaded is the state that a coordinator has after a load.
func loaded(t *testing.T, l store.Log) string {
	t.Helper()
	var parts [][]core.Record
	if _, err := l.Load(0, func(r []core.Record) error { parts = append(parts, r); return nil }); err != nil {
		t.Fatal(err)
	}
	return state(t, parts...)
}

// after is the state that a crashed file system holds.
func after(t *testing.T, fs vfs.FS, d store.Durability) string {
	t.Helper()
	l := open(t, fs, as(d))
	defer shut(t, l)
	return loaded(t, l)
}

// prefixes are the states after each number of writes.
func prefixes(t *testing.T, writes []core.Append) []string {
	t.Helper()
	states := make([]string, len(writes)+1)
	for n := range states {
		states[n] = state(t, records(writes[:n]))
	}
	return states
}

// At every boundary of a write the machine (fsync) or the process (os) ends: what has been acknowledged is there, and nothing else.
// Compaction goes on meanwhile.
func TestCrashAtEveryAppend(t *testing.T) {
	for _, d := range []store.Durability{store.OS, store.Fsync} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(1, 2))
			kept := vfs.CrashCloneCfg{} // only what has been synced
			if d == store.OS {
				kept = vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rng}
			}
			writes := workload(7, some(50, 1000))
			fs := vfs.NewCrashableMem()
			l := open(t, fs, as(d))
			defer shut(t, l)
			for n, w := range writes {
				if err := put(l, w); err != nil {
					t.Fatal(err)
				}
				if got, want := after(t, fs.CrashClone(kept), d), state(t, records(writes[:n+1])); got != want {
					t.Fatalf("after %d writes and a crash (-want +got):\n%s", n+1, cmp.Diff(lines(want), lines(got)))
				}
			}
		})
	}
}

// The machine ends at any time, with any part of what had not been synced: what is there is a beginning of what was written, with all that was
// acknowledged (fsync) or that had been synced when it was (os).
func TestCrashAnywhere(t *testing.T) {
	for _, d := range []store.Durability{store.OS, store.Fsync} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			writes := workload(11, some(60, 500))
			states := prefixes(t, writes)
			rng := rand.New(rand.NewPCG(3, 4))
			fs := vfs.NewCrashableMem()
			l := open(t, fs, as(d), func(o *store.Options) { o.SyncInterval = time.Millisecond })
			defer shut(t, l)
			var acknowledged atomic.Int64
			for n, w := range writes {
				l.Append(0, w, func(err error) {
					if err != nil {
						t.Error(err)
					}
					acknowledged.Add(1)
				})
				if rng.IntN(3) > 0 {
					continue
				}
				least := int(acknowledged.Load())
				if d == store.OS {
					least = 0
				}
				got := after(t, fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rng}), d)
				if !slices.Contains(states[least:n+2], got) {
					t.Fatalf("%d of %d writes acknowledged, and after a crash there is the state of %d (-1: of none); beside that of all (-want +got):\n%s",
						least, n+1, slices.Index(states, got), cmp.Diff(lines(states[n+1]), lines(got)))
				}
			}
		})
	}
}

func lines(s string) []string { return strings.Split(s, "\n") }

// Who reads, as compaction does, does not wait for a disk that takes its time to sync what others write.
func TestReadDuringSync(t *testing.T) {
	var slow atomic.Bool
	begun, end := make(chan struct{}, 1), make(chan struct{})
	l := open(t, errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if slow.Load() && (op.Kind == errorfs.OpFileSyncData || op.Kind == errorfs.OpFileSync) && strings.HasSuffix(op.Path, ".log") {
			begun <- struct{}{}
			<-end
		}
		return nil
	})), as(store.Fsync))
	defer shut(t, l)
	tombstone := core.Append{Records: []core.Record{{Kind: core.GroupTombstone, Group: "g"}}}
	if err := put(l, tombstone); err != nil {
		t.Fatal(err)
	}
	slow.Store(true)
	written, read := make(chan error, 1), make(chan error, 1)
	l.Append(0, tombstone, func(err error) { written <- err })
	<-begun
	go func() {
		loaded, err := l.Load(0, func([]core.Record) error { return nil })
		if err == nil && loaded.Records == 0 {
			err = errors.New("the first write was not read")
		}
		read <- err
	}()
	select {
	case err := <-read:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it waits for the sync")
	}
	slow.Store(false)
	close(end)
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// Under os, too, a write is safe from the end of the machine once the interval is over.
func TestSyncedInTheBackground(t *testing.T) {
	fs := vfs.NewCrashableMem()
	l := open(t, fs, as(store.OS), func(o *store.Options) { o.SyncInterval = time.Millisecond })
	defer shut(t, l)
	writes := workload(5, 30)
	for _, w := range writes {
		if err := put(l, w); err != nil {
			t.Fatal(err)
		}
	}
	want := state(t, records(writes))
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		if got := after(t, fs.CrashClone(vfs.CrashCloneCfg{}), store.OS); got == want {
			return
		} else if time.Since(begin) > 10*time.Second {
			t.Fatalf("10 s later not all is synced (-want +got):\n%s", cmp.Diff(lines(want), lines(got)))
		}
	}
}

// The last write is torn at every byte: all before it is there, and of it all or nothing.
func TestTornTail(t *testing.T) {
	for _, d := range []store.Durability{store.OS, store.Fsync} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			writes := workload(13, 40)
			last := len(writes) - 1
			for len(writes[last].Records) < 3 { // one that can be half there
				last--
			}
			before, whole := state(t, records(writes[:last])), state(t, records(writes[:last+1]))
			if before == whole {
				t.Fatal("the last write changes nothing: choose another seed")
			}
			fs := vfs.NewCrashableMem()
			l := open(t, fs, as(d), func(o *store.Options) { o.CompactAfter = 1000 })
			defer shut(t, l)
			for _, w := range writes[:last] {
				if err := put(l, w); err != nil {
					t.Fatal(err)
				}
			}
			log := newest(t, fs)
			from := len(contents(t, fs, log))
			if err := put(l, writes[last]); err != nil {
				t.Fatal(err)
			}
			everything := vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))}
			fs = fs.CrashClone(everything)
			if newest(t, fs) != log {
				t.Fatalf("the write went to %s, those before to %s", newest(t, fs), log)
			}
			all := contents(t, fs, log)
			for cut := from; cut <= len(all); cut += 1 + (len(all)-from)/some(40, 1000) {
				torn := fs.CrashClone(everything)
				overwrite(t, torn, log, all[:cut])
				if got := after(t, torn, d); got != before && (got != whole || cut < len(all)-8) {
					t.Fatalf("torn after %d of %d bytes (-without +got):\n%s\n(-with +got):\n%s", cut-from, len(all)-from, cmp.Diff(lines(before), lines(got)), cmp.Diff(lines(whole), lines(got)))
				}
			}
		})
	}
}

// newest is the write-ahead log that is written to.
func newest(t *testing.T, fs vfs.FS) (name string) {
	t.Helper()
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if (strings.HasSuffix(n, ".log") || strings.HasPrefix(n, "journal-")) && n > name {
			name = n
		}
	}
	if name == "" {
		t.Fatalf("no log among %v", names)
	}
	return fs.PathJoin(dir, name)
}

func contents(t *testing.T, fs vfs.FS, name string) []byte {
	t.Helper()
	f, err := fs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return b
}

func overwrite(t *testing.T, fs vfs.FS, name string, b []byte) {
	t.Helper()
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(bytes.Clone(b))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// Memory and disk give the same, whatever the load is split into, and a log that is opened again goes on where it was.
func TestReopened(t *testing.T) {
	writes := workload(17, 200)
	fs := vfs.NewMem()
	memory := store.NewMemory()
	for n := 0; n < len(writes); n += 50 {
		l := open(t, fs)
		for _, w := range writes[n : n+50] {
			if err := errors.Join(put(l, w), put(memory, w)); err != nil {
				t.Fatal(err)
			}
		}
		want := state(t, records(writes[:n+50]))
		if got := loaded(t, l); got != want {
			t.Fatalf("disk, after %d (-want +got):\n%s", n+50, cmp.Diff(lines(want), lines(got)))
		}
		if got := loaded(t, memory); got != want {
			t.Fatalf("memory, after %d (-want +got):\n%s", n+50, cmp.Diff(lines(want), lines(got)))
		}
		shut(t, l)
	}
}

// Partitions are logs of their own.
func TestPartitions(t *testing.T) {
	l := open(t, vfs.NewMem())
	defer shut(t, l)
	for p := range int32(3) {
		end := make(chan error, 1)
		w := core.Append{Records: []core.Record{{Kind: core.GroupTombstone, Group: fmt.Sprint(p)}}}
		l.Append(p, w, func(err error) { end <- err })
		if err := <-end; err != nil {
			t.Fatal(err)
		}
	}
	for p := range int32(3) {
		n, err := l.Load(p, func(r []core.Record) error {
			if r[0].Group != fmt.Sprint(p) {
				t.Errorf("partition %d has group %s", p, r[0].Group)
			}
			return nil
		})
		if err != nil || n.Records != 1 {
			t.Errorf("partition %d: %+v, %v", p, n, err)
		}
	}
}
