package explore

import "sync"

// node is how a state was reached first.
type node struct {
	parent Key
	edge   int32
	level  int32
}

// prefer says whether a is the better way to a state: shorter, then by the smaller parent, then by the earlier transition. So every
// number of workers ends with the same trace.
func (a node) prefer(b node) bool {
	switch {
	case a.level != b.level:
		return a.level < b.level
	case a.parent != b.parent:
		return a.parent.Less(b.parent)
	}
	return a.edge < b.edge
}

const shards = 64

// table is the set of states reached, in shards that lock by themselves.
type table [shards]struct {
	sync.Mutex
	nodes map[Key]node
}

func newTable() *table {
	t := new(table)
	for i := range t {
		t[i].nodes = make(map[Key]node)
	}
	return t
}

func (k Key) shard() uint64 {
	h := (k[0] ^ k[1]*0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd
	return h >> 58
}

// reach notes a way to a state and says whether the state is new.
func (t *table) reach(k Key, n node) bool {
	s := &t[k.shard()]
	s.Lock()
	defer s.Unlock()
	old, known := s.nodes[k]
	if !known || n.prefer(old) {
		s.nodes[k] = n
	}
	return !known
}

// path returns the transitions that lead to a state.
func (t *table) path(k Key) []int {
	n := t[k.shard()].nodes[k]
	edges := make([]int, n.level)
	for n.level > 0 {
		edges[n.level-1] = int(n.edge)
		n = t[n.parent.shard()].nodes[n.parent]
	}
	return edges
}
