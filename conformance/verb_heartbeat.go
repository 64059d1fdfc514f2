package conformance

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/script"
)

func init() {
	register("heartbeat", &verb{
		example: "heartbeat A B gen=+1 member=stranger v=4",
		keys:    []string{"gen", "member", "v", "group"},
		words:   actors,
		run:     runHeartbeat,
	})
}

// runHeartbeat sends a Heartbeat for each actor.
func runHeartbeat(r *run, c *script.Command) error {
	for _, name := range c.Words {
		a := r.actor(name)
		group := groupArg(c, a)
		msg := kmsg.NewPtrHeartbeatRequest()
		msg.Group = r.group(group)
		msg.Generation = genArg(c, a.gen)
		var err error
		if msg.MemberID, err = r.memberArg(c, a.id()); err != nil {
			return err
		}
		req := &request{verb: "heartbeat", actor: a, member: msg.MemberID, group: group}
		req.absorb = func(resp kmsg.Response) {
			if resp.(*kmsg.HeartbeatResponse).ErrorCode == 25 {
				a.forget(msg.MemberID)
			}
		}
		req.render = func(resp kmsg.Response) string { return errName(resp.(*kmsg.HeartbeatResponse).ErrorCode) }
		if err := r.send(req, msg, version(c)); err != nil {
			return err
		}
	}
	return nil
}
