package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/google/go-cmp/cmp"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/store"
)

func everything() vfs.CrashCloneCfg {
	return vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))}
}

// inLogsOnly is a folder whose writes are all synced, and all in logs: the process ends before there are tables.
func inLogsOnly(t *testing.T, d store.Durability, writes []core.Append) *vfs.MemFS {
	t.Helper()
	fs := vfs.NewCrashableMem()
	held, let := noTables(fs)
	l := open(t, held, as(d), all, func(o *store.Options) { o.SyncInterval = time.Millisecond })
	defer shut(t, l)
	defer let()
	for _, w := range writes {
		if err := put(l, w); err != nil {
			t.Fatal(err)
		}
	}
	return onceSynced(t, fs, everything(), len(writes))
}

// kinds are the files of a folder by what they are for, and what a refusal says of one that is missing or damaged.
var kinds = []struct {
	name string // of the files, as an expression
	says string // as an expression; empty where a folder does without the file, whatever has become of it
}{
	{`^MANIFEST-`, `MANIFEST-\d+|\d+\.sst|ends with commit`}, // a manifest that is cut off names other tables
	{`^OPTIONS-`, `OPTIONS-\d+ has other settings`},
	{`\.sst$`, `\d+\.sst|file \d+|__consumer_offsets-0 at position`},
	{`\.log$|^journal-`, `\.log goes on with commit|journal-\d+ goes on with commit|ends with commit`},
	{`^marker\.manifest`, `there is no file marker\.manifest`},
	{`^marker\.format-version`, `there is no file marker\.format-version`},
	{`^LOCK$|^marker\.muster-`, ``},
}

// Every file of a folder is removed, emptied, cut off and changed in turn. Nothing that had been synced is lost silently: the folder is refused, says what is damaged
// and what to do, and is left as it was, so that it is whole once the file is put back.
func TestEveryFileDamaged(t *testing.T) {
	const writes = 130
	work := workload(23, writes)
	want := state(t, records(work))
	for _, d := range []store.Durability{store.OS, store.Fsync} {
		logs := inLogsOnly(t, d, work)
		tables := logs.CrashClone(everything())
		for range 2 { // opening makes tables of the logs, and removes them
			if err := try(t, tables, d, want); err != nil {
				t.Fatal(err)
			}
		}
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			refused := map[string]int{}
			for _, fs := range []*vfs.MemFS{logs, tables} {
				names, err := fs.List(dir)
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range names {
					damageEach(t, fs, name, d, want, refused)
				}
			}
			for _, k := range kinds {
				if (k.says == "") != (refused[k.name] == 0) {
					t.Errorf("files %s: refused %d times", k.name, refused[k.name])
				}
			}
		})
	}
}

// damageEach damages one file in all ways, and counts the refusals by the kind of the file.
func damageEach(t *testing.T, fs *vfs.MemFS, name string, d store.Durability, want string, refused map[string]int) {
	at := slices.IndexFunc(kinds, func(k struct{ name, says string }) bool { return regexp.MustCompile(k.name).MatchString(name) })
	if at < 0 {
		t.Errorf("what is %s?", name)
		return
	}
	path := fs.PathJoin(dir, name)
	whole := contents(t, fs, path)
	ways := map[string][]byte{"removed": nil, "emptied": {}, "cut off": whole[:len(whole)/2]}
	for n, most := 0, max(1, some(2, 60)); n < most && len(whole) > 0; n++ {
		b := bytes.Clone(whole)
		b[len(whole)*n/most] ^= 0x10
		ways[fmt.Sprintf("changed at byte %d of %d", len(whole)*n/most, len(whole))] = b
	}
	for way, b := range ways {
		damaged := fs.CrashClone(everything())
		if b == nil {
			if err := damaged.Remove(path); err != nil {
				t.Fatal(err)
			}
		} else {
			overwrite(t, damaged, path, b)
		}
		err := try(t, damaged, d, want)
		if t.Failed() {
			t.Fatalf("%s, %s", name, way)
		}
		if err == nil {
			continue // it is needed no more, or says the same
		}
		refused[kinds[at].name]++
		says(t, err, store.ErrDamaged, dir, "put a copy of the folder in its place, or move it away")
		if !regexp.MustCompile(kinds[at].says).MatchString(err.Error()) {
			t.Errorf("%s, %s: it says %v, and not %s", name, way, err, kinds[at].says)
		}
		overwrite(t, damaged, path, whole)
		if err := try(t, damaged, d, want); err != nil {
			t.Errorf("%s was %s, and put back: %v", name, way, err)
		}
	}
}

// What the machine cannot do is no damage.
func TestUnreadableIsNoDamage(t *testing.T) {
	fs := filled(t, store.OS, workload(23, 5))
	err := try(t, refusing(fs), store.OS, "")
	if err == nil || errors.Is(err, store.ErrDamaged) {
		t.Errorf("a manifest that may not be read gives %v", err)
	}
	if got, want := after(t, fs, store.OS), state(t, records(workload(23, 5))); got != want {
		t.Errorf("afterwards (-want +got):\n%s", cmp.Diff(lines(want), lines(got)))
	}
}

// refusing is a file system that lets nobody read a manifest.
func refusing(fs vfs.FS) vfs.FS {
	return errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpOpen && strings.Contains(op.Path, "MANIFEST-") {
			return syscall.EACCES
		}
		return nil
	}))
}

// Damage that Pebble meets by itself, making tables of tables, ends all writing, and is told as damage, not as a disk that is full.
func TestDamageMetInTheBackground(t *testing.T) {
	work := workload(23, 200)
	want := state(t, records(work))
	fs := filled(t, store.Fsync, work)
	for range 2 { // opening makes tables of the log
		if err := try(t, fs, store.Fsync, want); err != nil {
			t.Fatal(err)
		}
	}
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if strings.HasSuffix(n, ".sst") {
			b := contents(t, fs, fs.PathJoin(dir, n))
			b[len(b)/2] ^= 0x10 // between what opening and writing read
			overwrite(t, fs, fs.PathJoin(dir, n), b)
		}
	}
	told := make(chan error, 100)
	l := open(t, fs, as(store.Fsync), all, func(o *store.Options) { o.Report = func(err error) { told <- err } })
	defer shut(t, l)
	for begin := time.Now(); time.Since(begin) < 30*time.Second; {
		if err := put(l, work[len(work)-1]); err != nil {
			says(t, err, store.ErrDamaged, dir, ".sst", "nothing is written any more", "put a copy of the folder")
			says(t, <-told, store.ErrDamaged, dir, ".sst")
			return
		}
	}
	t.Fatal("after 30 s of writing nobody has met the damage")
}
