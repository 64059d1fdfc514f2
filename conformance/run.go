package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/conformance/target"
)

// run is one execution of a scenario on a target.
type run struct {
	ctx      context.Context
	tg       target.Target
	caps     target.Capabilities
	clock    target.Clock
	patience time.Duration // how long an answer that the text promises is waited for on a network
	quiet    time.Duration // how long nothing must come before a request counts as parked

	recording  bool // there is no expected text yet
	unpromised bool // nor is there, but the runner does not go carefully either
	delays     bool // the scenario is about the initial rebalance delay, so the runner does not wait for its end
	expires    bool // offsets expire when time passes
	gate       *gate
	sent       bool // something was sent, so that there may be something to remove

	base     string            // real name of the scenario's group
	others   map[string]string // and of the others that it names
	names    *names
	actors   map[string]*actor
	order    []*actor
	probe    *actor // for the runner's own DescribeGroups
	set      settings
	open     []*request // sent, not answered, oldest first
	roles    *roleCall  // waiting for a leader
	marking  bool       // the next request sets the mark
	marked   time.Time  // what the verb at counts from
	activity time.Time  // last sending or answer of a scenario's request, on the target's clock
	health   *health    // of the suite
	acked    ledger
	undo     []target.Fault // what ends the faults that have happened

	// The block at work.
	block    *script.Block
	expected []*script.Variant // the texts that the target may give; empty while recording
	lines    []*line
	command  int
	rendered []*line      // the lines in the order of the text
	stopped  *cannotError // a command that could not be done
	deserted bool         // an answer that the text promises never came, though the target answers others and this machine was awake
	dozed    bool         // this machine stood still for a while, so that it says nothing if an answer did not come
	strain   strain       // how well this machine kept up, in all blocks so far
	torn     []torn       // why answers could not be had, or not be read
	lacking  []loss       // acknowledged commits that a fetch did not show
}

// settings are what the verb group sets.
type settings struct {
	session, rebalance string
	typ                string
	versions           map[string]int16
}

func newSettings() settings {
	return settings{session: "60s", rebalance: "60s", typ: "consumer", versions: map[string]int16{}}
}

// request is one request of a scenario.
type request struct {
	verb   string
	actor  *actor // nil for those of nobody
	member string // the member id that it carries
	group  string // scenario name of its group
	call   *target.Call
	parks  bool        // the coordinator may hold it
	alone  func() bool // says whether the coordinator has nobody to wait for; may be nil

	render func(kmsg.Response) string
	absorb func(kmsg.Response) // what the actor remembers of the answer
	taken  bool                // absorbed
	hidden bool                // has no line: the runner's own, or a part of form
	former bool                // the actor has repeated it meanwhile
	line   *line               // its line, while its own block runs
}

// line is one line of a block's text: a request's, or a verb's own.
type line struct {
	command int
	req     *request
	label   string // who, for a line without request: "form", "list"
	text    string
}

func newRun(ctx context.Context, tg target.Target, base string) *run {
	caps := tg.Capabilities()
	r := &run{
		ctx: ctx, tg: tg, caps: caps, clock: tg.Clock(), base: base, others: map[string]string{}, names: newNames(), actors: map[string]*actor{},
		patience: max(3*time.Second, 10*caps.Settle) + 4*caps.Slack,
		health:   newHealth(), acked: ledger{},
		quiet: caps.Settle,
		set:   settings{session: "60s", rebalance: "60s", typ: "consumer", versions: map[string]int16{}},
	}
	r.probe = &actor{name: "muster"}
	r.names.groups[base] = mainGroup
	r.activity = r.clock.Now()
	return r
}

// scale is by how much scenario time is multiplied on the target: as the target says, but on a network not by so little that
// settling, which happens in most blocks, takes more than a quarter of a second of scenario time.
func scale(caps target.Capabilities) float64 {
	if caps.Virtual {
		return 1
	}
	return max(caps.Scale, min(1, caps.Settle.Seconds()/0.25))
}

// exec runs one block and returns its text.
func (r *run) exec(b *script.Block, expected []*script.Variant) ([]string, error) {
	r.block, r.expected, r.lines, r.stopped, r.deserted, r.dozed, r.torn, r.lacking = b, expected, nil, nil, false, false, nil, nil
	r.strain.next()
	for i := range b.Commands {
		c := &b.Commands[i]
		r.command = i
		if err := r.nameGroups(c); err != nil {
			return nil, err
		}
		r.catchUp(c)
		if err := verbs[c.Verb].run(r, c); err != nil {
			var skip *skipError
			if errors.As(err, &skip) || errors.Is(err, errBroken) || r.ctx.Err() != nil {
				return nil, err
			}
			r.say(c.Verb, "cannot: "+err.Error())
			r.stopped = &cannotError{line: c.Line, verb: c.Verb, why: err.Error(), command: i}
			break
		}
	}
	if err := r.finish(); err != nil {
		return nil, err
	}
	return r.text(), nil
}

// cannotError is a command that the runner cannot do, because of what came before it.
type cannotError struct {
	line, command int
	verb, why     string
}

func (e *cannotError) Error() string {
	return fmt.Sprintf("line %d: %s: cannot: %s", e.line, e.verb, e.why)
}

// errBroken marks errors that say nothing about the coordinator: it could not be reached at all.
var errBroken = errors.New("the target cannot be reached")

// actor returns the actor of that name, or of that role.
func (r *run) actor(name string) *actor {
	if real, ok := r.names.actors[name]; ok {
		name = real
	}
	a, ok := r.actors[name]
	if !ok {
		a = &actor{name: name, gen: -1, group: mainGroup, asks: map[string]string{}}
		r.actors[name] = a
		r.order = append(r.order, a)
	}
	return a
}

// mainGroup is what scenarios call the group they are about.
const mainGroup = "group"

// noGroup is what they call the empty group id.
const noGroup = "none"

// group returns the real name of a group by the name that scenarios give it.
func (r *run) group(name string) string {
	real := r.base
	switch name {
	case noGroup:
		real = ""
	case mainGroup:
	default:
		real = r.others[name]
	}
	r.names.groups[real] = name
	return real
}

// nameGroups names the groups that a command is the first to name.
func (r *run) nameGroups(c *script.Command) error {
	for _, name := range groupsOf(c) {
		if _, known := r.others[name]; known || name == mainGroup || name == noGroup {
			continue
		}
		real, err := r.caps.Named(r.ctx, r.base+"-"+name)
		if err != nil {
			return fmt.Errorf("%w: %w", errBroken, err)
		}
		r.others[name] = real
	}
	return nil
}

// say adds a line that belongs to no single request.
func (r *run) say(label, text string) {
	r.lines = append(r.lines, &line{command: r.command, label: label, text: text})
}

// send sends a request, waits until the target has taken it and adds its line.
func (r *run) send(req *request, msg kmsg.Request, asked int16) error {
	if err := r.post(req, msg, asked); err != nil {
		return err
	}
	return r.taken(req)
}

// post sends a request and adds its line.
func (r *run) post(req *request, msg kmsg.Request, asked int16) error {
	if err := r.transmit(req, msg, asked); err != nil {
		return err
	}
	l := &line{command: r.command, req: req}
	req.line = l
	r.lines = append(r.lines, l)
	return nil
}

// transmit sends a request without a line.
func (r *run) transmit(req *request, msg kmsg.Request, asked int16) error {
	if asked < 0 {
		if v, ok := r.set.versions[req.verb]; ok {
			asked = v
		}
	}
	version, err := pick(r.caps, req.verb, asked)
	if err != nil {
		return err
	}
	msg.SetVersion(version)
	from := req.actor
	if from == nil {
		from = r.probe
	}
	began := r.clock.Now()
	c, err := from.idle(r.ctx, r.tg)
	if err != nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	r.activity = r.clock.Now()
	r.strain.answered(r.activity.Sub(began)) // the timers of others run meanwhile
	if r.marking && from != r.probe {
		r.marked, r.marking = r.activity, false
	}
	r.sent = true
	for _, o := range r.open {
		o.former = o.former || o.verb == req.verb && o.actor == req.actor && o.actor != nil
	}
	req.call = c.Send(msg, version)
	c.last = req.call
	r.open = append(r.open, req)
	return nil
}

// absorb lets the actors remember the answers that have come, in the order of sending.
func (r *run) absorb() {
	kept := r.open[:0]
	for _, req := range r.open {
		if !req.call.Ended() {
			kept = append(kept, req)
			continue
		}
		if at := req.call.Finished(); at.After(r.activity) && req.actor != nil {
			r.activity = at
		}
		if resp, err := req.call.Answer(); err == nil {
			if !req.parks && !completes(resp) {
				r.strain.answered(req.call.Finished().Sub(req.call.Sent))
			}
			if req.absorb != nil {
				req.absorb(resp)
			}
		}
		if req.line == nil && !req.hidden {
			r.lines = append(r.lines, &line{command: late, req: req})
		}
		req.taken = true
	}
	r.open = kept
}

// completes reports whether the answer is a generation: whatever the protocol says of its request, this coordinator had others to wait for.
func completes(resp kmsg.Response) bool {
	join, ok := resp.(*kmsg.JoinGroupResponse)
	return ok && join.ErrorCode == 0
}

// late is the command number of lines that belong to requests of earlier blocks.
const late = 1 << 30

// label is how a line begins.
func (r *run) label(l *line) string {
	if l.req == nil {
		return l.label
	}
	who := l.req.verb
	if l.req.actor != nil {
		who = r.names.actor(l.req.actor.name)
	} else if who == "commit" || who == "fetch" || who == "leave" || who == "offset-delete" {
		who = "-"
	}
	if l.command == late {
		if l.req.actor != nil {
			who += "(" + l.req.verb + formerMark(l.req) + ")"
		}
	}
	return who
}

// formerMark tells the answer to a request that was repeated meanwhile from that to its repetition.
func formerMark(req *request) string {
	if req.former {
		return "'1"
	}
	return ""
}

func (r *run) render(l *line) string {
	if l.req == nil {
		return l.text
	}
	if !l.req.taken {
		return "parked"
	}
	resp, err := l.req.call.Answer()
	switch {
	case errors.Is(err, target.ErrClosed):
		r.tear(l.req, err)
		return closedText
	case err != nil:
		r.tear(l.req, err)
		return unreadableText
	default:
		return l.req.render(resp)
	}
}

func errName(code int16) string {
	if code == 0 {
		return "NONE"
	}
	err := kerr.TypedErrorForCode(code)
	if err == nil || err.Code != code {
		return fmt.Sprintf("ERROR_%d", code)
	}
	return err.Message
}

// more joins the parts of a line that are not empty.
func more(parts ...string) string {
	kept := parts[:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, " ")
}
