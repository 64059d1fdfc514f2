package explore

import (
	"slices"
	"testing"
)

// reachAll fills a table with a level that comes of each state of the one before: n states in all, keys without pattern.
func reachAll(n int) *table {
	t := new(table)
	t.reach(Key{1, 2}, noParent, 0)
	t.advance()
	x := uint64(1)
	for reached := 1; reached < n; {
		for at := 0; at < len(t.frontier) && reached < n; at++ {
			for edge := range int32(4) {
				x += 0x9e3779b97f4a7c15
				z := (x ^ x>>30) * 0xbf58476d1ce4e5b9
				if t.reach(Key{z, uint64(reached)}, uint32(at), edge) {
					reached++
				}
			}
		}
		t.advance()
	}
	return t
}

func (t *table) bytesPerState() float64 {
	bytes, states := 0, 0
	for i := range t.shards {
		s := &t.shards[i]
		states += s.count
		bytes += 4*cap(s.index) + 24*cap(s.chunks)
		for _, chunk := range s.chunks {
			bytes += 24 * cap(chunk)
		}
	}
	return float64(bytes) / float64(states)
}

// What a state takes, with all that is spare, as a run of any size may end.
func TestBytesPerState(t *testing.T) {
	for _, n := range []int{100_000, 200_000, 300_000, 400_000} {
		perState := reachAll(n).bytesPerState()
		t.Logf("%d states: %.1f bytes a state", n, perState)
		if perState > 40 {
			t.Errorf("%d states take %.1f bytes each, more than 40", n, perState)
		}
	}
}

// Of several ways to a state the shortest stays, then that by the smallest parent, then by the earliest transition, in whatever order
// they are reached.
func TestBestWayStays(t *testing.T) {
	a, b, goal, end := Key{1, 0}, Key{2, 0}, Key{3, 0}, Key{4, 0}
	type way struct {
		parent uint32
		edge   int32
	}
	ways := []way{{1, 0}, {0, 7}, {1, 3}, {0, 5}, {0, 9}} // positions in the frontier a, b
	for range ways {
		ways = append(ways[1:], ways[0])
		table := new(table)
		table.reach(Key{}, noParent, 0)
		table.advance()
		table.reach(b, 0, 20)
		table.reach(a, 0, 10)
		table.advance()
		if table.frontier[0].key != a || table.frontier[1].key != b {
			t.Fatalf("the frontier is not sorted: %v", table.frontier)
		}
		for i, w := range ways {
			if fresh := table.reach(goal, w.parent, w.edge); fresh != (i == 0) {
				t.Fatalf("reached for the %dth time, new: %v", i+1, fresh)
			}
		}
		if table.reach(a, 1, 0) {
			t.Fatal("a is new again")
		}
		if n := table.waiting(); n != 1 {
			t.Fatalf("%d states wait", n)
		}
		table.advance()
		table.reach(end, 0, 2)
		table.reach(goal, 0, 0) // a longer way
		table.advance()
		if got, want := table.path(end), []int{10, 5, 2}; !slices.Equal(got, want) {
			t.Errorf("ways %v: path %v, want %v", ways, got, want)
		}
		if got, want := table.path(a), []int{10}; !slices.Equal(got, want) {
			t.Errorf("path of a %v, want %v", got, want)
		}
	}
}

func BenchmarkTable(b *testing.B) {
	for range b.N {
		b.ReportMetric(reachAll(1_000_000).bytesPerState(), "bytes/state")
	}
	b.ReportMetric(float64(b.N)*1e6/b.Elapsed().Seconds(), "states/s")
}
