package fuzz_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/record"
	"github.com/muster-kafka/muster/impl/sim"
)

// A log as an input: for each record a byte, whose lowest bit says that the record is a tombstone and whose next ones by which transaction it is
// written (0 by none), then key and value, each after its length. A byte of 0xff and one more end a transaction.
const (
	marker = 0xff
	mostOf = 1 << 12 // records
)

// logOf reads an input.
func logOf(input []byte) *record.Log {
	log := &record.Log{}
	take := func() []byte {
		n, used := binary.Uvarint(input)
		if used <= 0 {
			input = nil
			return []byte{}
		}
		input = input[used:]
		part := input[:min(n, uint64(len(input)))]
		input = input[len(part):]
		return part
	}
	for n := 0; len(input) > 1 && n < mostOf; n++ {
		kind := input[0]
		input = input[1:]
		if kind == marker {
			log.Mark(core.Producer{ID: int64(input[0] >> 1)}, input[0]&1 == 1)
			input = input[1:]
			continue
		}
		key, value := take(), []byte(nil)
		if kind&1 == 0 {
			value = take()
		}
		if producer := kind >> 1 & 3; producer > 0 && value != nil {
			log.AppendPending(core.Producer{ID: int64(producer)}, key, value)
		} else {
			log.Append(key, value)
		}
	}
	return log
}

// appendRecord and appendMarker write what logOf reads.
func appendRecord(input []byte, producer int64, key, value []byte) []byte {
	kind := byte(producer&3) << 1
	if value == nil {
		kind |= 1
	}
	input = append(binary.AppendUvarint(append(input, kind), uint64(len(key))), key...)
	if value != nil {
		input = append(binary.AppendUvarint(input, uint64(len(value))), value...)
	}
	return input
}

func appendMarker(input []byte, producer int64, commit bool) []byte {
	how := byte(producer << 1)
	if commit {
		how |= 1
	}
	return append(input, marker, how)
}

// FuzzLog has the coordinator load a log. It may refuse it; what it loads has to be what it has after it was started once more, and it has to serve.
func FuzzLog(f *testing.F) {
	f.Fuzz(func(t *testing.T, input []byte) {
		s := sim.New(1, core.Settings{MinSessionTimeout: 10 * time.Millisecond, Report: func(err error) {
			if _, bad := err.(*core.InconsistencyError); bad { //nolint:errorlint // never wrapped
				t.Error(err)
			}
		}})
		if s.Take(logOf(input)) != nil {
			return // a damaged log is not loaded
		}
		ticket := core.Ticket(0)
		ask := func(req kmsg.Request, version int16) kmsg.Response {
			ticket++
			req.SetVersion(version)
			s.Step(core.Request{Ticket: ticket, Message: req, Version: version, ClientID: "c"})
			for _, a := range s.Drain().Answers {
				if a.Ticket == ticket {
					return a.Message
				}
			}
			return nil
		}
		listed, ok := ask(kmsg.NewPtrListGroupsRequest(), 5).(*kmsg.ListGroupsResponse)
		if !ok {
			t.Fatal("ListGroups is not answered")
		}
		look := func() (all []string) {
			for _, g := range listed.Groups {
				d, o := kmsg.NewPtrDescribeGroupsRequest(), kmsg.NewPtrOffsetFetchRequest()
				d.Groups, o.Groups = []string{g.Group}, []kmsg.OffsetFetchRequestGroup{{Group: g.Group}}
				for _, answer := range []kmsg.Response{ask(d, 5), ask(o, 8)} {
					if answer == nil {
						t.Fatalf("what it has of group %q it does not tell", g.Group)
					}
					all = append(all, string(answer.AppendTo(nil)))
				}
			}
			return all
		}
		before := look()
		again := sim.New(1, core.Settings{MinSessionTimeout: 10 * time.Millisecond})
		if err := again.Take(logOf(input)); err != nil {
			t.Fatalf("loaded, and not loaded a second time: %v", err)
		}
		s = again
		for group, offsets := range committed(logOf(input)) {
			o := kmsg.NewPtrOffsetFetchRequest()
			o.Groups = []kmsg.OffsetFetchRequestGroup{{Group: group}}
			fetched, ok := ask(o, 8).(*kmsg.OffsetFetchResponse)
			if !ok || len(fetched.Groups) != 1 {
				t.Fatalf("OffsetFetch of group %q: %+v", group, fetched)
			}
			for _, topic := range fetched.Groups[0].Topics {
				for _, p := range topic.Partitions {
					if at, ok := offsets[place{topic.Topic, p.Partition}]; ok && at == p.Offset {
						delete(offsets, place{topic.Topic, p.Partition})
					} else {
						t.Errorf("group %q: %s/%d is at %d, and the log has %d (%v)", group, topic.Topic, p.Partition, p.Offset, at, ok)
					}
				}
			}
			if len(offsets) > 0 && group != "" {
				t.Errorf("group %q: the log has offsets that are not loaded: %v", group, offsets)
			}
		}
		if diff := cmp.Diff(before, look()); diff != "" {
			t.Errorf("the same log, loaded twice:\n%s", diff)
		}
		for _, g := range listed.Groups { // who comes next is taken in, or refused, and answered by the time that everybody's session is over
			join := kmsg.NewPtrJoinGroupRequest()
			join.Group, join.SessionTimeoutMillis, join.RebalanceTimeoutMillis, join.ProtocolType = g.Group, 10_000, 10_000, "consumer"
			join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range"}}
			if ask(join, 3) == nil && len(s.Timers()) == 0 {
				t.Errorf("a JoinGroup of group %q waits for nothing", g.Group)
			}
		}
		s.Advance(time.Hour)
	})
}

// place is what an offset is committed for.
type place struct {
	topic     string
	partition int32
}

// committed are the offsets that a log has, by group, without those of transactions that are open. It reads them by itself.
func committed(log *record.Log) map[string]map[place]int64 {
	all := map[string]map[place]int64{}
	for _, s := range log.Records() {
		k, v := kmsg.NewOffsetCommitKey(), kmsg.NewOffsetCommitValue()
		if s.Producer != nil || len(s.Key) < 2 || binary.BigEndian.Uint16(s.Key) > 1 || k.ReadFrom(s.Key) != nil || v.ReadFrom(s.Value) != nil {
			continue
		}
		if all[k.Group] == nil {
			all[k.Group] = map[place]int64{}
		}
		all[k.Group][place{k.Topic, k.Partition}] = v.Offset
	}
	return all
}
