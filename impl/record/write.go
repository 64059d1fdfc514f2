package record

import "github.com/muster-kafka/muster/impl/core"

// Write appends the records of a write.
func (l *Log) Write(w core.Append) {
	for _, r := range w.Records {
		switch r.Kind {
		case core.GroupRecord:
			l.Append(GroupKey(r.Group), GroupValue(r.Metadata))
		case core.GroupTombstone:
			l.Append(GroupKey(r.Group), nil)
		case core.OffsetRecord:
			l.Append(OffsetKey(r.Group, r.Topic, r.Partition), OffsetValue(r.Offset))
		case core.OffsetTombstone:
			l.Append(OffsetKey(r.Group, r.Topic, r.Partition), nil)
		}
	}
}
