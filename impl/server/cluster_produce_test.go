package server_test

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/server"
)

// produceReq asks to append a record to partition 0 of each of the topics, by id.
func produceReq(acks int16, ids ...[16]byte) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = acks, 1000
	for _, id := range ids {
		t := kmsg.NewProduceRequestTopic()
		t.TopicID = id
		p := kmsg.NewProduceRequestTopicPartition()
		p.Records = server.Batch(1)
		t.Partitions = append(t.Partitions, p)
		req.Topics = append(req.Topics, t)
	}
	return req
}

// answers are the error codes of a Produce by topic id, of partition 0.
func answers(t *testing.T, resp kmsg.Response) map[[16]byte]int16 {
	t.Helper()
	all := map[[16]byte]int16{}
	for _, rt := range resp.(*kmsg.ProduceResponse).Topics {
		if _, twice := all[rt.TopicID]; twice || len(rt.Partitions) != 1 || rt.Partitions[0].Partition != 0 {
			t.Errorf("%+v", rt)
		}
		p := rt.Partitions[0]
		all[rt.TopicID] = p.ErrorCode
		if p.ErrorCode != 0 && len(resp.(*kmsg.ProduceResponse).Topics) > 1 && (p.BaseOffset != -1 || p.LogAppendTime != -1 || p.LogStartOffset != -1) {
			t.Errorf("a refused partition: %+v", p)
		}
	}
	return all
}

// topicID is the id of a topic, which is made if it is not there.
func topicID(t *testing.T, c *server.Cluster, name string) [16]byte {
	t.Helper()
	return metadata(t, dialTo(t, c.Addrs()[0]), 12, true, name)[0].TopicID
}

// end is the offset after the last record of partition 0 of a topic.
func end(t *testing.T, c *server.Cluster, topic string) int64 {
	t.Helper()
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Timestamp = -1
	req.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: topic, Partitions: []kmsg.ListOffsetsRequestTopicPartition{p}}}
	return ask(t, dialTo(t, c.Addrs()[0]), req, 7).(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0].Offset
}

// Topics that are not there, of which a producer learns late, are told so one by one, and others beside them are written to. kfake would not survive two of them.
func TestProduceToUnknownTopics(t *testing.T) {
	c, _ := startCluster(t)
	conn := dialTo(t, c.Addrs()[0])
	known, gone, other := topicID(t, c, "t"), [16]byte{1}, [16]byte{2}
	if got := answers(t, ask(t, conn, produceReq(1, gone, other), 13)); len(got) != 2 || got[gone] != 100 || got[other] != 100 {
		t.Errorf("two that are not there: %v", got)
	}
	if got := answers(t, ask(t, conn, produceReq(-1, gone, known, other), 13)); len(got) != 3 || got[gone] != 100 || got[other] != 100 || got[known] != 0 {
		t.Errorf("one of three is there: %v", got)
	}
	if got := answers(t, ask(t, conn, produceReq(1, gone), 13)); len(got) != 1 || got[gone] != 100 {
		t.Errorf("one that is not there: %v", got)
	}
	second := topicID(t, c, "second")
	if got := answers(t, ask(t, conn, produceReq(5, known, second), 13)); len(got) != 2 || got[known] != 21 || got[second] != 21 {
		t.Errorf("acks that there are not: %v", got)
	}
	write(t, conn, frame(produceReq(0, gone, known, other), 13, 1)) // has no answer
	write(t, conn, frame(produceReq(0, known, second), 13, 1))
	if r := ask(t, conn, list(), 4).(*kmsg.ListGroupsResponse); r.ErrorCode != 0 {
		t.Errorf("%+v", r)
	}
	if one, two := end(t, c, "t"), end(t, c, "second"); one != 3 || two != 1 {
		t.Errorf("the topics have %d and %d records, want 3 and 1", one, two)
	}
}

// Topics may go while a producer writes to them, whatever answers it wants.
func TestProduceWhileTopicsGo(t *testing.T) {
	c, _ := startCluster(t)
	for _, acks := range []int16{1, 0} {
		for round := range 30 {
			var ids [][16]byte
			remove := kmsg.NewPtrDeleteTopicsRequest()
			for i := range 4 {
				name := fmt.Sprint("gone", acks, ".", round, ".", i)
				ids = append(ids, topicID(t, c, name))
				remove.TopicNames = append(remove.TopicNames, name)
			}
			done := make(chan struct{})
			for range 3 {
				conn := dialTo(t, c.Addrs()[0])
				go func() {
					defer func() { done <- struct{}{} }()
					for range 20 {
						req := produceReq(acks, ids...)
						if acks == 0 {
							_, _ = conn.Write(frame(req, 13, 77))
							continue
						}
						answers(t, ask(t, conn, req, 13))
					}
				}()
			}
			ask(t, dialTo(t, c.Addrs()[0]), remove, 5)
			for range 3 {
				<-done
			}
		}
	}
}

// Topics and partitions that are named twice, and topics that are not there, do not keep kfake from going on.
func TestNamedTwice(t *testing.T) {
	c, _ := startCluster(t)
	known := topicID(t, c, "t")
	names := []string{"t", "t", "nowhere", "nowhere", "", ""}
	ids := [][16]byte{known, known, {1}, {1}, {2}, {}}
	for v := int16(3); v <= 13; v++ {
		for _, acks := range []int16{1, 0, 9} {
			req := produceReq(acks, ids...)
			for i := range req.Topics {
				req.Topics[i].Topic = names[i]
				req.Topics[i].Partitions = append(req.Topics[i].Partitions, req.Topics[i].Partitions...)
			}
			survives(t, c, req, v)
		}
	}
	for v := int16(4); v <= 18; v++ {
		req := kmsg.NewPtrFetchRequest()
		req.MaxBytes, req.SessionEpoch = 1<<20, -1
		for i, id := range ids {
			p := kmsg.NewFetchRequestTopicPartition()
			p.PartitionMaxBytes = 1 << 20
			req.Topics = append(req.Topics, kmsg.FetchRequestTopic{Topic: names[i], TopicID: id, Partitions: []kmsg.FetchRequestTopicPartition{p, p}})
			req.ForgottenTopics = append(req.ForgottenTopics, kmsg.FetchRequestForgottenTopic{Topic: names[i], TopicID: id, Partitions: []int32{0, 0}})
		}
		survives(t, c, req, v)
		req.SessionEpoch = 0
		survives(t, c, req, v)
	}
	for v := range int16(11) {
		req := kmsg.NewPtrListOffsetsRequest()
		for _, name := range names {
			p := kmsg.NewListOffsetsRequestTopicPartition()
			req.Topics = append(req.Topics, kmsg.ListOffsetsRequestTopic{Topic: name, Partitions: []kmsg.ListOffsetsRequestTopicPartition{p, p}})
		}
		survives(t, c, req, v)
	}
}

// survives sends a request, whatever comes of it, and asks kfake for something else.
func survives(t *testing.T, c *server.Cluster, req kmsg.Request, version int16) {
	t.Helper()
	conn := dialTo(t, c.Addrs()[0])
	write(t, conn, frame(req, version, 1))
	if p, ok := req.(*kmsg.ProduceRequest); !ok || p.Acks != 0 {
		read(t, conn, req, 1)
	}
	if r := ask(t, conn, kmsg.NewPtrDescribeClusterRequest(), 0).(*kmsg.DescribeClusterResponse); r.ErrorCode != 0 {
		t.Errorf("%s v%d: %+v", kmsg.NameForKey(req.Key()), version, r)
	}
}

// A batch that says that it has no records, or fewer, is refused as by Kafka; the partition beside it is written to.
func TestProduceCounts(t *testing.T) {
	c, _ := startCluster(t)
	conn := dialTo(t, c.Addrs()[0])
	id := topicID(t, c, "t")
	for v := int16(3); v <= 13; v++ {
		for _, n := range []int32{0, -1, -5, -2147483648} {
			req := produceReq(1, id)
			req.Topics[0].Topic = "t"
			bad, nowhere := req.Topics[0].Partitions[0], req.Topics[0].Partitions[0]
			bad.Partition, bad.Records = 1, server.Batch(n)
			nowhere.Partition, nowhere.Records = 99, server.Batch(n)
			req.Topics[0].Partitions = append(req.Topics[0].Partitions, bad, nowhere)
			resp := ask(t, conn, req, v).(*kmsg.ProduceResponse)
			got := map[int32]int16{}
			for _, rt := range resp.Topics {
				for _, p := range rt.Partitions {
					got[p.Partition] = p.ErrorCode
				}
			}
			if len(resp.Topics) != 1 || len(got) != 3 || got[0] != 0 || got[1] != 87 || got[99] != core.UnknownTopicOrPartition {
				t.Errorf("v%d, %d records: %v", v, n, got)
			}
		}
	}
}
