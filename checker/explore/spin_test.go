package explore

import (
	"context"
	"flag"
	"testing"
)

// small is testdata/spin/group.pml in Go: a group of a few members, much smaller than the specification, for measuring the search beside SPIN
// (tools/bench-spin.sh).
type small struct{ members int }

const (
	smallEmpty = iota
	smallPreparing
	smallCompleting
	smallStable
)

const (
	smallOut = iota
	smallIdle
	smallParked
	smallOwes
	smallSyncing
	smallHas
)

// smallState is unpacked: a state is packed with four bits for each member.
type smallState struct {
	phase, leader uint8
	m             [8]uint8
	deaf          [8]bool
}

func (s *smallState) key() (k Key) {
	k[0] = uint64(s.phase) | uint64(s.leader)<<2
	for i := range s.m {
		k[1] |= uint64(s.m[i]) << (4 * i)
		if s.deaf[i] {
			k[1] |= 8 << (4 * i)
		}
	}
	return k
}

func unpackSmall(k Key) (s smallState) {
	s.phase, s.leader = uint8(k[0]&3), uint8(k[0]>>2)
	for i := range s.m {
		s.m[i], s.deaf[i] = uint8(k[1]>>(4*i)&7), k[1]>>(4*i)&8 != 0
	}
	return s
}

func (g small) Initial() Key {
	s := smallState{leader: uint8(g.members)}
	return s.key()
}

func (g small) Expand(k Key, x *Expansion) {
	from := unpackSmall(k)
	for i := range g.members {
		s := from
		m := &s.m[i]
		leads := int(s.leader) == i
		switch {
		case s.phase == smallEmpty:
			*m, s.deaf[i], s.leader, s.phase = smallOwes, false, uint8(i), smallCompleting
		case s.phase == smallPreparing && *m != smallParked, s.phase == smallCompleting && (*m == smallOut || s.deaf[i]), s.phase == smallStable && (*m == smallOut || leads):
			if s.phase != smallPreparing {
				g.prepare(&s)
			}
			*m, s.deaf[i] = smallParked, false
			g.review(&s)
		default:
			s.phase = 0xff
		}
		if s.phase != 0xff {
			x.Next = append(x.Next, s.key())
		}
		s = from
		if *m == smallOwes && s.phase >= smallCompleting {
			switch {
			case s.phase == smallStable:
				*m, s.deaf[i] = smallHas, false
			case !leads:
				*m = smallSyncing
			default:
				*m, s.phase = smallHas, smallStable
				for j := range g.members {
					if s.m[j] == smallSyncing {
						s.m[j] = smallHas
					}
				}
			}
			x.Next = append(x.Next, s.key())
		}
		s = from
		if *m >= smallOwes && !s.deaf[i] {
			s.deaf[i] = true
			x.Next = append(x.Next, s.key())
		}
		s = from
		if *m != smallOut {
			g.gone(&s, i)
			x.Next = append(x.Next, s.key())
		}
	}
	if from.phase == smallPreparing {
		s := from
		g.complete(&s)
		x.Next = append(x.Next, s.key())
	}
}

func (g small) gone(s *smallState, i int) {
	s.m[i], s.deaf[i] = smallOut, false
	if int(s.leader) == i {
		s.leader = uint8(g.members)
	}
	if s.phase >= smallCompleting {
		g.prepare(s)
	}
	g.review(s)
}

func (g small) prepare(s *smallState) {
	for j := range g.members {
		if s.m[j] != smallOut {
			s.m[j] = smallIdle
		}
	}
	s.phase = smallPreparing
}

func (g small) review(s *smallState) {
	for j := range g.members {
		if s.m[j] == smallIdle {
			return
		}
	}
	g.complete(s)
}

func (g small) complete(s *smallState) {
	first := g.members
	for j := range g.members {
		if s.m[j] != smallParked {
			s.m[j] = smallOut
			continue
		}
		s.m[j] = smallOwes
		first = min(first, j)
	}
	if first == g.members {
		s.phase, s.leader = smallEmpty, uint8(g.members)
		return
	}
	s.phase = smallCompleting
	if int(s.leader) == g.members || s.m[s.leader] == smallOut {
		s.leader = uint8(first)
	}
}

func (g small) Narrate([]int, Finding) []Step { return nil }

// SPIN stores as many states of the same model (tools/bench-spin.sh).
func TestSmallModel(t *testing.T) {
	for members, want := range map[int]int64{3: 655, 4: 5111, 5: 36751} {
		if r := Run(context.Background(), "small", func() Machine { return small{members} }, Options{Workers: 2}); !r.Complete || r.States != want {
			t.Errorf("%d members: %s; SPIN counts %d", members, r, want)
		}
	}
}

var smallMembers = flag.Int("members", 6, "members of the model that BenchmarkSmallModel explores")

func BenchmarkSmallModel(b *testing.B) {
	var states int64
	for range b.N {
		r := Run(context.Background(), "small", func() Machine { return small{*smallMembers} }, Options{MaxStates: mostStates})
		states += r.States
	}
	b.ReportMetric(float64(states)/float64(b.N), "states")
	b.ReportMetric(float64(states)/b.Elapsed().Seconds(), "states/s")
}
