package store

import (
	"errors"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// lazyFS makes the syncs of the write-ahead log come later: a write then is in the hands of the system when it is answered, as Kafka has
// it, and reaches the disk with the next flush. Pebble's own writes without sync would not do: it keeps them in its memory for a while, where
// they do not survive the end of the process. What else is synced, tables and their list, is synced at once.
type lazyFS struct {
	vfs.FS
	mu    sync.Mutex
	dirty map[*lazyFile]struct{}
}

func newLazyFS(fs vfs.FS) *lazyFS { return &lazyFS{FS: fs, dirty: map[*lazyFile]struct{}{}} }

// flush syncs what has been written.
func (l *lazyFS) flush() error {
	l.mu.Lock()
	files := make([]*lazyFile, 0, len(l.dirty))
	for f := range l.dirty {
		files = append(files, f)
	}
	clear(l.dirty)
	l.mu.Unlock()
	var failed error
	for _, f := range files {
		failed = errors.Join(failed, f.flush())
	}
	return failed
}

func (l *lazyFS) wrap(name string, f vfs.File, err error) (vfs.File, error) {
	if err != nil || !strings.HasSuffix(name, ".log") {
		return f, err
	}
	return &lazyFile{File: f, fs: l}, nil
}

// Create implements vfs.FS.
func (l *lazyFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := l.FS.Create(name, c)
	return l.wrap(name, f, err)
}

// ReuseForWrite implements vfs.FS.
func (l *lazyFS) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := l.FS.ReuseForWrite(from, to, c)
	return l.wrap(to, f, err)
}

// Unwrap implements vfs.FS.
func (l *lazyFS) Unwrap() vfs.FS { return l.FS }

type lazyFile struct {
	vfs.File
	fs     *lazyFS
	mu     sync.Mutex // of closed, and of syncs against the end
	closed bool
}

func (f *lazyFile) later() error {
	f.fs.mu.Lock()
	f.fs.dirty[f] = struct{}{}
	f.fs.mu.Unlock()
	return nil
}

// Sync implements vfs.File.
func (f *lazyFile) Sync() error { return f.later() }

// SyncData implements vfs.File.
func (f *lazyFile) SyncData() error { return f.later() }

// SyncTo implements vfs.File.
func (f *lazyFile) SyncTo(int64) (bool, error) { return false, f.later() }

func (f *lazyFile) flush() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil // synced when it was closed
	}
	return f.File.SyncData()
}

// Close syncs: a log that another one has followed has to be whole.
func (f *lazyFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.fs.mu.Lock()
	delete(f.fs.dirty, f)
	f.fs.mu.Unlock()
	return errors.Join(f.File.Sync(), f.File.Close())
}
