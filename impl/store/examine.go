package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"
	"github.com/cockroachdb/pebble/v2/wal"
)

// manifestMarker is the marker of Pebble's that says which of its manifests counts.
const manifestMarker = "manifest"

// examine looks for damage before Pebble may write: Pebble drops what it takes for the torn end of a log, passes over a log that is missing, makes an empty folder
// where the marker of its manifest is missing, and removes tables that its manifest does not name. After that what was damaged could not be mended any more.
// It changes nothing.
func (d *Disk) examine(synced uint64) error {
	o := d.options
	names, err := o.FS.List(o.Dir)
	if err != nil {
		return err
	}
	manifest, err := atomicfs.ReadMarker(o.FS, o.Dir, manifestMarker)
	if err != nil {
		return err
	}
	if manifest == "" {
		if synced > 0 || slices.ContainsFunc(names, isContent) {
			return missing("marker." + manifestMarker + ".*, which says which of the files MANIFEST-* counts")
		}
		return nil // a new folder, or one that was being made when the machine ended
	}
	commits, err := d.inTables()
	if err != nil {
		return err
	}
	last := "the tables"
	follow := func(name string) func(uint64) error {
		return func(commit uint64) error {
			if commit > commits+1 {
				return fmt.Errorf("%w: %s goes on with commit %d, and what is before it ends with commit %d in %s: what was between them is missing", ErrDamaged, name, commit, commits, last)
			}
			if commit > commits {
				commits, last = commit, name
			}
			return nil
		}
	}
	if err := d.inLogs(follow); err != nil {
		return err
	}
	j := &journal{fs: o.FS, dir: o.Dir}
	if err := j.list(); err != nil {
		return err
	}
	for _, name := range j.old {
		each := follow(path.Base(name))
		if err := j.read(name, func(commit uint64, _ []byte) error { return each(commit) }); err != nil {
			return err
		}
	}
	return ended(commits, synced, last)
}

// isContent says whether a file is one that there is only once Pebble has made all that belongs to an empty folder.
func isContent(name string) bool {
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".log") || strings.HasPrefix(name, "OPTIONS-") || strings.HasPrefix(name, journalPrefix)
}

func missing(what string) error { return fmt.Errorf("%w: there is no file %s", ErrDamaged, what) }

// ended says whether the end of what had been synced is there.
func ended(commits, synced uint64, last string) error {
	if commits >= synced {
		return nil
	}
	return fmt.Errorf("%w: it ends with commit %d, in %s, and %d had been synced, so its end is lost, or cannot be read (without the files marker.%s.* it is opened all the same, without that end)",
		ErrDamaged, commits, last, synced, syncedMarker)
}

// inTables is the number of the last commit that is in Pebble's tables. What else Pebble cannot do without is looked at on the way.
func (d *Disk) inTables() (commits uint64, err error) {
	settings := func(name string) bool { return strings.HasPrefix(name, "OPTIONS-") }
	logs := func(name string) bool { return strings.HasSuffix(name, ".log") }
	commits, err = d.glance(logs)
	if err == nil {
		return commits, nil
	}
	if _, other := d.glance(func(name string) bool { return logs(name) || settings(name) }); other == nil {
		if desc, peeked := pebble.Peek(d.options.Dir, d.options.FS); peeked == nil {
			return 0, fmt.Errorf("%w: %s has other settings than the folder was made with: %s", ErrDamaged, path.Base(desc.OptionsFilename), firstLine(err))
		}
	}
	return 0, unreadable(err)
}

// glance reads the number without writing anything, and without what is hidden.
func (d *Disk) glance(hidden func(name string) bool) (commits uint64, err error) {
	db, err := pebble.Open(d.options.Dir, &pebble.Options{
		FS: &withoutFS{d.options.FS, hidden}, ReadOnly: true, Lock: d.lock, FormatMajorVersion: pebble.FormatNewest, Logger: silent{},
		CacheSize: 1 << 10, MemTableSize: 64 << 10, // one key is read, and no log: what is usual takes longer to make than all the rest
	})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return number(db, []byte{commitsKey})
}

// inLogs goes through the commits in Pebble's own logs. A log may end anywhere, as its end may not have been synced; then the number of the next commit tells.
func (d *Disk) inLogs(follow func(name string) func(commit uint64) error) error {
	logs, err := wal.Scan(wal.Dir{FS: d.options.FS, Dirname: d.options.Dir})
	if err != nil {
		return err
	}
	for _, l := range logs {
		_, name := l.SegmentLocation(0)
		if err := eachCommit(l, follow(path.Base(name))); err != nil {
			return err
		}
	}
	return nil
}

func eachCommit(l wal.LogicalLog, each func(commit uint64) error) (err error) {
	records := l.OpenForRead()
	defer func() { err = errors.Join(err, records.Close()) }()
	for {
		r, _, err := records.NextRecord()
		var b []byte
		if err == nil {
			b, err = io.ReadAll(r)
		}
		if errors.Is(err, io.EOF) || record.IsInvalidRecord(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, ok := batchrepr.ReadHeader(b); !ok {
			return nil // Pebble says what it thinks of it
		}
		for kinds := batchrepr.Read(b); ; {
			kind, key, value, ok, err := kinds.Next()
			if !ok || err != nil {
				break
			}
			if kind == pebble.InternalKeyKindSet && len(key) == 1 && key[0] == commitsKey && len(value) == 8 {
				if err := each(binary.BigEndian.Uint64(value)); err != nil {
					return err
				}
			}
		}
	}
}

var noTable = regexp.MustCompile(`file (\d+) \(type sstable\) unknown`)

// unreadable says of an error that came while nothing was written whether the folder is damaged. An error of the system is about the machine, unless it is that
// a file is not there.
func unreadable(err error) error {
	var system syscall.Errno
	if errors.As(err, &system) && system != syscall.ENOENT {
		return err
	}
	if err := damaged(err); errors.Is(err, ErrDamaged) {
		return err
	}
	text := firstLine(err)
	if table := noTable.FindStringSubmatch(text); table != nil {
		return missing(table[1] + ".sst, a table")
	}
	return fmt.Errorf("%w: %s", ErrDamaged, text)
}

// mending is what to do about damage.
const mending = "; put a copy of the folder in its place, or move it away to begin without groups"

// mended is an error that says, of damage, what to do about it.
func mended(err error) error {
	if !errors.Is(err, ErrDamaged) || strings.Contains(err.Error(), mending) {
		return err
	}
	return fmt.Errorf("%w%s", err, mending)
}

// firstLine is an error without its stack, and without others that came with it.
func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

// withoutFS is a file system that does not list some files.
type withoutFS struct {
	vfs.FS
	hidden func(name string) bool
}

// List implements vfs.FS.
func (w *withoutFS) List(dir string) ([]string, error) {
	names, err := w.FS.List(dir)
	return slices.DeleteFunc(names, w.hidden), err
}

// Unwrap implements vfs.FS.
func (w *withoutFS) Unwrap() vfs.FS { return w.FS }

// silent is a pebble.Logger that says nothing.
type silent struct{}

// Infof implements pebble.Logger.
func (silent) Infof(string, ...any) {}

// Errorf implements pebble.Logger.
func (silent) Errorf(string, ...any) {}

// Fatalf implements pebble.Logger. What is only read gives no reason for it.
func (silent) Fatalf(string, ...any) {}
