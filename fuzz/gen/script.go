package gen

import "math/rand/v2"

// Script is a Source that reads a run from a fuzzer's input, one byte for all that is chosen for one event. So a small change of the input is a
// small change of the run: a byte that is left out, put in or changed is an event that is. Byte 0 is the plainest event; the last of the bytes
// take another one with them, so that there are some thousand events to choose from and not only a few hundred. The first byte is for what is
// chosen before the first event.
type Script struct {
	rest  []byte
	pcg   rand.PCG
	rand  *rand.Rand
	plain bool // choose 0
}

// Wide is the first byte that takes another one with it.
const Wide = 240

// NewScript returns a Source over the input.
func NewScript(input []byte) *Script {
	s := &Script{rest: input}
	s.rand = rand.New(&s.pcg)
	s.Event()
	return s
}

// Ended says that the input is used up.
func (s *Script) Ended() bool { return len(s.rest) == 0 }

// Event begins the next event. Beyond the end all are plain.
func (s *Script) Event() {
	code := uint64(0)
	if len(s.rest) > 0 {
		code, s.rest = uint64(s.rest[0]), s.rest[1:]
	}
	if code >= Wide && len(s.rest) > 0 {
		code, s.rest = code<<8|uint64(s.rest[0]), s.rest[1:]
	}
	s.plain = code == 0
	s.pcg.Seed(code, 0x736372697074)
}

// Intn takes the next choice of the event.
func (s *Script) Intn(n int, _ string) int {
	if s.plain {
		return 0
	}
	return s.rand.IntN(n)
}
