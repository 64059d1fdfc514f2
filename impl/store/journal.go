package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// journal is what comes before Pebble's tables under OS, in the place of Pebble's own log. That one is written by a goroutine of its own, and
// to wake it and to be woken by it costs several times what the write does. This one is written by whoever commits, and has the same form: a record for
// each commit, with a checksum. A record is the number of the commit (8 bytes) and what it writes, as Pebble has its batches.
//
// Numbers follow each other, from one file to the next. The tables say which commit is their last, and what they have is not asked of the journal any more.
type journal struct {
	fs     vfs.FS
	dir    string
	number uint64 // of the file
	old    []string
	writer *record.Writer // used by who commits, with size and buf
	size   int
	buf    []byte

	mu   sync.Mutex // of the file, against the end of it
	file vfs.File
}

const journalPrefix = "journal-"

func (j *journal) path(number uint64) string {
	return j.fs.PathJoin(j.dir, fmt.Sprintf("%s%06d", journalPrefix, number))
}

// list finds the files that there are, in their order.
func (j *journal) list() error {
	names, err := j.fs.List(j.dir)
	if err != nil {
		return err
	}
	var numbers []uint64
	for _, name := range names {
		if digits, ok := strings.CutPrefix(name, journalPrefix); ok {
			n, err := strconv.ParseUint(digits, 10, 64)
			if err != nil || j.path(n) != j.fs.PathJoin(j.dir, name) {
				continue // it is not one of ours
			}
			if n == math.MaxUint64 {
				return fmt.Errorf("%w: no file can follow %s", ErrDamaged, name)
			}
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		j.number = n
		j.old = append(j.old, j.path(n))
	}
	return nil
}

// replay hands over the commits that come after one, in order, and returns the number of the last. A file may end anywhere, since its end may not have been
// synced; the commits of the next one go on where it ends, or something is missing.
func (j *journal) replay(after uint64, take func(commit uint64, batch []byte) error) (last uint64, err error) {
	last = after
	for _, name := range j.old {
		if err := j.read(name, func(commit uint64, batch []byte) error {
			if commit <= after {
				return nil
			}
			if commit != last+1 {
				return fmt.Errorf("%w: %s has commit %d, and the last before it is %d", ErrDamaged, name, commit, last)
			}
			last = commit
			return take(commit, batch)
		}); err != nil {
			return last, err
		}
	}
	return last, nil
}

func (j *journal) read(name string, each func(commit uint64, batch []byte) error) (err error) {
	f, err := j.fs.Open(name, vfs.SequentialReadsOption)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for records := record.NewReader(f, 0); ; {
		var b []byte
		r, err := records.Next()
		if err == nil {
			b, err = io.ReadAll(r)
		}
		if errors.Is(err, io.EOF) || record.IsInvalidRecord(err) {
			// What comes after it is nothing that was synced, or the numbers tell.
			// It may yet be lost, and must not be once something has followed it.
			return f.Sync()
		}
		if err != nil {
			return err
		}
		if len(b) < 8 {
			return fmt.Errorf("%w: %s has a record of %d bytes", ErrDamaged, name, len(b))
		}
		if err := each(binary.BigEndian.Uint64(b), b[8:]); err != nil {
			return err
		}
	}
}

// create makes the next file.
func (j *journal) create() (vfs.File, error) {
	f, err := j.fs.Create(j.path(j.number+1), vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	folder, err := j.fs.OpenDir(j.dir)
	if err == nil {
		err = errors.Join(folder.Sync(), folder.Close())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// turn goes on in the next file. The one before it has been synced: what follows something must not outlast it.
func (j *journal) turn(next vfs.File) (err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file != nil {
		err = j.file.Close()
		j.old = append(j.old, j.path(j.number))
	}
	j.number++
	j.file, j.writer, j.size = next, record.NewWriter(next), 0
	return err
}

// append writes a commit: once it returns the system has it.
func (j *journal) append(commit uint64, batch []byte) error {
	j.buf = binary.BigEndian.AppendUint64(j.buf[:0], commit)
	j.buf = append(j.buf, batch...)
	j.size += len(j.buf)
	_, err := j.writer.WriteRecord(j.buf)
	if cap(j.buf) > maxTogether/4 {
		j.buf = nil
	}
	return err
}

// sync syncs the file that is written to; the others have been.
func (j *journal) sync() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	return j.file.SyncData()
}

// drop removes files that nobody needs any more.
func (j *journal) drop(names []string) error {
	var errs []error
	for _, name := range names {
		errs = append(errs, j.fs.Remove(name))
	}
	return errors.Join(errs...)
}

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	f := j.file
	j.file = nil
	return errors.Join(f.SyncData(), f.Close())
}
