package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/history"
)

// Somebody else's target may be ended and started again by whoever runs it. Nobody says when, so that no history can be judged across it; what was only in memory is gone then, the topics of
// the run perhaps too, and it looks like a coordinator that loses its groups. The canary sees it: all its connections end at once, although it has used each a moment before. A coordinator that
// closes one connection now and then is none of this. What came before is judged, the campaign ends, and it cannot pass: a coordinator that ends because of what it was sent looks the same.

// witnesses are the connections of the canary to somebody else's target.
const witnesses = 3

// Outage is that a target which is somebody's went away, and came back.
type Outage struct {
	From    time.Duration // since the campaign began: the target was known to live last
	Until   time.Duration // it answered again; 0: it did not
	Refused bool          // meanwhile it took no new connections, or did not answer on them
	Cut     int           // histories that were at work then, and are judged up to that only
	Unknown int           // of these, those in which a member that there had been was unknown afterwards
}

// outage is one as the canary sees it. It has no from while there is none, and no until while the target is away.
type outage struct {
	Outage
	from, until time.Time
}

// others says whether the target is somebody's that Muster has not started: it may be started again without Muster's doing.
func (c *campaign) others() bool { return c.caps.MaxGroups > 0 }

// lived notes that a request that was sent then was answered.
func (k *canary) lived(sent time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.alive = sent
	if o := &k.outage; !o.from.IsZero() && o.until.IsZero() {
		o.until = time.Now()
	}
}

// left notes that all connections have ended. They were whole when the target was known to live last: of one that has never answered nothing can be said.
func (k *canary) left() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.outage.from.IsZero() {
		k.outage.from = k.alive
	}
}

// refused notes that the target is not to be spoken to. Unless it has gone that tells nothing.
func (k *canary) refused() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if o := &k.outage; !o.from.IsZero() && o.until.IsZero() {
		o.Refused = true
	}
}

func (k *canary) away() outage {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.outage
}

const (
	// settling is how long it may take until it is known whether the target has lived until now: it may be on its way back.
	settling = 10 * time.Second
	// lastSettling is that where the time for clients is over.
	lastSettling = time.Second
	// afterwards is how long a campaign goes on when the target has come back, to see what it knows of its groups.
	afterwards = 2 * time.Second
)

// errAway ends the traffic where the target was started again: what comes after that would be judged by what was before.
var errAway = errors.New("the target was started again")

// endsAway ends the campaign when somebody else's target has gone, and has come back or has had time to.
func (c *campaign) endsAway(ctx context.Context) {
	for c.others() && wait(ctx, mournPeriod) {
		switch o := c.canary.away(); {
		case o.from.IsZero():
		case !o.until.IsZero() && time.Since(o.until) > afterwards:
			c.fail(errAway)
			return
		case o.until.IsZero() && time.Since(o.from) > settling:
			c.fail(errors.New("the target went away and did not come back: all connections to it broke at once, and it takes no new ones"))
			return
		}
	}
}

// settled waits until the target is known to have lived at an instant, or for as long as that may take.
func (c *campaign) settled(ctx context.Context, at time.Time) {
	for began := time.Now(); ; time.Sleep(canaryPause) {
		c.canary.mu.Lock()
		alive := c.canary.alive
		c.canary.mu.Unlock()
		if waited := time.Since(began); !alive.Before(at) || waited > settling || waited > lastSettling && ctx.Err() != nil {
			return
		}
	}
}

// interrupted says whether the target went away before a history had ended, of which only what came before is to be judged then. How its clients got on is of no meaning.
func (c *campaign) interrupted(ctx context.Context, one *cell) bool {
	if !c.others() {
		return false
	}
	c.settled(ctx, one.ended)
	o := c.canary.away()
	if o.from.IsZero() || one.ended.Before(o.from) {
		return false
	}
	one.healed = nil
	one.before = cutOpen(one.history, max(0, one.rec.At(o.from)))
	unknown := !o.until.IsZero() && forgotten(one.history, one.before, one.rec.At(o.until))
	c.canary.mu.Lock()
	defer c.canary.mu.Unlock()
	if seen := &c.canary.outage; len(one.before.Calls) > 0 {
		seen.Cut++
		if unknown {
			seen.Unknown++
		}
	}
	return true
}

// cutOpen is a history as it was known at an instant: what was on its way then is of no end.
func cutOpen(h *history.History, at int64) *history.History {
	h = h.Cut(at)
	for i := range h.Calls {
		if h.Calls[i].Outcome == history.Open {
			h.Calls[i].Return = h.CutAt
		}
	}
	return h
}

// forgotten says whether a member that there was before is unknown after an instant.
func forgotten(whole, before *history.History, after int64) bool {
	var ids []string
	for _, group := range whole.Header.Groups {
		ids = append(ids, membersOf(before, group)...)
	}
	return slices.ContainsFunc(whole.Calls, func(c history.Call) bool {
		if c.Call < after || c.Outcome != history.Answered {
			return false
		}
		req, err := c.DecodeRequest()
		if err != nil {
			return false
		}
		resp, err := c.DecodeResponse()
		if err != nil {
			return false
		}
		id, code := "", int16(0)
		switch r := req.(type) {
		case *kmsg.JoinGroupRequest:
			id, code = r.MemberID, resp.(*kmsg.JoinGroupResponse).ErrorCode
		case *kmsg.SyncGroupRequest:
			id, code = r.MemberID, resp.(*kmsg.SyncGroupResponse).ErrorCode
		case *kmsg.HeartbeatRequest:
			id, code = r.MemberID, resp.(*kmsg.HeartbeatResponse).ErrorCode
		}
		return code == kerr.UnknownMemberID.Code && slices.Contains(ids, id)
	})
}

// report is what an outage comes to in the report; nil where there was none.
func (o outage) report(began time.Time) *Outage {
	if o.from.IsZero() {
		return nil
	}
	o.From = max(0, o.from.Sub(began))
	if !o.until.IsZero() {
		o.Until = o.until.Sub(began)
	}
	return &o.Outage
}

// doubts are why a campaign in which the target went away cannot pass.
func (o *Outage) doubts() []string {
	seen := fmt.Sprintf("%.1f s after its beginning all connections to it broke at once", o.From.Seconds())
	switch {
	case o.Until == 0:
		seen += ", and it did not come back"
	case o.Refused:
		seen += fmt.Sprintf(", it took no new ones until %.1f s", o.Until.Seconds())
	}
	if o.Unknown > 0 {
		seen += fmt.Sprintf(", and in %d of the %d histories that were at work members were unknown afterwards", o.Unknown, o.Cut)
	}
	return []string{
		"the target seems to have been started again during the campaign, and not by Muster: " + seen,
		"  what was seen before is judged, and the campaign ended then. Run it again while nobody restarts the target, or let Muster start it where it can (kafka:VERSION, impl+serve), so that restarts are known",
		"  if nobody has restarted it, it ended because of what it was sent, as no coordinator may: look into its log",
	}
}

// absent says whether the target may have gone before the end of the beginning of a history, all of which is still to come.
func (c *campaign) absent(ctx context.Context, beginning *cell) bool {
	if !c.others() {
		return false
	}
	c.settled(ctx, beginning.ended)
	c.canary.mu.Lock()
	defer c.canary.mu.Unlock()
	return !c.canary.outage.from.IsZero() || c.canary.alive.Before(beginning.ended)
}
