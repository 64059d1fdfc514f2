package store

import (
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// openingFS lets no write fail where Pebble looks while it is being opened: where there is no room it would try for ever to make a table of its log, or end, and
// panic when it counts the tables that it has made. It tells the disk, which closes Pebble then, and changes nothing in the folder any more.
type openingFS struct {
	vfs.FS
	failed func(error)

	mu   sync.RWMutex
	open bool // errors are left alone
	dry  bool
}

// opened ends its time. What has failed before stays as it is.
func (o *openingFS) opened() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open = true
}

// try changes something in the folder.
func (o *openingFS) try(change func() error) error {
	o.mu.RLock()
	dry, open := o.dry, o.open
	o.mu.RUnlock()
	if dry {
		return nil
	}
	err := change()
	if err == nil || open || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	o.mu.Lock()
	o.dry = true
	o.mu.Unlock()
	o.failed(err)
	return nil
}

func (o *openingFS) wrap(create func() (vfs.File, error)) (f vfs.File, err error) {
	err = o.try(func() error { f, err = create(); return err })
	if err != nil {
		return nil, err
	}
	if f == nil {
		f = vfs.NewMemFile(nil)
	}
	return &openingFile{f, o}, nil
}

// Create implements vfs.FS.
func (o *openingFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return o.wrap(func() (vfs.File, error) { return o.FS.Create(name, c) })
}

// ReuseForWrite implements vfs.FS.
func (o *openingFS) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return o.wrap(func() (vfs.File, error) { return o.FS.ReuseForWrite(from, to, c) })
}

// OpenDir implements vfs.FS.
func (o *openingFS) OpenDir(name string) (vfs.File, error) {
	f, err := o.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &openingFile{f, o}, nil
}

// Link implements vfs.FS.
func (o *openingFS) Link(from, to string) error {
	return o.try(func() error { return o.FS.Link(from, to) })
}

// Rename implements vfs.FS.
func (o *openingFS) Rename(from, to string) error {
	return o.try(func() error { return o.FS.Rename(from, to) })
}

// Remove implements vfs.FS.
func (o *openingFS) Remove(name string) error {
	return o.try(func() error { return o.FS.Remove(name) })
}

// RemoveAll implements vfs.FS.
func (o *openingFS) RemoveAll(name string) error {
	return o.try(func() error { return o.FS.RemoveAll(name) })
}

// MkdirAll implements vfs.FS.
func (o *openingFS) MkdirAll(dir string, perm os.FileMode) error {
	return o.try(func() error { return o.FS.MkdirAll(dir, perm) })
}

// Unwrap implements vfs.FS.
func (o *openingFS) Unwrap() vfs.FS { return o.FS }

type openingFile struct {
	vfs.File
	fs *openingFS
}

// Write implements vfs.File.
func (f *openingFile) Write(b []byte) (int, error) {
	n := 0
	if err := f.fs.try(func() (err error) { n, err = f.File.Write(b); return err }); err != nil {
		return n, err
	}
	return len(b), nil
}

// Preallocate implements vfs.File.
func (f *openingFile) Preallocate(offset, length int64) error {
	return f.fs.try(func() error { return f.File.Preallocate(offset, length) })
}

// Sync implements vfs.File.
func (f *openingFile) Sync() error { return f.fs.try(f.File.Sync) }

// SyncData implements vfs.File.
func (f *openingFile) SyncData() error { return f.fs.try(f.File.SyncData) }

// SyncTo implements vfs.File.
func (f *openingFile) SyncTo(length int64) (full bool, err error) {
	err = f.fs.try(func() error { full, err = f.File.SyncTo(length); return err })
	return full, err
}
