package explore

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Rest is a search that was left before its end. It stands where a level begins: of a level that was left in the middle nothing is kept,
// so that whoever takes it up ends with the numbers and traces of a search that never stopped.
type Rest struct {
	mark  mark
	table *table
}

// mark is where a level begins.
type mark struct {
	Level       int32
	States      int64
	Transitions int64
	Elapsed     time.Duration
	Worst       map[string]kept
}

// kept is a sighting that can be written.
type kept struct {
	Level   int32
	At      Key
	Finding Finding
}

// States is how many states the search had reached where it stands.
func (r *Rest) States() int64 { return r.mark.States }

// Transitions is how many transitions it had gone through.
func (r *Rest) Transitions() int64 { return r.mark.Transitions }

// Depth is how many steps the states are away that it goes on from.
func (r *Rest) Depth() int { return int(r.mark.Level) }

// Frontier is how many these are.
func (r *Rest) Frontier() int { return len(r.table.frontier) }

// begin notes where a level begins.
func (s *search) begin() {
	if s.midway {
		return
	}
	s.mark = mark{s.level, s.states.Load(), s.transitions.Load(), time.Since(s.started), map[string]kept{}}
	for property, seen := range s.worst() {
		s.mark.Worst[property] = kept{seen.level, seen.at, seen.finding}
	}
	if s.opts.Level != nil {
		s.opts.Level()
	}
}

// worst is where each property was seen broken at best, by all workers.
func (s *search) worst() map[string]sighting {
	worst := map[string]sighting{}
	for _, w := range s.workers {
		for property, seen := range w.worst {
			if old, ok := worst[property]; !ok || seen.prefer(old) {
				worst[property] = seen
			}
		}
	}
	return worst
}

// takeUp goes on where another search was left.
func (s *search) takeUp(r *Rest) {
	s.table, s.level = r.table, r.mark.Level
	s.states.Store(r.mark.States)
	s.base.Store(r.mark.States)
	s.transitions.Store(r.mark.Transitions)
	s.started = s.started.Add(-r.mark.Elapsed)
	for property, seen := range r.mark.Worst {
		s.workers[0].worst[property] = sighting{seen.Level, seen.At, seen.Finding}
	}
}

// Write writes the rest in a form of its own: the mark, the states of the levels that are over, each with the best way to it, and which of
// them the frontier are.
func (r *Rest) Write(to io.Writer) error {
	w := bufio.NewWriterSize(to, 1<<20)
	header, err := json.Marshal(r.mark)
	if err != nil {
		return err
	}
	number := func(n int) {
		w.Write(binary.LittleEndian.AppendUint64(w.AvailableBuffer(), uint64(n))) // a bufio.Writer keeps its first error for Flush
	}
	number(len(header))
	w.Write(header)
	for i := range r.table.shards {
		s := &r.table.shards[i]
		number(s.fresh)
		for at := range s.fresh {
			w.Write(s.node(at).append(w.AvailableBuffer()))
		}
	}
	number(len(r.table.frontier))
	for _, f := range r.table.frontier {
		w.Write(binary.LittleEndian.AppendUint32(w.AvailableBuffer(), f.at))
	}
	return w.Flush()
}

const nodeBytes = 24

func (n *node) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, n.key[0])
	b = binary.LittleEndian.AppendUint64(b, n.key[1])
	b = binary.LittleEndian.AppendUint32(b, n.parent)
	return binary.LittleEndian.AppendUint32(b, uint32(n.edge))
}

func readNode(b []byte) node {
	return node{
		key:    Key{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])},
		parent: binary.LittleEndian.Uint32(b[16:]), edge: int32(binary.LittleEndian.Uint32(b[20:])),
	}
}

// errDamaged is about bytes that no Write has written. Whoever stores them should know by other means that they are whole.
var errDamaged = errors.New("this is not what is left of a search, or it is damaged")

// ReadRest reads what Write has written.
func ReadRest(from io.Reader) (*Rest, error) {
	r := &Rest{table: new(table)}
	b := bufio.NewReaderSize(from, 1<<20)
	var scratch [nodeBytes]byte
	number := func(most int) (int, error) {
		if _, err := io.ReadFull(b, scratch[:8]); err != nil {
			return 0, fmt.Errorf("%w: %w", errDamaged, err)
		}
		n := binary.LittleEndian.Uint64(scratch[:])
		if n > uint64(most) {
			return 0, errDamaged
		}
		return int(n), nil
	}
	size, err := number(1 << 24)
	if err != nil {
		return nil, err
	}
	header := make([]byte, size)
	if _, err := io.ReadFull(b, header); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if err := json.Unmarshal(header, &r.mark); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	for i := range r.table.shards {
		n, err := number(1 << placeBits)
		if err != nil {
			return nil, err
		}
		for range n {
			if _, err := io.ReadFull(b, scratch[:]); err != nil {
				return nil, fmt.Errorf("%w: %w", errDamaged, err)
			}
			if !r.table.putBack(i, readNode(scratch[:])) {
				return nil, errDamaged
			}
		}
	}
	n, err := number(mostStates)
	if err != nil {
		return nil, err
	}
	for range n {
		if _, err := io.ReadFull(b, scratch[:4]); err != nil {
			return nil, fmt.Errorf("%w: %w", errDamaged, err)
		}
		place := binary.LittleEndian.Uint32(scratch[:])
		s, at := &r.table.shards[place>>placeBits], int(place&(1<<placeBits-1))
		if at >= s.count {
			return nil, errDamaged
		}
		r.table.frontier = append(r.table.frontier, front{s.node(at).key, place})
	}
	return r, nil
}

// putBack puts a state of a level that is over where it was. It says whether that is its place.
func (t *table) putBack(shard int, n node) bool {
	s, hash := &t.shards[shard], n.key.hash()
	if int(hash>>(64-shardBits)) != shard {
		return false
	}
	if 4*(s.count+1) > 3*len(s.index) {
		s.grow()
	}
	at, free := s.find(n.key, hash)
	if at >= 0 {
		return false
	}
	s.add(n)
	s.index[free] = uint32(s.count)
	s.fresh = s.count
	return true
}
