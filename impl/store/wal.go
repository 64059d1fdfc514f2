package store

import (
	"errors"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// walFS lets Pebble's write-ahead log, which there is under Fsync, not fail where Pebble looks, which would end the process, in ways that cannot be caught. It
// tells the disk, which refuses the commit at hand and all later ones, and writes nothing any more. Other files it leaves alone.
type walFS struct {
	vfs.FS
	failed func(error)

	mu   sync.Mutex
	dead bool
}

// check takes note of an error, and reports whether there has been none so far.
func (w *walFS) check(err error) bool {
	w.mu.Lock()
	w.dead = w.dead || err != nil
	dead := w.dead
	w.mu.Unlock()
	if err != nil {
		w.failed(err)
	}
	return !dead
}

func (w *walFS) wrap(name string, f vfs.File, err error) (vfs.File, error) {
	if !strings.HasSuffix(name, ".log") {
		return f, err
	}
	if !w.check(err) && err != nil {
		f = vfs.NewMemFile(nil) // so that there is one
	}
	return &walFile{File: f, fs: w}, nil
}

// Create implements vfs.FS.
func (w *walFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := w.FS.Create(name, c)
	return w.wrap(name, f, err)
}

// ReuseForWrite implements vfs.FS.
func (w *walFS) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := w.FS.ReuseForWrite(from, to, c)
	return w.wrap(to, f, err)
}

// Unwrap implements vfs.FS.
func (w *walFS) Unwrap() vfs.FS { return w.FS }

type walFile struct {
	vfs.File
	fs *walFS
}

// Write implements vfs.File.
func (f *walFile) Write(p []byte) (int, error) {
	if f.fs.check(nil) {
		_, err := f.File.Write(p)
		f.fs.check(err)
	}
	return len(p), nil
}

// Preallocate implements vfs.File.
func (f *walFile) Preallocate(offset, length int64) error {
	if f.fs.check(nil) {
		f.fs.check(f.File.Preallocate(offset, length))
	}
	return nil
}

// Sync implements vfs.File.
func (f *walFile) Sync() error { return f.sync(f.File.Sync) }

// SyncData implements vfs.File.
func (f *walFile) SyncData() error { return f.sync(f.File.SyncData) }

// SyncTo implements vfs.File.
func (f *walFile) SyncTo(length int64) (full bool, err error) {
	err = f.sync(func() error { full, err = f.File.SyncTo(length); return err })
	return full, err
}

func (f *walFile) sync(now func() error) error {
	if f.fs.check(nil) {
		f.fs.check(now())
	}
	return nil
}

// Close implements vfs.File. A log that another one has followed has to be whole.
func (f *walFile) Close() error {
	var err error
	if f.fs.check(nil) {
		err = f.File.Sync()
	}
	f.fs.check(errors.Join(err, f.File.Close()))
	return nil
}
