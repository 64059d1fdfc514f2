//go:build !unix

package kafka

import (
	"context"
	"errors"
	"os"
	"time"
)

// tryLock makes the lock file, or says that another process has made it. One that a killed process left must be removed by hand.
func tryLock(path string) (unlock func(), held bool, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case err == nil:
		f.Close()
		return func() { os.Remove(path) }, true, nil
	case errors.Is(err, os.ErrExist):
		return nil, false, nil
	default:
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
