package record

import (
	"errors"
	"fmt"

	"github.com/muster-kafka/muster/impl/core"
)

// Write appends the records of a write.
func (l *Log) Write(w core.Append) {
	for _, r := range w.Records {
		switch r.Kind {
		case core.GroupRecord:
			l.Append(GroupKey(r.Group), GroupValue(r.Metadata))
		case core.GroupTombstone:
			l.Append(GroupKey(r.Group), nil)
		case core.OffsetRecord:
			key, value := OffsetKey(r.Group, r.Topic, r.Partition), OffsetValue(r.Offset)
			if r.Producer == nil {
				l.Append(key, value)
			} else {
				l.AppendPending(*r.Producer, key, value)
			}
		case core.OffsetTombstone:
			l.Append(OffsetKey(r.Group, r.Topic, r.Partition), nil)
		case core.CommitMarker, core.AbortMarker:
			l.Mark(*r.Producer, r.Kind == core.CommitMarker)
		}
	}
}

// Replay reads records as core.Replay wants them. A key of an unknown kind is passed over (§4.1); what else cannot be read is an error,
// after which loading has failed.
func Replay(stored []Stored) ([]core.Record, error) {
	records := make([]core.Record, 0, len(stored))
	for _, s := range stored {
		e, err := Decode(s.Key, s.Value)
		if errors.Is(err, ErrUnknownKey) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("record at position %d: %w; the log is damaged", s.Position, err)
		}
		records = append(records, e.record(s.Producer))
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
