package record

import (
	"github.com/muster-kafka/muster/impl/core"
)

// Write appends the records of a write.
func (l *Log) Write(w core.Append) {
	for _, r := range Raws(w, l.next) {
		l.Take(r)
	}
}

// Take appends a record at its own position, which is not before that of the last one.
func (l *Log) Take(r Raw) {
	l.next = r.Position
	switch {
	case r.Marker:
		l.Mark(*r.Producer, r.Commit)
	case r.Producer != nil && r.Value != nil:
		l.AppendPending(*r.Producer, r.Key, r.Value)
	default:
		l.Append(r.Key, r.Value)
	}
}

// Replay reads records as core.Replay wants them. A key of an unknown kind is passed over (§4.1); what else cannot be read is an error,
// after which loading has failed.
func Replay(stored []Stored) ([]core.Record, error) {
	records := make([]core.Record, 0, len(stored))
	for _, s := range stored {
		r, known, err := Raw{Position: s.Position, Key: s.Key, Value: s.Value, Producer: s.Producer}.Record()
		if err != nil {
			return nil, err
		}
		if known {
			records = append(records, r)
		}
	}
	return records, nil
}

func (e Entry) record(producer *core.Producer) core.Record {
	switch {
	case e.Group != nil && e.State == nil:
		return core.Record{Kind: core.GroupTombstone, Group: e.Group.Group}
	case e.Group != nil:
		return core.Record{Kind: core.GroupRecord, Group: e.Group.Group, Metadata: e.State}
	}
	r := core.Record{Kind: core.OffsetTombstone, Group: e.OffsetKey.Group, Topic: e.OffsetKey.Topic, Partition: e.OffsetKey.Partition}
	if e.Offset != nil {
		r.Kind, r.Offset, r.Producer = core.OffsetRecord, e.Offset, producer
	}
	return r
}
