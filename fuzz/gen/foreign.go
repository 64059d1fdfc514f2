package gen

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Logged is a record of __consumer_offsets, whoever has written it.
type Logged struct {
	Key, Value []byte // a nil value is a tombstone
	Producer   int64  // NoProducer where the record is part of no transaction
	Epoch      int16
	Marker     bool // the producer's transaction ends; there is neither key nor value
	Commit     bool // how, if it does
}

// NoProducer is who writes records that are part of no transaction.
const NoProducer int64 = -1

// The newest versions in which brokers write values; they read all from 0 on.
const newestOffset, newestGroup = 4, 4

// mostForeign bounds the records of a foreign log.
const mostForeign = 24

// foreign is a log that other brokers and older releases have written, while it is being made.
type foreign struct {
	*Generator
	now  time.Time
	log  []Logged
	last map[string]*kmsg.GroupMetadataValue // of each group that the log ends with
	at   int64
}

// Foreign is a log that other brokers and older releases may have written by now: values of all versions, several for a key, tombstones, transactions that are
// open or ended. The clients are the members of which the log speaks last.
func (g *Generator) Foreign(now time.Time) []Logged {
	f := &foreign{Generator: g, now: now, last: map[string]*kmsg.GroupMetadataValue{}}
	for range 1 + g.src.Intn(mostForeign, "records") {
		group := append(g.groups, unused)[g.src.Intn(len(g.groups)+1, "of which group")]
		switch g.src.Intn(12, "what record") {
		default:
			f.offset(group, NoProducer)
		case 5, 6, 7:
			f.group(group)
		case 8:
			f.add(offsetKey(f.topic(), group, f.partition(), 1), nil, NoProducer)
		case 9:
			f.end(group)
		case 10:
			f.offset(group, f.producer())
		case 11:
			p := f.producer()
			f.log = append(f.log, Logged{Producer: p, Epoch: f.epoch(), Marker: true, Commit: g.src.Intn(3, "abort") != 2})
			f.of(p, false, "")
		}
	}
	g.adopt(f.last)
	if g.src.Intn(12, "damaged") == 11 {
		f.add(groupKey(g.groups[0]), []byte{0, newestGroup, 1}, NoProducer)
	}
	return f.log
}

func (f *foreign) add(key, value []byte, producer int64) {
	f.log = append(f.log, Logged{Key: key, Value: value, Producer: producer, Epoch: f.epoch()})
}

// epoch is one of a producer's: older and newer ones write, and end what others have begun.
func (f *foreign) epoch() int16 { return int16(f.src.Intn(3, "producer epoch")) }

func (f *foreign) topic() string {
	return []string{f.setup.Topic, f.setup.Topic, f.setup.Other, gone}[f.src.Intn(4, "topic")]
}

func (f *foreign) partition() int32 { return int32(f.src.Intn(2, "partition")) }

// producer is one of the run's, or one that nobody knows.
func (f *foreign) producer() int64 { return 4001 + int64(f.src.Intn(3, "whose")) }

// of notes whether a producer of the run has a transaction open.
func (f *foreign) of(producer int64, open bool, group string) {
	for _, p := range f.producers {
		if p.ID == producer {
			p.open, p.wrote, p.group = open, open, group
		}
	}
}

// ago is a time in the last 20 seconds, in milliseconds.
func (f *foreign) ago() int64 { return f.now.UnixMilli() - 1000*int64(f.src.Intn(21, "how long ago")) }

// offset is a committed offset, or one of a transaction.
func (f *foreign) offset(group string, producer int64) {
	if f.src.Intn(8, "another kind of key") == 7 {
		f.add([]byte{0, byte(100 + f.src.Intn(8, "key version")), 1, 2}, []byte{0, 0}, NoProducer)
		return
	}
	f.at++
	v := kmsg.NewOffsetCommitValue()
	v.Version = int16(f.src.Intn(newestOffset+1, "offset version"))
	key := int16(1)
	if v.Version == 0 { // keys of version 0 are of a time that knew no other values, and Kafka 4.3.1 reads no others with them
		key = int16(f.src.Intn(2, "key version"))
	}
	v.Offset, v.LeaderEpoch, v.CommitTimestamp, v.ExpireTimestamp = f.at, f.leaderEpoch(), f.ago(), -1
	if f.src.Intn(3, "metadata") == 2 {
		v.Metadata = fmt.Sprintf("f%d", f.at)
	}
	if f.src.Intn(2, "expires") == 1 {
		v.ExpireTimestamp = v.CommitTimestamp + 1000*int64(f.src.Intn(40, "after how long"))
	}
	f.add(offsetKey(f.topic(), group, f.partition(), key), v.AppendTo(nil), producer)
	if producer != NoProducer {
		f.of(producer, true, group)
	}
}

func offsetKey(topic, group string, partition int32, version int16) []byte {
	k := kmsg.NewOffsetCommitKey()
	k.Version, k.Group, k.Topic, k.Partition = version, group, topic, partition
	return k.AppendTo(nil)
}

func groupKey(group string) []byte {
	k := kmsg.NewGroupMetadataKey()
	k.Version, k.Group = 2, group
	return k.AppendTo(nil)
}

// end is what a deletion writes: tombstones of all offsets, and of the group.
func (f *foreign) end(group string) {
	var keys [][]byte
	for _, r := range f.log {
		k := kmsg.NewOffsetCommitKey()
		if r.Key != nil && binary.BigEndian.Uint16(r.Key) < 2 && k.ReadFrom(r.Key) == nil && k.Group == group {
			k.Version = 1
			if key := k.AppendTo(nil); !slices.ContainsFunc(keys, func(o []byte) bool { return string(o) == string(key) }) {
				keys = append(keys, key)
			}
		}
	}
	for _, key := range keys {
		f.add(key, nil, NoProducer)
	}
	f.add(groupKey(group), nil, NoProducer)
	delete(f.last, group)
}

// generations are those of groups in a log: of one that is new, of others, and such as soon take more than one byte, and more than two.
var generations = [...]int32{0, 1, math.MaxInt8 - 1, math.MaxInt16 - 1}

// group is what a group's leader, or the end of its last member, has written: the group is Stable or Empty.
func (f *foreign) group(name string) {
	v := kmsg.NewGroupMetadataValue()
	v.Version, v.Generation = int16(f.src.Intn(newestGroup+1, "group version")), generations[f.src.Intn(len(generations), "generation")]
	v.CurrentStateTimestamp = -1
	if f.src.Intn(3, "since when") > 0 {
		v.CurrentStateTimestamp = f.ago()
	}
	v.ProtocolType = []string{"consumer", "consumer", "connect"}[f.src.Intn(3, "protocol type")]
	protocol := []string{"range", "sticky"}[f.src.Intn(2, "protocol")]
	clients := slices.DeleteFunc(slices.Clone(f.clients), func(c *Client) bool { return c.Group != name || f.src.Intn(3, "no member") == 2 })
	switch {
	case len(clients) > 0:
		v.Protocol, v.Generation = &protocol, v.Generation+1
		f.members(&v, clients)
	case v.Generation == 0: // as it was created
		v.ProtocolType = ""
	case f.src.Intn(2, "still a protocol") == 1:
		v.Protocol = &protocol
	}
	f.add(groupKey(name), v.AppendTo(nil), NoProducer)
	f.last[name] = &v
}

func (f *foreign) members(v *kmsg.GroupMetadataValue, clients []*Client) {
	instances := map[string]bool{}
	for _, c := range clients {
		m := kmsg.NewGroupMetadataValueMember()
		f.at++
		m.MemberID, m.ClientID, m.ClientHost = fmt.Sprintf("%s-%d", c.Name, f.at), c.Name, "/127.0.0.1"
		if c.Instance != nil && !instances[*c.Instance] {
			instances[*c.Instance] = true
			m.InstanceID = c.Instance
		}
		m.SessionTimeoutMillis = int32(f.setup.Sessions[f.src.Intn(len(f.setup.Sessions), "session")] / time.Millisecond)
		m.RebalanceTimeoutMillis = int32(f.setup.Rebalances[f.src.Intn(len(f.setup.Rebalances), "rebalance")] / time.Millisecond)
		if f.src.Intn(4, "no rebalance timeout") == 3 {
			m.RebalanceTimeoutMillis = -1
		}
		// What cannot be read is too short: of what claims to have more topics than there are bytes Kafka 4.3.1 cannot load the log.
		m.Subscription = [][]byte{[]byte(f.topics(f.setup.Topic)), []byte(f.topics()), {}, []byte("none")}[f.src.Intn(4, "subscription")]
		if f.src.Intn(4, "no assignment") != 3 {
			m.Assignment = fmt.Appendf(nil, "%s.%d", c.Name, f.at)
		}
		v.Members = append(v.Members, m)
	}
	leader := v.Members[f.src.Intn(len(v.Members), "leader")].MemberID
	v.Leader = &leader
}

// adopt makes the clients the members of which a log speaks.
func (g *Generator) adopt(groups map[string]*kmsg.GroupMetadataValue) {
	for _, c := range g.clients {
		v := groups[c.Group]
		if v == nil {
			continue
		}
		for _, m := range v.Members {
			if m.ClientID != c.Name {
				continue
			}
			for _, one := range []*Client{c, c.shown} {
				if one != nil {
					one.adopt(v, m)
				}
			}
		}
	}
}

func (c *Client) adopt(v *kmsg.GroupMetadataValue, m kmsg.GroupMetadataValueMember) {
	c.Ids, c.JoinID, c.Generation, c.Protocol, c.Leader, c.Synced = []string{m.MemberID}, m.MemberID, v.Generation, *v.Protocol, *v.Leader, true
	c.Type = v.ProtocolType
	if v.Version < 3 { // which does not say that it is static
		c.Instance = nil
	} else {
		c.Instance = m.InstanceID
	}
	c.hasJoined, c.lastGroup, c.lastInstance = true, c.Group, c.Instance
	if *v.Leader != m.MemberID {
		return
	}
	for _, other := range v.Members {
		c.Members = append(c.Members, other.MemberID)
	}
}

// Heard says which epoch of the leader the coordinator has heard of.
func (g *Generator) Heard(epoch int32) { g.epoch = epoch }

// All are the names of all groups of which a foreign log may speak.
func (g *Generator) All() []string { return append(slices.Clone(g.groups), unused) }

// Topics are those in which a foreign log may have offsets.
func (g *Generator) Topics() []string { return []string{g.setup.Topic, g.setup.Other, gone} }

// gone is a topic that is not there any more.
const gone = "gone"
