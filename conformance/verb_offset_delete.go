package conformance

import (
	"fmt"
	"sort"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/script"
)

func init() {
	register("offset-delete", &verb{
		example: "offset-delete t/0 t/1 u/0 group=other",
		keys:    []string{"group", "v"},
		words: func(words []string) error {
			for _, w := range words {
				if _, _, err := partition(w); err != nil {
					return err
				}
			}
			return nil
		},
		run: runOffsetDelete,
	})
}

// runOffsetDelete sends one OffsetDelete of nobody.
func runOffsetDelete(r *run, c *script.Command) error {
	clear(r.acked) // it may change what is committed
	group := groupArg(c, nil)
	msg := kmsg.NewPtrOffsetDeleteRequest()
	msg.Group = r.group(group)
	for _, w := range c.Words {
		name, number, _ := partition(w)
		real, err := r.topic(name)
		if err != nil {
			return err
		}
		addDelete(msg, real, number)
	}
	req := &request{verb: "offset-delete", group: group}
	req.render = func(resp kmsg.Response) string {
		del := resp.(*kmsg.OffsetDeleteResponse)
		var parts []string
		for _, t := range del.Topics {
			for _, p := range t.Partitions {
				parts = append(parts, fmt.Sprintf("%s/%d:%s", r.topicName(t.Topic), p.Partition, errName(p.ErrorCode)))
			}
		}
		sort.Strings(parts)
		return more(errName(del.ErrorCode), strings.Join(parts, " "))
	}
	return r.send(req, msg, version(c))
}

func addDelete(msg *kmsg.OffsetDeleteRequest, topic string, number int32) {
	p := kmsg.NewOffsetDeleteRequestTopicPartition()
	p.Partition = number
	for i := range msg.Topics {
		if msg.Topics[i].Topic == topic {
			msg.Topics[i].Partitions = append(msg.Topics[i].Partitions, p)
			return
		}
	}
	t := kmsg.NewOffsetDeleteRequestTopic()
	t.Topic, t.Partitions = topic, []kmsg.OffsetDeleteRequestTopicPartition{p}
	msg.Topics = append(msg.Topics, t)
}
