package server

import (
	"fmt"
	"time"
	"unicode/utf16"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/record"
)

// partitionOf is the partition of __consumer_offsets that Kafka keeps a group in: Java's hash of its name.
func partitionOf(group string, partitions int) int32 {
	var hash int32
	for _, unit := range utf16.Encode([]rune(group)) {
		hash = 31*hash + int32(unit)
	}
	if hash < 0 {
		hash = -hash
	}
	return max(hash, 0) % int32(partitions) // the smallest has no opposite; Kafka makes it 0
}

// stranger answers for nodes that do not coordinate a group.
func stranger(s core.Settings) *core.Coordinator {
	s.Observe = nil
	c := core.New(s)
	c.Step(time.Now(), core.Unload{})
	return c
}

// move gives the groups to a node, which has to load them first.
func (l *loop) move(to int32, loading time.Duration) {
	l.do(func() {
		l.loads++
		load := l.loads
		l.leader.Store(to)
		l.late = 0
		l.step(core.LoadBegin{}) // which gives up what there is
		if loading <= 0 {
			l.load()
			return
		}
		time.AfterFunc(loading, func() {
			l.do(func() {
				if l.loads == load { // else it has moved on
					l.load()
				}
			})
		})
	})
}

// load reads the log, and then serves; what transactions have ended meanwhile comes after that.
func (l *loop) load() {
	records, err := record.Replay(l.log.Records())
	if err == nil {
		l.step(core.Replay{Records: records})
	} else {
		l.report(fmt.Errorf("loading groups on node %d: %w; they are not served", l.leader.Load(), err))
	}
	l.step(core.LoadEnd{Failed: err != nil})
	owed := l.owed
	l.owed = nil
	for _, m := range owed {
		l.step(m)
	}
}
