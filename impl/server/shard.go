package server

import (
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/muster-kafka/muster/impl/core"
)

// partitionOf is the partition of __consumer_offsets that Kafka keeps a group in: Java's hash of its name.
func partitionOf(group string, partitions int) int32 {
	var hash int32
	for _, r := range group {
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			hash, r = 31*hash+high, low
		}
		hash = 31*hash + r
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

// move gives the groups to a node, which has to load them first: it is loading for a while at least, or this waits until it serves.
func (l *loop) move(to int32, loading time.Duration) {
	served := make(chan struct{})
	l.do(func() {
		l.loads++
		load := l.loads
		l.leader.Store(to)
		l.late = 0
		l.step(core.LoadBegin{}) // which gives up what there is
		if len(l.gone) > 0 {     // since a load that has not come to its end
			l.step(core.TopicsDeleted{Topics: l.gone})
		}
		if loading <= 0 {
			l.whenLoaded(func() { close(served) })
			l.load()
			return
		}
		close(served)
		time.AfterFunc(loading, func() {
			l.do(func() {
				if l.loads == load { // else it has moved on
					l.load()
				}
			})
		})
	})
	select {
	case <-served:
	case <-l.quit:
	}
}
