package conformance

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/script"
)

func init() {
	register("leave", &verb{
		example: "leave A B member=stranger v=5 static=none",
		keys:    []string{"member", "v", "group", "static"},
		words:   actors,
		run:     runLeave,
	})
	register("leave-batch", &verb{
		example: "leave-batch A B stranger none A'1 none@a B@b v=5",
		keys:    []string{"v", "group"},
		words: func(words []string) error {
			for _, w := range words {
				who, word, static := strings.Cut(w, "@")
				if !isMember(who) || static && !groupName.MatchString(word) {
					return fmt.Errorf("%q is no member: use an actor, an older id of one (A'1), none or stranger, and @INSTANCE behind it", w)
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
		who := []leaver{{id, instanceArg(c, a)}}
		if err := r.leave(a, groupArg(c, a), who, version(c)); err != nil {
			return err
		}
	}
	return nil
}

// runLeaveBatch sends one LeaveGroup of nobody for all the members named.
func runLeaveBatch(r *run, c *script.Command) error {
	var all []leaver
	for _, w := range c.Words {
		who, word, static := strings.Cut(w, "@")
		id, err := r.memberID(who)
		if err != nil {
			return err
		}
		l := leaver{id: id}
		if static {
			l.instance = instance(word, "")
		}
		all = append(all, l)
	}
	return r.leave(nil, groupArg(c, nil), all, version(c))
}

// leaver is an entry of a LeaveGroup.
type leaver struct {
	id       string
	instance *string
}

func (r *run) leave(a *actor, group string, all []leaver, asked int16) error {
	if asked < 0 {
		if v, ok := r.set.versions["leave"]; ok {
			asked = v
		}
	}
	msg := kmsg.NewPtrLeaveGroupRequest()
	msg.Group = r.group(group)
	for _, l := range all {
		m := kmsg.NewLeaveGroupRequestMember()
		m.MemberID, m.InstanceID = l.id, l.instance
		msg.Members = append(msg.Members, m)
	}
	v, err := pick(r.caps, "leave", asked)
	if err != nil {
		return err
	}
	if v < 3 { // leave.single
		if len(all) != 1 {
			return tooOld(r.caps, "leave", 3, v, "carries one member")
		}
		msg.MemberID = all[0].id
	}
	req := &request{verb: "leave", actor: a, group: group}
	req.absorb = func(kmsg.Response) {
		for _, o := range r.order {
			for _, l := range all {
				o.forget(l.id)
			}
		}
	}
	req.render = func(resp kmsg.Response) string { return r.renderLeave(resp.(*kmsg.LeaveGroupResponse)) }
	return r.send(req, msg, v)
}

// renderLeave shows the top level error and, where the version has them, the entries in the order of the answer.
func (r *run) renderLeave(resp *kmsg.LeaveGroupResponse) string {
	if resp.Version < 3 || resp.ErrorCode != 0 && len(resp.Members) == 0 {
		return errName(resp.ErrorCode)
	}
	entries := make([]string, len(resp.Members))
	for i, m := range resp.Members {
		entries[i] = r.names.memberOf(m.MemberID, m.InstanceID) + ":" + errName(m.ErrorCode)
	}
	return more(errName(resp.ErrorCode), brackets(entries))
}
