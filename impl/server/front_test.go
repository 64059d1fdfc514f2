package server_test

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/server"
)

// A version of ApiVersions that is too new is answered in version 0, with the versions that there are.
func TestApiVersions(t *testing.T) {
	s, _ := start(t)
	c := dial(t, s)
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = "muster", "1.0"
	for version := int16(0); version <= 4; version++ {
		resp := ask(t, c, req, version).(*kmsg.ApiVersionsResponse)
		if resp.ErrorCode != 0 || len(resp.ApiKeys) != len(server.Versions()) {
			t.Errorf("v%d: %+v", version, resp)
		}
		for _, k := range resp.ApiKeys {
			if want := server.Versions()[kmsg.Key(k.ApiKey)]; want.Min != k.MinVersion || want.Max != k.MaxVersion {
				t.Errorf("v%d: API %d is %d-%d, want %+v", version, k.ApiKey, k.MinVersion, k.MaxVersion, want)
			}
		}
	}
	write(t, c, frame(req, 5, 9))
	req.SetVersion(0) // what the answer is read as
	resp := read(t, c, req, 9).(*kmsg.ApiVersionsResponse)
	if resp.ErrorCode != core.UnsupportedVersion || len(resp.ApiKeys) != 1 || resp.ApiKeys[0].MaxVersion != 4 {
		t.Errorf("v5: %+v", resp)
	}
	req.ClientSoftwareName = "no spaces, please"
	if resp := ask(t, c, req, 3).(*kmsg.ApiVersionsResponse); resp.ErrorCode != core.InvalidRequest {
		t.Errorf("a name that is none: %+v", resp)
	}
}

// Topics, with franz-go's admin client.
func TestTopics(t *testing.T) {
	s, _ := start(t)
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	adm, ctx := kadm.NewClient(cl), t.Context()
	created, err := adm.CreateTopics(ctx, 3, 1, nil, "new", "t", "bad name", "..")
	if err != nil {
		t.Fatal(err)
	}
	for topic, want := range map[string]string{"new": "", "t": "TOPIC_ALREADY_EXISTS", "bad name": "INVALID_TOPIC", "..": "INVALID_TOPIC"} {
		if err := created[topic].Err; (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("creating %q: %v, want %q", topic, err, want)
		}
	}
	for name, test := range map[string]struct {
		partitions int32
		replicas   int16
		want       string
	}{"none": {0, 1, "INVALID_PARTITIONS"}, "many": {1001, 1, "INVALID_PARTITIONS"}, "replicas": {1, 3, "INVALID_REPLICATION_FACTOR"}} {
		if r, err := adm.CreateTopic(ctx, test.partitions, test.replicas, nil, name); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	topics, err := adm.ListTopics(ctx)
	if err != nil || len(topics) != 2 || len(topics["new"].Partitions) != 3 || topics["new"].Partitions[2].Leader != 3 {
		t.Errorf("topics: %v, %v", topics, err)
	}
	offsets := kadm.Offsets{}
	offsets.Add(kadm.Offset{Topic: "new", Partition: 2, At: 9})
	if _, err := adm.CommitOffsets(ctx, "g", offsets); err != nil {
		t.Fatal(err)
	}
	if deleted, err := adm.DeleteTopics(ctx, "new", "nosuch"); err != nil || deleted["new"].Err != nil || deleted["nosuch"].Err == nil {
		t.Errorf("deleting: %+v, %v", deleted, err)
	}
	fetched, err := adm.FetchOffsets(ctx, "g")
	if err != nil || len(fetched) != 0 {
		t.Errorf("offsets of a topic that is gone: %+v, %v", fetched, err)
	}
	req := kmsg.NewPtrMetadataRequest() // the client would answer from what it knows
	req.Topics = []kmsg.MetadataRequestTopic{{Topic: kmsg.StringPtr("new")}}
	if got := ask(t, dial(t, s), req, 9).(*kmsg.MetadataResponse).Topics[0]; got.ErrorCode != core.UnknownTopicOrPartition {
		t.Errorf("after the deletion: %+v", got)
	}
}

// Partitions can be added to a topic, and then committed for; never taken away.
func TestCreatePartitions(t *testing.T) {
	s, _ := start(t)
	c := dial(t, s)
	for _, test := range []struct {
		topic    string
		count    int32
		validate bool
		want     int16
		then     int
	}{{"t", 2, false, 37, 2}, {"t", 1001, false, 37, 2}, {"t", 4, true, 0, 2}, {"t", 4, false, 0, 4}, {"no", 4, false, core.UnknownTopicOrPartition, 4}} {
		req := kmsg.NewPtrCreatePartitionsRequest()
		req.ValidateOnly = test.validate
		req.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: test.topic, Count: test.count}}
		got := ask(t, c, req, 3).(*kmsg.CreatePartitionsResponse).Topics[0]
		meta := kmsg.NewPtrMetadataRequest()
		meta.Topics = []kmsg.MetadataRequestTopic{{Topic: kmsg.StringPtr("t")}}
		there := len(ask(t, c, meta, 12).(*kmsg.MetadataResponse).Topics[0].Partitions)
		if got.ErrorCode != test.want || there != test.then || (got.ErrorCode == 0) != (got.ErrorMessage == nil) {
			t.Errorf("%+v: answered %+v, then there are %d partitions", test, got, there)
		}
	}
	commit := kmsg.NewPtrOffsetCommitRequest()
	commit.Group, commit.Generation = "g", -1
	commit.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "t", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Partition: 3, Offset: 1}}}}
	if got := ask(t, c, commit, 8).(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0]; got.ErrorCode != 0 {
		t.Errorf("a commit for a partition that was added: %+v", got)
	}
}

// Topics by id, the ways that franz-go's admin client does not go.
func TestTopicIDs(t *testing.T) {
	s, _ := start(t)
	c := dial(t, s)
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{{Topic: kmsg.StringPtr("t")}}
	known := ask(t, c, req, 12).(*kmsg.MetadataResponse).Topics[0]
	req.Topics = []kmsg.MetadataRequestTopic{{TopicID: known.TopicID}, {TopicID: [16]byte{1}}, {Topic: kmsg.StringPtr("no such")}}
	got := ask(t, c, req, 12).(*kmsg.MetadataResponse).Topics
	if *got[0].Topic != "t" || got[0].ErrorCode != 0 || got[1].ErrorCode != 100 || got[2].ErrorCode != 17 {
		t.Errorf("%+v", got)
	}
	remove := kmsg.NewPtrDeleteTopicsRequest()
	remove.Topics = []kmsg.DeleteTopicsRequestTopic{{TopicID: [16]byte{1}}, {TopicID: known.TopicID}}
	if r := ask(t, c, remove, 6).(*kmsg.DeleteTopicsResponse).Topics; r[0].ErrorCode != 100 || *r[1].Topic != "t" || r[1].ErrorCode != 0 {
		t.Errorf("%+v", r)
	}
}

func TestDescribeConfigs(t *testing.T) {
	s, _ := start(t)
	c := dial(t, s)
	ask := func(kind kmsg.ConfigResourceType, name string, keys ...string) kmsg.DescribeConfigsResponseResource {
		req := kmsg.NewPtrDescribeConfigsRequest()
		req.Resources = []kmsg.DescribeConfigsRequestResource{{ResourceType: kind, ResourceName: name, ConfigNames: keys}}
		return ask(t, c, req, 4).(*kmsg.DescribeConfigsResponse).Resources[0]
	}
	got := map[string]string{}
	for _, c := range ask(kmsg.ConfigResourceTypeBroker, "3").Configs {
		got[c.Name] = *c.Value
	}
	for name, want := range map[string]string{
		"group.min.session.timeout.ms": "10", "group.max.session.timeout.ms": "1800000",
		"group.initial.rebalance.delay.ms": "0", "offset.metadata.max.bytes": "4096", "group.max.size": "2147483647",
		"offsets.retention.minutes": "10080", "offsets.retention.check.interval.ms": "600000",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if r := ask(kmsg.ConfigResourceTypeBroker, "3", "offset.metadata.max.bytes", "nosuch"); len(r.Configs) != 1 {
		t.Errorf("one setting: %+v", r)
	}
	for _, r := range []kmsg.DescribeConfigsResponseResource{ask(kmsg.ConfigResourceTypeBroker, "4"), ask(kmsg.ConfigResourceTypeTopic, "t")} {
		if r.ErrorCode != core.InvalidRequest || r.ErrorMessage == nil {
			t.Errorf("%+v", r)
		}
	}
}
