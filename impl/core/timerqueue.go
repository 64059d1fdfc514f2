package core

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// TimerQueue is the armed timers of a coordinator, for the shell that runs them. It reads no clock. Timers with one deadline come out
// in the order in which they were armed.
type TimerQueue struct {
	byID map[TimerID]*queued
	heap timerHeap
}

type queued struct {
	Arm
	index int
}

// Apply takes up an Arm or a Cancel; other effects are not for it.
func (q *TimerQueue) Apply(e Effect) {
	switch e := e.(type) {
	case Arm:
		q.Arm(e)
	case Cancel:
		q.remove(e.Timer)
	}
}

// Arm takes up an Arm.
func (q *TimerQueue) Arm(a Arm) {
	if t, ok := q.byID[a.Timer]; ok {
		t.Arm = a
		heap.Fix(&q.heap, t.index)
		return
	}
	if q.byID == nil {
		q.byID = map[TimerID]*queued{}
	}
	t := &queued{Arm: a}
	q.byID[a.Timer] = t
	heap.Push(&q.heap, t)
}

func (q *TimerQueue) remove(id TimerID) {
	if t, ok := q.byID[id]; ok {
		delete(q.byID, id)
		heap.Remove(&q.heap, t.index)
	}
}

// Next is the timer with the soonest deadline.
func (q *TimerQueue) Next() (Arm, bool) {
	if len(q.heap) == 0 {
		return Arm{}, false
	}
	return q.heap[0].Arm, true
}

// Deadline is when a timer is due; false if it is not armed.
func (q *TimerQueue) Deadline(id TimerID) (time.Time, bool) {
	t, ok := q.byID[id]
	if !ok {
		return time.Time{}, false
	}
	return t.Arm.Deadline, true
}

// Take removes a timer and returns the event that it has become due.
func (q *TimerQueue) Take(id TimerID) (TimerDue, bool) {
	t, ok := q.byID[id]
	if !ok {
		return TimerDue{}, false
	}
	q.remove(id)
	return TimerDue{Timer: id, Seq: t.Seq}, true
}

// TakeDue takes the next timer if its deadline has come.
func (q *TimerQueue) TakeDue(now time.Time) (TimerDue, bool) {
	next, ok := q.Next()
	if !ok || next.Deadline.After(now) {
		return TimerDue{}, false
	}
	return q.Take(next.Timer)
}

// Timers are all armed timers, soonest first.
func (q *TimerQueue) Timers() []Arm { return q.AppendTimers(nil) }

// AppendTimers is Timers for a caller that has room.
func (q *TimerQueue) AppendTimers(arms []Arm) []Arm {
	from := len(arms)
	for _, t := range q.heap {
		arms = append(arms, t.Arm)
	}
	slices.SortFunc(arms[from:], func(a, b Arm) int { return cmp.Or(a.Deadline.Compare(b.Deadline), cmp.Compare(a.Seq, b.Seq)) })
	return arms
}

type timerHeap []*queued

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	if !h[i].Deadline.Equal(h[j].Deadline) {
		return h[i].Deadline.Before(h[j].Deadline)
	}
	return h[i].Seq < h[j].Seq
}

func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *timerHeap) Push(x any) {
	t := x.(*queued)
	t.index = len(*h)
	*h = append(*h, t)
}

func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return t
}
