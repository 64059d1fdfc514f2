package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"

	"github.com/muster-kafka/muster/impl/record"
)

// Durability says what a write has come through when its end is told.
type Durability string

// The durabilities.
const (
	// OS is Kafka's own: it is with the operating system, so the end of the process does it no harm; it is synced to the disk within
	// Options.SyncInterval.
	OS Durability = "os"
	// Fsync is synced to the disk: the end of the machine does it no harm either.
	Fsync Durability = "fsync"
)

// Options are the settings of a Disk. Only Dir is needed.
type Options struct {
	Dir          string        // the folder, made if need be
	Durability   Durability    // OS by default
	SyncInterval time.Duration // how long a write is at most without being synced under OS; 1 s by default
	CompactAfter int           // how many records are appended to a partition before it is first compacted; 10,000 by default
	FS           vfs.FS        // the file system; the machine's by default

	// Report is told when writes begin to fail, and of compactions that have failed. It is called from several goroutines.
	Report func(error)
}

func (o Options) withDefaults() Options {
	if o.Durability == "" {
		o.Durability = OS
	}
	if o.SyncInterval <= 0 {
		o.SyncInterval = time.Second
	}
	if o.CompactAfter <= 0 {
		o.CompactAfter = 10_000
	}
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.Report == nil {
		o.Report = func(error) {}
	}
	return o
}

// What Open and Load may fail with.
var (
	ErrLocked  = errors.New("another process uses the data folder")
	ErrNewer   = errors.New("the data folder is of a newer version")
	ErrDamaged = errors.New("the data folder is damaged")
	errClosed  = errors.New("the log has been closed")
)

// format is the version of what is in a folder: how records have their place in pebble, and, since 2, that a journal may be beside it. A later one is not opened.
const format = 2

// memTableSize is how much pebble writes to its log before it makes a table of it. Tests have it small, so that they see tables.
var memTableSize uint64 = 64 << 20

// The names of the folder's markers.
const (
	pebbleMarker = "format-version" // pebble's own version
	formatMarker = "muster-format"  // the version
	syncedMarker = "muster-synced"  // how many commits are known to be synced
)

// Disk is a Log in a folder, on pebble. Many writes become one commit, and one sync.
type Disk struct {
	options Options
	db      *pebble.DB
	lock    *pebble.Lock
	synced  *atomicfs.Marker
	work    sync.WaitGroup
	quit    chan struct{}

	committing sync.Mutex    // held by who commits
	journal    *journal      // what is written before Pebble is told, under OS; else nil
	ahead      *pebble.Batch // what is in the journal and Pebble has not been told yet
	own        [1]pending    // of who commits by himself
	records    record.Writer // of a write that is being put into a batch, as key and value
	key, value []byte

	mu         sync.Mutex // is not held by who waits for committing
	wake       sync.Cond  // of the writer: there is something to do
	queue      []pending
	inline     bool // somebody commits by himself, and will look at the queue
	turning    bool // a new file of the journal is being made, or the old ones are about to go
	partitions map[int32]*partition
	commits    uint64 // that have been made in all the folder's life
	failed     error  // since when nothing is written any more
	closed     bool
}

// Open opens a folder, or makes a new one.
func Open(o Options) (*Disk, error) {
	o = o.withDefaults()
	if o.Durability != OS && o.Durability != Fsync {
		return nil, fmt.Errorf("durability %q: want %q or %q", o.Durability, OS, Fsync)
	}
	if err := o.FS.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	lock, err := lock(o)
	if err != nil {
		return nil, err
	}
	d := &Disk{options: o, lock: lock, quit: make(chan struct{}), partitions: map[int32]*partition{}}
	d.wake.L = &d.mu
	if err := d.open(); err != nil {
		if d.failure() == nil { // which names the folder
			err = fmt.Errorf("%s: %w", o.Dir, mended(err))
		}
		return nil, errors.Join(err, lock.Close())
	}
	if d.journal != nil {
		d.turning = true
		d.work.Go(d.dropOld)
	}
	d.work.Go(d.write)
	d.work.Go(d.syncNowAndThen)
	return d, nil
}

// lock keeps other processes away from the folder.
func lock(o Options) (*pebble.Lock, error) {
	l, err := pebble.LockDirectory(o.Dir, o.FS)
	var file *fs.PathError // of the lock's own file
	switch {
	case errors.As(err, &file):
		return nil, fmt.Errorf("%s: cannot be written: %w; it has to be a folder that this user may write to", o.Dir, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %w; end that one, or choose another folder", o.Dir, ErrLocked, err)
	}
	return l, nil
}

func (d *Disk) open() error {
	if err := d.checkFormat(); err != nil {
		return err
	}
	synced, err := d.openSynced()
	if err != nil {
		return err
	}
	if err := d.examine(synced); err != nil {
		return err
	}
	opening := &openingFS{FS: d.options.FS, failed: func(err error) { _ = d.giveUp(err) }} // who opens is told
	d.db, err = pebble.Open(d.options.Dir, &pebble.Options{
		FS: &walFS{FS: opening, failed: d.fail}, DisableWAL: d.options.Durability == OS, Lock: d.lock,
		FormatMajorVersion: pebble.FormatNewest, // whose log tells a torn end from damage by what it knows to have been synced
		Logger:             logger{d}, MemTableSize: memTableSize,
		MemTableStopWritesThreshold: 8, // who would wait for tables holds a lock of the coordinator's
		EventListener:               &pebble.EventListener{BackgroundError: d.noTable, DataCorruption: d.corrupt},
	})
	opening.opened()
	if err != nil {
		return damaged(err)
	}
	if err := d.failure(); err != nil {
		return errors.Join(err, d.db.Close())
	}
	if d.commits, err = d.number([]byte{commitsKey}); err == nil {
		err = d.takeUp()
	}
	if err == nil {
		err = ended(d.commits, synced, "what Pebble reads")
	}
	if err != nil {
		err = damaged(err)
		if d.journal != nil {
			err = errors.Join(err, d.journal.close())
		}
		return errors.Join(err, d.db.Close())
	}
	return nil
}

// damaged is an error that pebble takes for damage; others it leaves as they are.
func damaged(err error) error {
	switch {
	case errors.Is(err, pebble.ErrDBNotPristine):
		return missing("marker." + pebbleMarker + ".*, which says how the others are to be read")
	case err != nil && pebble.IsCorruptionError(err):
		return fmt.Errorf("%w: %s", ErrDamaged, firstLine(err))
	}
	return err
}

// checkFormat refuses what a later version of this package, or of pebble, has written.
func (d *Disk) checkFormat() error {
	m, value, err := atomicfs.LocateMarker(d.options.FS, d.options.Dir, formatMarker)
	if err != nil {
		return err
	}
	if value != "" {
		err = notNewer(value, format)
	}
	if err == nil && value != strconv.Itoa(format) {
		err = move(m, strconv.Itoa(format))
	}
	if err := errors.Join(err, m.Close()); err != nil {
		return err
	}
	value, err = atomicfs.ReadMarker(d.options.FS, d.options.Dir, pebbleMarker)
	if err == nil && value != "" {
		err = notNewer(value, int(pebble.FormatNewest))
	}
	return err
}

func notNewer(value string, known int) error {
	if n, err := strconv.Atoi(value); err != nil || n > known {
		return fmt.Errorf("%w: its format is %s, here it is %d; use the Muster that wrote it, or another folder", ErrNewer, value, known)
	}
	return nil
}

// move sets a marker. Where its folder cannot be synced the marker panics, since it does not know any more what is on the disk.
func move(m *atomicfs.Marker, value string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return m.Move(value)
}

func (d *Disk) openSynced() (commits uint64, err error) {
	m, value, err := atomicfs.LocateMarker(d.options.FS, d.options.Dir, syncedMarker)
	if err != nil {
		return 0, err
	}
	d.synced = m
	if value == "" {
		return 0, nil
	}
	if commits, err = strconv.ParseUint(value, 10, 64); err != nil {
		err = fmt.Errorf("%w: marker %s: %w", ErrDamaged, syncedMarker, err)
	}
	return commits, err
}

// syncNowAndThen bounds what can be lost under OS, and writes down how much is safe: what is missing of that is damage, even where it is
// the end that is missing.
func (d *Disk) syncNowAndThen() {
	tick := time.NewTicker(d.options.SyncInterval)
	defer tick.Stop()
	var before uint64
	for {
		select {
		case <-d.quit:
			return
		case <-tick.C:
			var err error
			if before, err = d.syncAll(before); err != nil {
				d.fail(err)
				return
			}
		}
	}
}

func (d *Disk) syncAll(before uint64) (uint64, error) {
	d.mu.Lock()
	commits := d.commits
	d.mu.Unlock()
	if commits == before {
		return before, nil
	}
	if d.journal != nil {
		if err := d.journal.sync(); err != nil {
			return before, err
		}
	}
	if err := d.failure(); err != nil {
		return before, err
	}
	return commits, move(d.synced, strconv.FormatUint(commits, 10))
}

// fail ends all writing, and says so.
func (d *Disk) fail(err error) {
	if err := d.giveUp(err); err != nil {
		d.options.Report(err)
	}
}

// giveUp ends all writing: what the disk has of a write that failed is not known, so nothing must follow it. It returns what is to be told of that, nil where it had
// ended before.
func (d *Disk) giveUp(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed != nil {
		return nil
	}
	d.failed = fmt.Errorf("%s: cannot be written any more: %w; make room or mend the disk, and start again", d.options.Dir, err)
	if errors.Is(err, ErrDamaged) {
		d.failed = mended(fmt.Errorf("%s: nothing is written any more: %w", d.options.Dir, err))
	}
	d.wake.Signal()
	return d.failed
}

// noTable ends all writing where Pebble can make no tables: it would try for ever, and whoever writes wait for it in the end. A table that is damaged is told
// of to whoever reads it.
func (d *Disk) noTable(err error) {
	if !pebble.IsCorruptionError(err) {
		d.fail(err)
	}
}

// corrupt ends all writing where Pebble meets damage by itself, before anybody reads it.
func (d *Disk) corrupt(info pebble.DataCorruptionInfo) {
	d.fail(fmt.Errorf("%w: %s: %s", ErrDamaged, info.Path, firstLine(info.Details)))
}

// failure is why nothing is written any more, or nil.
func (d *Disk) failure() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed
}

// Close implements Log.
func (d *Disk) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	d.wake.Signal()
	d.mu.Unlock()
	close(d.quit)
	d.work.Wait()
	var err error
	if d.journal != nil {
		err = errors.Join(d.journal.close(), d.ahead.Close())
	}
	err = errors.Join(err, d.db.Close())
	if err == nil && d.failure() == nil {
		err = move(d.synced, strconv.FormatUint(d.commits, 10))
	}
	return errors.Join(err, d.synced.Close(), d.lock.Close())
}

// logger takes what pebble calls fatal, which is a disk that fails, as the end of writing instead of the process.
type logger struct{ d *Disk }

// Infof implements pebble.Logger.
func (logger) Infof(string, ...any) {}

// Errorf implements pebble.Logger.
func (logger) Errorf(string, ...any) {}

// Fatalf implements pebble.Logger. Its errors bring their stacks along.
func (l logger) Fatalf(format string, args ...any) {
	l.d.fail(errors.New(firstLine(fmt.Errorf(format, args...))))
}
