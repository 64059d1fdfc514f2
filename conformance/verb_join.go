package conformance

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/script"
)

var joinKeys = []string{"session", "rebalance", "type", "v", "member", "group", "static"}

func init() {
	register("join", &verb{
		example: "join A B range=x sticky=y session=10s rebalance=30s type=consumer v=9 member=none static=own -again -id",
		keys:    joinKeys,
		open:    func(key string) bool { return key != "" },
		flags:   []string{"again", "empty", "id"},
		words:   actors,
		run:     runJoin,
	})
}

// runJoin sends a JoinGroup for each actor.
func runJoin(r *run, c *script.Command) error {
	for _, name := range c.Words {
		a := r.actor(name)
		if !c.Flag("again") && r.waits(a, "join") {
			return fmt.Errorf("a JoinGroup of %s is parked; write -again to repeat it on another connection", name)
		}
		if _, err := r.join(a, c, false); err != nil {
			return err
		}
	}
	return nil
}

// join sends one JoinGroup of the actor.
func (r *run) join(a *actor, c *script.Command, hidden bool) (*request, error) {
	if list := protocols(c); len(list) > 0 {
		a.list = list
	}
	list := a.list
	if c.Flag("empty") {
		list = nil
	} else if len(list) == 0 {
		return nil, fmt.Errorf("%s has no protocol yet; write join %s range=x", a.name, a.name)
	}
	a.group = groupArg(c, a)
	if !slices.Contains(a.groups, a.group) {
		a.groups = append(a.groups, a.group)
	}
	if s, ok := c.Arg("static"); ok {
		a.instance = instance(s, a.name)
	}
	msg := kmsg.NewPtrJoinGroupRequest()
	msg.Group, msg.InstanceID = r.group(a.group), a.instance
	var err error
	if msg.MemberID, err = r.memberArg(c, a.joinID); err != nil {
		return nil, err
	}
	if msg.SessionTimeoutMillis, err = r.session(a.setting(c, "session", r.set.session)); err != nil {
		return nil, err
	}
	if msg.RebalanceTimeoutMillis, err = r.millis(a.setting(c, "rebalance", r.set.rebalance)); err != nil {
		return nil, err
	}
	msg.ProtocolType = a.setting(c, "type", r.set.typ)
	if msg.ProtocolType == "none" {
		msg.ProtocolType = ""
	}
	for _, p := range list {
		jp := kmsg.NewJoinGroupRequestProtocol()
		jp.Name = p.name
		if jp.Metadata, err = r.subscription(p.metadata); err != nil {
			return nil, err
		}
		msg.Protocols = append(msg.Protocols, jp)
	}
	req := &request{verb: "join", actor: a, member: msg.MemberID, group: a.group, parks: true, hidden: hidden}
	req.absorb = func(resp kmsg.Response) { r.joined(a, msg, resp.(*kmsg.JoinGroupResponse)) }
	req.render = func(resp kmsg.Response) string {
		return r.renderJoin(msg, resp.(*kmsg.JoinGroupResponse), c.Flag("id"))
	}
	if err := r.sendJoin(req, msg, version(c)); err != nil {
		return req, err
	}
	return req, knowsStatic(req, msg)
}

// knowsStatic skips the scenario where the target says itself that it has no static members, as Kafka did until all brokers of a cluster
// had been upgraded.
func knowsStatic(req *request, msg *kmsg.JoinGroupRequest) error {
	const unsupportedVersion = 35
	if msg.InstanceID == nil || !req.taken {
		return nil
	}
	if resp, err := req.call.Answer(); err == nil && resp.(*kmsg.JoinGroupResponse).ErrorCode == unsupportedVersion {
		return skipf("needs static members (group.instance.id), and the target answers UNSUPPORTED_VERSION to them: only once all brokers of its cluster know them")
	}
	return nil
}

// sendJoin sends the request and waits until the target has taken it.
func (r *run) sendJoin(req *request, msg *kmsg.JoinGroupRequest, asked int16) error {
	var before view
	if !r.caps.Virtual {
		before, _ = r.look(req.group)
		req.alone = func() bool { return r.joinsAlone(req, before) }
	}
	var err error
	if req.hidden {
		err = r.transmit(req, msg, asked)
	} else {
		err = r.post(req, msg, asked)
	}
	if err != nil {
		return err
	}
	// join.new.member-id-required: such a request never waits.
	req.parks = msg.MemberID != "" || req.call.Version < 4 || msg.InstanceID != nil && req.call.Version >= 5
	switch {
	case r.caps.Virtual:
		// join.empty.rebalances: the first rebalance of an Empty group waits for others, but in a scenario it is over before they come.
	case !req.parks:
		return r.taken(req)
	case r.caps.InitialDelay > 0 && !r.delays && (before.state == "Empty" || before.state == "Dead"):
		d := 2*r.caps.InitialDelay + r.caps.Slack + r.quiet
		if r.promisesAnswer(req) {
			d += r.patience
		}
		r.await(req, d)
	default:
		if err := r.settle(req, joinEffect(before, msg.MemberID)); err != nil {
			return err
		}
	}
	r.absorb()
	return r.ctx.Err()
}

// joinsAlone reports whether a JoinGroup has no other member to wait for: the group had none, or all others wait in JoinGroup already.
// DescribeGroups may not show a group yet whose members have been answered (describe.unseen).
func (r *run) joinsAlone(req *request, before view) bool {
	switch before.state {
	case "Empty", "Dead":
		return !slices.ContainsFunc(r.order, func(a *actor) bool {
			return a != req.actor && a.group == req.group && a.joinID != "" && a.gen > 0
		})
	case "PreparingRebalance":
		for _, id := range before.members {
			waits := slices.ContainsFunc(r.open, func(o *request) bool { return o.verb == "join" && o.member == id })
			if !waits && id != req.member {
				return false
			}
		}
		return slices.Contains(before.members, req.member)
	}
	return false
}

// joinEffect tells how DescribeGroups shows that a JoinGroup was taken: a new member is listed, or a rebalance starts. A member that
// joins a group which prepares a rebalance already does not show.
func joinEffect(before view, member string) func(view) bool {
	switch {
	case member == "" || !slices.Contains(before.members, member):
		if before.state == "PreparingRebalance" || before.state == "CompletingRebalance" || before.state == "Stable" {
			return func(now view) bool { return now.state != before.state || !sameMembers(now.members, before.members) }
		}
		return nil
	case before.state == "Stable" || before.state == "CompletingRebalance":
		return func(now view) bool { return now.state != before.state }
	default:
		return nil
	}
}

func sameMembers(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// protocols are the arguments that are no settings.
func protocols(c *script.Command) []protocol {
	var list []protocol
	for _, a := range c.Args {
		if !slices.Contains(joinKeys, a.Key) {
			list = append(list, protocol{a.Key, a.Value})
		}
	}
	return list
}

// setting is what the command says, else what an earlier JoinGroup of the actor said, else the scenario's default.
func (a *actor) setting(c *script.Command, key, otherwise string) string {
	if v, ok := c.Arg(key); ok {
		a.asks[key] = v
	}
	if v, ok := a.asks[key]; ok {
		return v
	}
	return otherwise
}

func argOr(c *script.Command, key, otherwise string) string {
	if v, ok := c.Arg(key); ok {
		return v
	}
	return otherwise
}

// joined is what the actor remembers of an answer.
func (r *run) joined(a *actor, msg *kmsg.JoinGroupRequest, resp *kmsg.JoinGroupResponse) {
	const memberIDRequired, unknownMemberID = 79, 25
	switch resp.ErrorCode {
	case 0, memberIDRequired:
		if msg.MemberID == "" {
			r.names.hand(a, resp.MemberID)
		}
		a.joinID = resp.MemberID
	case unknownMemberID:
		a.forget(msg.MemberID)
	}
	if resp.ErrorCode != 0 {
		return
	}
	a.gen, a.typ, a.protocol, a.leader = resp.Generation, msg.ProtocolType, "", resp.LeaderID
	if resp.Protocol != nil {
		a.protocol = *resp.Protocol
	}
	r.decideRoles(resp.LeaderID)
}

// forget makes the actor's next JoinGroup ask for a new id, if it is its own id that is not known any more.
func (a *actor) forget(id string) {
	if id == a.joinID {
		a.joinID = ""
	}
}

// renderJoin shows what an answer says, and of the fields that must have one value those that have another.
func (r *run) renderJoin(msg *kmsg.JoinGroupRequest, resp *kmsg.JoinGroupResponse, withID bool) string {
	members := make([]string, len(resp.Members))
	for i, m := range resp.Members {
		members[i] = r.names.memberOf(m.MemberID, m.InstanceID) + ":" + r.names.blob(m.ProtocolMetadata)
	}
	var list string
	if len(members) > 0 {
		list = "members=" + sortedBrackets(members)
	}
	v := resp.Version
	if resp.ErrorCode != 0 {
		return more(errName(resp.ErrorCode), r.refusedID(msg, resp, withID), differs("gen", strconv.Itoa(int(resp.Generation)), "-1"),
			differs("leader", r.names.member(resp.LeaderID), "-"), refusedText("protocol", resp.Protocol, v >= 7),
			refusedText("type", resp.ProtocolType, true), list)
	}
	var id, typ, skip string
	if msg.MemberID != "" && resp.MemberID != msg.MemberID {
		id = "id=" + r.names.member(resp.MemberID)
	}
	if v >= 7 {
		typ = differs("type", text(resp.ProtocolType), raw([]byte(msg.ProtocolType)))
	}
	if resp.SkipAssignment {
		skip = skipAssignment
	}
	return more("NONE", id, fmt.Sprintf("gen=%d", resp.Generation), "leader="+r.names.member(resp.LeaderID), typ,
		"protocol="+text(resp.Protocol), list, skip)
}

// skipAssignment ends the line of a leader that is told not to assign.
const skipAssignment = "skip-assignment"

// refusedID is the member id of a refusal, where the command asks for it. MEMBER_ID_REQUIRED must carry a fresh one, which is the actor's
// from now on.
func (r *run) refusedID(msg *kmsg.JoinGroupRequest, resp *kmsg.JoinGroupResponse, wanted bool) string {
	fresh := resp.MemberID != "" && resp.MemberID != msg.MemberID
	if resp.ErrorCode == 79 && !fresh || resp.ErrorCode != 79 && wanted {
		return "id=" + r.names.member(resp.MemberID)
	}
	return ""
}

// differs shows a field only if it has not the value that it must have.
func differs(field, got, must string) string {
	if got == must {
		return ""
	}
	return field + "=" + got
}

// refusedText is a text that a refusal must not carry: null, or empty in versions that have no null.
func refusedText(field string, got *string, nullable bool) string {
	if nullable {
		return differs(field, text(got), "null")
	}
	return differs(field, text(got), `""`)
}
