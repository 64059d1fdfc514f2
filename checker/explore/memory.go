package explore

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// BytesPerState is what a state of a search takes, beyond what machines keep, as measured of the whole process: less than 40 bytes in the table,
// and 24 more while it is in the frontier, of which there are two for a moment, and what the collector of garbage leaves.
const BytesPerState = 60

// memoryUsed is how many bytes the process takes.
func memoryUsed() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}

// looks is how often the memory is looked at. In that time a search takes some hundred kilobytes.
const looks = 100 * time.Millisecond

// guard stops the search before it takes more memory than it may. The caller ends the guarding.
func (s *search) guard() (end func()) {
	if s.opts.MaxMemory == 0 {
		return func() {}
	}
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(looks)
		defer ticker.Stop()
		for {
			if s.tight() {
				s.full.Store(true)
				s.stop.Store(true)
				return
			}
			select {
			case <-over:
				return
			case <-ticker.C:
			}
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}

// frontBytes is what a state takes in the frontier.
const frontBytes = 24

// tight says whether there is no more room, also after what is garbage has been given back. The next frontier needs room too.
func (s *search) tight() bool {
	need := func() uint64 { return memoryUsed() + frontBytes*uint64(s.reached()) }
	if need() <= s.opts.MaxMemory {
		return false
	}
	runtime.GC()
	return need() > s.opts.MaxMemory-s.opts.MaxMemory/32 // so much less, lest garbage is collected all the time
}

// reached is how many states were reached in the level under way.
func (s *search) reached() int64 { return s.states.Load() - s.base.Load() }

// open is how many states are reached and not expanded.
func (s *search) open() int {
	return max(0, s.frontier-int(s.next.Load())) + int(s.reached())
}
