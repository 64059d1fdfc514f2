// Package gen is the vocabulary of what clients do to a group coordinator, and the generator that walks it. All randomness comes through
// a Source, so that the same generator serves a seeded run, a fuzzer's bytes and a shrinking property test.
//
// The generator knows the protocol as a client does, so that whole rounds of join, sync, heartbeat and commit are frequent; and it
// sends what must be refused: stale generations, foreign ids, requests of the wrong moment.
package gen

import "math/rand/v2"

// Source makes the generator's choices.
type Source interface {
	// Intn returns a number in [0, n). The label says what it is for. 0 is the plainest choice: a shrinking source goes there.
	Intn(n int, label string) int
}

type seeded struct{ r *rand.Rand }

// Seeded is a Source that is determined by its seed.
func Seeded(seed uint64) Source { return seeded{rand.New(rand.NewPCG(seed, 0x6d7573746572))} }

func (s seeded) Intn(n int, _ string) int { return s.r.IntN(n) }

// Bytes is a Source that reads its choices from a fuzzer's input, one byte each (two where there are more than 256), and chooses 0 once
// the input has ended.
type Bytes struct{ rest []byte }

// FromBytes returns a Source over the input.
func FromBytes(input []byte) *Bytes { return &Bytes{input} }

// Ended says that the input is used up.
func (b *Bytes) Ended() bool { return len(b.rest) == 0 }

// Intn takes the next choice.
func (b *Bytes) Intn(n int, _ string) int {
	v := 0
	for range 1 + bit(n > 256) {
		if len(b.rest) > 0 {
			v, b.rest = v<<8|int(b.rest[0]), b.rest[1:]
		}
	}
	return v % n
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
