package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/google/go-cmp/cmp"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/store"
)

// journals are the files of the journal, in their order.
func journals(t *testing.T, fs vfs.FS) (names []string) {
	t.Helper()
	all, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range all {
		if strings.HasPrefix(n, "journal-") {
			names = append(names, fs.PathJoin(dir, n))
		}
	}
	slices.Sort(names)
	return names
}

func all(o *store.Options) { o.CompactAfter = 1 << 20 }

// The journal grows over many files, and those that are full go. Wherever the process or the machine ends meanwhile, what is there is a beginning of what was written,
// and after the end of the process all that was acknowledged.
func TestJournalTurns(t *testing.T) {
	least := some(400, 2000)
	writes := workload(37, 4*least) // on a machine that is busy the next file comes some writes later
	states := prefixes(t, writes)
	rng := rand.New(rand.NewPCG(5, 6))
	fs := vfs.NewCrashableMem()
	held, let := noTables(fs)        // a full file stays until it has been seen beside the next one
	l := open(t, held, as(store.OS)) // nothing is synced but what has to be before something follows it
	defer shut(t, l)
	defer let()
	first, together := journals(t, fs)[0], 0
	written := 0
	for n, w := range writes {
		if err := put(l, w); err != nil {
			t.Fatal(err)
		}
		written = n + 1
		if len(journals(t, fs)) > 1 {
			if together++; together == 10 {
				let()
			}
		} else if written >= least && together >= 10 {
			break
		} else if rng.IntN(8) > 0 {
			continue
		}
		// The machine ends, is started, and ends again before it has put in order what it found.
		clone := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rng})
		got := after(t, clone, store.OS)
		if !slices.Contains(states[:n+2], got) {
			t.Fatalf("after %d writes and the end of the machine there is no state that there was (-want +got):\n%s", n+1, cmp.Diff(lines(states[n+1]), lines(got)))
		}
		if again := after(t, clone.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rng}), store.OS); again != got {
			t.Fatalf("after %d writes and two ends of the machine (-after the first +after the second):\n%s", n+1, cmp.Diff(lines(got), lines(again)))
		}
		if got := after(t, fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rng}), store.OS); got != states[n+1] {
			t.Fatalf("after %d writes and the end of the process (-want +got):\n%s", n+1, cmp.Diff(lines(states[n+1]), lines(got)))
		}
	}
	if got, want := loaded(t, l), states[written]; got != want {
		t.Errorf("what is loaded without being opened again (-want +got):\n%s", cmp.Diff(lines(want), lines(got)))
	}
	if together < 10 {
		t.Errorf("only after %d writes there was more than one file", together)
	}
	for begin := time.Now(); len(journals(t, fs)) > 1; time.Sleep(time.Millisecond) {
		if time.Since(begin) > 10*time.Second {
			t.Fatalf("10 s later there still are %v", journals(t, fs))
		}
	}
	if journals(t, fs)[0] == first {
		t.Fatal("the first file of the journal is still there")
	}
}

// A folder may change its durability, and what was written is there each time.
func TestDurabilityChanges(t *testing.T) {
	writes := workload(41, 90)
	fs := vfs.NewCrashableMem()
	rng := rand.New(rand.NewPCG(7, 8))
	for n, d := range []store.Durability{store.Fsync, store.OS, store.Fsync, store.OS, store.OS, store.Fsync} {
		l := open(t, fs, as(d))
		if got, want := loaded(t, l), state(t, records(writes[:n*15])); got != want {
			t.Errorf("%s, after %d writes (-want +got):\n%s", d, n*15, cmp.Diff(lines(want), lines(got)))
		}
		for _, w := range writes[n*15 : n*15+15] {
			if err := put(l, w); err != nil {
				t.Fatal(err)
			}
		}
		if n%2 == 0 {
			shut(t, l)
			continue
		}
		crashed := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rng})
		shut(t, l)
		fs = crashed
	}
	if got, want := after(t, fs, store.OS), state(t, records(writes)); got != want {
		t.Errorf("in the end (-want +got):\n%s", cmp.Diff(lines(want), lines(got)))
	}
}

// What an earlier version has written is taken up, and that version does not open the folder any more: it would pass the journal over.
func TestFormerFormat(t *testing.T) {
	writes := workload(43, 10)
	fs := vfs.NewCrashableMem()
	l := open(t, fs, as(store.Fsync)) // Pebble's own log is what that version had under os, too
	for _, w := range writes {
		if err := put(l, w); err != nil {
			t.Fatal(err)
		}
	}
	shut(t, l)
	m, _, err := atomicfs.LocateMarker(fs, dir, "muster-format")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Move("1"); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := after(t, fs, store.OS), state(t, records(writes)); got != want {
		t.Errorf("(-want +got):\n%s", cmp.Diff(lines(want), lines(got)))
	}
	if value, err := atomicfs.ReadMarker(fs, dir, "muster-format"); err != nil || value != "2" {
		t.Errorf("the folder's format is %q, %v", value, err)
	}
}

// Where something is missing in the middle of the journal the folder is damaged, even where nobody knows that it had been synced.
func TestJournalWithAGap(t *testing.T) {
	writes := workload(47, 24)
	fs := vfs.NewCrashableMem()
	rng := rand.New(rand.NewPCG(9, 10))
	everything := vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rng}
	var first string
	for n := 0; n < len(writes); n += 12 { // a file each; it ends before tables are made of them
		held, let := noTables(fs)
		l := open(t, held, as(store.OS), all)
		for _, w := range writes[n : n+12] {
			if err := put(l, w); err != nil {
				t.Fatal(err)
			}
		}
		crashed := fs.CrashClone(everything)
		if n == 0 {
			first = journals(t, crashed)[0]
		}
		let()
		shut(t, l)
		fs = crashed
	}
	kept := journals(t, fs)
	if len(kept) < 2 || kept[0] != first {
		t.Fatalf("there are %v, and no tables: want at least two", kept)
	}
	whole := contents(t, fs, first)
	overwrite(t, fs, first, whole[:len(whole)/2])
	says(t, try(t, fs, store.OS, ""), store.ErrDamaged, dir, fs.PathBase(kept[1])+" goes on with commit 13")
}

// noTables lets Pebble make no tables until they are let go, so that the journal keeps all its files.
func noTables(fs vfs.FS) (held vfs.FS, let func()) {
	gate := make(chan struct{})
	return errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") {
			<-gate
		}
		return nil
	})), sync.OnceFunc(func() { close(gate) })
}

// Whoever commits for himself also commits for those who come meanwhile: all are told, in their order, and nothing is lost.
func TestManyWriters(t *testing.T) {
	fs := vfs.NewCrashableMem()
	l := open(t, fs, as(store.OS), all)
	defer shut(t, l)
	const partitions, each = 8, 200
	ends := make(chan error, partitions)
	for p := range int32(partitions) {
		go func() {
			told := 0
			end := make(chan error, each)
			for n := range each {
				l.Append(p, core.Append{Records: []core.Record{{Kind: core.GroupTombstone, Group: fmt.Sprint(n)}}}, func(err error) {
					if err == nil && told != n {
						err = fmt.Errorf("partition %d: write %d is told after %d others", p, n, told)
					}
					told++
					end <- err
				})
			}
			var err error
			for range each {
				if e := <-end; e != nil {
					err = e
				}
			}
			ends <- err
		}()
	}
	for range partitions {
		if err := <-ends; err != nil {
			t.Error(err)
		}
	}
	again := open(t, fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))}), as(store.OS), all)
	defer shut(t, again)
	for p := range int32(partitions) {
		n := 0
		if _, err := again.Load(p, func(records []core.Record) error {
			for _, r := range records {
				if r.Group != fmt.Sprint(n) {
					return fmt.Errorf("partition %d: %s is where %d should be", p, r.Group, n)
				}
				n++
			}
			return nil
		}); err != nil || n != each {
			t.Errorf("partition %d: %d of %d writes, %v", p, n, each, err)
		}
	}
}

// What looks like a file of the journal and cannot be one is refused where another could not follow it, and left alone where it is not named as they are.
func TestForeignJournal(t *testing.T) {
	writes := workload(3, 5)
	for name, damaged := range map[string]bool{"journal-18446744073709551615": true, "journal-18446744073709551616": false, "journal-7": false, "journal-": false, "journal-x": false} {
		fs := filled(t, store.OS, writes)
		overwrite(t, fs, fs.PathJoin(dir, name), nil)
		err := try(t, fs, store.OS, state(t, records(writes)))
		if damaged {
			says(t, err, store.ErrDamaged, dir, name)
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
