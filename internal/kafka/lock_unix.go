//go:build unix

package kafka

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// tryLock takes the lock on a file, or says that another process has it. The kernel frees it with the process.
func tryLock(path string) (unlock func(), held bool, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, false, diskError("locking "+path, err)
	}
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case err == nil:
		return func() { f.Close() }, true, nil
	case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, syscall.EINTR):
		f.Close()
		return nil, false, nil
	default:
		f.Close()
		return nil, false, diskError("locking "+path, err)
	}
}

// lockFile waits for the lock.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		unlock, held, err := tryLock(path)
		if err != nil || held {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}
