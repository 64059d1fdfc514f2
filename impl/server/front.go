package server

import (
	"encoding/binary"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// Error codes of the APIs that are not group coordination.
const (
	invalidTopic             int16 = 17
	topicAlreadyExists       int16 = 36
	invalidPartitions        int16 = 37
	invalidReplicationFactor int16 = 38
	unknownTopicID           int16 = 100
)

// Front serves what a client asks besides group coordination, from a table of topics in memory: ApiVersions, Metadata, CreateTopics,
// CreatePartitions, DeleteTopics, DescribeConfigs. There is no Produce and no Fetch. It must not be used from two goroutines at a time.
type Front struct {
	settings core.Settings
	topics   map[string]topic
	lastID   uint64
}

type topic struct {
	id         [16]byte
	partitions int32
}

// NewFront returns a front for a node with these settings and topics (name to number of partitions).
func NewFront(settings core.Settings, topics map[string]int32) *Front {
	f := &Front{settings: settings.WithDefaults(), topics: map[string]topic{}}
	names := make([]string, 0, len(topics))
	for name := range topics {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		f.create(name, topics[name])
	}
	return f
}

// SetNode says where the node can be reached.
func (f *Front) SetNode(n core.Node) { f.settings.Node = n }

// Exists reports whether a partition exists, as core.Settings.TopicExists wants to know.
func (f *Front) Exists(name string, partition int32) bool {
	t, ok := f.topics[name]
	return ok && partition >= 0 && partition < t.partitions
}

// TopicName and TopicID translate between the names of topics and their ids, as core.Settings want to.
func (f *Front) TopicName(id [16]byte) (string, bool) {
	for name, t := range f.topics {
		if t.id == id {
			return name, true
		}
	}
	return "", false
}

// TopicID is the other way round.
func (f *Front) TopicID(name string) ([16]byte, bool) {
	t, ok := f.topics[name]
	return t.id, ok
}

// frontVersions are what Kafka 4.4 offers of these APIs, as far as they are served here.
var frontVersions = map[kmsg.Key]core.VersionRange{
	kmsg.Metadata:         {Min: 0, Max: 13},
	kmsg.ApiVersions:      {Min: 0, Max: 4},
	kmsg.CreateTopics:     {Min: 2, Max: 7},
	kmsg.CreatePartitions: {Min: 0, Max: 3},
	kmsg.DeleteTopics:     {Min: 1, Max: 6},
	kmsg.DescribeConfigs:  {Min: 1, Max: 4},
}

// Versions are all APIs that a node with a Front and Transactions offers, group coordination included.
func Versions() map[kmsg.Key]core.VersionRange {
	all := core.Versions()
	maps.Copy(all, frontVersions)
	maps.Copy(all, txnVersions)
	return all
}

// Handle answers a request, at the given version, if it is one of a Front's. It returns the topics that the request deleted: the
// coordinator has to hear of them.
func (f *Front) Handle(req kmsg.Request, version int16) (resp kmsg.Response, deleted []string, ok bool) {
	if r, served := frontVersions[kmsg.Key(req.Key())]; !served || !r.Has(version) && req.Key() != int16(kmsg.ApiVersions) {
		return nil, nil, false
	}
	switch req := req.(type) {
	case *kmsg.ApiVersionsRequest:
		return apiVersions(req, version, offered, nil), nil, true
	case *kmsg.MetadataRequest:
		resp = f.metadata(req, version)
	case *kmsg.CreateTopicsRequest:
		resp = f.createTopics(req, version)
	case *kmsg.CreatePartitionsRequest:
		resp = f.createPartitions(req)
	case *kmsg.DeleteTopicsRequest:
		resp, deleted = f.deleteTopics(req)
	case *kmsg.DescribeConfigsRequest:
		resp = f.describeConfigs(req)
	default:
		return nil, nil, false
	}
	resp.SetVersion(version)
	return resp, deleted, true
}

// softwareName is what clients may call themselves from version 3 of ApiVersions.
var softwareName = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9\-.]*[a-zA-Z0-9])?$`)

// apiVersions answers a version that is too new with version 0 and what versions there are, so that the client can ask again. Features are those
// of another answer, if there is one.
func apiVersions(req *kmsg.ApiVersionsRequest, version int16, offered map[kmsg.Key]core.VersionRange, features *kmsg.ApiVersionsResponse) kmsg.Response {
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.FinalizedFeaturesEpoch = -1
	if features != nil {
		resp.FinalizedFeaturesEpoch = features.FinalizedFeaturesEpoch
		resp.SupportedFeatures, resp.FinalizedFeatures = features.SupportedFeatures, features.FinalizedFeatures
	}
	if !offered[kmsg.ApiVersions].Has(version) {
		resp.SetVersion(0)
		resp.ErrorCode = core.UnsupportedVersion
		offered = map[kmsg.Key]core.VersionRange{kmsg.ApiVersions: offered[kmsg.ApiVersions]}
	} else {
		resp.SetVersion(version)
		if version >= 3 && (!softwareName.MatchString(req.ClientSoftwareName) || !softwareName.MatchString(req.ClientSoftwareVersion)) {
			resp.ErrorCode = core.InvalidRequest
			offered = nil
		}
	}
	for key, r := range offered {
		k := kmsg.NewApiVersionsResponseApiKey()
		k.ApiKey, k.MinVersion, k.MaxVersion = int16(key), r.Min, r.Max
		resp.ApiKeys = append(resp.ApiKeys, k)
	}
	slices.SortFunc(resp.ApiKeys, func(a, b kmsg.ApiVersionsResponseApiKey) int { return int(a.ApiKey) - int(b.ApiKey) })
	return resp
}

func (f *Front) create(name string, partitions int32) topic {
	f.lastID++
	t := topic{partitions: partitions}
	binary.BigEndian.PutUint64(t.id[8:], f.lastID)
	f.topics[name] = t
	return t
}

// describeConfigs tells the settings that a judge asks for before it begins, in broker scope.
func (f *Front) describeConfigs(req *kmsg.DescribeConfigsRequest) kmsg.Response {
	resp := kmsg.NewPtrDescribeConfigsResponse()
	for _, r := range req.Resources {
		rr := kmsg.NewDescribeConfigsResponseResource()
		rr.ResourceType, rr.ResourceName = r.ResourceType, r.ResourceName
		if r.ResourceType != kmsg.ConfigResourceTypeBroker || r.ResourceName != strconv.Itoa(int(f.settings.Node.ID)) {
			rr.ErrorCode = core.InvalidRequest
			rr.ErrorMessage = kmsg.StringPtr("only the settings of broker " + strconv.Itoa(int(f.settings.Node.ID)) + " can be described")
			resp.Resources = append(resp.Resources, rr)
			continue
		}
		for _, s := range f.brokerSettings() {
			if r.ConfigNames != nil && !slices.Contains(r.ConfigNames, s.name) {
				continue
			}
			c := kmsg.NewDescribeConfigsResponseResourceConfig()
			c.Name, c.Value, c.ReadOnly = s.name, kmsg.StringPtr(strconv.FormatInt(s.value, 10)), true
			c.Source, c.ConfigType = kmsg.ConfigSourceStaticBrokerConfig, kmsg.ConfigTypeInt
			rr.Configs = append(rr.Configs, c)
		}
		resp.Resources = append(resp.Resources, rr)
	}
	return resp
}

type brokerSetting struct {
	name  string
	value int64
}

func (f *Front) brokerSettings() []brokerSetting {
	return []brokerSetting{
		{"group.initial.rebalance.delay.ms", f.settings.InitialRebalanceDelay.Milliseconds()},
		{"group.max.session.timeout.ms", f.settings.MaxSessionTimeout.Milliseconds()},
		{"group.max.size", int64(f.settings.MaxSize)},
		{"group.min.session.timeout.ms", f.settings.MinSessionTimeout.Milliseconds()},
		{"offset.metadata.max.bytes", int64(f.settings.MetadataMaxBytes)},
		{"offsets.retention.check.interval.ms", f.settings.CleanupInterval.Milliseconds()},
		{"offsets.retention.minutes", int64(f.settings.OffsetsRetention.Minutes())},
	}
}
