package conformance

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/script"
)

func init() {
	register("leave", &verb{
		example: "leave A B member=stranger v=5",
		keys:    []string{"member", "v", "group"},
		words:   actors,
		run:     runLeave,
	})
	register("leave-batch", &verb{
		example: "leave-batch A B stranger none A'1 v=5",
		keys:    []string{"v", "group"},
		words: func(words []string) error {
			for _, w := range words {
				if !isMember(w) {
					return fmt.Errorf("%q is no member: use an actor, an older id of one (A'1), none or stranger", w)
				}
			}
			return nil
		},
		run: runLeaveBatch,
	})
}

// runLeave sends a LeaveGroup of one member for each actor.
func runLeave(r *run, c *script.Command) error {
	for _, name := range c.Words {
		a := r.actor(name)
		id, err := r.memberArg(c, a.id())
		if err != nil {
			return err
		}
		if err := r.leave(a, groupArg(c, a), []string{id}, version(c)); err != nil {
			return err
		}
	}
	return nil
}

// runLeaveBatch sends one LeaveGroup of nobody for all the members named.
func runLeaveBatch(r *run, c *script.Command) error {
	var ids []string
	for _, who := range c.Words {
		id, err := r.memberID(who)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	return r.leave(nil, groupArg(c, nil), ids, version(c))
}

func (r *run) leave(a *actor, group string, ids []string, asked int16) error {
	if asked < 0 {
		if v, ok := r.set.versions["leave"]; ok {
			asked = v
		}
	}
	msg := kmsg.NewPtrLeaveGroupRequest()
	msg.Group = r.group(group)
	for _, id := range ids {
		m := kmsg.NewLeaveGroupRequestMember()
		m.MemberID = id
		msg.Members = append(msg.Members, m)
	}
	v, err := pick(r.caps, "leave", asked)
	if err != nil {
		return err
	}
	if v < 3 { // leave.single
		if len(ids) != 1 {
			return skipf("LeaveGroup version %d carries one member", v)
		}
		msg.MemberID = ids[0]
	}
	req := &request{verb: "leave", actor: a, group: group}
	req.absorb = func(kmsg.Response) {
		for _, o := range r.order {
			for _, id := range ids {
				o.forget(id)
			}
		}
	}
	req.render = func(resp kmsg.Response) string { return r.renderLeave(ids, resp.(*kmsg.LeaveGroupResponse)) }
	return r.send(req, msg, v)
}

// renderLeave shows the top level error and, where the version has them, the entries in the order of the answer.
func (r *run) renderLeave(ids []string, resp *kmsg.LeaveGroupResponse) string {
	if resp.Version < 3 || resp.ErrorCode != 0 && len(resp.Members) == 0 {
		return errName(resp.ErrorCode)
	}
	entries := make([]string, len(resp.Members))
	for i, m := range resp.Members {
		entries[i] = r.names.member(m.MemberID) + ":" + errName(m.ErrorCode)
	}
	return more(errName(resp.ErrorCode), brackets(entries))
}
