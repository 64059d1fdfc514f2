package server

import (
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/record"
)

// errStopped ends the requests of a server that is being closed.
var errStopped = errors.New("the server has been closed")

// loop owns the coordinator: everything that happens to it happens in run.
type loop struct {
	core   *core.Coordinator
	front  *Front
	txns   *Transactions
	log    record.Log
	timers core.TimerQueue
	acks   []core.Appended
	watch  func(time.Time, core.Event, []core.Effect) // see Options

	jobs    chan job
	quit    chan struct{}
	waiting map[core.Ticket]chan<- outcome
	ticket  core.Ticket
}

// job is a request and where its outcome goes; the channel has room for it.
type job struct {
	request core.Request
	outcome chan<- outcome
}

type outcome struct {
	resp kmsg.Response
	err  error
}

func newLoop(settings core.Settings, topics map[string]int32) *loop {
	l := &loop{jobs: make(chan job), quit: make(chan struct{}), waiting: map[core.Ticket]chan<- outcome{}}
	l.front, l.txns = NewFront(settings, topics), NewTransactions()
	settings.TopicExists, settings.TopicName, settings.TopicID = l.front.Exists, l.front.TopicName, l.front.TopicID
	settings.Transactions = true
	l.core = core.New(settings)
	return l
}

// ask hands a request in and waits for its outcome.
func (l *loop) ask(r core.Request) (kmsg.Response, error) {
	reply := make(chan outcome, 1)
	select {
	case l.jobs <- job{r, reply}:
	case <-l.quit:
		return nil, errStopped
	}
	select {
	case o := <-reply:
		return o.resp, o.err
	case <-l.quit:
		return nil, errStopped
	}
}

// stop ends run; it must be called once.
func (l *loop) stop() { close(l.quit) }

func (l *loop) run() {
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for {
		l.fireDue()
		if next, ok := l.timers.Next(); ok {
			alarm.Reset(time.Until(next.Deadline))
		} else {
			alarm.Stop()
		}
		select {
		case <-l.quit:
			return
		case <-alarm.C:
		case j := <-l.jobs:
			l.fireDue() // what was due before the request came, happened before it
			l.take(j)
		}
	}
}

func (l *loop) fireDue() {
	for {
		due, ok := l.timers.TakeDue(time.Now())
		if !ok {
			return
		}
		l.step(due)
	}
}

func (l *loop) take(j job) {
	resp, deleted, ok := l.front.Handle(j.request.Message, j.request.Version)
	if len(deleted) > 0 {
		l.step(core.TopicsDeleted{Topics: deleted})
	}
	if ok {
		j.outcome <- outcome{resp: resp}
		return
	}
	resp, marker, ok := l.txns.Handle(j.request.Message, j.request.Version)
	if marker != nil {
		l.step(*marker)
	}
	if ok {
		j.outcome <- outcome{resp: resp}
		return
	}
	if commit, ok := j.request.Message.(*kmsg.TxnOffsetCommitRequest); ok {
		j.request.Verified = l.txns.Verify(commit, j.request.Version)
	}
	l.ticket++
	j.request.Ticket = l.ticket
	l.waiting[l.ticket] = j.outcome
	l.step(j.request)
}

// step lets an event happen, and with it the ends of the writes that it causes: the log acknowledges at once.
func (l *loop) step(ev core.Event) {
	l.happen(ev)
	for len(l.acks) > 0 {
		ack := l.acks[0]
		l.acks = l.acks[1:]
		l.happen(ack)
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
			l.end(e.Ticket, outcome{resp: e.Message})
		case core.Reject:
			l.end(e.Ticket, outcome{err: errors.New(e.Reason)})
		case core.Append:
			l.log.Write(e)
			l.acks = append(l.acks, core.Appended{ID: e.ID, Code: core.None})
		case core.Marked:
			// The log acknowledges at once, and nobody takes the groups away: a marker is written when its step is over.
		default:
			l.timers.Apply(e)
		}
	}
}

func (l *loop) end(t core.Ticket, o outcome) {
	if reply, ok := l.waiting[t]; ok {
		delete(l.waiting, t)
		reply <- o
	}
}
