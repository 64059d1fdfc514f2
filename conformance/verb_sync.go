package conformance

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/script"
)

func init() {
	register("sync", &verb{
		example: "sync A A=[t/0] B=[t/1] gen=+1 member=B type=consumer protocol=range v=5 -again",
		keys:    []string{"gen", "member", "type", "protocol", "v", "group"},
		open:    func(key string) bool { return key != "none" && isMember(key) },
		flags:   []string{"again"},
		words:   actors,
		run:     runSync,
	})
}

// runSync sends a SyncGroup for each actor, with the assignments given.
func runSync(r *run, c *script.Command) error {
	for _, name := range c.Words {
		a := r.actor(name)
		parked := slices.ContainsFunc(r.open, func(o *request) bool { return o.verb == "sync" && o.actor == a })
		if parked && !c.Flag("again") {
			return fmt.Errorf("a SyncGroup of %s is parked; write -again to repeat it on another connection", name)
		}
		if _, err := r.sync(a, c, false); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) sync(a *actor, c *script.Command, hidden bool) (*request, error) {
	group := groupArg(c, a)
	msg := kmsg.NewPtrSyncGroupRequest()
	msg.Group = r.group(group)
	msg.Generation = genArg(c, a.gen)
	var err error
	if msg.MemberID, err = r.memberArg(c, a.id()); err != nil {
		return nil, err
	}
	msg.ProtocolType = nullable(argOr(c, "type", a.typ))
	msg.Protocol = nullable(argOr(c, "protocol", a.protocol))
	for _, arg := range c.Args {
		if !isMember(arg.Key) {
			continue
		}
		entry := kmsg.NewSyncGroupRequestGroupAssignment()
		if entry.MemberID, err = r.memberID(arg.Key); err != nil {
			return nil, err
		}
		entry.MemberAssignment = []byte(arg.Value)
		msg.GroupAssignment = append(msg.GroupAssignment, entry)
	}
	req := &request{verb: "sync", actor: a, member: msg.MemberID, group: group, parks: true, hidden: hidden}
	req.absorb = func(resp kmsg.Response) {
		if resp.(*kmsg.SyncGroupResponse).ErrorCode == 25 {
			a.forget(msg.MemberID)
		}
	}
	req.render = func(resp kmsg.Response) string { return renderSync(a, msg, resp.(*kmsg.SyncGroupResponse)) }
	if !hidden {
		return req, r.send(req, msg, version(c))
	}
	if err := r.transmit(req, msg, version(c)); err != nil {
		return nil, err
	}
	return req, r.taken(req)
}

// nullable is the text of a field that may be null: none.
func nullable(s string) *string {
	if s == "none" {
		return nil
	}
	return &s
}

// renderSync shows type and name of the protocol only where they are not those that the request named, or the actor's where it named
// none.
func renderSync(a *actor, msg *kmsg.SyncGroupRequest, resp *kmsg.SyncGroupResponse) string {
	named := resp.Version >= 5
	if resp.ErrorCode != 0 {
		var bytes, typ, protocol string
		if len(resp.MemberAssignment) > 0 {
			bytes = raw(resp.MemberAssignment)
		}
		if named {
			typ, protocol = refusedText("type", resp.ProtocolType, true), refusedText("protocol", resp.Protocol, true)
		}
		return more(errName(resp.ErrorCode), bytes, typ, protocol)
	}
	var typ, protocol string
	if named {
		typ = differs("type", text(resp.ProtocolType), due(msg.ProtocolType, a.typ))
		protocol = differs("protocol", text(resp.Protocol), due(msg.Protocol, a.protocol))
	}
	return more("NONE", raw(resp.MemberAssignment), typ, protocol)
}

func due(sent *string, own string) string {
	if sent != nil {
		own = *sent
	}
	return raw([]byte(own))
}
