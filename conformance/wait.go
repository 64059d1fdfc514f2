package conformance

import (
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/script"
)

// A virtual target has done at once all that it would do at this instant, so nothing here waits for one. On a network:
//
//   - A request is taken when it is answered, when DescribeGroups shows its effect, or, where neither can be, when the target has been
//     silent for its settle time and has answered a DescribeGroups that was sent later.
//   - A request is parked when it is taken, a later request was answered, and the target has been silent for its settle time.
//   - An answer that the expected text promises is waited for with patience, so that a slow machine changes nothing.

// tick is how often outstanding calls are looked at.
const tick = 4 * time.Millisecond

// taken returns once the target has taken the request that was sent last.
func (r *run) taken(req *request) error {
	if !r.caps.Virtual {
		if !req.parks {
			r.await(req, r.calm(req))
		} else if err := r.settle(req, nil); err != nil {
			return err
		}
	}
	r.absorb()
	return r.ctx.Err()
}

// waits reports whether a request of the actor is parked. One that the target is only slow to answer is waited for.
func (r *run) waits(a *actor, verb string) bool {
	for _, o := range r.open {
		if o.verb == verb && o.actor == a && (r.caps.Virtual || !r.await(o, r.patience)) {
			return true
		}
	}
	r.absorb()
	return false
}

// calm is how long to wait for a request that the coordinator answers at once.
func (r *run) calm(req *request) time.Duration {
	if r.promisesSilence(req) {
		return r.quiet
	}
	return r.patience
}

// await waits until the request is answered, at most d.
func (r *run) await(req *request, d time.Duration) bool {
	if r.caps.Virtual {
		return r.clock.Await(r.ctx, req.call, d)
	}
	for until := r.clock.Now().Add(d); ; {
		now := r.clock.Now()
		step := min(until.Sub(now), 50*time.Millisecond)
		if step <= 0 {
			return req.call.Ended()
		}
		if r.clock.Await(r.ctx, req.call, step) {
			// An answer that came after the wait's end is no reason why that was late: what was late with asking may have brought it about.
			if at := req.call.Finished(); at.After(now) {
				r.strain.woke(r.clock.Now().Sub(now.Add(min(step, at.Sub(now)))))
			}
			return true
		}
		if r.ctx.Err() != nil {
			return false
		}
		late := r.clock.Now().Sub(now) - step
		r.dozed = r.dozed || late > asleep
		r.strain.woke(late)
	}
}

// settle waits until a request that may be parked is taken. Effect tells from DescribeGroups whether the request shows; without
// one, or where it does not show in time, silence must do.
func (r *run) settle(req *request, effect func(view) bool) error {
	if r.await(req, r.quiet/4) || r.due(req) && r.await(req, r.patience) {
		return nil
	}
	deadline := r.clock.Now().Add(r.patience)
	if _, err := pick(r.caps, "describe", -1); err != nil {
		effect = nil // nothing can show it
	}
	for effect != nil && r.clock.Now().Before(deadline) && r.ctx.Err() == nil {
		if v, ok := r.look(req.group); ok && effect(v) {
			return nil
		}
		if r.await(req, max(r.quiet/4, tick)) {
			return nil
		}
	}
	if r.await(req, r.quiet) {
		return nil
	}
	r.look(req.group)
	return r.ctx.Err()
}

// view is what DescribeGroups shows of a group.
type view struct {
	state   string
	members []string
}

// look asks DescribeGroups for the runner's own use.
func (r *run) look(group string) (view, bool) {
	if r.health.deaf("describe") {
		return view{}, false
	}
	msg := kmsg.NewPtrDescribeGroupsRequest()
	msg.Groups = []string{r.group(group)}
	req := &request{verb: "describe", group: group, hidden: true}
	activity := r.activity
	err := r.transmit(req, msg, -1)
	r.activity = activity
	r.open = slices.DeleteFunc(r.open, func(o *request) bool { return o == req })
	if err != nil {
		return view{}, false
	}
	if !r.await(req, r.patience) {
		if r.ctx.Err() == nil {
			r.health.missed("describe", req.call.Sent, r.clock.Now())
		}
		return view{}, false
	}
	r.health.answered("describe")
	r.strain.answered(req.call.Finished().Sub(req.call.Sent))
	resp, err := req.call.Answer()
	if err != nil {
		return view{}, false
	}
	d, ok := resp.(*kmsg.DescribeGroupsResponse)
	if !ok || len(d.Groups) != 1 {
		return view{}, false
	}
	v := view{state: d.Groups[0].State}
	for _, m := range d.Groups[0].Members {
		v.members = append(v.members, m.MemberID)
	}
	return v, true
}

// finish ends the block: all answers that the text promises have come, or are not going to; then the target is silent.
func (r *run) finish() error {
	r.absorb()
	if !r.caps.Virtual {
		r.answers()
		r.silence()
		if !r.dozed && len(r.open) > 0 && !r.satisfied() {
			_, alive := r.look(r.open[0].group)
			r.deserted = alive
		}
	}
	for _, l := range r.lines {
		if l.req != nil && !l.req.taken {
			l.req.line = nil
		}
	}
	return r.ctx.Err()
}

// answers waits for the answers that the text promises, with patience from the last sending or answer on.
func (r *run) answers() {
	for len(r.open) > 0 && !r.satisfied() && r.ctx.Err() == nil {
		if !r.clock.Now().Before(r.activity.Add(r.patience)) {
			return
		}
		r.await(r.open[0], tick)
		r.absorb()
	}
}

// satisfied reports whether as many answers have come as some expected text has.
func (r *run) satisfied() bool {
	if len(r.expected) == 0 {
		return true
	}
	now, parked := len(r.lines), 0
	for _, l := range r.lines {
		if l.req != nil && !l.req.taken {
			parked++
		}
	}
	for _, v := range r.expected {
		if now >= len(v.Lines) && parked <= parkedLines(v) {
			return true
		}
	}
	return false
}

// moreMayCome reports whether one of several texts has more answers than have come: the shorter one is not to be believed too soon.
func (r *run) moreMayCome() bool {
	for _, v := range r.expected {
		if len(v.Lines) > len(r.lines) {
			return true
		}
	}
	return false
}

func parkedLines(v *script.Variant) int {
	n := 0
	for _, l := range v.Lines {
		if strings.HasSuffix(l.Text, ": parked") {
			n++
		}
	}
	return n
}

// silence waits until nothing has come for the settle time. Requests of earlier blocks that stay parked are a reason too: one that
// this block should not have released must have had the time to show.
func (r *run) silence() {
	if len(r.open) == 0 {
		return
	}
	group := r.open[0].group
	r.look(group)
	quiet := r.quiet
	if r.moreMayCome() {
		quiet = max(5*quiet, time.Second)
	}
	since := r.clock.Now()
	for r.clock.Now().Sub(since) < quiet && r.ctx.Err() == nil && len(r.open) > 0 {
		open := len(r.open)
		r.await(r.open[0], tick)
		r.absorb()
		if len(r.open) != open {
			since = r.clock.Now()
		}
	}
}
