package explore

import (
	"slices"
	"sync"
)

// table is the set of states reached, each with how it was reached first, and the frontier: the states of the level that is expanded.
//
// It is written for many states. A node takes 24 bytes, and 5 to 11 in the index that finds it: a parent is a place in the table, and
// the level of a node follows from when it came.
type table struct {
	shards [shards]shard

	// The frontier, by key, so that of two parents the earlier one is the smaller one.
	frontier []front
}

// shards lock by themselves.
const (
	shardBits = 6
	shards    = 1 << shardBits
	placeBits = 32 - shardBits
)

// node is a state and the best way to it.
type node struct {
	key    Key
	parent uint32 // until the level is over a position in the frontier, then a position in the table
	edge   int32
}

// place is where a node is: its shard and the position in there.
func place(shard, at int) uint32 { return uint32(shard)<<placeBits | uint32(at) }

// noParent is the parent of the initial state.
const noParent = ^uint32(0)

// mostStates is how many states a table is asked to hold at most: half of what its places can tell apart, as shards fill unevenly.
const mostStates = 1 << 31

// front is a state of the frontier.
type front struct {
	key Key
	at  uint32 // its place in the table
}

// shard is the part of the states whose hashes begin alike.
type shard struct {
	sync.Mutex
	chunks [][]node // all but the last one full, so that nothing is moved or spare
	count  int
	index  []uint32 // open addressing: 0 is free, otherwise one more than a position in the chunks
	fresh  int      // nodes from here on were reached in the level under way
}

const chunkBits = 8

func (s *shard) node(at int) *node { return &s.chunks[at>>chunkBits][at&(1<<chunkBits-1)] }

func (s *shard) add(n node) {
	last := s.count >> chunkBits
	if last == len(s.chunks) {
		var chunk []node
		if last > 0 { // a small search fills no chunk
			chunk = make([]node, 0, 1<<chunkBits)
		}
		s.chunks = append(s.chunks, chunk)
	}
	s.chunks[last] = append(s.chunks[last], n)
	s.count++
}

func (k Key) hash() uint64 {
	h := (k[0] ^ k[1]*0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd
	return h ^ h>>32
}

// find returns the position of a key, or -1 and the place in the index that is free for it.
func (s *shard) find(k Key, hash uint64) (at int, free uint64) {
	mask := uint64(len(s.index) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		n := s.index[i]
		if n == 0 {
			return -1, i
		}
		if s.node(int(n-1)).key == k {
			return int(n - 1), i
		}
	}
}

// reach notes a way to a state, from a state of the frontier, and says whether the state is new. Of several equally short ways that
// by the smallest parent stays, then the earliest transition, so that any number of workers ends with the same trace.
func (t *table) reach(k Key, parent uint32, edge int32) bool {
	hash := k.hash()
	s := &t.shards[hash>>(64-shardBits)]
	s.Lock()
	defer s.Unlock()
	if 4*(s.count+1) > 3*len(s.index) {
		s.grow()
	}
	at, free := s.find(k, hash)
	if at < 0 {
		s.add(node{k, parent, edge})
		s.index[free] = uint32(s.count)
		return true
	}
	if n := s.node(at); at >= s.fresh && (parent < n.parent || parent == n.parent && edge < n.edge) {
		n.parent, n.edge = parent, edge
	}
	return false
}

// grow doubles the index.
func (s *shard) grow() {
	s.index = make([]uint32, max(2*len(s.index), 16))
	for i := range s.count {
		k := s.node(i).key
		_, free := s.find(k, k.hash())
		s.index[free] = uint32(i + 1)
	}
}

// advance ends a level: the states that were reached in it become the frontier.
func (t *table) advance() {
	next := make([]front, 0, t.waiting())
	for i := range t.shards {
		s := &t.shards[i]
		for at := s.fresh; at < s.count; at++ {
			n := s.node(at)
			if n.parent != noParent {
				n.parent = t.frontier[n.parent].at
			}
			next = append(next, front{n.key, place(i, at)})
		}
		s.fresh = s.count
	}
	slices.SortFunc(next, func(a, b front) int {
		if a.key.Less(b.key) {
			return -1
		}
		return 1
	})
	t.frontier = next
}

// waiting counts the states that were reached in the level under way.
func (t *table) waiting() (n int) {
	for i := range t.shards {
		n += t.shards[i].count - t.shards[i].fresh
	}
	return n
}

// path returns the transitions that lead to a state of a level that is over.
func (t *table) path(k Key) (edges []int) {
	hash := k.hash()
	s := &t.shards[hash>>(64-shardBits)]
	at, _ := s.find(k, hash)
	for n := s.node(at); n.parent != noParent; {
		edges = append(edges, int(n.edge))
		n = t.shards[n.parent>>placeBits].node(int(n.parent & (1<<placeBits - 1)))
	}
	slices.Reverse(edges)
	return edges
}
