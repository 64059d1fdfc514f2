package traffic

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"

	"github.com/muster-kafka/muster/checker/converge"
	"github.com/muster-kafka/muster/checker/history"
	"github.com/muster-kafka/muster/conformance/target"
)

// Plan is how much traffic to make.
type Plan struct {
	Setup
	Calls    int           // stop beginning new calls after so many; 0 is no limit
	Duration time.Duration // and after so long; 0 is no limit
	Patience time.Duration // an answer that has not come by then is given up, and the connection closed
	Overlap  int           // calls of one group that may be open at a time

	Pace   func(context.Context) error // waited for before each call; nil is no limit
	Around Around                      // nil: nothing is done to the target on purpose
}

// Around is what is done to a target, and to the connections to it, while clients are at work.
type Around interface {
	// Enter waits until requests may be sent, and says in which of the target's lives; connections of a former one are dead.
	Enter(ctx context.Context) (life int64, err error)

	// Blames says whether what was done since then may be why a client of that life has no answer.
	Blames(client string, life int64, since time.Time) bool
}

// calm is where nothing is done.
type calm struct{}

func (calm) Enter(ctx context.Context) (int64, error) { return 0, ctx.Err() }
func (calm) Blames(string, int64, time.Time) bool     { return false }

// Drive runs the clients against a target until the plan is done, and records every call. An error means that the target could not
// be reached; what was recorded until then is still in the recorder.
func Drive(ctx context.Context, t target.Target, plan Plan, rec *history.Recorder) error {
	run, err := Prepare(t, plan, rec)
	if err != nil {
		return err
	}
	defer run.Close()
	return run.Drive(ctx)
}

// Run is a plan at work: Drive, and after that Heal, if it is wanted.
type Run struct {
	*driver
	runners []*runner
}

// Prepare makes a plan ready.
func Prepare(t target.Target, plan Plan, rec *history.Recorder) (*Run, error) {
	if plan.Calls <= 0 && plan.Duration <= 0 {
		return nil, errors.New("traffic: neither a number of calls nor a duration says when to stop")
	}
	if t.Capabilities().Virtual {
		return nil, fmt.Errorf("traffic: %s runs on virtual time, where calls do not overlap; give a target that is spoken to over a network", t.Name())
	}
	if plan.Versions == nil {
		plan.Versions = t.Capabilities().Versions
	}
	if plan.Around == nil {
		plan.Around = calm{}
	}
	d := &driver{target: t, plan: plan, rec: rec, open: map[string]chan struct{}{}}
	for _, g := range plan.Groups {
		d.open[g] = make(chan struct{}, plan.Overlap)
	}
	run := &Run{driver: d}
	for n := range plan.Clients {
		run.runners = append(run.runners, &runner{driver: d, client: New(&d.plan.Setup, n)})
	}
	return run, nil
}

// Drive runs the clients until the plan is done. Its error is that of the function Drive.
func (r *Run) Drive(ctx context.Context) error {
	if r.plan.Duration > 0 {
		r.until = r.rec.Now() + int64(r.plan.Duration)
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, one := range r.runners {
		group.Go(func() error { return one.run(ctx) })
	}
	return group.Wait()
}

// Close drops the clients' connections.
func (r *Run) Close() {
	for _, one := range r.runners {
		one.disconnect()
	}
}

// enough calls without an answer, where one is due at once, end a run.
const enough = 10

type driver struct {
	target target.Target
	plan   Plan
	rec    *history.Recorder
	begun  atomic.Int64
	silent atomic.Int64 // calls that are answered at once, and were not
	closed atomic.Int64 // calls that the target ended by closing the connection
	conns  atomic.Int64
	until  int64
	open   map[string]chan struct{} // a place for each call of the group that may be open
	room   room
	serial atomic.Int64 // numbers calls for room
}

// another says whether one more call may begin, and counts it.
func (d *driver) another(ctx context.Context) bool {
	if ctx.Err() != nil || d.until > 0 && d.rec.Now() >= d.until {
		return false
	}
	if d.silent.Load() >= enough || d.closed.Load() >= enough {
		return false // what is wrong is in the record; more of it would only take time
	}
	return d.plan.Calls <= 0 || d.begun.Add(1) <= int64(d.plan.Calls)
}

// runner drives one client: a main connection, and a side one for what it does while a request of it is parked.
type runner struct {
	*driver
	client     *Client
	main, side link
	heals      *healing // where it follows the program of package converge; guards what the client knows
	member     *converge.Member
}

func (r *runner) disconnect() {
	r.main.close()
	r.side.close()
}

// link is a connection that is dialled when it is needed.
type link struct {
	conn target.Conn
	id   int64
	life int64 // of the target
}

func (r *runner) run(ctx context.Context) error {
	for {
		step := r.client.Next(time.Duration(r.rec.Now()))
		if err := r.target.Clock().Sleep(ctx, step.Pause); err != nil || r.until > 0 && r.rec.Now() >= r.until {
			return nil // told to stop: what was recorded is whole
		}
		if step.Request == nil {
			if r.plan.Calls > 0 && r.begun.Load() >= int64(r.plan.Calls) {
				return nil
			}
			continue
		}
		if !r.another(ctx) {
			return nil
		}
		if err := r.call(ctx, step); err != nil {
			return err
		}
	}
}

// call makes one call on the main connection; while it is parked the client may do other things on the side.
func (r *runner) call(ctx context.Context, step Step) error {
	o, err := r.begin(ctx, &r.main, step)
	if o == nil || err != nil {
		return err
	}
	if step.Parks() {
		for !o.call.Ended() && r.rec.Now() < o.giveUp {
			meanwhile := r.client.Meanwhile()
			if r.target.Clock().Await(ctx, o.call, meanwhile.Pause) || ctx.Err() != nil {
				break
			}
			if meanwhile.Request == nil || !r.another(ctx) {
				r.target.Clock().Await(ctx, o.call, time.Duration(o.giveUp-r.rec.Now()))
				break
			}
			other, err := r.begin(ctx, &r.side, meanwhile)
			if err != nil {
				return errors.Join(err, r.end(ctx, &r.main, o))
			}
			if other != nil {
				// One more request at most is open: it is waited for, however long it is parked.
				if err := r.end(ctx, &r.side, other); err != nil {
					return errors.Join(err, r.end(ctx, &r.main, o))
				}
			}
		}
	}
	return r.end(ctx, &r.main, o)
}

// ongoing is a call that has been sent.
type ongoing struct {
	id     int64
	serial int64
	req    kmsg.Request
	call   *target.Call
	giveUp int64
	groups []string
	life   int64
	since  time.Time
}

// blamed says whether something that was done on purpose may be why the call has no answer.
func (r *runner) blamed(o *ongoing) bool {
	return r.plan.Around.Blames(r.client.Name, o.life, o.since)
}

// begin sends a request, unless a group it is about has as many open calls as it may have.
func (r *runner) begin(ctx context.Context, l *link, step Step) (*ongoing, error) {
	life, err := r.plan.Around.Enter(ctx)
	if err != nil {
		return nil, nil
	}
	if l.conn != nil && l.life != life {
		l.close()
	}
	o := &ongoing{req: step.Request, groups: history.GroupsOf(step.Request, r.plan.Groups), life: life, since: r.target.Clock().Now()}
	if l.conn == nil {
		conn, err := r.target.Dial(ctx, r.client.Name)
		if err != nil {
			if over(ctx) || r.blamed(o) {
				return nil, nil
			}
			return nil, fmt.Errorf("traffic: client %s cannot connect to %s: %w", r.client.Name, r.target.Name(), err)
		}
		l.conn, l.id, l.life = conn, r.conns.Add(1), life
	}
	if r.plan.Pace != nil && r.plan.Pace(ctx) != nil {
		return nil, nil
	}
	if !r.enter(o.groups) {
		return nil, nil
	}
	o.serial = r.serial.Add(1)
	for _, g := range o.groups {
		if !r.room.enters(g, step.Request, o.serial, r.rec.Now()) {
			r.leave(o.groups)
			return nil, nil
		}
	}
	r.learns(func() { r.client.Sent(step.Request) })
	o.id = r.rec.Begin(r.client.Name, l.id, step.Request, step.Version)
	o.call = l.conn.Send(step.Request, step.Version)
	o.giveUp = r.rec.Now() + int64(r.plan.Patience)
	return o, nil
}

// over says whether the context is, or was due to be: who dials with it is told so a moment sooner.
func over(ctx context.Context) bool {
	due, has := ctx.Deadline()
	return ctx.Err() != nil || has && !time.Now().Before(due)
}

// end waits for the answer until the client's patience ends, and records how the call ended.
func (r *runner) end(ctx context.Context, l *link, o *ongoing) error {
	var answer kmsg.Response
	defer func() {
		for _, g := range o.groups {
			r.room.ended(g, o.req, answer, o.serial, r.rec.Now())
		}
		r.leave(o.groups)
	}()
	clock := r.target.Clock()
	// A run that is told to stop still waits a little for what is open: a call without end says less.
	if rest := time.Duration(o.giveUp - r.rec.Now()); rest > 0 && !clock.Await(ctx, o.call, rest) && ctx.Err() != nil {
		clock.Await(context.WithoutCancel(ctx), o.call, min(rest, time.Second))
	}
	if !o.call.Ended() {
		at := r.rec.Now() // before the connection is closed: until here the client would have taken an answer
		l.close()
		r.learns(func() { r.loses(o.req) })
		switch {
		case r.blamed(o):
			r.rec.Finish(o.id, nil, history.Lost, "", at)
			return nil
		case !(Step{Request: o.req}).Parks() && ctx.Err() == nil:
			r.silent.Add(1)
		}
		r.rec.Finish(o.id, nil, history.GivenUp, "", at)
		return nil
	}
	resp, err := o.call.Answer()
	at := r.rec.Now()
	if err != nil {
		l.close()
		r.learns(func() { r.loses(o.req) })
		if r.blamed(o) {
			r.rec.Finish(o.id, nil, history.Lost, err.Error(), at)
			return nil
		}
		r.closed.Add(1)
		r.rec.Finish(o.id, nil, history.Closed, err.Error(), at)
		return nil
	}
	if finished := r.rec.At(o.call.Finished()); finished > 0 && finished < at {
		at = finished
	}
	answer = resp
	r.rec.Finish(o.id, resp, history.Answered, "", at)
	r.learns(func() { r.hears(o.req, resp) })
	return nil
}

func (l *link) close() {
	if l.conn != nil {
		l.conn.Close()
		l.conn = nil
	}
}

// enter takes a place in each group, or in none.
func (d *driver) enter(groups []string) bool {
	for i, g := range groups {
		select {
		case d.open[g] <- struct{}{}:
		default:
			d.leave(groups[:i])
			return false
		}
	}
	return true
}

func (d *driver) leave(groups []string) {
	for _, g := range groups {
		<-d.open[g]
	}
}
