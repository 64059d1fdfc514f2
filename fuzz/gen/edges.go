package gen

import (
	"encoding/binary"
	"reflect"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Edges says what else a generator draws: what clients seldom do, and logs seldom say, and a coordinator decides all the same.
type Edges struct {
	// WriteErrors are the errors with which the log refuses the writes that are to fail; by default it has too few replicas. This needs a
	// checker.Refuser.
	WriteErrors []int16

	// TopicIDs are the ids of the topics that there are. With them requests are sent of the versions that name topics by id.
	TopicIDs map[string][16]byte

	// Epochs has commits name the epoch of the leader that their records come from.
	Epochs bool

	// Subscriptions has members with metadata that end, or go wrong, in the middle of a subscription.
	Subscriptions bool

	// Keys has FindCoordinator ask for coordinators of what is no group.
	Keys bool

	// Refused has requests that no coordinator takes: with a string that is longer than the protocol allows, or of a version that is not offered. Some
	// strings are just as long as is allowed.
	Refused bool

	// Markers has markers of transactions that cannot be written, or that come while the coordinator does not serve.
	Markers bool
}

// The versions from which topics are named by id.
const (
	commitByID = 10
	fetchByID  = 10
	txnByID    = 6
)

// LongestString is how many bytes a string of a request may have.
const LongestString = 32767

// edge changes an event that has been drawn.
func (g *Generator) edge(e *Event) {
	x := &g.setup.Edges
	if x.Markers && e.Act == EndTxn {
		g.edgeMarker(e)
	}
	switch r := e.Request.(type) {
	case nil:
		return
	case *kmsg.OffsetCommitRequest:
		g.edgeCommit(e, r)
	case *kmsg.TxnOffsetCommitRequest:
		g.edgeTxnCommit(e, r)
	case *kmsg.OffsetFetchRequest:
		g.edgeFetch(e, r)
	case *kmsg.JoinGroupRequest:
		if x.Subscriptions && len(r.Protocols) > 0 && g.src.Intn(6, "subscription at an edge") == 5 {
			r.Protocols = append([]kmsg.JoinGroupRequestProtocol(nil), r.Protocols...)
			r.Protocols[0].Metadata = g.oddSubscription()
		}
	case *kmsg.FindCoordinatorRequest:
		if x.Keys {
			r.CoordinatorType = []int8{0, 0, 1, 2, 7}[g.src.Intn(5, "key type")]
			r.CoordinatorKeys = append(r.CoordinatorKeys, "another")
		}
	}
}

// byID says whether an event is to name topics by id, and if so makes it of the version that does.
func (g *Generator) byID(e *Event, version int16) bool {
	if g.setup.TopicIDs == nil || g.src.Intn(3, "topics by id") != 2 {
		return false
	}
	e.Version = version
	return true
}

func (g *Generator) topicID(topic string) [16]byte {
	if id, ok := g.setup.TopicIDs[topic]; ok {
		return id
	}
	return [16]byte{15: 99} // of no topic
}

// leaderEpoch is one that a consumer may have read, or none.
func (g *Generator) leaderEpoch() int32 { return int32(g.src.Intn(4, "leader epoch")) - 1 }

func (g *Generator) edgeCommit(e *Event, r *kmsg.OffsetCommitRequest) {
	byID := r.RetentionTimeMillis < 0 && g.byID(e, commitByID)
	for i := range r.Topics {
		t := &r.Topics[i]
		if byID {
			t.TopicID, t.Topic = g.topicID(t.Topic), ""
		}
		for j := range t.Partitions {
			if g.setup.Epochs && e.Version >= 6 {
				t.Partitions[j].LeaderEpoch = g.leaderEpoch()
			}
		}
	}
}

func (g *Generator) edgeTxnCommit(e *Event, r *kmsg.TxnOffsetCommitRequest) {
	byID := e.Verified == 0 && e.Version >= 5 && g.byID(e, txnByID)
	for i := range r.Topics {
		t := &r.Topics[i]
		if byID {
			t.TopicID, t.Topic = g.topicID(t.Topic), ""
		}
		for j := range t.Partitions {
			if g.setup.Epochs && e.Version >= 2 {
				t.Partitions[j].LeaderEpoch = g.leaderEpoch()
			}
		}
	}
}

func (g *Generator) edgeFetch(e *Event, r *kmsg.OffsetFetchRequest) {
	if !g.byID(e, fetchByID) {
		return
	}
	for i := range r.Groups {
		topics := append([]kmsg.OffsetFetchRequestGroupTopic(nil), r.Groups[i].Topics...)
		for j := range topics {
			topics[j].TopicID, topics[j].Topic = g.topicID(topics[j].Topic), ""
		}
		r.Groups[i].Topics = topics
	}
}

// edgeMarker makes an order to write a marker one that fails: its producer's transaction stays open, and the order comes again.
func (g *Generator) edgeMarker(e *Event) {
	if g.serving == NoAct {
		if g.src.Intn(3, "marker fails") != 2 {
			return
		}
		g.fail(e)
	}
	e.Unmarked, e.Producer.open = true, true
	if !g.mute {
		e.Line = "# which cannot be done\n" + e.Line
	}
}

// oddSubscription is a subscription to a topic and another one that is cut off somewhere, or has a length that is wrong.
func (g *Generator) oddSubscription() []byte {
	m := kmsg.NewConsumerMemberMetadata()
	m.Topics = []string{g.setup.Topic, "nosuch"}
	b := m.AppendTo(nil)
	const count = 2 // where the number of topics begins; the length of the first one follows
	switch n := g.src.Intn(12, "odd subscription"); n {
	case 0:
		binary.BigEndian.PutUint16(b, 0xffff) // a version below zero
	case 1:
		binary.BigEndian.PutUint32(b[count:], 0xffffffff)
	case 2:
		binary.BigEndian.PutUint32(b[count:], 1<<30)
	case 3:
		binary.BigEndian.PutUint32(b[count:], 3) // one more than there are
	case 4:
		binary.BigEndian.PutUint16(b[count+4:], 0xffff)
	case 5:
		binary.BigEndian.PutUint16(b[count+4:], uint16(len(b)))
	case 6:
		b = b[:count+4]
	case 7:
		b = b[:count+5]
	case 8:
		b = b[:count+6]
	case 9:
		b = b[:count+6+len(g.setup.Topic)+2+1]
	case 10:
		b = b[:count+3]
	case 11:
		m.Topics = []string{""}
		b = m.AppendTo(nil)
	}
	return b
}

// fail makes the writes of an event fail.
func (g *Generator) fail(e *Event) {
	e.FailWrites = true
	if all := g.setup.WriteErrors; len(all) > 0 {
		e.WriteError = all[g.src.Intn(len(all), "write error")]
	}
}

// refused makes a request one that is not taken, now and then, or one that is just taken.
func (g *Generator) refused(e *Event) {
	switch g.src.Intn(40, "refused") {
	case 39:
		e.Version = g.asked[e.Request.Key()].Max + 10
		e.Unoffered = true
	case 38:
		e.TooLong = g.lengthen(e)
	case 37:
		if r, ok := e.Request.(*kmsg.HeartbeatRequest); ok {
			r.MemberID = strings.Repeat("x", LongestString)
		}
	}
}

// lengthen gives one string of a request more bytes than the protocol allows, if it has one.
func (g *Generator) lengthen(e *Event) bool {
	all := texts(reflect.ValueOf(e.Request).Elem(), nil)
	if len(all) == 0 {
		return false
	}
	all[g.src.Intn(len(all), "which string")].SetString(strings.Repeat("x", LongestString+1))
	return true
}

// texts are the strings of a request. Those that others share are copied first.
func texts(v reflect.Value, all []reflect.Value) []reflect.Value {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			all = append(all, v)
		}
	case reflect.Pointer:
		if !v.IsNil() && v.Type().Elem().Kind() == reflect.String && v.CanSet() {
			own := reflect.New(v.Type().Elem())
			own.Elem().Set(v.Elem())
			v.Set(own)
			all = append(all, own.Elem())
		}
	case reflect.Slice:
		switch v.Type().Elem().Kind() {
		case reflect.String, reflect.Struct:
		default:
			return all
		}
		if v.CanSet() && v.Len() > 0 {
			own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(own, v)
			v.Set(own)
		}
		for i := range v.Len() {
			all = texts(v.Index(i), all)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				all = texts(v.Field(i), all)
			}
		}
	default:
	}
	return all
}
