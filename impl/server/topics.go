package server

import (
	"regexp"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

const (
	clusterID = "muster-reference-node"

	// maxPartitions bounds a topic, so that no request makes the node remember or list millions.
	maxPartitions = 1000

	noTopicOperations int32 = -2147483648
)

// legalTopic is Kafka's: up to 249 letters, digits, dots, underscores and hyphens, and neither "." nor "..".
var legalTopic = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)

const illegalName = "a topic name is 1 to 249 of a-z, A-Z, 0-9, '.', '_' and '-', and not '.' or '..'"

func (f *Front) metadata(req *kmsg.MetadataRequest, version int16) kmsg.Response {
	resp := kmsg.NewPtrMetadataResponse()
	node := kmsg.NewMetadataResponseBroker()
	node.NodeID, node.Host, node.Port = f.settings.Node.ID, f.settings.Node.Host, f.settings.Node.Port
	resp.Brokers = append(resp.Brokers, node)
	resp.ClusterID, resp.ControllerID = kmsg.StringPtr(clusterID), node.NodeID
	resp.AuthorizedOperations = noTopicOperations
	if req.Topics == nil || version == 0 && len(req.Topics) == 0 {
		names := make([]string, 0, len(f.topics))
		for name := range f.topics {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			resp.Topics = append(resp.Topics, f.describe(name, f.topics[name]))
		}
		return resp
	}
	for _, t := range req.Topics {
		name := f.nameOf(t.Topic, t.TopicID)
		if known, ok := f.topics[name]; ok {
			resp.Topics = append(resp.Topics, f.describe(name, known))
			continue
		}
		unknown := kmsg.NewMetadataResponseTopic()
		unknown.Topic, unknown.TopicID, unknown.ErrorCode = t.Topic, t.TopicID, core.UnknownTopicOrPartition
		unknown.AuthorizedOperations = noTopicOperations
		switch {
		case t.Topic == nil && version < 12:
			unknown.Topic, unknown.ErrorCode = kmsg.StringPtr(""), unknownTopicID
		case t.Topic == nil:
			unknown.ErrorCode = unknownTopicID
		case !legal(name):
			unknown.ErrorCode = invalidTopic
		}
		resp.Topics = append(resp.Topics, unknown)
	}
	return resp
}

func (f *Front) describe(name string, t topic) kmsg.MetadataResponseTopic {
	d := kmsg.NewMetadataResponseTopic()
	d.Topic, d.TopicID, d.AuthorizedOperations = kmsg.StringPtr(name), t.id, noTopicOperations
	for i := range t.partitions {
		p := kmsg.NewMetadataResponseTopicPartition()
		p.Partition, p.Leader, p.LeaderEpoch = i, f.settings.Node.ID, 0
		p.Replicas, p.ISR, p.OfflineReplicas = []int32{p.Leader}, []int32{p.Leader}, []int32{}
		d.Partitions = append(d.Partitions, p)
	}
	return d
}

// nameOf is the topic that a request means: by name or, without one, by id.
func (f *Front) nameOf(name *string, id [16]byte) string {
	if name != nil {
		return *name
	}
	named, _ := f.TopicName(id)
	return named
}

func (f *Front) createTopics(req *kmsg.CreateTopicsRequest, version int16) kmsg.Response {
	resp := kmsg.NewPtrCreateTopicsResponse()
	for _, t := range req.Topics {
		rt := kmsg.NewCreateTopicsResponseTopic()
		rt.Topic = t.Topic
		rt.NumPartitions, rt.ReplicationFactor = -1, -1
		partitions, code, message := f.mayCreate(t)
		if code != core.None {
			rt.ErrorCode, rt.ErrorMessage = code, kmsg.StringPtr(message)
		} else {
			rt.NumPartitions, rt.ReplicationFactor = partitions, 1
			if !req.ValidateOnly {
				rt.TopicID = f.create(t.Topic, partitions).id
			}
			rt.Configs = []kmsg.CreateTopicsResponseTopicConfig{}
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}

func (f *Front) mayCreate(t kmsg.CreateTopicsRequestTopic) (partitions int32, code int16, message string) {
	partitions = t.NumPartitions
	replicas := t.ReplicationFactor
	switch {
	case len(t.ReplicaAssignment) > 0:
		partitions, replicas = int32(min(len(t.ReplicaAssignment), maxPartitions+1)), 1
	case partitions == -1:
		partitions = 1
	}
	_, exists := f.topics[t.Topic]
	switch {
	case !legal(t.Topic):
		return 0, invalidTopic, illegalName
	case exists:
		return 0, topicAlreadyExists, "topic " + t.Topic + " exists already"
	case partitions < 1 || partitions > maxPartitions:
		return 0, invalidPartitions, "a topic has 1 to 1000 partitions here"
	case replicas != 1 && replicas != -1:
		return 0, invalidReplicationFactor, "this node is alone: the replication factor is 1, or -1 for the default"
	}
	return partitions, core.None, ""
}

func legal(name string) bool { return name != "." && name != ".." && legalTopic.MatchString(name) }

func (f *Front) deleteTopics(req *kmsg.DeleteTopicsRequest) (resp *kmsg.DeleteTopicsResponse, deleted []string) {
	resp = kmsg.NewPtrDeleteTopicsResponse()
	wanted := req.Topics
	for _, name := range req.TopicNames {
		wanted = append(wanted, kmsg.DeleteTopicsRequestTopic{Topic: kmsg.StringPtr(name)})
	}
	for _, t := range wanted {
		rt := kmsg.NewDeleteTopicsResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		name := f.nameOf(t.Topic, t.TopicID)
		known, ok := f.topics[name]
		switch {
		case ok:
			rt.Topic, rt.TopicID = kmsg.StringPtr(name), known.id
			delete(f.topics, name)
			deleted = append(deleted, name)
		case t.Topic == nil:
			rt.ErrorCode = unknownTopicID
		default:
			rt.ErrorCode = core.UnknownTopicOrPartition
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp, deleted
}
