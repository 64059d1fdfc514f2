package observe

import (
	"slices"
	"time"
	"unicode/utf16"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/model/classic"
)

// The versions from which requests name topics by id (commit.topic-id).
const (
	commitIDs = 10
	fetchIDs  = 10
	txnIDs    = 6
)

func (w *World) translateCommit(b *Branch, c *call, m *kmsg.OffsetCommitRequest) error {
	e, version := &c.event, c.request.Version
	e.Kind, e.CommitVersion = classic.OffsetCommit, version
	e.Ref, c.id = b.ref(m.MemberID), m.MemberID
	e.Gen = b.gen(m.Generation)
	e.Instance = b.instance(m.InstanceID, version >= 7)
	if version < 1 || version > commitIDs {
		return notModelled("OffsetCommit version %d", version)
	}
	retention := int64(-1)
	if version >= 2 && version <= 4 {
		retention = m.RetentionTimeMillis
	}
	for _, t := range m.Topics {
		name, code, err := w.topicName(t.Topic, t.TopicID, version >= commitIDs)
		if err != nil {
			return err
		}
		for _, p := range t.Partitions {
			o := offset{topic: name, partition: p.Partition, at: p.Offset, epoch: -1}
			if version >= 6 {
				o.epoch = p.LeaderEpoch
			}
			if p.Metadata != nil {
				o.metadata = *p.Metadata
			}
			if w.config.OffsetsRetention > 0 {
				if version == 1 && p.Timestamp != -1 {
					o.since = Window{p.Timestamp * int64(time.Millisecond), p.Timestamp * int64(time.Millisecond)}
				}
				if retention >= 0 && !w.breaks(classic.CommitRetention) { // commit.retention
					o.explicit, o.expires = true, Window{retention, retention} // in ms from the commit on; see aged
				}
			}
			w.enter(c, o, t.TopicID, code)
		}
	}
	e.TooLarge = len(c.put) == 0
	return nil
}

func (w *World) translateTxnCommit(b *Branch, c *call, m *kmsg.TxnOffsetCommitRequest) error {
	e, version := &c.event, c.request.Version
	e.Kind, e.CommitVersion, e.BadGroup = classic.TxnOffsetCommit, version, m.Group == ""
	c.producer = m.ProducerID
	e.Gen = classic.NoGen
	if version >= 3 {
		e.Ref, c.id = b.ref(m.MemberID), m.MemberID
		e.Gen = b.gen(m.Generation)
		e.Instance = b.instance(m.InstanceID, true)
	}
	if version > txnIDs {
		return notModelled("TxnOffsetCommit version %d", version)
	}
	for _, t := range m.Topics {
		name, code, err := w.topicName(t.Topic, t.TopicID, version >= txnIDs)
		if err != nil {
			return err
		}
		for _, p := range t.Partitions {
			o := offset{topic: name, partition: p.Partition, at: p.Offset, epoch: -1}
			if version >= 2 {
				o.epoch = p.LeaderEpoch
			}
			if p.Metadata != nil {
				o.metadata = *p.Metadata
			}
			if slices.ContainsFunc(c.entries, func(e entry) bool { return e.topic == name && e.at == p.Partition }) {
				return notModelled("TxnOffsetCommit that names %s/%d twice", name, p.Partition)
			}
			w.enter(c, o, t.TopicID, code)
		}
	}
	e.TooLarge = len(c.put) == 0
	return nil
}

// topicName is the name of a topic that a request names by name or by id, and the error where there is none.
func (w *World) topicName(name string, id [16]byte, byID bool) (string, int16, error) {
	if !byID {
		return name, 0, nil
	}
	if w.config.TopicName == nil {
		return "", 0, notModelled("topic ids, of a coordinator whose ids are not known")
	}
	if name, ok := w.config.TopicName(id); ok {
		return name, 0, nil
	}
	return string(id[:]), errUnknownTopicID, nil // no topic has such a name: it tells unknown ids apart
}

// enter adds a partition of a commit.
func (w *World) enter(c *call, o offset, id [16]byte, code int16) {
	e := entry{topic: o.topic, id: id, at: o.partition, code: code}
	switch {
	case code != 0:
	case !w.exists(o.key()) && !w.breaks(classic.CommitUnknownTopic): // commit.topic.unknown
		e.code = errUnknownTopic
	case utf16Length(o.metadata) > w.config.MaxMetadata && !w.breaks(classic.CommitMetadataTooLarge): // commit.metadata.too-large
		e.code, e.size = errMetadataTooLarge, true
	default:
		c.put = append(c.put, o)
	}
	twice := slices.IndexFunc(c.entries, func(f entry) bool { return f.topic == e.topic && f.at == e.at })
	c.twice = c.twice || twice >= 0
	if twice >= 0 && w.config.Profile.DuplicatesTwice == w.breaks(classic.CommitDuplicates) {
		// commit.duplicates: the last one counts, and is answered once
		c.entries[twice] = e
		if e.code != 0 {
			c.put = slices.DeleteFunc(c.put, func(p offset) bool { return p.key() == o.key() })
		}
		return
	}
	c.entries = append(c.entries, e)
}

// aged gives the offsets of a commit their age.
func (w *World) aged(put []offset, at Window) []offset {
	if w.config.OffsetsRetention == 0 {
		return put
	}
	put = slices.Clone(put)
	for i := range put {
		if put[i].since == (Window{}) {
			put[i].since = at
		}
		if put[i].explicit {
			put[i].expires = at.plus(time.Duration(put[i].expires.Earliest) * time.Millisecond)
		}
	}
	return put
}

// reachesGroup is false for a commit whose partitions are all unknown: it is answered without asking the group.
func (c *call) reachesGroup() bool {
	if c.event.Kind != classic.OffsetCommit && c.event.Kind != classic.TxnOffsetCommit {
		return true
	}
	return slices.ContainsFunc(c.entries, entry.asks)
}

// asks says whether the group is asked about the partition.
func (e entry) asks() bool { return e.code == 0 || e.size }

func (w *World) exists(p partition) bool {
	return w.config.Topics == nil || w.config.Topics(p.topic, p.index)
}

func utf16Length(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

func (w *World) translateDelete(b *Branch, c *call, m *kmsg.OffsetDeleteRequest) error {
	c.event.Kind, c.event.BadGroup = classic.OffsetDelete, m.Group == ""
	t := w.symbols.Load()
	named := map[partition]bool{}
	var symbols []uint8
	for _, topic := range m.Topics {
		for _, p := range topic.Partitions {
			key := partition{topic.Topic, p.Partition}
			if named[key] { // commit.duplicates
				if c.twice = true; !w.config.Profile.DuplicatesTwice {
					continue
				}
			}
			named[key] = true
			e := entry{topic: topic.Topic, at: p.Partition}
			if !w.exists(key) {
				e.code = errUnknownTopic
			} else {
				s, err := w.topicSymbol(topic.Topic)
				if err != nil {
					return err
				}
				symbols = append(symbols, s)
			}
			c.deletes = append(c.deletes, e)
		}
	}
	c.event.Topics = classic.TopicSet(symbols...)
	refused := classic.Refused(&b.state, &t.lexicon, c.event.Topics)
	c.gone = c.deleted(w, refused)
	c.takes(b)
	return nil
}

// deleted says which partitions an OffsetDelete takes, where topics are refused.
func (c *call) deleted(w *World, refused classic.Topics) func(partition) bool {
	gone := map[partition]bool{}
	for _, e := range c.deletes {
		if s, err := w.topicSymbol(e.topic); e.code == 0 && (err != nil || !refused.Has(s)) {
			gone[partition{e.topic, e.at}] = true
		}
	}
	return func(p partition) bool { return gone[p] }
}

func (w *World) translateFetch(c *call, m *kmsg.OffsetFetchRequest) error {
	version := c.request.Version
	c.event.Kind = classic.OffsetFetch
	c.event.Stable = version >= 7 && m.RequireStable
	switch {
	case version < 1 || version > fetchIDs:
		return notModelled("OffsetFetch version %d", version)
	case version < 8:
		for _, t := range m.Topics {
			c.ask(w, fetchTopic{name: t.Topic, partitions: t.Partitions})
		}
		c.askedAll = version >= 2 && m.Topics == nil
		return nil
	}
	if err := oneGroup(len(m.Groups)); err != nil {
		return err
	}
	for _, t := range m.Groups[0].Topics {
		name, code, err := w.topicName(t.Topic, t.TopicID, version >= fetchIDs)
		if err != nil {
			return err
		}
		c.ask(w, fetchTopic{name: name, id: t.TopicID, code: code, partitions: t.Partitions})
	}
	c.askedAll = m.Groups[0].Topics == nil
	return nil
}

// ask adds a topic that is asked for; commit.duplicates.
func (c *call) ask(w *World, t fetchTopic) {
	if !w.config.Profile.DuplicatesTwice {
		var once []int32
		for _, p := range t.partitions {
			if !slices.Contains(once, p) {
				once = append(once, p)
			}
		}
		t.partitions = once
	}
	c.asked = append(c.asked, t)
}
