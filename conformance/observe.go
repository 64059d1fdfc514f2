package conformance

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/script"
)

// minObserve is the least time that an observation is repeated for.
const minObserve = 250 * time.Millisecond

// observe sends a DescribeGroups or ListGroups. A coordinator may answer these from the last replicated state, so that what an answer
// before it has promised does not show yet: on a network they are asked again while their line is not the expected one, as long as a
// settle time (and while recording only after one).
func (r *run) observe(req *request, msg kmsg.Request, asked int16) error {
	if !r.caps.Virtual && (r.recording || r.unpromised) {
		if err := r.sleep(r.ctx, r.quiet); err != nil {
			return err
		}
	}
	if err := r.send(req, msg, asked); err != nil {
		return err
	}
	deadline := r.clock.Now().Add(max(r.quiet, minObserve))
	for !r.caps.Virtual && req.taken && !r.expects(req) && r.clock.Now().Before(deadline) {
		if err := r.sleep(r.ctx, 2*tick); err != nil {
			return err
		}
		again := *req
		again.taken, again.hidden = false, true
		if err := r.transmit(&again, msg, req.call.Version); err != nil {
			return err
		}
		if err := r.taken(&again); err != nil {
			return err
		}
		if !again.taken {
			r.open = slices.DeleteFunc(r.open, func(o *request) bool { return o == &again })
			return nil
		}
		req.call = again.call
	}
	return nil
}

// expects reports whether some expected text has the request's line where it is.
func (r *run) expects(req *request) bool {
	if len(r.expected) == 0 {
		return true
	}
	i := slices.IndexFunc(r.lines, func(l *line) bool { return l.req == req })
	line := r.label(r.lines[i]) + ": " + r.render(r.lines[i])
	return slices.ContainsFunc(r.expected, func(v *script.Variant) bool { return i < len(v.Lines) && v.Lines[i].Match(line) })
}
