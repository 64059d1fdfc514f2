package store

import (
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// aheadMax is how much may be in the journal and not in Pebble's memory yet, in bytes: together it costs less.
const aheadMax = 16 << 10

// takeUp writes what a former process has left in a journal into Pebble, and under OS begins a new one.
func (d *Disk) takeUp() (err error) {
	j := &journal{fs: d.options.FS, dir: d.options.Dir}
	if err := j.list(); err != nil {
		return err
	}
	kept := pebble.Sync
	if d.options.Durability == OS {
		kept = pebble.NoSync // it is in the journal
	}
	d.commits, err = j.replay(d.commits, func(commit uint64, batch []byte) error {
		b := d.db.NewBatch()
		if err := b.SetRepr(batch); err != nil {
			return fmt.Errorf("%w: commit %d: %w", ErrDamaged, commit, err)
		}
		if err := d.count(b, commit); err != nil {
			return err
		}
		if err := b.Commit(kept); err != nil {
			return err
		}
		return b.Close()
	})
	if err != nil {
		return err
	}
	if d.options.Durability != OS {
		return j.drop(j.old)
	}
	next, err := j.create()
	if err != nil {
		return err
	}
	d.journal, d.ahead = j, d.db.NewBatch()
	return j.turn(next)
}

// count writes down which commit is the last.
func (d *Disk) count(b *pebble.Batch, commit uint64) error {
	return b.Set([]byte{commitsKey}, binary.BigEndian.AppendUint64(nil, commit), nil)
}

// journaled makes a batch a commit of the journal.
func (d *Disk) journaled(b *pebble.Batch, commit uint64) error {
	if err := d.journal.append(commit, b.Repr()); err != nil {
		return err
	}
	if err := d.ahead.Apply(b, nil); err != nil {
		return err
	}
	d.mu.Lock()
	d.commits = commit
	turn := d.journal.size >= int(memTableSize) && !d.turning
	if turn {
		d.turning = true
		d.work.Go(d.turn)
	}
	d.mu.Unlock()
	if d.ahead.Len() < aheadMax {
		return nil
	}
	return d.catchUp()
}

// catchUp tells Pebble what is in the journal only. Who calls it holds committing.
func (d *Disk) catchUp() (err error) {
	if d.journal == nil || d.ahead.Empty() {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	d.mu.Lock()
	commits := d.commits
	d.mu.Unlock()
	if err := d.count(d.ahead, commits); err != nil {
		return err
	}
	if err := d.ahead.Commit(pebble.NoSync); err != nil {
		return err
	}
	d.ahead.Reset()
	return nil
}

// settle lets those who read Pebble see all that has been written. Without a journal they do, and need not wait for the sync that whoever commits is at.
func (d *Disk) settle() error {
	if d.journal == nil {
		return nil
	}
	d.committing.Lock()
	defer d.committing.Unlock()
	err := d.catchUp()
	if err != nil {
		d.fail(err)
	}
	return err
}

// turn begins a new file of the journal, so that the one that is full can go. One such goes on at a time.
func (d *Disk) turn() {
	if err := d.turnNow(); err != nil {
		d.fail(err)
		return
	}
	d.dropOld()
}

func (d *Disk) turnNow() error {
	next, err := d.journal.create()
	if err != nil {
		return err
	}
	if err := d.journal.sync(); err != nil { // nearly all of it, while others write
		return err
	}
	d.committing.Lock()
	defer d.committing.Unlock()
	if err := d.journal.sync(); err != nil {
		return err
	}
	return d.journal.turn(next)
}

// dropOld removes the files of the journal that are not written to any more, once what is in them is in tables.
func (d *Disk) dropOld() {
	defer func() {
		d.mu.Lock()
		d.turning = false
		d.mu.Unlock()
	}()
	old, flushed, err := d.flushOld()
	if err != nil {
		d.fail(err)
		return
	}
	if len(old) == 0 {
		return
	}
	select {
	case <-flushed:
	case <-d.quit: // they are passed over when the folder is opened again
		return
	}
	if err := d.journal.drop(old); err != nil {
		d.options.Report(fmt.Errorf("%s: removing what is not needed any more: %w", d.options.Dir, err))
		return
	}
	d.committing.Lock()
	d.journal.old = d.journal.old[len(old):]
	d.committing.Unlock()
}

// flushOld begins to make tables of what the files have that are not written to any more.
func (d *Disk) flushOld() (old []string, flushed <-chan struct{}, err error) {
	d.committing.Lock()
	defer d.committing.Unlock()
	if old = d.journal.old; len(old) == 0 {
		return nil, nil, nil
	}
	if err := d.catchUp(); err != nil {
		return nil, nil, err
	}
	flushed, err = d.db.AsyncFlush()
	return old, flushed, err
}
