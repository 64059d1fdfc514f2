package server_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/server"
)

// metadata asks for topics; without names, for none of them.
func metadata(t *testing.T, c net.Conn, version int16, create bool, names ...string) []kmsg.MetadataResponseTopic {
	t.Helper()
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = create
	req.Topics = []kmsg.MetadataRequestTopic{}
	for _, n := range names {
		req.Topics = append(req.Topics, kmsg.MetadataRequestTopic{Topic: kmsg.StringPtr(n)})
	}
	r := ask(t, c, req, version).(*kmsg.MetadataResponse)
	if len(r.Brokers) != 1 || net.JoinHostPort(r.Brokers[0].Host, fmt.Sprint(r.Brokers[0].Port)) != c.RemoteAddr().String() {
		t.Errorf("v%d: brokers %+v, want %s", version, r.Brokers, c.RemoteAddr())
	}
	return r.Topics
}

// Every version of Metadata makes topics where the client lets it, at once known to groups; and none with an illegal name.
func TestTopicsAreMade(t *testing.T) {
	c, _ := startCluster(t)
	conn := dialTo(t, c.Addrs()[0])
	for v := range int16(14) {
		name := fmt.Sprint("made", v)
		if v >= 4 {
			if got := metadata(t, conn, v, false, name)[0]; got.ErrorCode != core.UnknownTopicOrPartition {
				t.Errorf("v%d makes a topic unasked: %+v", v, got)
			}
		}
		got := metadata(t, conn, v, true, name, "t", "no good")
		slices.SortFunc(got, func(a, b kmsg.MetadataResponseTopic) int { return len(a.Partitions) - len(b.Partitions) })
		if len(got) != 3 || got[0].ErrorCode != 17 || *got[0].Topic != "no good" || got[1].ErrorCode != 0 || *got[1].Topic != name || len(got[1].Partitions) != 1 || len(got[2].Partitions) != 4 {
			t.Errorf("v%d: %+v", v, got)
		}
		commit := commitReq("g", 1)
		commit.Topics[0].Topic, commit.Topics[0].Partitions[0].Partition = name, 0
		if code := ask(t, conn, commit, 8).(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0].ErrorCode; code != 0 {
			t.Errorf("v%d: a commit for the topic: %d", v, code)
		}
	}
	if all := metadata(t, conn, 0, false); len(all) != 15 {
		t.Errorf("version 0 without names lists %d topics, want all 15", len(all))
	}
	if none := metadata(t, conn, 1, false); len(none) != 0 {
		t.Errorf("version 1 with no names lists %+v", none)
	}
}

// No topic is made under a name that Kafka does not allow, or that collides with another one, also where it would only be looked at; and the folder can be used again.
func TestTopicNames(t *testing.T) {
	dir := t.TempDir()
	c, _ := startCluster(t, func(o *server.ClusterOptions) { o.Records = dir })
	conn := dialTo(t, c.Addrs()[0])
	illegal := []string{"", ".", "..", "a/b", "a\\b", "a\nb", "a\n", "\xff", "ü", "a\x00b", strings.Repeat("n", 250), strings.Repeat("n", 300)}
	for _, validate := range []bool{true, false} {
		for v := int16(0); v <= 7; v++ {
			if validate && v == 0 {
				continue // it has no word for it
			}
			good := fmt.Sprint("good.", v)
			req := kmsg.NewPtrCreateTopicsRequest()
			req.ValidateOnly = validate
			for _, name := range append(illegal, good) {
				req.Topics = append(req.Topics, kmsg.CreateTopicsRequestTopic{Topic: name, NumPartitions: 1, ReplicationFactor: 1})
			}
			got := map[string]kmsg.CreateTopicsResponseTopic{}
			for _, r := range ask(t, conn, req, v).(*kmsg.CreateTopicsResponse).Topics {
				got[r.Topic] = r
			}
			for _, name := range illegal {
				if r, there := got[name]; !there || r.ErrorCode != 17 || v > 0 && (r.ErrorMessage == nil || !strings.Contains(*r.ErrorMessage, "1 to 249")) {
					t.Errorf("v%d, validate only %v: %q: %+v", v, validate, name, r)
				}
			}
			if r, there := got[good]; !there || r.ErrorCode != 0 {
				t.Errorf("v%d, validate only %v: the good one: %+v", v, validate, r)
			}
		}
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Topics = []kmsg.CreateTopicsRequestTopic{{Topic: "good_7", NumPartitions: 1, ReplicationFactor: 1}}
	if r := ask(t, conn, req, 5).(*kmsg.CreateTopicsResponse).Topics[0]; r.ErrorCode != 17 {
		t.Errorf("one that collides: %+v", r)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	again, _ := startCluster(t, func(o *server.ClusterOptions) { o.Records = dir })
	if all := metadata(t, dialTo(t, again.Addrs()[0]), 0, false); len(all) != 9 {
		t.Errorf("afterwards there are %d topics, want t and 8 more", len(all))
	}
}

// A topic that cannot be kept is there, but whoever looks after the server is told that it will not be.
func TestTopicsThatCannotBeKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kfake")
	c, reports := startCluster(t, func(o *server.ClusterOptions) { o.Records = dir })
	if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o644)); err != nil { // nothing can be written there any more
		t.Fatal(err)
	}
	if got := metadata(t, dialTo(t, c.Addrs()[0]), 9, true, "made")[0]; got.ErrorCode != 0 {
		t.Errorf("%+v", got)
	}
	select {
	case err := <-reports:
		if text := err.Error(); !strings.Contains(text, dir) || !strings.Contains(text, "topics") || !strings.Contains(text, "gone with this process") {
			t.Errorf("told: %v", err)
		}
	case <-deadline(t).Done():
		t.Error("nobody is told")
	}
}

// What would take too much memory is refused, and what comes with it is not.
func TestTopicsHaveBounds(t *testing.T) {
	c, _ := startCluster(t)
	conn := dialTo(t, c.Addrs()[0])
	create := func(want map[string]int16, topics ...kmsg.CreateTopicsRequestTopic) {
		t.Helper()
		req := kmsg.NewPtrCreateTopicsRequest()
		req.Topics = topics
		got := ask(t, conn, req, 5).(*kmsg.CreateTopicsResponse).Topics
		if len(got) != len(topics) {
			t.Errorf("%d answers to %d topics", len(got), len(topics))
		}
		for _, r := range got {
			if w, named := want[r.Topic]; r.ErrorCode != w || !named && r.ErrorCode != 0 || w != 0 && r.ErrorMessage == nil {
				t.Errorf("%q: %d %v, want %d", r.Topic, r.ErrorCode, r.ErrorMessage, w)
			}
		}
	}
	create(map[string]int16{"many": 37}, kmsg.CreateTopicsRequestTopic{Topic: "many", NumPartitions: 2_000_000_000, ReplicationFactor: 1}, kmsg.CreateTopicsRequestTopic{Topic: "few", NumPartitions: 3, ReplicationFactor: 1})
	create(map[string]int16{"assigned": 37}, kmsg.CreateTopicsRequestTopic{Topic: "assigned", NumPartitions: -1, ReplicationFactor: -1, ReplicaAssignment: make([]kmsg.CreateTopicsRequestTopicReplicaAssignment, 1001)})
	var lots []kmsg.CreateTopicsRequestTopic
	for i := range 10 {
		lots = append(lots, kmsg.CreateTopicsRequestTopic{Topic: fmt.Sprint("lot", i), NumPartitions: 1000, ReplicationFactor: 1})
	}
	create(map[string]int16{"lot9": 44}, lots...) // with the 4 of t and the 3 of few there would be more than 10,000
	for _, test := range []struct {
		topic string
		count int32
		want  int16
	}{{"few", 4, 0}, {"few", 1001, 37}, {"t", 1000, 44}} {
		req := kmsg.NewPtrCreatePartitionsRequest()
		req.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: test.topic, Count: test.count}}
		if got := ask(t, conn, req, 3).(*kmsg.CreatePartitionsResponse).Topics; len(got) != 1 || got[0].ErrorCode != test.want {
			t.Errorf("%+v: %+v", test, got)
		}
	}
}

// Offsets of a topic that is deleted are forgotten by groups on all nodes before the deletion is answered; a topic that is made anew has none.
func TestDeletedTopics(t *testing.T) {
	c, _ := startCluster(t, nodes(3))
	conns := everyNode(t, c)
	for node := range conns {
		if code := commitOffset(t, conns[node], groupOn(t, c, int32(node), 0), 7); code != 0 {
			t.Fatal(code)
		}
	}
	remove := kmsg.NewPtrDeleteTopicsRequest()
	remove.TopicNames = []string{"t"}
	controller := conns[2] // kfake's is its last broker
	if r := ask(t, controller, remove, 5).(*kmsg.DeleteTopicsResponse).Topics[0]; r.ErrorCode != 0 {
		t.Fatalf("%+v", r)
	}
	for node := range conns {
		g := groupOn(t, c, int32(node), 0)
		if got := committed(t, conns[node], true, g); got[0] != -1 {
			t.Errorf("node %d: %v", node, got)
		}
		if code := commitOffset(t, conns[node], g, 7); code != core.UnknownTopicOrPartition {
			t.Errorf("node %d: a commit for a topic that is gone: %d", node, code)
		}
	}
}

// DescribeTopicPartitions has lists where Kafka has them: Java's admin client dies of a null.
func TestDescribeTopicPartitions(t *testing.T) {
	c, _ := startCluster(t)
	req := kmsg.NewPtrDescribeTopicPartitionsRequest()
	req.Topics = []kmsg.DescribeTopicPartitionsRequestTopic{{Topic: "t"}}
	got := ask(t, dialTo(t, c.Addrs()[0]), req, 0).(*kmsg.DescribeTopicPartitionsResponse).Topics
	if len(got) != 1 || len(got[0].Partitions) != 4 {
		t.Fatalf("%+v", got)
	}
	for _, p := range got[0].Partitions {
		if p.EligibleLeaderReplicas == nil || p.LastKnownELR == nil {
			t.Errorf("%+v", p)
		}
	}
}

// A cursor says where DescribeTopicPartitions goes on: with the topics from that name on, whether or not one has it. Where topics are named and the cursor's is not among them, or where its
// partition is none, Kafka says so of each topic; kfake closes the connection.
func TestCursors(t *testing.T) {
	c, _ := startCluster(t, func(o *server.ClusterOptions) { o.Topics = map[string]int32{"a": 2, "c": 2, "e": 1} })
	conn := dialTo(t, c.Addrs()[0])
	for _, test := range []struct {
		topics    []string
		cursor    string
		partition int32
		want      string
	}{
		{nil, "b", 0, "c:0/2 e:0/1"},
		{nil, "c", 1, "c:0/1 e:0/1"},
		{nil, "", 0, "a:0/2 c:0/2 e:0/1"},
		{nil, "b", -1, ""},
		{[]string{"e", "a", "c"}, "c", 1, "c:0/1 e:0/1"},
		{[]string{"e", "a", "c"}, "b", 0, "e:42/0 a:42/0 c:42/0"},
		{[]string{"e", "a"}, "z", 0, "e:42/0 a:42/0"},
		{[]string{"a"}, "", 0, "a:42/0"},
		{[]string{"a"}, "a", -1, "a:42/0"},
	} {
		req := kmsg.NewPtrDescribeTopicPartitionsRequest()
		req.ResponsePartitionLimit = 100
		for _, name := range test.topics {
			req.Topics = append(req.Topics, kmsg.DescribeTopicPartitionsRequestTopic{Topic: name})
		}
		req.Cursor = &kmsg.DescribeTopicPartitionsRequestCursor{Topic: test.cursor, Partition: test.partition}
		var got []string
		for _, rt := range ask(t, conn, req, 0).(*kmsg.DescribeTopicPartitionsResponse).Topics {
			got = append(got, fmt.Sprintf("%s:%d/%d", *rt.Topic, rt.ErrorCode, len(rt.Partitions)))
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%v from %q %d: %s, want %s", test.topics, test.cursor, test.partition, text, test.want)
		}
	}
}

// Settings of groups can be asked for, as a judge does before it begins.
func TestClusterSettings(t *testing.T) {
	c, _ := startCluster(t)
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.Resources = []kmsg.DescribeConfigsRequestResource{{ResourceType: kmsg.ConfigResourceTypeBroker, ResourceName: "0"}}
	got := map[string]string{}
	for _, config := range ask(t, dialTo(t, c.Addrs()[0]), req, 4).(*kmsg.DescribeConfigsResponse).Resources[0].Configs {
		if config.Value != nil {
			got[config.Name] = *config.Value
		}
	}
	for name, want := range map[string]string{
		"group.min.session.timeout.ms": "10", "group.max.session.timeout.ms": "1800000", "group.initial.rebalance.delay.ms": "0",
		"offset.metadata.max.bytes": "4096", "offsets.retention.minutes": "10080", "offsets.retention.check.interval.ms": "600000",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}
