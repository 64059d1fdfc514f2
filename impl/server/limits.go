package server

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/semaphore"
)

// Limits bound what clients can take up. What is 0 is the default.
type Limits struct {
	Connections int           // to a node, at a time; default 4096. One more ends those whose clients have gone, or the one that has been idle for longest, or is refused
	Frame       int           // bytes of a request; default 100 MiB, as Kafka's socket.request.max.bytes. A larger one ends its connection
	Lists       int           // bytes of a request that carries nothing that others have written, so that most of it is lists; default 4 MiB. A larger one ends its connection
	Memory      int64         // bytes of all requests that are being read, beyond the first 64 KiB of each; default 256 MiB. Then readers wait
	Idle        time.Duration // without a request before a connection is closed; default 10 min, as Kafka's connections.max.idle.ms
	Partial     time.Duration // from the first byte of a request to its last; default 30 s. Longer ends its connection
}

// smallFrame is what a request may have without counting against Limits.Memory. Requests of groups have less.
const smallFrame = 64 << 10

func (l Limits) withDefaults() Limits {
	if l.Connections <= 0 {
		l.Connections = 4096
	}
	if l.Frame <= 0 {
		l.Frame = 100 << 20
	}
	if l.Lists <= 0 {
		l.Lists = 4 << 20
	}
	if l.Memory <= 0 {
		l.Memory = 256 << 20
	}
	if l.Idle <= 0 {
		l.Idle = 10 * time.Minute
	}
	if l.Partial <= 0 {
		l.Partial = 30 * time.Second
	}
	l.Memory = max(l.Memory, int64(l.Frame)) // or the largest request could never be read
	return l
}

// carries are the requests with records, subscriptions or assignments. Of the others each byte takes up to some hundred when it has been read and answered, as a list of topics does whose
// names are short; and 4 MiB name all topics that there may be here.
var carries = map[kmsg.Key]bool{kmsg.Produce: true, kmsg.JoinGroup: true, kmsg.SyncGroup: true}

// fits says whether a request of that size may be read, of which the beginning is here.
func (l Limits) fits(size int, beginning []byte) error {
	key := kmsg.Key(binary.BigEndian.Uint16(beginning))
	if size <= l.Lists || carries[key] {
		return nil
	}
	return fmt.Errorf("%s of %d bytes; up to %d are read here, ask for less at a time", key.Name(), size, l.Lists)
}

// newMemory is what requests that are being read share.
func newMemory(l Limits) *semaphore.Weighted { return semaphore.NewWeighted(l.Memory) }
