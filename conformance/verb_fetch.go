package conformance

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/script"
)

func init() {
	register("fetch", &verb{
		example: "fetch A t/0 t/1 v=9 also=other -stable   (fetch - -all for nobody and all partitions)",
		keys:    []string{"v", "group", "also"},
		flags:   []string{"all", "stable"},
		words: func(words []string) error {
			if len(words) == 0 {
				return fmt.Errorf("name one actor, or - for a request of nobody, then partitions")
			}
			for _, w := range words[1:] {
				if _, _, err := partition(w); err != nil {
					return err
				}
			}
			return oneCaller(words[:1])
		},
		run: runFetch,
	})
}

// fetched is a partition of an answer, whatever the version's shape.
type fetched struct {
	topic    string
	number   int32
	offset   int64
	metadata *string
	code     int16
}

// runFetch sends one OffsetFetch.
func runFetch(r *run, c *script.Command) error {
	a := r.caller(c)
	v, err := r.version(c, "fetch")
	if err != nil {
		return err
	}
	msg := kmsg.NewPtrOffsetFetchRequest()
	msg.RequireStable = c.Flag("stable")
	group := groupArg(c, a)
	one := kmsg.NewOffsetFetchRequestGroup()
	one.Group = r.group(group)
	msg.Group = one.Group
	if !c.Flag("all") {
		msg.Topics, one.Topics = []kmsg.OffsetFetchRequestTopic{}, []kmsg.OffsetFetchRequestGroupTopic{}
	}
	for _, w := range c.Words[1:] {
		name, number, _ := partition(w)
		real, err := r.topic(name)
		if err != nil {
			return err
		}
		addFetch(msg, &one, real, number)
	}
	msg.Groups = append(msg.Groups, one)
	if other, ok := c.Arg("also"); ok { // fetch.each-group
		if v < 8 {
			return tooOld(r.caps, "fetch", 8, v, "asks for one group")
		}
		two := one
		two.Group = r.group(other)
		msg.Groups = append(msg.Groups, two)
	}
	req := &request{verb: "fetch", actor: a, group: group}
	asked := func(topic string, number int32) bool {
		return c.Flag("all") || slices.ContainsFunc(c.Words[1:], func(w string) bool {
			name, n, _ := partition(w)
			return n == number && name == r.topicName(topic)
		})
	}
	req.absorb = func(resp kmsg.Response) {
		shown, code := partitions(resp.(*kmsg.OffsetFetchResponse), one.Group)
		r.lacking = append(r.lacking, r.lost(one.Group, asked, shown, code)...)
	}
	req.render = func(resp kmsg.Response) string { return r.renderFetch(resp.(*kmsg.OffsetFetchResponse)) }
	return r.send(req, msg, v)
}

// version is the version that a command will be sent at, for requests whose shape depends on it.
func (r *run) version(c *script.Command, verb string) (int16, error) {
	asked := version(c)
	if v, ok := r.set.versions[verb]; ok && asked < 0 {
		asked = v
	}
	return pick(r.caps, verb, asked)
}

func addFetch(msg *kmsg.OffsetFetchRequest, one *kmsg.OffsetFetchRequestGroup, topic string, number int32) {
	for i := range msg.Topics {
		if msg.Topics[i].Topic == topic {
			msg.Topics[i].Partitions = append(msg.Topics[i].Partitions, number)
			one.Topics[i].Partitions = msg.Topics[i].Partitions
			return
		}
	}
	t := kmsg.NewOffsetFetchRequestTopic()
	t.Topic, t.Partitions = topic, []int32{number}
	msg.Topics = append(msg.Topics, t)
	g := kmsg.NewOffsetFetchRequestGroupTopic()
	g.Topic, g.Partitions = t.Topic, t.Partitions
	one.Topics = append(one.Topics, g)
}

// partitions are those of the group in an answer, with its error.
func partitions(resp *kmsg.OffsetFetchResponse, group string) (all []fetched, code int16) {
	code = resp.ErrorCode
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			all = append(all, fetched{t.Topic, p.Partition, p.Offset, p.Metadata, p.ErrorCode})
		}
	}
	for i := range resp.Groups {
		if g := &resp.Groups[i]; g.Group == group || len(resp.Groups) == 1 {
			code = g.ErrorCode
			all = append(all, fetchedIn(g)...)
		}
	}
	return all, code
}

func fetchedIn(g *kmsg.OffsetFetchResponseGroup) []fetched {
	var all []fetched
	for _, t := range g.Topics {
		for _, p := range t.Partitions {
			all = append(all, fetched{t.Topic, p.Partition, p.Offset, p.Metadata, p.ErrorCode})
		}
	}
	return all
}

// renderFetch shows error and partitions; of several groups each behind its name.
func (r *run) renderFetch(resp *kmsg.OffsetFetchResponse) string {
	if len(resp.Groups) < 2 {
		all, code := partitions(resp, "") // there is one, whatever it is called
		return more(errName(code), r.partitions(all))
	}
	parts := make([]string, len(resp.Groups))
	for i := range resp.Groups {
		g := &resp.Groups[i]
		parts[i] = r.names.group(g.Group) + ":" + more(errName(g.ErrorCode), r.partitions(fetchedIn(g)))
	}
	return sortedBrackets(parts)
}

func (r *run) partitions(all []fetched) string {
	parts := make([]string, len(all))
	for i, f := range all {
		parts[i] = fmt.Sprintf("%s/%d=%s", r.topicName(f.topic), f.number, f)
	}
	sort.Strings(parts)
	return strings.Join(parts, " ")
}

// String is the offset with its metadata, "none" where nothing is committed, or an error.
func (f fetched) String() string {
	note := ""
	if f.metadata == nil {
		note = ":null"
	} else if *f.metadata != "" {
		note = ":" + raw([]byte(*f.metadata))
	}
	switch {
	case f.code != 0 && f.offset == -1 && note == "":
		return errName(f.code)
	case f.code != 0:
		return fmt.Sprintf("%s:%d%s", errName(f.code), f.offset, note)
	case f.offset == -1 && note == "":
		return "none"
	default:
		return fmt.Sprintf("%d%s", f.offset, note)
	}
}
