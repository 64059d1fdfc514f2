package conformance

import (
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/script"
)

func init() {
	register("form", &verb{
		example: "form A B C range=x session=10s rebalance=30s",
		keys:    joinKeys,
		open:    func(key string) bool { return key != "" },
		words:   actors,
		run:     runForm,
	})
}

// runForm brings the group to a Stable generation of exactly these members, led by the first, for scenarios that begin there. The
// first one joins alone; the others wait in JoinGroup until it joins again; then all of them get their own name as assignment. So a new group of
// one member is at generation 1, of several at 2, with and without an initial delay.
func runForm(r *run, c *script.Command) error {
	f := &former{r: r, c: c}
	for _, name := range c.Words {
		f.all = append(f.all, r.actor(name))
	}
	text, err := f.form()
	var refused *refusal
	if errors.As(err, &refused) {
		text, err = refused.Error(), nil
	}
	if err == nil {
		r.say("form", text)
	}
	return err
}

type former struct {
	r   *run
	c   *script.Command
	all []*actor
}

// refusal ends form: the coordinator gave an answer that leads nowhere.
type refusal struct{ who, verb, text string }

func (e *refusal) Error() string { return fmt.Sprintf("%s(%s): %s", e.who, e.verb, e.text) }

func (f *former) form() (string, error) {
	for _, a := range f.all {
		if len(protocols(f.c)) == 0 && len(a.list) == 0 {
			a.list = []protocol{{"range", "x"}}
		}
	}
	first := f.all[0]
	if first.gen < 0 || first.joinID == "" {
		if err := f.found(first); err != nil {
			return "", err
		}
	}
	for range 4 {
		same, err := f.round()
		if err != nil {
			return "", err
		}
		if same {
			return f.text(), f.sync()
		}
	}
	return "", &refusal{f.r.names.actor(first.name), "join", "no generation of these members in four rounds"}
}

// found lets the first member make a generation of its own.
func (f *former) found(first *actor) error {
	first.gen = -1
	for range 2 {
		req, err := f.join(first)
		if err == nil {
			err = f.answered(req)
		}
		if err != nil || first.gen >= 0 {
			return err
		}
	}
	return &refusal{f.r.names.actor(first.name), "join", "no generation after two answers"}
}

// round lets everybody join once, the first last, and reports whether all are in one generation then.
func (f *former) round() (bool, error) {
	first, others := f.all[0], f.all[1:]
	var calls []*request
	for _, a := range others {
		if a.joinID == "" { // join.new.member-id-required; a version that has no such round waits now
			req, err := f.join(a)
			if err != nil {
				return false, err
			}
			calls = append(calls, req)
		}
	}
	for _, a := range append(slices.Clone(others), first) {
		waits := slices.ContainsFunc(f.r.open, func(o *request) bool { return o.verb == "join" && o.actor == a })
		if waits || len(others) == 0 {
			continue
		}
		req, err := f.join(a)
		if err != nil {
			return false, err
		}
		calls = append(calls, req)
	}
	for _, req := range calls {
		if err := f.answered(req); err != nil {
			return false, err
		}
	}
	for _, a := range f.all {
		if a.gen != first.gen {
			return false, nil
		}
	}
	return true, nil
}

func (f *former) join(a *actor) (*request, error) {
	return f.r.join(a, f.c, true)
}

func (f *former) sync() error {
	assignments := &script.Command{Verb: "sync"}
	for _, a := range f.all {
		assignments.Args = append(assignments.Args, script.Arg{Key: a.name, Value: f.r.names.actor(a.name)})
	}
	first := f.all[0]
	if f.r.caps.LeaderLast {
		return f.syncAll(append(slices.Clone(f.all[1:]), first), first, assignments)
	}
	for _, a := range f.all {
		if err := f.syncAll([]*actor{a}, first, assignments); err != nil {
			return err
		}
	}
	return nil
}

// syncAll sends a SyncGroup for each of the members, the leader's with the assignments, and waits for all answers.
func (f *former) syncAll(members []*actor, leader *actor, assignments *script.Command) error {
	var calls []*request
	for _, a := range members {
		c := assignments
		if a != leader {
			c = &script.Command{Verb: "sync"}
		}
		req, err := f.r.sync(a, c, true)
		if err != nil {
			return err
		}
		calls = append(calls, req)
	}
	for _, req := range calls {
		if err := f.answered(req); err != nil {
			return err
		}
	}
	return nil
}

// answered waits for an answer that leads on: NONE or MEMBER_ID_REQUIRED.
func (f *former) answered(req *request) error {
	r := f.r
	if !r.caps.Virtual {
		r.await(req, r.patience+2*r.caps.InitialDelay)
	} else if err := r.passDelay(req); err != nil {
		return err
	}
	r.absorb()
	text := r.render(&line{req: req})
	if req.taken {
		code := int16(-1)
		switch resp, _ := req.call.Answer(); resp := resp.(type) {
		case *kmsg.JoinGroupResponse:
			code = resp.ErrorCode
		case *kmsg.SyncGroupResponse:
			code = resp.ErrorCode
		}
		if code == 0 || code == 79 {
			return nil
		}
	}
	return &refusal{r.names.actor(req.actor.name), req.verb, text}
}

// passDelay lets the initial delay of a virtual target pass, twice if it is extended, where an answer waits for its end.
func (r *run) passDelay(req *request) error {
	for range 2 {
		if r.caps.InitialDelay == 0 || req.call.Ended() {
			return nil
		}
		if err := r.sleepUntil(r.clock.Now().Add(r.caps.InitialDelay)); err != nil {
			return err
		}
	}
	return nil
}

func (f *former) text() string {
	names := make([]string, len(f.all))
	for i, a := range f.all {
		names[i] = f.r.names.actor(a.name)
	}
	first := f.all[0]
	return fmt.Sprintf("Stable gen=%d leader=%s protocol=%s members=%s",
		first.gen, f.r.names.member(first.leader), first.protocol, brackets(names))
}
