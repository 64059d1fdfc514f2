package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/store"
)

// begin lets a loop load what the log has, before it runs, and tells how that ended.
func (l *loop) begin(log store.Log, partition int32, told func(store.Loaded, error)) {
	l.keeper = newKeeper(log, partition)
	l.keeper.hear = l.tryHear
	l.told = told
	l.step(core.LoadBegin{})
	l.load()
}

// load reads the log, and then serves; what transactions have ended meanwhile comes after that. What has been written has to be there
// first. A log in memory is read at once, another one while requests are told that it is.
func (l *loop) load() {
	if l.toLoad = len(l.keeper.open) > 0; l.toLoad {
		return
	}
	load := l.loads
	if store.InMemory(l.keeper.log) {
		l.read(load, func(f func()) bool { f(); return true })
		return
	}
	l.background.Go(func() { l.read(load, l.do) })
}

// read hands over what the log has, each part as do lets it.
func (l *loop) read(load int, do func(func()) bool) {
	current := func(f func()) error {
		if !do(func() {
			if l.loads == load { // else the groups have moved on
				f()
			}
		}) {
			return errStopped
		}
		return nil
	}
	open := pendingTxns{}
	loaded, err := l.keeper.log.Load(l.keeper.partition, func(records []core.Record) error {
		for _, r := range records {
			open.take(r)
		}
		return current(func() { l.step(core.Replay{Records: records}) })
	})
	_ = current(func() { l.loaded(loaded, err, open) })
}

// loaded is the end of a load. After the first, transactions that it left open are taken up again or aborted.
func (l *loop) loaded(loaded store.Loaded, err error, open pendingTxns) {
	if err != nil && l.report != nil {
		l.report(fmt.Errorf("loading groups on node %d: %w; they are not served", l.leader.Load(), err))
	}
	l.failed, l.gone = false, nil
	l.step(core.LoadEnd{Failed: err != nil})
	awaited := l.awaited
	l.awaited = nil
	for _, f := range awaited {
		f()
	}
	if told := l.told; told != nil {
		l.told = nil
		l.owed = append(l.owed, open.owed(l.fate)...)
		told(loaded, err)
	}
	l.markOwed()
}

// topicsDeleted has offsets of topics forgotten, of groups that are being loaded once they are there.
func (l *loop) topicsDeleted(topics []string) {
	if _, loads := l.core.Serves(); loads {
		l.gone = append(l.gone, topics...)
	}
	l.step(core.TopicsDeleted{Topics: topics})
}

// whenLoaded calls f once groups are not being loaded.
func (l *loop) whenLoaded(f func()) {
	if _, loads := l.core.Serves(); !loads {
		f()
		return
	}
	l.awaited = append(l.awaited, f)
}

type loadEnd struct {
	loaded store.Loaded
	err    error
}

// AwaitLoad waits until a cluster has loaded what its log had when it was started, and says what that was. It may be called once.
func (c *Cluster) AwaitLoad(ctx context.Context) (all store.Loaded, err error) {
	if c.options.Log == nil {
		return all, nil
	}
	for range c.shards {
		select {
		case end := <-c.loads:
			all.Records += end.loaded.Records
			all.Unknown += end.loaded.Unknown
			err = errors.Join(err, end.err)
		case <-ctx.Done():
			return all, ctx.Err()
		}
	}
	return all, err
}
