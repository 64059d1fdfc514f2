package conformance

import (
	"fmt"
	"sort"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/script"
	"github.com/muster-kafka/muster/conformance/target"
)

// producer is what an actor needs for transactions.
type producer struct {
	txnID string
	id    int64
	epoch int16
	open  bool
	wrote map[string][]int32 // real topics and partitions that the open transaction has offsets for
	group string             // real name of the group that it has them in
}

func init() {
	one := func(words []string) error {
		if len(words) != 1 {
			return fmt.Errorf("name one producer")
		}
		return actors(words)
	}
	register("txn-begin", &verb{
		example: "txn-begin P group=other -alone -fence",
		keys:    []string{"group", "v"},
		flags:   []string{"alone", "fence"},
		words:   one,
		run:     runTxnBegin,
	})
	register("txn-commit", &verb{
		example: "txn-commit P t/0=5 t/1=7:note as=A gen=+1 member=B static=none v=3",
		keys:    []string{"as", "gen", "member", "v", "group", "static"},
		open:    func(key string) bool { _, _, err := partition(key); return err == nil },
		words:   one,
		run:     runTxnCommit,
	})
	register("txn-end", &verb{
		example: "txn-end P commit   (or abort)",
		keys:    []string{"v"},
		words: func(words []string) error {
			if len(words) != 2 || words[1] != "commit" && words[1] != "abort" {
				return fmt.Errorf("name one producer, and commit or abort")
			}
			return actors(words[:1])
		},
		run: runTxnEnd,
	})
}

// runTxnBegin adds the group to a new transaction of the producer, which gets its id first if it has none. -alone leaves the group out:
// nothing is sent but for the id. -fence takes the id anew, as another process of the same transactional id would.
func runTxnBegin(r *run, c *script.Command) error {
	if !r.caps.Has(target.Transactions) {
		return lacks(string(target.Transactions), r.caps)
	}
	a := r.actor(c.Words[0])
	if a.producer == nil || c.Flag("fence") {
		if text, err := r.initProducer(a); err != nil || text != "" {
			r.say(r.names.actor(a.name), text)
			return err
		}
	}
	p := a.producer
	p.open, p.wrote = true, map[string][]int32{}
	if c.Flag("alone") || c.Flag("fence") {
		r.say(r.names.actor(a.name), "NONE")
		return nil
	}
	msg := kmsg.NewPtrAddOffsetsToTxnRequest()
	msg.TransactionalID, msg.ProducerID, msg.ProducerEpoch = p.txnID, p.id, p.epoch
	msg.Group = r.group(groupArg(c, nil))
	p.group = msg.Group
	req := &request{verb: "txn-begin", actor: a, group: groupArg(c, nil)}
	req.render = func(resp kmsg.Response) string {
		return errName(resp.(*kmsg.AddOffsetsToTxnResponse).ErrorCode)
	}
	if err := r.send(req, msg, version(c)); err != nil {
		return err
	}
	return r.retry(req, msg, func(resp kmsg.Response) int16 { return resp.(*kmsg.AddOffsetsToTxnResponse).ErrorCode })
}

// begun is the producer of an actor that has begun a transaction.
func (r *run) begun(name string) (*actor, *producer, error) {
	a := r.actor(name)
	if a.producer == nil {
		return nil, nil, fmt.Errorf("%s has no transaction; write txn-begin %s", name, name)
	}
	return a, a.producer, nil
}

// runTxnCommit sends one TxnOffsetCommit: of nobody, or as the group member that as= names.
func runTxnCommit(r *run, c *script.Command) error {
	clear(r.acked) // it may change what is committed
	a, p, err := r.begun(c.Words[0])
	if err != nil {
		return err
	}
	var member *actor
	gen, own := int32(-1), ""
	if who, ok := c.Arg("as"); ok {
		member = r.actor(who)
		gen, own = member.gen, member.id()
	}
	msg := kmsg.NewPtrTxnOffsetCommitRequest()
	msg.TransactionalID, msg.ProducerID, msg.ProducerEpoch = p.txnID, p.id, p.epoch
	msg.Group = r.group(groupArg(c, member))
	msg.Generation, msg.InstanceID = genArg(c, gen), instanceArg(c, member)
	if msg.MemberID, err = r.memberArg(c, own); err != nil {
		return err
	}
	offsets, err := r.offsets(c)
	if err != nil {
		return err
	}
	for _, o := range offsets {
		tp := kmsg.NewTxnOffsetCommitRequestTopicPartition()
		tp.Partition, tp.Offset, tp.Metadata = o.number, o.offset, o.metadata
		addTxnCommit(msg, o.topic, tp)
	}
	p.group = msg.Group
	req := &request{verb: "txn-commit", actor: a, member: msg.MemberID, group: groupArg(c, member)}
	req.absorb = func(resp kmsg.Response) {
		for _, t := range resp.(*kmsg.TxnOffsetCommitResponse).Topics {
			for _, part := range t.Partitions {
				if part.ErrorCode == 0 {
					p.wrote[t.Topic] = append(p.wrote[t.Topic], part.Partition)
				}
			}
		}
	}
	req.render = func(resp kmsg.Response) string {
		var parts []string
		for _, t := range resp.(*kmsg.TxnOffsetCommitResponse).Topics {
			for _, part := range t.Partitions {
				parts = append(parts, fmt.Sprintf("%s/%d:%s", r.topicName(t.Topic), part.Partition, errName(part.ErrorCode)))
			}
		}
		sort.Strings(parts)
		return strings.Join(parts, " ")
	}
	if err := r.send(req, msg, version(c)); err != nil {
		return err
	}
	// A group coordinator asks the transaction's whether the group is a part of it (txn-commit.verified), and may not have found it yet.
	return r.retry(req, msg, func(resp kmsg.Response) int16 {
		for _, t := range resp.(*kmsg.TxnOffsetCommitResponse).Topics {
			for _, part := range t.Partitions {
				if part.ErrorCode != 0 {
					return part.ErrorCode
				}
			}
		}
		return 0
	})
}

func addTxnCommit(msg *kmsg.TxnOffsetCommitRequest, topic string, p kmsg.TxnOffsetCommitRequestTopicPartition) {
	for i := range msg.Topics {
		if msg.Topics[i].Topic == topic {
			msg.Topics[i].Partitions = append(msg.Topics[i].Partitions, p)
			return
		}
	}
	t := kmsg.NewTxnOffsetCommitRequestTopic()
	t.Topic, t.Partitions = topic, []kmsg.TxnOffsetCommitRequestTopicPartition{p}
	msg.Topics = append(msg.Topics, t)
}

// runTxnEnd sends one EndTxn and, on a network, waits until its marker has reached the group: it is written after the answer.
func runTxnEnd(r *run, c *script.Command) error {
	clear(r.acked) // it may change what is committed
	a, p, err := r.begun(c.Words[0])
	if err != nil {
		return err
	}
	msg := r.endTxn(p, c.Words[1] == "commit")
	req := &request{verb: "txn-end", actor: a, group: mainGroup}
	req.absorb = func(resp kmsg.Response) {
		end := resp.(*kmsg.EndTxnResponse)
		if end.ErrorCode == 0 && end.Version >= 5 { // each transaction has an epoch of its own then
			p.id, p.epoch = end.ProducerID, end.ProducerEpoch
		}
	}
	req.render = func(resp kmsg.Response) string { return errName(resp.(*kmsg.EndTxnResponse).ErrorCode) }
	if err := r.send(req, msg, version(c)); err != nil {
		return err
	}
	if err := r.retry(req, msg, func(resp kmsg.Response) int16 { return resp.(*kmsg.EndTxnResponse).ErrorCode }); err != nil {
		return err
	}
	p.open = false
	return r.awaitMarkers(p)
}

func (r *run) endTxn(p *producer, commit bool) *kmsg.EndTxnRequest {
	msg := kmsg.NewPtrEndTxnRequest()
	msg.TransactionalID, msg.ProducerID, msg.ProducerEpoch, msg.Commit = p.txnID, p.id, p.epoch, commit
	return msg
}

// awaitMarkers waits until no partition that the transaction wrote is unstable any more.
func (r *run) awaitMarkers(p *producer) error {
	const unstable = 88
	deadline := r.clock.Now().Add(r.patience)
	for !r.caps.Virtual && len(p.wrote) > 0 && r.clock.Now().Before(deadline) && r.ctx.Err() == nil {
		msg := kmsg.NewPtrOffsetFetchRequest()
		one := kmsg.NewOffsetFetchRequestGroup()
		msg.RequireStable, msg.Group, one.Group = true, p.group, p.group
		for topic, parts := range p.wrote {
			for _, n := range parts {
				addFetch(msg, &one, topic, n)
			}
		}
		msg.Groups = append(msg.Groups, one)
		resp, ok := r.private("fetch", msg).(*kmsg.OffsetFetchResponse)
		if ok && !hasCode(resp, unstable) {
			break
		}
		if err := r.sleep(r.ctx, tick); err != nil {
			return err
		}
	}
	return r.ctx.Err()
}

func hasCode(resp *kmsg.OffsetFetchResponse, code int16) bool {
	all, _ := partitions(resp, "") // of one group
	for _, f := range all {
		if f.code == code {
			return true
		}
	}
	return false
}

// abortAll ends the transactions that a scenario left open, so that none outlives it.
func (r *run) abortAll() {
	for _, a := range r.order {
		if a.producer != nil && a.producer.open {
			r.private("txn-end", r.endTxn(a.producer, false))
		}
	}
}
