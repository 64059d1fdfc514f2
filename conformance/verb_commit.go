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
		example: "commit A t/0=5 t/1=7:note t/1=8:x*4097 gen=+1 member=B v=9 static=none retention=2s   (commit - t/0=5 for nobody)",
		keys:    []string{"gen", "member", "v", "group", "static", "retention"},
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
	return "", skipf("%s", r.without(name))
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
	msg.Generation, msg.InstanceID = genArg(c, gen), instanceArg(c, a)
	if s, ok := c.Arg("retention"); ok {
		v, err := r.version(c, "commit")
		if err != nil {
			return err
		}
		if v < 2 || v > 4 { // commit.retention
			return fmt.Errorf("OffsetCommit version %d has no retention time; versions 2 to 4 have", v)
		}
		ms, err := r.millis(s)
		if err != nil {
			return err
		}
		msg.RetentionTimeMillis = int64(ms)
	}
	var err error
	if msg.MemberID, err = r.memberArg(c, own); err != nil {
		return err
	}
	offsets, err := r.offsets(c)
	if err != nil {
		return err
	}
	for _, o := range offsets {
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset, p.Metadata = o.number, o.offset, o.metadata
		addCommit(msg, o.topic, p)
	}
	req := &request{verb: "commit", actor: a, member: msg.MemberID, group: groupArg(c, a)}
	r.acked.sent(msg)
	req.absorb = func(resp kmsg.Response) { r.acked.answered(msg, resp.(*kmsg.OffsetCommitResponse)) }
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

// offset is one that a command commits: t/0=5:note.
type offset struct {
	topic    string // its real name
	number   int32
	offset   int64
	metadata *string
}

// offsets are those of a command, in order.
func (r *run) offsets(c *script.Command) ([]offset, error) {
	var all []offset
	for _, arg := range c.Args {
		name, number, err := partition(arg.Key)
		if err != nil {
			continue // a setting
		}
		o := offset{number: number}
		if o.topic, err = r.topic(name); err != nil {
			return nil, err
		}
		var note string
		if o.offset, note, err = committed(arg.Value); err != nil {
			return nil, fmt.Errorf("%s=%s: %w", arg.Key, arg.Value, err)
		}
		if note != "null" {
			o.metadata = &note
		}
		all = append(all, o)
	}
	return all, nil
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
