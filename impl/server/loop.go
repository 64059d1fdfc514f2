package server

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/store"
)

// errStopped ends the requests of a server that is being closed.
var errStopped = errors.New("the server has been closed")

// errNotKept ends a request of which nobody knows what came of it.
var errNotKept = errors.New("the log cannot be written")

// loop owns the coordinator. Whoever holds mu lets something happen to it: who brings a request does so himself, without a change of goroutines, and run
// does it for time and the log.
type loop struct {
	mu       sync.Mutex
	stopped  bool
	alarm    *time.Timer
	alarmAt  time.Time // when it is to ring; zero if it need not
	waited   bool      // somebody waits here for the request at hand, whose ticket is the last one
	answered outcome   // his
	core     *core.Coordinator
	front    *Front        // may be nil, and with it txns: then a request is the coordinator's
	txns     *Transactions // may be nil
	keeper   *keeper
	timers   core.TimerQueue
	instants []core.Arm                                 // timers of no length, which are not among them
	watch    func(time.Time, core.Event, []core.Effect) // see Options

	leader   atomic.Int32             // the node that coordinates these groups
	stranger *core.Coordinator        // answers what other nodes are asked; nil where there are none
	fails    func(group string) int16 // says of a write that it shall fail, and how; may be nil
	late     core.AppendID            // the last write that has timed out and is not settled
	report   func(error)              // of what cannot be loaded; may be nil

	loads      int                                               // how often the groups have moved
	toLoad     bool                                              // once nothing is open any more
	gone       []string                                          // topics that were deleted during the load
	awaited    []func()                                          // who waits for the end of a load
	told       func(store.Loaded, error)                         // of the first load; nil where there is none, or it is over
	fate       func(core.Producer, []string) (open, commit bool) // of a transaction that a former process left open; nil where all are aborted
	failed     bool                                              // a write has failed since the last load, so the groups have been given up
	background sync.WaitGroup                                    // loads

	owed    []core.Marker                 // that could not be written, because the groups were being loaded
	marking map[core.Marker][]func(error) // who waits for the end of a transaction to be written

	quit    chan struct{}
	waiting map[core.Ticket]chan<- outcome // each has room for one
	ticket  core.Ticket
}

type outcome struct {
	resp kmsg.Response
	err  error
}

func newLoop(settings core.Settings, topics map[string]int32) *loop {
	front := NewFront(settings, topics)
	settings.TopicExists, settings.TopicName, settings.TopicID = front.Exists, front.TopicName, front.TopicID
	settings.Transactions = true
	l := bareLoop(settings)
	l.front, l.txns = front, NewTransactions()
	return l
}

// bareLoop is a loop for requests of group coordination alone.
func bareLoop(settings core.Settings) *loop {
	l := &loop{
		core: core.New(settings), keeper: newKeeper(store.NewMemory(), 0), marking: map[core.Marker][]func(error){},
		alarm: time.NewTimer(0), quit: make(chan struct{}), waiting: map[core.Ticket]chan<- outcome{},
	}
	l.keeper.hear = l.tryHear
	return l
}

// ask hands a request in that a node was asked, and waits for its outcome. Before it has to wait it tells waits, which may be nil.
func (l *loop) ask(node int32, r core.Request, waits func()) (kmsg.Response, error) {
	l.mu.Lock()
	if l.stopped {
		l.mu.Unlock()
		return nil, errStopped
	}
	l.fireDue() // what was due before the request came, happened before it
	o, later := l.take(node, r)
	l.setAlarm()
	l.mu.Unlock()
	if later == nil {
		return o.resp, o.err
	}
	if waits != nil {
		waits()
	}
	select {
	case o := <-later:
		return o.resp, o.err
	case <-l.quit:
		return nil, errStopped
	}
}

// beat is ask for a Heartbeat, of which nothing is kept. It is false, and nothing has happened, where it has to be asked by ask.
func (l *loop) beat(node int32, r core.Request) (o outcome, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped || node != l.leader.Load() {
		return o, false
	}
	l.fireDue()
	l.ticket++
	r.Ticket = l.ticket
	b, ok := l.core.Beat(time.Now(), r)
	if !ok {
		return o, false
	}
	if b.Armed {
		l.armTimer(b.Arm)
	}
	o.resp = b.Answer.Message
	if b.Others != nil {
		l.waited = true
		l.carryOut(b.Others)
		o = l.outcome()
		l.hear()
		l.fireInstant()
	}
	l.setAlarm()
	return o, true
}

// do lets f happen to the coordinator; false if the loop has been stopped.
func (l *loop) do(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return false
	}
	l.fireDue()
	f()
	l.fireInstant()
	l.setAlarm()
	return true
}

// tryHear takes up what the log says, if nobody is at it; whoever is would wait for the log otherwise.
func (l *loop) tryHear() bool {
	if !l.mu.TryLock() {
		return false
	}
	defer l.mu.Unlock()
	if !l.stopped {
		l.fireDue()
		l.hear()
		l.fireInstant()
		l.setAlarm()
	}
	return true
}

// stop ends run; it must be called once.
func (l *loop) stop() {
	l.mu.Lock()
	l.stopped = true
	l.mu.Unlock()
	close(l.quit)
}

// run lets time pass, and the log be heard.
func (l *loop) run() {
	defer l.alarm.Stop()
	defer l.background.Wait()
	for {
		select {
		case <-l.quit:
			return
		case <-l.alarm.C:
			l.do(func() { l.alarmAt = time.Time{} })
		case <-l.keeper.bell:
			l.do(l.hear)
		}
	}
}

// setAlarm wakes run for the next timer. A timer that is put off, as those of members are all the time, leaves the alarm as it is: then run wakes too early,
// and sleeps on.
func (l *loop) setAlarm() {
	if next, ok := l.timers.Next(); ok && (l.alarmAt.IsZero() || next.Deadline.Before(l.alarmAt)) {
		l.alarmAt = next.Deadline
		l.alarm.Reset(time.Until(next.Deadline))
	}
}

// fireDue fires what is due, and what of no length that brings: who comes next finds it done.
func (l *loop) fireDue() {
	for {
		due, ok := l.timers.TakeDue(time.Now())
		if !ok {
			return
		}
		l.step(due)
		l.fireInstant()
	}
}

// fireInstant fires timers of no length, such as that of an initial rebalance delay of 0. To leave them to run would cost two changes of goroutines.
func (l *loop) fireInstant() {
	for len(l.instants) > 0 {
		a := l.instants[0]
		l.instants = slices.Delete(l.instants, 0, 1)
		l.step(core.TimerDue{Timer: a.Timer, Seq: a.Seq})
	}
}

// take lets a request happen. Its outcome is there, or comes later.
func (l *loop) take(node int32, r core.Request) (o outcome, later <-chan outcome) {
	if l.front != nil {
		if o, later, done := l.besides(&r); done {
			return o, later
		}
	}
	l.ticket++
	r.Ticket = l.ticket
	l.waited = true
	if node == l.leader.Load() {
		l.step(r)
	} else {
		l.carryOut(l.stranger.Step(time.Now(), r))
	}
	l.fireInstant()
	if o = l.outcome(); o != (outcome{}) {
		return o, nil
	}
	reply := make(chan outcome, 1)
	l.waiting[r.Ticket] = reply
	return o, reply
}

// outcome is what has come of the request at hand so far; what still comes is not waited for here any more.
func (l *loop) outcome() outcome {
	o := l.answered
	l.waited, l.answered = false, outcome{}
	return o
}

// besides answers what is not group coordination, at once or, the end of a transaction, later, and says of a TxnOffsetCommit whether it belongs to a transaction.
func (l *loop) besides(r *core.Request) (o outcome, later <-chan outcome, done bool) {
	resp, deleted, ok := l.front.Handle(r.Message, r.Version)
	if len(deleted) > 0 {
		l.step(core.TopicsDeleted{Topics: deleted})
	}
	if ok {
		return outcome{resp: resp}, nil, true
	}
	resp, marker, ok := l.txns.Handle(r.Message, r.Version)
	if marker != nil {
		reply := make(chan outcome, 1)
		l.end(*marker, func(err error) { reply <- outcome{resp, err} })
		return o, reply, true
	}
	if ok {
		return outcome{resp: resp}, nil, true
	}
	if commit, ok := r.Message.(*kmsg.TxnOffsetCommitRequest); ok {
		r.Verified = l.txns.Verify(commit, r.Version)
	}
	return o, nil, false
}

// step lets an event happen, and with it the ends of the writes that it causes, where the log knows of them at once.
func (l *loop) step(ev core.Event) {
	l.happen(ev)
	l.hear()
}

// hear takes up what the log says. What cannot be written any more is given up: memory must not go on without the log.
func (l *loop) hear() {
	for {
		w, ok := l.keeper.next()
		if !ok {
			break
		}
		l.happen(core.Appended{ID: w.id, Code: w.code})
		l.instants = append(l.instants, l.keeper.release(w.id)...)
		if w.failed != nil && !l.failed {
			l.failed = true
			l.happen(core.Unload{})
			l.abandon(w.failed)
		}
		l.keeper.passed(w)
	}
	if _, loading := l.core.Serves(); l.toLoad && loading {
		l.load()
	}
}

// end ends a transaction and tells when that is in the log, or that it never will be.
func (l *loop) end(m core.Marker, told func(error)) {
	if l.failed {
		told(errNotKept)
		return
	}
	l.marking[m] = append(l.marking[m], told)
	l.step(m)
}

// abandon tells those who wait for a transaction's end that it is not known.
func (l *loop) abandon(err error) {
	for m, all := range l.marking {
		delete(l.marking, m)
		for _, told := range all {
			told(fmt.Errorf("%w: %w", errNotKept, err))
		}
	}
}

// marked is the end of a transaction in the log, or of a try: one that could not be written is written again. Who waits for one that is owed
// while groups are being loaded is answered at once, as by Kafka, but where that would be lost with the process: Kafka has it in another log by then.
func (l *loop) marked(e core.Marked) {
	if e.Code != core.None {
		l.owed = append(l.owed, e.Marker)
		if serves, _ := l.core.Serves(); serves && !l.failed {
			time.AfterFunc(markAgain, func() { l.do(l.markOwed) })
			return
		}
		if !store.InMemory(l.keeper.log) {
			return
		}
	}
	all := l.marking[e.Marker]
	delete(l.marking, e.Marker)
	for _, told := range all {
		told(nil)
	}
}

// markAgain is how long after a try a transaction's end is written again.
const markAgain = 20 * time.Millisecond

// markOwed writes the ends of transactions that are owed.
func (l *loop) markOwed() {
	owed := l.owed
	l.owed = nil
	for _, m := range owed {
		l.step(m)
	}
}

func (l *loop) happen(ev core.Event) {
	now := time.Now()
	effects := l.core.Step(now, ev)
	if l.watch != nil {
		l.watch(now, ev, effects)
	}
	l.carryOut(effects)
}

func (l *loop) carryOut(effects []core.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case core.Answer:
			l.answer(e.Ticket, outcome{resp: e.Message})
		case core.Reject:
			l.answer(e.Ticket, outcome{err: errors.New(e.Reason)})
		case core.Append:
			l.write(e)
		case core.Marked:
			l.marked(e)
		case core.Arm:
			l.armTimer(e)
		case core.Cancel:
			l.forgetInstant(e.Timer)
			l.timers.Apply(e)
		default:
			l.timers.Apply(e)
		}
	}
}

func (l *loop) armTimer(a core.Arm) {
	l.forgetInstant(a.Timer)
	if a.After > 0 {
		l.timers.Arm(a)
		return
	}
	l.timers.Apply(core.Cancel{Timer: a.Timer})
	if !l.keeper.wait(a) {
		l.instants = append(l.instants, a)
	}
}

// forgetInstant drops a timer of no length that has not been fired.
func (l *loop) forgetInstant(id core.TimerID) {
	l.keeper.forget(id)
	l.instants = slices.DeleteFunc(l.instants, func(a core.Arm) bool { return a.Timer == id })
}

// write puts records into the log. A write that times out is in the log, but nobody knows yet.
func (l *loop) write(e core.Append) {
	code := core.None
	if l.fails != nil {
		code = l.fails(e.Group)
	}
	switch code {
	case core.None:
		l.late = 0 // settled with this one
		l.keeper.keep(e, code)
	case core.RequestTimedOut:
		l.late = e.ID
		l.keeper.keep(e, code)
		time.AfterFunc(lateWrite, func() { l.do(func() { l.land(e.ID) }) })
	default:
		l.keeper.refuse(e.ID, code)
	}
}

// lateWrite is how long a write that was made to time out takes to be known to have worked.
const lateWrite = time.Second

func (l *loop) land(id core.AppendID) {
	if l.late == id {
		l.late = 0
		l.step(core.Appended{ID: id})
	}
}

func (l *loop) answer(t core.Ticket, o outcome) {
	if l.waited && t == l.ticket {
		l.answered = o
		return
	}
	if reply, ok := l.waiting[t]; ok {
		delete(l.waiting, t)
		reply <- o
	}
}
