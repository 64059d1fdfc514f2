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

// calm is how long to wait for a request that the coordinator answers at once.
func (r *run) calm(req *request) time.Duration {
	if r.promisesSilence(req) {
		return r.quiet
	}
	return r.patience
}

// promisesSilence reports whether every expected text has the request parked.
func (r *run) promisesSilence(req *request) bool {
	i := slices.IndexFunc(r.lines, func(l *line) bool { return l.req == req })
	if i < 0 || len(r.expected) == 0 {
		return false
	}
	for _, v := range r.expected {
		if i >= len(v.Lines) || !strings.HasSuffix(v.Lines[i].Text, ": parked") {
			return false
		}
	}
	return true
}

// await waits until the request is answered, at most d.
func (r *run) await(req *request, d time.Duration) bool {
	return r.clock.Await(r.ctx, req.call, d)
}

// settle waits until a request that may be parked is taken. Effect tells from DescribeGroups whether the request shows; without
// one, or where it does not show in time, silence must do.
func (r *run) settle(req *request, effect func(view) bool) error {
	if r.await(req, r.quiet/4) {
		return nil
	}
	deadline := r.clock.Now().Add(r.patience)
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
	msg := kmsg.NewPtrDescribeGroupsRequest()
	msg.Groups = []string{r.group(group)}
	req := &request{verb: "describe", group: group, hidden: true}
	activity := r.activity
	err := r.transmit(req, msg, -1)
	r.activity = activity
	if err != nil || !r.await(req, r.patience) {
		return view{}, false
	}
	r.open = slices.DeleteFunc(r.open, func(o *request) bool { return o == req })
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
		deadline := r.clock.Now().Add(r.patience)
		for len(r.open) > 0 && !r.satisfied() && r.clock.Now().Before(deadline) && r.ctx.Err() == nil {
			r.await(r.open[0], tick)
			r.absorb()
		}
		r.silence()
	}
	for _, l := range r.lines {
		if l.req != nil && !l.req.taken {
			l.req.line = nil
		}
	}
	return r.ctx.Err()
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
	since := r.clock.Now()
	for r.clock.Now().Sub(since) < r.quiet && r.ctx.Err() == nil && len(r.open) > 0 {
		open := len(r.open)
		r.await(r.open[0], tick)
		r.absorb()
		if len(r.open) != open {
			since = r.clock.Now()
		}
	}
}
