package linearize

import (
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/muster-kafka/muster/checker"
	"github.com/muster-kafka/muster/checker/observe"
)

// explanation is one way in which the coordinator may have come to where it is: the branch with its slots, ids, generation, offsets
// and timer windows, how far time has come at least, and the answers that are decided but not yet accounted for.
type explanation struct {
	branch  *observe.Branch
	now     int64            // the present is not before this
	late    []late           // sessions that have ended and may still remove their members; by member, never changed in place
	owed    []checker.Ticket // answered, but the call's last stage is still to come; sorted, never changed in place
	writing []writing        // answered when their records are written; by ticket, never changed in place. See writing.go
	commits []checker.Ticket // OffsetCommits that are being written, in their order; never changed in place. See appends.go
	flight  checker.Ticket   // the leader's SyncGroup whose assignment is being written; 0: none is. See flight.go
	cleaned *int64           // when the target has removed the group last, as it had nothing; nil: never. See cleanup.go
	fork    uint64           // which calls have had no effect; only where such are never merged, see Limits

	key    uint64          // of all but now and the windows: what Hull merges has the same. 64 bits are trusted
	timers []observe.Timer // the armed ones, in an order that does not depend on slots
	made   int64           // where the group's record may still be on its way: when the group was made at the latest; else 0
	hash   uint64          // the branch's
	sealed *observe.Branch // the one that timers and hash are of
}

// seal computes what is derived from the branch, and from what is beside it. What has been computed for the same branch before is used again.
func (e *explanation) seal() {
	if e.sealed != e.branch {
		e.sealed, e.hash = e.branch, e.branch.Hash()
		e.timers = e.branch.Timers()
		made, _ := e.branch.Unwritten()
		e.made = made.Latest
		slices.SortFunc(e.timers, func(a, b observe.Timer) int {
			return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Member, b.Member))
		})
	}
	h := e.hash ^ e.fork ^ mix(uint64(e.flight)) // mix(0) is as good as any
	if e.cleaned != nil {
		h = mix(h ^ cleanedSeed)
	}
	for _, t := range e.owed {
		h = mix(h ^ uint64(t))
	}
	for _, t := range e.commits {
		h = mix(h ^ uint64(t) ^ commitSeed)
	}
	for _, w := range e.writing {
		h = mix(h ^ uint64(w.ticket) ^ writingSeed)
	}
	for _, l := range e.late {
		h = mix(h ^ maphash.Comparable(lateSeed, late{member: l.member, pending: l.pending}))
	}
	e.key = h
}

// mix is the finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// covers says whether everything that may follow o may follow e: they say the same, and the windows of e hold those of o.
func (e *explanation) covers(o *explanation) bool {
	if e.key != o.key || e.now > o.now || len(e.timers) != len(o.timers) || len(e.late) != len(o.late) {
		return false
	}
	for i := range e.timers {
		if e.timers[i].Window.Earliest > o.timers[i].Window.Earliest || e.timers[i].Window.Latest < o.timers[i].Window.Latest {
			return false
		}
	}
	if e.cleaned != nil && *e.cleaned > *o.cleaned {
		return false
	}
	if e.made < o.made {
		return false
	}
	for i := range e.late {
		if e.late[i].until < o.late[i].until {
			return false
		}
	}
	return true
}

var lateSeed = maphash.MakeSeed()

// writingSeed tells tickets that are being written from those that are owed.
const writingSeed = 0x5bd1e995a7c3f00d

// commitSeed tells those whose commits are being written from both.
const commitSeed = 0x1b873593cc9e2d51

// cleanedSeed tells what was removed once from what never was.
const cleanedSeed = 0x2545f4914f6cdd1d

func (e *explanation) owes(t checker.Ticket) bool { return slices.Contains(e.owed, t) }

func withTicket(owed []checker.Ticket, t checker.Ticket) []checker.Ticket {
	at, _ := slices.BinarySearch(owed, t)
	return slices.Insert(slices.Clone(owed), at, t)
}

func withoutTicket(owed []checker.Ticket, t checker.Ticket) []checker.Ticket {
	return slices.DeleteFunc(slices.Clone(owed), func(o checker.Ticket) bool { return o == t })
}

// state is what porcupine carries: the set of all explanations so far (the power set, so that the search itself is deterministic).
type state struct {
	explanations []explanation
}

// covers says whether everything that may follow o may follow s.
func (s *state) covers(o *state) bool {
	for i := range o.explanations {
		e := &o.explanations[i]
		if i < len(s.explanations) && s.explanations[i].covers(e) {
			continue
		}
		if !slices.ContainsFunc(s.explanations, func(own explanation) bool { return own.covers(e) }) {
			return false
		}
	}
	return true
}

// set collects explanations. Those that differ in windows only are merged into one whose windows span both: it allows more than they
// did, so a merge never makes a legal history illegal.
type set struct {
	list  []explanation
	index map[uint64]int32
	apart bool // nothing is merged: see Limits
}

// add puts an explanation in, and says where it is and whether the set has changed.
func (s *set) add(e explanation) (at int, changed bool) {
	e.seal()
	if s.apart {
		e.key ^= e.span()
	}
	if s.index == nil {
		s.index = map[uint64]int32{}
	}
	i, known := s.index[e.key]
	if !known {
		s.index[e.key] = int32(len(s.list))
		s.list = append(s.list, e)
		return len(s.list) - 1, true
	}
	old := &s.list[i]
	if old.covers(&e) {
		return int(i), false
	}
	hull, ok := observe.Hull(old.branch, e.branch)
	if !ok { // two branches with one hash
		s.list = append(s.list, e)
		return len(s.list) - 1, true
	}
	merged := explanation{branch: hull, now: min(old.now, e.now), late: old.late, owed: e.owed, writing: e.writing, commits: e.commits, flight: e.flight, cleaned: earlier(old.cleaned, e.cleaned), fork: e.fork}
	for _, l := range e.late {
		merged.late = withLate(merged.late, l)
	}
	merged.seal()
	*old = merged
	return int(i), true
}

// span is a hash of the windows and of the present.
func (e *explanation) span() uint64 {
	h := uint64(e.now)
	for _, t := range e.timers {
		h = mix(mix(h^uint64(t.Window.Earliest)) ^ uint64(t.Window.Latest))
	}
	return h
}

func (s *set) state() *state { return &state{explanations: s.list} }
