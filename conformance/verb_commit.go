package conformance

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/script"
)

func init() {
	register("commit", &verb{
		example: "commit A t/0=5 t/1=7:note t/1=8:x*4097 gen=+1 member=B v=9   (commit - t/0=5 for nobody)",
		keys:    []string{"gen", "member", "v", "group"},
		open:    func(key string) bool { _, _, err := partition(key); return err == nil },
		words:   oneCaller,
		run:     runCommit,
	})
}

// partition reads "t/0".
func partition(s string) (topic string, number int32, err error) {
	topic, num, ok := strings.Cut(s, "/")
	n, err := strconv.ParseUint(num, 10, 31)
	if !ok || err != nil || !groupName.MatchString(topic) {
		return "", 0, fmt.Errorf("%q is not a partition such as t/0", s)
	}
	return topic, int32(n), nil
}

// missingTopic is the topic that scenarios take for one that does not exist.
const missingTopic = "nosuch"

// topic is the real name of a scenario's topic.
func (r *run) topic(name string) (string, error) {
	if real, ok := r.caps.Topics[name]; ok {
		return real, nil
	}
	if name == missingTopic {
		return r.caps.Prefix + missingTopic, nil
	}
	return "", skipf("the target has no topic that scenarios call %s", name)
}

func (r *run) topicName(real string) string {
	for name, t := range r.caps.Topics {
		if t == real {
			return name
		}
	}
	if real == r.caps.Prefix+missingTopic {
		return missingTopic
	}
	return "?"
}

// caller is the actor that a command names, nil for nobody.
func (r *run) caller(c *script.Command) *actor {
	if c.Words[0] == "-" {
		return nil
	}
	return r.actor(c.Words[0])
}

// runCommit sends one OffsetCommit.
func runCommit(r *run, c *script.Command) error {
	a := r.caller(c)
	gen, own := int32(-1), ""
	if a != nil {
		gen, own = a.gen, a.id()
	}
	msg := kmsg.NewPtrOffsetCommitRequest()
	msg.Group = r.group(groupArg(c, a))
	msg.Generation = genArg(c, gen)
	var err error
	if msg.MemberID, err = r.memberArg(c, own); err != nil {
		return err
	}
	for _, arg := range c.Args {
		name, number, err := partition(arg.Key)
		if err != nil {
			continue // a setting
		}
		real, err := r.topic(name)
		if err != nil {
			return err
		}
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition = number
		offset, note, _ := strings.Cut(arg.Value, ":")
		if p.Offset, err = strconv.ParseInt(offset, 10, 64); err != nil {
			return fmt.Errorf("%s=%s: the offset is no number", arg.Key, arg.Value)
		}
		note = repeated(note)
		p.Metadata = &note
		addCommit(msg, real, p)
	}
	req := &request{verb: "commit", actor: a, member: msg.MemberID, group: groupArg(c, a)}
	req.render = func(resp kmsg.Response) string {
		var parts []string
		for _, t := range resp.(*kmsg.OffsetCommitResponse).Topics {
			for _, p := range t.Partitions {
				parts = append(parts, fmt.Sprintf("%s/%d:%s", r.topicName(t.Topic), p.Partition, errName(p.ErrorCode)))
			}
		}
		sort.Strings(parts)
		return strings.Join(parts, " ")
	}
	return r.send(req, msg, version(c))
}

func addCommit(msg *kmsg.OffsetCommitRequest, topic string, p kmsg.OffsetCommitRequestTopicPartition) {
	for i := range msg.Topics {
		if msg.Topics[i].Topic == topic {
			msg.Topics[i].Partitions = append(msg.Topics[i].Partitions, p)
			return
		}
	}
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic, t.Partitions = topic, []kmsg.OffsetCommitRequestTopicPartition{p}
	msg.Topics = append(msg.Topics, t)
}

// repeated expands "x*4097" to as many x.
func repeated(s string) string {
	what, times, ok := strings.Cut(s, "*")
	n, err := strconv.ParseUint(times, 10, 16)
	if !ok || err != nil {
		return s
	}
	return strings.Repeat(what, int(n))
}
