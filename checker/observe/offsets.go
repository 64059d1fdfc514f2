package observe

import (
	"slices"
	"sort"
)

// offset is one that is committed, or would be.
type offset struct {
	topic     string
	partition int32
	at        int64
	epoch     int32
	metadata  string

	// Its age, kept only where offsets expire.
	since    Window // its commit
	explicit bool   // it expires at a time of its own (commit.retention)
	expires  Window
}

func (o offset) before(p offset) bool {
	return o.topic < p.topic || o.topic == p.topic && o.partition < p.partition
}

// key is the partition.
func (o offset) key() partition { return partition{o.topic, o.partition} }

// value is the offset without the windows of its age.
func (o offset) value() offset {
	o.since, o.expires = Window{}, Window{}
	return o
}

// pending is an offset of an open transaction.
type pending struct {
	offset
	producer int64
	newer    bool // it comes later in the log than the committed one, or there is none (txn.newer-wins)
}

func (p pending) value() pending {
	p.offset = p.offset.value()
	return p
}

// ledger is a group's offsets. Its slices are never changed in place.
type ledger struct {
	offsets []offset  // by topic and partition
	pending []pending // by topic and partition, those of one partition in the order of the log
	awaited []awaited // by topic and partition
}

// awaited is a partition whose commit was refused for its metadata, and is waited for all the same, by a coordinator that has DefectMetadataUnstable.
type awaited struct {
	partition
	producer int64 // whose transaction it was in; nobody's is plain
}

const plain = -1

func (a awaited) before(b awaited) bool {
	x, y := offset{topic: a.topic, partition: a.index}, offset{topic: b.topic, partition: b.index}
	return x.before(y) || !y.before(x) && a.producer < b.producer
}

// offset is the committed offset of a partition.
func (l ledger) offset(topic string, p int32) (offset, bool) {
	key := offset{topic: topic, partition: p}
	i := sort.Search(len(l.offsets), func(i int) bool { return !l.offsets[i].before(key) })
	if i < len(l.offsets) && !key.before(l.offsets[i]) {
		return l.offsets[i], true
	}
	return offset{}, false
}

// unstable says whether a transactional offset of the partition is pending.
func (l ledger) unstable(p partition) bool {
	return slices.ContainsFunc(l.pending, func(o pending) bool { return o.key() == p }) ||
		slices.ContainsFunc(l.awaited, func(a awaited) bool { return a.partition == p })
}

// awaits takes up what a commit names that was refused for its metadata.
func (l ledger) awaits(producer int64, refused []entry) ledger {
	l.awaited = slices.Clone(l.awaited)
	for _, e := range refused {
		if a := (awaited{partition{e.topic, e.at}, producer}); e.size && !slices.Contains(l.awaited, a) {
			l.awaited = append(l.awaited, a)
		}
	}
	sort.Slice(l.awaited, func(i, j int) bool { return l.awaited[i].before(l.awaited[j]) })
	return l
}

// came is what is awaited yet once a commit has come.
func (l ledger) came(producer int64, put []offset) []awaited {
	return slices.DeleteFunc(slices.Clone(l.awaited), func(a awaited) bool {
		return a.producer == producer && slices.ContainsFunc(put, func(o offset) bool { return o.key() == a.partition })
	})
}

// store commits offsets. They come after all that is pending.
func (l ledger) store(put []offset) ledger {
	l.offsets, l.awaited = merge(l.offsets, put), l.came(plain, put)
	if len(l.pending) == 0 {
		return l
	}
	l.pending = slices.Clone(l.pending)
	for i := range l.pending {
		if slices.ContainsFunc(put, func(o offset) bool { return o.key() == l.pending[i].key() }) {
			l.pending[i].newer = false
		}
	}
	return l
}

// merge returns offsets with new ones put in.
func merge(old, put []offset) []offset {
	all := append(append(make([]offset, 0, len(old)+len(put)), old...), put...)
	sort.SliceStable(all, func(i, j int) bool { return all[i].before(all[j]) })
	kept := all[:0]
	for i, o := range all {
		if i+1 < len(all) && !o.before(all[i+1]) {
			continue // the later entry for the same partition wins
		}
		kept = append(kept, o)
	}
	return kept
}

// pend makes offsets pending for a producer, in place of those that it has pending for the same partitions.
func (l ledger) pend(producer int64, put []offset) ledger {
	l.pending = slices.DeleteFunc(slices.Clone(l.pending), func(p pending) bool {
		return p.producer == producer && slices.ContainsFunc(put, func(o offset) bool { return o.key() == p.key() })
	})
	for _, o := range merge(nil, put) {
		l.pending = append(l.pending, pending{offset: o, producer: producer, newer: true})
	}
	sort.SliceStable(l.pending, func(i, j int) bool { return l.pending[i].before(l.pending[j].offset) })
	l.awaited = l.came(producer, put)
	return l
}

// erase takes away what a producer has pending for partitions that are refused for their metadata.
func (l ledger) erase(producer int64, refused []entry) ledger {
	l.pending = slices.DeleteFunc(slices.Clone(l.pending), func(p pending) bool {
		return p.producer == producer && slices.ContainsFunc(refused, func(e entry) bool { return e.size && e.topic == p.topic && e.at == p.partition })
	})
	return l
}

// end ends a producer's transaction: each of its offsets is committed where it comes later in the log than the one that is.
func (l ledger) end(producer int64, commit bool) ledger {
	var put []offset
	rest := slices.Clone(l.pending)
	for i := range rest {
		if rest[i].producer != producer || !rest[i].newer || !commit {
			continue
		}
		put = append(put, rest[i].offset)
		for j := range rest[:i] { // pending ones of before it are older than what is committed now
			if rest[j].key() == rest[i].key() {
				rest[j].newer = false
			}
		}
	}
	l.pending = slices.DeleteFunc(rest, func(p pending) bool { return p.producer == producer })
	l.awaited = slices.DeleteFunc(slices.Clone(l.awaited), func(a awaited) bool { return a.producer == producer })
	if len(put) > 0 {
		l.offsets = merge(l.offsets, put)
	}
	return l
}

// without drops the offsets of partitions: committed ones, and pending ones if asked for.
func (l ledger) without(gone func(partition) bool, pendingToo bool) ledger {
	l.offsets = slices.DeleteFunc(slices.Clone(l.offsets), func(o offset) bool { return gone(o.key()) })
	l.awaited = slices.DeleteFunc(slices.Clone(l.awaited), func(a awaited) bool { return gone(a.partition) })
	l.pending = slices.Clone(l.pending)
	if pendingToo {
		l.pending = slices.DeleteFunc(l.pending, func(p pending) bool { return gone(p.key()) })
	}
	for i := range l.pending {
		if gone(l.pending[i].key()) {
			l.pending[i].newer = true // than nothing
		}
	}
	return l
}

// has says whether there is any offset of partitions.
func (l ledger) has(of func(partition) bool) (committed, open bool) {
	return slices.ContainsFunc(l.offsets, func(o offset) bool { return of(o.key()) }),
		slices.ContainsFunc(l.pending, func(p pending) bool { return of(p.key()) })
}

// same says whether two ledgers say the same, but for ages.
func (l ledger) same(o ledger) bool {
	return slices.EqualFunc(l.offsets, o.offsets, func(a, b offset) bool { return a.value() == b.value() }) &&
		slices.EqualFunc(l.pending, o.pending, func(a, b pending) bool { return a.value() == b.value() }) && slices.Equal(l.awaited, o.awaited)
}

// aged says whether two ledgers that are the same also say the same of ages.
func (l ledger) aged(o ledger) bool {
	return slices.Equal(l.offsets, o.offsets) && slices.Equal(l.pending, o.pending)
}

// hull merges ledgers that are the same.
func (l ledger) hull(o ledger) ledger {
	if l.aged(o) {
		return l
	}
	l.offsets, l.pending = slices.Clone(l.offsets), slices.Clone(l.pending)
	for i := range l.offsets {
		l.offsets[i].span(o.offsets[i])
	}
	for i := range l.pending {
		l.pending[i].span(o.pending[i].offset)
	}
	return l
}

func (o *offset) span(p offset) {
	o.since, o.expires = o.since.hull(p.since), o.expires.hull(p.expires)
}
