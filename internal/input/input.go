// Package input reads the files that a user names on the command line. What is not a regular file may have no end (a device) or no
// beginning (a pipe that nobody writes to), and what is too large cannot be meant: both are refused before they cost memory or time.
package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Limits of what is read, in bytes.
const (
	Text    = 1 << 20   // scenarios, lists of known failures, settings, keys
	History = 256 << 20 // recorded histories
)

// Errors that say what is wrong with a file.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrTooLarge   = errors.New("too large")
)

// Open opens a regular file of at most that many bytes. Reading ends with the context's error when it is over, and with ErrTooLarge where
// the file grows beyond the limit while it is read.
func Open(ctx context.Context, path string, most int64) (io.ReadCloser, error) {
	// A look before opening: to open a pipe is to wait for its writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := check(path, info, most); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = check(path, info, most) // it may be another one by now
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &bounded{ctx: ctx, file: f, path: path, most: most}, nil
}

// Read reads such a file to its end.
func Read(ctx context.Context, path string, most int64) ([]byte, error) {
	f, err := Open(ctx, path, most)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func check(path string, info fs.FileInfo, most int64) error {
	switch {
	case info.IsDir():
		return fmt.Errorf("%s is a folder, %w", path, ErrNotRegular)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is %w (%v): copy what it gives into one", path, ErrNotRegular, info.Mode().Type())
	case info.Size() > most:
		return tooLarge(path, most)
	}
	return nil
}

func tooLarge(path string, most int64) error {
	return fmt.Errorf("%s is %w: more than %d bytes are not read", path, ErrTooLarge, most)
}

// bounded is a file that is read no further than its limit.
type bounded struct {
	ctx  context.Context
	file *os.File
	path string
	most int64
	read int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, fmt.Errorf("reading %s: %w", b.path, err)
	}
	n, err := b.file.Read(p)
	if b.read += int64(n); b.read > b.most {
		return 0, tooLarge(b.path, b.most)
	}
	return n, err
}

func (b *bounded) Close() error { return b.file.Close() }
