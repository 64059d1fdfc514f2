package shell

import (
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// folder is where the log is, on the disk.
const folder = "kept"

// disk is the file system of one life of the machine. A sync of a log lasts until it is ended by the one who runs the simulation; it is not done before. Other syncs
// do not last, since Pebble holds locks meanwhile.
type disk struct {
	vfs.FS
	mem  *vfs.MemFS
	wake func()
	lies bool // syncs are not done at all: a planted fault

	mu       sync.Mutex
	dead     bool
	starting bool
	syncs    int // while starting
	stopAt   int // the one of these at which the machine crashes; 0 is none
	stopped  func()
	waiting  []*syncing
}

type syncing struct {
	name  string
	seen  bool
	since int64 // when it was seen
	end   chan struct{}
}

func newDisk(mem *vfs.MemFS, wake func()) *disk {
	return &disk{FS: mem, mem: mem, wake: wake, starting: true}
}

// isLog says whether a file is one that is written at its end, and synced before answers.
func isLog(name string) bool {
	return strings.HasSuffix(name, ".log") || strings.HasPrefix(name[strings.LastIndex(name, "/")+1:], "journal-")
}

func (d *disk) wrap(name string, f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return f, err
	}
	return &slowFile{File: f, disk: d, name: name}, nil
}

// Create implements vfs.FS.
func (d *disk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.Create(name, c)
	return d.wrap(name, f, err)
}

// ReuseForWrite implements vfs.FS.
func (d *disk) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.ReuseForWrite(from, to, c)
	return d.wrap(to, f, err)
}

// OpenDir implements vfs.FS.
func (d *disk) OpenDir(name string) (vfs.File, error) {
	f, err := d.FS.OpenDir(name)
	return d.wrap(name, f, err)
}

// started ends the start.
func (d *disk) started() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.starting = false
}

// Unwrap implements vfs.FS.
func (d *disk) Unwrap() vfs.FS { return d.FS }

// begun are the syncs that have not been seen before, in the order of their files.
func (d *disk) begun(now int64) []*syncing {
	d.mu.Lock()
	defer d.mu.Unlock()
	var fresh []*syncing
	for _, s := range d.waiting {
		if !s.seen {
			s.seen, s.since = true, now
			fresh = append(fresh, s)
		}
	}
	slices.SortStableFunc(fresh, func(a, b *syncing) int { return strings.Compare(a.name, b.name) })
	return fresh
}

// open is since when syncs go on.
func (d *disk) open() (since []int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.waiting {
		since = append(since, s.since)
	}
	return since
}

// release ends a sync; false where the machine has ended before.
func (d *disk) release(s *syncing) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.Index(d.waiting, s)
	if i < 0 {
		return false
	}
	d.waiting = slices.Delete(d.waiting, i, i+1)
	close(s.end)
	return true
}

// die is the end of the machine: nobody waits for its disk any more, and what is still done to it has no effect on what is left.
func (d *disk) die() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead = true
	for _, s := range d.waiting {
		close(s.end)
	}
	d.waiting = nil
}

// wait begins a sync, and is over when it shall be done.
func (d *disk) wait(name string) {
	d.mu.Lock()
	if d.starting && !d.dead {
		if d.syncs++; d.syncs == d.stopAt {
			d.stopped()
		}
	}
	if d.dead || d.starting || !isLog(name) {
		d.mu.Unlock()
		return
	}
	s := &syncing{name: name, end: make(chan struct{})}
	d.waiting = append(d.waiting, s)
	d.wake()
	d.mu.Unlock()
	<-s.end
}

type slowFile struct {
	vfs.File
	disk *disk
	name string
}

func (f *slowFile) sync(now func() error) error {
	f.disk.wait(f.name)
	if f.disk.lies {
		return nil
	}
	return now()
}

// Sync implements vfs.File.
func (f *slowFile) Sync() error { return f.sync(f.File.Sync) }

// SyncData implements vfs.File.
func (f *slowFile) SyncData() error { return f.sync(f.File.SyncData) }

// SyncTo implements vfs.File.
func (f *slowFile) SyncTo(length int64) (full bool, err error) {
	err = f.sync(func() error { full, err = f.File.SyncTo(length); return err })
	return full, err
}

// remains are what a crash leaves of a disk.
type remains struct {
	mem  *vfs.MemFS
	lost int  // bytes of logs
	torn bool // of what was not synced, some is left
	err  error
}

// left is the disk after a crash of the process, which leaves all that was written, or of the machine, which leaves what was synced, and of what else a log has,
// its beginning.
func (d *disk) left(machine bool, rng *rand.Rand) *remains {
	all := vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(0, 0))} // of which nothing is left to chance
	whole := d.mem.CrashClone(all)
	if !machine {
		return &remains{mem: whole}
	}
	r := &remains{mem: d.mem.CrashClone(vfs.CrashCloneCfg{})}
	names, err := r.mem.List(folder)
	if err != nil {
		return r // there was no folder yet
	}
	slices.Sort(names)
	for _, name := range names {
		if isLog(name) {
			r.err = errors.Join(r.err, r.tear(r.mem.PathJoin(folder, name), whole, rng))
		}
	}
	return r
}

// tear leaves of a log what was synced and some of the rest.
func (r *remains) tear(name string, whole *vfs.MemFS, rng *rand.Rand) error {
	safe, err := contents(r.mem, name)
	if err != nil {
		return err
	}
	written, err := contents(whole, name)
	if err != nil || len(written) <= len(safe) {
		return nil // it was about to go
	}
	cut := len(safe) + rng.IntN(len(written)-len(safe)+1)
	r.lost += len(written) - cut
	r.torn = r.torn || cut > len(safe) && cut < len(written)
	return overwrite(r.mem, name, written[:cut])
}

func contents(fs vfs.FS, name string) ([]byte, error) {
	f, err := fs.Open(name)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	return b, errors.Join(err, f.Close())
}

func overwrite(fs vfs.FS, name string, b []byte) error {
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(slices.Clone(b))
	return errors.Join(err, f.Sync(), f.Close())
}
