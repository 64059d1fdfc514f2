package observe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/model/classic"
)

// ErrDamaged is wrapped where a log has a record that cannot be read: nothing of it is loaded, and nobody coordinates its groups.
var ErrDamaged = errors.New("the log is damaged")

// sinceUnknown is when a group became Empty whose record does not say it: offsets are as old as their commits then.
var sinceUnknown = Window{-1, -1}

// Foreign is the group of a broker that has not loaded it yet, and whose log others have written: the branch to load (Loaded) what the specification reads in it (Config.KeepLog). The last
// record of a key counts, an offset of a transaction waits for its marker, and keys of other kinds are passed over.
func (w *World) Foreign(group string, log []gen.Logged) (*Branch, error) {
	b, l := w.NewBranch(group), logged{}
	for i, r := range log {
		if err := w.reads(&l, group, r); err != nil {
			return nil, fmt.Errorf("record %d: %w", i, err)
		}
	}
	b.log = l.orNone()
	return b, nil
}

// reads takes a record up, if it is about the group.
func (w *World) reads(l *logged, group string, r gen.Logged) error {
	if r.Marker {
		l.ledger = l.end(r.Producer, r.Commit) // txn.commits, txn.aborts, txn.newer-wins: of whatever epoch
		return nil
	}
	switch binary.BigEndian.Uint16(r.Key) {
	case 0, 1:
		var k kmsg.OffsetCommitKey
		if err := k.ReadFrom(r.Key); err != nil || k.Group != group {
			return err
		}
		return w.readsOffset(l, partition{k.Topic, k.Partition}, r)
	case 2:
		var k kmsg.GroupMetadataKey
		if err := k.ReadFrom(r.Key); err != nil || k.Group != group {
			return err
		}
		if l.group = nil; r.Value == nil {
			return nil
		}
		var v kmsg.GroupMetadataValue
		v.Default()
		if err := v.ReadFrom(r.Value); err != nil {
			return errors.Join(ErrDamaged, err)
		}
		var err error
		l.group, err = w.readsGroup(&v)
		return err
	}
	return nil
}

func (w *World) readsOffset(l *logged, p partition, r gen.Logged) error {
	if r.Value == nil {
		l.ledger = l.without(func(o partition) bool { return o == p }, w.config.Profile.PendingTombstoned)
		return nil
	}
	var v kmsg.OffsetCommitValue
	if err := v.ReadFrom(r.Value); err != nil {
		return err
	}
	o := offset{topic: p.topic, partition: p.index, at: v.Offset, epoch: -1, metadata: v.Metadata, since: At(time.UnixMilli(v.CommitTimestamp))}
	switch v.Version {
	case 1: // which alone has an expiry; none of its own is -1
		if o.explicit = v.ExpireTimestamp >= 0; o.explicit {
			o.expires = At(time.UnixMilli(v.ExpireTimestamp))
		}
	case 3, 4: // which say whose the record is that was read last
		o.epoch = v.LeaderEpoch
	}
	if r.Producer == gen.NoProducer {
		l.ledger = l.store([]offset{o})
	} else {
		l.ledger = l.pend(r.Producer, []offset{o})
	}
	return nil
}

// readsGroup is a group as its record says: Stable with members, else Empty (load.state).
func (w *World) readsGroup(v *kmsg.GroupMetadataValue) (*recorded, error) {
	r := &recorded{state: classic.State{Phase: classic.Empty, FirstGen: v.Generation == 0}, generation: v.Generation, emptySince: sinceUnknown, assigns: []string{""}}
	if v.Version >= 2 && v.CurrentStateTimestamp != -1 {
		r.emptySince = At(time.UnixMilli(v.CurrentStateTimestamp))
	}
	var err error
	if v.ProtocolType != "" {
		if r.state.Type, err = w.typeSymbol(v.ProtocolType); err != nil {
			return nil, err
		}
	}
	if len(v.Members) == 0 {
		return r, nil
	}
	r.state.Phase = classic.Stable
	if r.state.Protocol, err = w.nameSymbol(*v.Protocol); err != nil {
		return nil, err
	}
	if len(v.Members) > classic.MaxSlots {
		return nil, errFull
	}
	for i, m := range v.Members {
		h := holder{id: m.MemberID, client: m.ClientID, session: time.Duration(m.SessionTimeoutMillis) * time.Millisecond}
		if h.rebalance = time.Duration(m.RebalanceTimeoutMillis) * time.Millisecond; v.Version == 0 || m.RebalanceTimeoutMillis == -1 {
			h.rebalance = h.session
		}
		one := kmsg.NewJoinGroupRequestProtocol()
		one.Name, one.Metadata = *v.Protocol, m.Subscription // load.one-protocol
		s := classic.Slot{Kind: classic.Member, Leader: m.MemberID == *v.Leader}
		if v.Version >= 3 && m.InstanceID != nil {
			s.Static, h.instance = true, *m.InstanceID
		}
		if s.List, err = w.listSymbol([]kmsg.JoinGroupRequestProtocol{one}); err != nil {
			return nil, err
		}
		if len(m.Assignment) > 0 {
			s.Given = uint8(len(r.assigns))
			r.assigns = append(r.assigns, string(m.Assignment))
		}
		r.state.Slots[i], r.holders[i] = s, h
	}
	return r, nil
}
