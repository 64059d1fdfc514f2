package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"
	"github.com/google/go-cmp/cmp"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/store"
)

// filled is a folder after some writes and the end of the machine, once it is written down that they are synced.
func filled(t *testing.T, d store.Durability, writes []core.Append) *vfs.MemFS {
	t.Helper()
	fs := vfs.NewCrashableMem()
	l := open(t, fs, as(d), func(o *store.Options) { o.SyncInterval, o.CompactAfter = time.Millisecond, 1000 })
	defer shut(t, l)
	for _, w := range writes {
		if err := put(l, w); err != nil {
			t.Fatal(err)
		}
	}
	return onceSynced(t, fs, vfs.CrashCloneCfg{}, len(writes))
}

// onceSynced is a crashed file system once it is written down that so many writes are synced.
func onceSynced(t *testing.T, fs *vfs.MemFS, how vfs.CrashCloneCfg, writes int) *vfs.MemFS {
	t.Helper()
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		crashed := fs.CrashClone(how)
		if value, err := atomicfs.ReadMarker(crashed, dir, "muster-synced"); err != nil {
			t.Fatal(err)
		} else if value == fmt.Sprint(writes) {
			return crashed
		} else if time.Since(begin) > 10*time.Second {
			t.Fatalf("of %d writes %s are said to be synced", writes, value)
		}
	}
}

// try opens and loads; what is loaded has to be whole.
func try(t *testing.T, fs vfs.FS, d store.Durability, want string) error {
	t.Helper()
	l, err := store.Open(store.Options{Dir: dir, FS: fs, Durability: d, SyncInterval: time.Hour})
	if err != nil {
		return err
	}
	defer shut(t, l)
	var parts [][]core.Record
	if _, err := l.Load(0, func(r []core.Record) error { parts = append(parts, r); return nil }); err != nil {
		return err
	}
	if got := state(t, parts...); got != want {
		t.Errorf("something has been lost silently (-want +got):\n%s", cmp.Diff(lines(want), lines(got)))
	}
	return nil
}

func says(t *testing.T, err, kind error, parts ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("error %v, want: %v", err, kind)
		return
	}
	for _, s := range parts {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("error %q does not say %q", err, s)
		}
	}
}

func TestNewerFolder(t *testing.T) {
	for marker, value := range map[string]string{"muster-format": "3", "format-version": "999"} {
		fs := filled(t, store.OS, workload(1, 3))
		m, _, err := atomicfs.LocateMarker(fs, dir, marker)
		if err := errors.Join(err, m.Move(value), m.Close()); err != nil {
			t.Fatal(err)
		}
		says(t, try(t, fs, store.OS, ""), store.ErrNewer, dir, value, "use the Muster that wrote it")
	}
}

func TestLockedFolder(t *testing.T) {
	fs := vfs.NewMem()
	l := open(t, fs)
	says(t, try(t, fs, store.OS, ""), store.ErrLocked, dir, "choose another folder")
	shut(t, l)
	if err := try(t, fs, store.OS, state(t)); err != nil {
		t.Errorf("after it has been closed: %v", err)
	}
}

// A folder that this user may not write to is not one that another process uses.
func TestFolderThatCannotBeWritten(t *testing.T) {
	err := try(t, &unwritable{vfs.NewMem()}, store.OS, "")
	says(t, err, fs.ErrPermission, dir, "cannot be written", "LOCK")
	if errors.Is(err, store.ErrLocked) {
		t.Errorf("error %v", err)
	}
}

type unwritable struct{ vfs.FS }

func (u *unwritable) Lock(name string) (io.Closer, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

// One byte anywhere in the write-ahead log is wrong: nothing is lost silently, not even at its end.
func TestDamagedLog(t *testing.T) {
	for _, d := range []store.Durability{store.OS, store.Fsync} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			writes := workload(19, 25)
			fs := filled(t, d, writes)
			flipped(t, fs, d, state(t, records(writes)), newest(t, fs))
		})
	}
}

// So it is with a table.
func TestDamagedTable(t *testing.T) {
	writes := workload(23, 40)
	want := state(t, records(writes))
	fs := filled(t, store.Fsync, writes)
	for range 2 { // opening makes a table of the log, closing leaves nothing in it
		if err := try(t, fs, store.Fsync, want); err != nil {
			t.Fatal(err)
		}
	}
	names, err := fs.List(dir)
	i := slices.IndexFunc(names, func(n string) bool { return strings.HasSuffix(n, ".sst") })
	if err != nil || i < 0 {
		t.Fatalf("no table among %v, %v", names, err)
	}
	flipped(t, fs, store.Fsync, want, fs.PathJoin(dir, names[i]))
}

func flipped(t *testing.T, fs *vfs.MemFS, d store.Durability, want, name string) {
	t.Helper()
	whole := contents(t, fs, name)
	seen, tried := 0, 0
	for at := 0; at < len(whole); at += 1 + len(whole)/some(50, 5000) {
		tried++
		damaged := fs.CrashClone(vfs.CrashCloneCfg{})
		b := bytes.Clone(whole)
		b[at] ^= 0x10
		overwrite(t, damaged, name, b)
		if err := try(t, damaged, d, want); err != nil {
			seen++
			says(t, err, store.ErrDamaged, dir)
		}
		if t.Failed() {
			t.Fatalf("byte %d of the %d of %s", at, len(whole), name)
		}
	}
	if tried > 20 && seen < tried/2 {
		t.Errorf("of %d wrong bytes %d were seen: the others were not in what is read", tried, seen)
	}
}

// A record whose checksum is wrong is named, where the table that has it looks whole.
func TestDamagedRecord(t *testing.T) {
	writes := workload(29, 10)
	fs := filled(t, store.Fsync, writes)
	position := int64(0)
	for _, w := range writes[:5] {
		position += int64(len(w.Records))
	}
	db, err := pebble.Open(dir, &pebble.Options{FS: fs, FormatMajorVersion: pebble.FormatNewest, Logger: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	key := []byte{'r', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, byte(position)}
	value, closer, err := db.Get(key)
	if err != nil {
		t.Fatal(err)
	}
	value = bytes.Clone(value)
	value[len(value)-3] ^= 1
	if err := errors.Join(closer.Close(), db.Set(key, value, pebble.Sync), db.Close()); err != nil {
		t.Fatal(err)
	}
	says(t, try(t, fs, store.Fsync, ""), store.ErrDamaged, dir, fmt.Sprintf("__consumer_offsets-0 at position %d", position), "crc", "put a copy")
}
