package embedded

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/fuzz/gen"
	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/record"
)

// Requests as clients seldom send them.
var oddRequests = []play{
	{name: "OffsetFetch of no topic, and of all", play: func(w *played) {
		w.atOnce(commits("g", 1), "0")
		for v, want := range map[int16]int{1: 0, 2: 1, 7: 1} { // null, from version 2 on, is all there are
			all := kmsg.NewPtrOffsetFetchRequest()
			all.Group = "g"
			none := *all
			none.Topics = []kmsg.OffsetFetchRequestTopic{}
			for req, n := range map[*kmsg.OffsetFetchRequest]int{all: want, &none: 0} {
				if m, ok := w.answers[w.ask(req, v)].(*kmsg.OffsetFetchResponse); !ok || len(m.Topics) != n || m.ErrorCode != core.None {
					w.blame("version %d: %+v, not %d topics", v, m, n)
				}
			}
		}
	}},
	{name: "OffsetFetch by an id under which nothing was committed", play: func(w *played) {
		other := kmsg.NewOffsetCommitValue()
		other.Version, other.Offset, other.TopicID = 4, 7, [16]byte{1: 9} // of a topic of that name that was there before
		own := other
		own.TopicID = machineTopics[topicName]
		none := other
		none.TopicID = [16]byte{}
		for _, c := range []struct {
			v    *kmsg.OffsetCommitValue
			want int64
		}{{&other, -1}, {&own, 7}, {&none, 7}} {
			w.loads(gen.Logged{Key: record.OffsetKey("g", topicName, 0), Value: record.OffsetValue(c.v)})
			byName, byID := fetches("g", false), fetches("g", false)
			byID.Groups[0].Topics[0].TopicID = machineTopics[topicName]
			w.atOnce(byName, "0 0@7")
			if m, ok := w.answers[w.ask(byID, 10)].(*kmsg.OffsetFetchResponse); !ok || m.Groups[0].Topics[0].Partitions[0].Offset != c.want {
				w.blame("%+v, not %d", m, c.want)
			}
		}
	}},
	{name: "a retention that does not fit", play: func(w *played) {
		for retention, gone := range map[int64]bool{math.MaxInt64: false, math.MaxInt64 - 1: false, math.MinInt64 + 1: true, 0: true} {
			w.loads()
			r := commits("g", 1)
			r.RetentionTimeMillis = retention
			w.says(w.ask(r, 4), "0")
			w.advance(100 * time.Hour)
			w.event(core.Cleanup{})
			want := "0 0@1"
			if gone {
				want = "0 0@-1"
			}
			w.atOnce(fetches("g", false), want)
		}
	}},
	{name: "FindCoordinator", play: func(w *played) {
		for _, c := range []struct {
			version int16
			kind    int8
			want    int16
			says    bool // something, also where there is no error
		}{{0, 0, 0, false}, {0, 2, 0, false}, {1, 0, 0, true}, {3, 1, 0, true}, {1, 2, core.InvalidRequest, true}, {3, 7, core.InvalidRequest, true}} {
			r := kmsg.NewPtrFindCoordinatorRequest()
			r.CoordinatorKey, r.CoordinatorType = "g", c.kind
			m, ok := w.answers[w.ask(r, c.version)].(*kmsg.FindCoordinatorResponse)
			if !ok || m.ErrorCode != c.want || (m.ErrorMessage != nil && *m.ErrorMessage != "") != c.says {
				w.blame("%+v: %+v", c, m)
			}
			if ok && c.want == core.None && c.says && *m.ErrorMessage != "NONE" {
				w.blame("message %q", *m.ErrorMessage)
			}
			for v := int16(4); c.version == 3 && v <= 6; v++ {
				r.CoordinatorKeys = []string{"g", "h"}
				m, ok = w.answers[w.ask(r, v)].(*kmsg.FindCoordinatorResponse)
				if !ok || len(m.Coordinators) != 2 || m.Coordinators[1].ErrorCode != c.want || m.Coordinators[1].Key != "h" || (*m.Coordinators[1].ErrorMessage != "") != (c.want != core.None) {
					w.blame("%+v, version %d: %+v", c, v, m)
				}
			}
		}
	}},
	{name: "DescribeGroups with what may be done", play: func(w *played) {
		w.atOnce(commits("g", 1), "0")
		r := describes("g")
		r.Groups, r.IncludeAuthorizedOperations = []string{"g", "nosuch"}, true
		for v, want := range map[int16][2]int32{3: {3400, 3400}, 5: {3400, 3400}, 6: {3400, math.MinInt32}} {
			m, ok := w.answers[w.ask(r, v)].(*kmsg.DescribeGroupsResponse)
			if !ok || m.Groups[0].AuthorizedOperations != want[0] || m.Groups[1].AuthorizedOperations != want[1] {
				w.blame("version %d: %+v, not %v", v, m, want)
			}
			if v == 6 && (m.Groups[1].ErrorMessage == nil || !strings.Contains(*m.Groups[1].ErrorMessage, "nosuch")) {
				w.blame("%+v does not say what is not found", m.Groups[1])
			}
		}
		r.IncludeAuthorizedOperations = false
		if m := w.answers[w.ask(r, 6)].(*kmsg.DescribeGroupsResponse); m.Groups[0].AuthorizedOperations != math.MinInt32 {
			w.blame("%+v", m)
		}
	}},
	{name: "a list that names a protocol twice", play: func(w *played) {
		r := join("g", "")
		r.Protocols = append(r.Protocols, r.Protocols[0])
		first := w.ask(r, 3)
		w.says(first, "0 gen=1 of 1")
		second := w.ask(join("g", ""), 3)
		w.open(second)
		r = join("g", w.id(first))
		r.Protocols = append(r.Protocols, r.Protocols[0])
		w.says(w.ask(r, 3), "0 gen=2 of 2")
		w.atOnce(leaves("g", w.id(first)), "0 0")
		w.says(w.ask(join("g", w.id(second)), 3), "0 gen=3 of 1")
	}},
	{name: "a coordinator beside which nobody coordinates transactions", options: Options{alone: true}, play: func(w *played) {
		r := kmsg.NewPtrFindCoordinatorRequest()
		r.CoordinatorKey, r.CoordinatorType = "producer", 1
		if m, ok := w.answers[w.ask(r, 3)].(*kmsg.FindCoordinatorResponse); !ok || m.ErrorCode != core.InvalidRequest {
			w.blame("%+v", m)
		}
	}},
	{name: "subscriptions", play: func(w *played) {
		const none, both = "0 86 86", "0 0 0"
		for metadata, want := range map[string]string{
			"": none, "\x00\x01\x00\x00\x00": none, "\x00\x01\x00\x00\x00\x00": none, // without the bytes that follow nothing is believed
			"\x00\x01\x00\x00\x00\x00\xff\xff\xff\xff": both, "\xff\xff\x00\x00\x00\x00\xff\xff\xff\xff": both,
			"\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff":          none,
			"\x00\x01\x00\x00\x00\x01\x00\x01t\xff\xff\xff\xff": "0 86 0", "\x00\x01\x00\x00\x00\x01\x00\x01u\xff\xff\xff\xff": "0 0 86",
			"\x00\x01\x00\x00\x00\x02\x00\x01u\x00\x01t\xff\xff\xff\xff": none,
			"\x00\x01\x00\x00\x00\x01\x00\x01t\x00\x00\x00\x00":          "0 86 0", "\x00\x01\x00\x00\x00\x01\x00\x01t\x00\x00\x00\x02xy": "0 86 0",
			"\x00\x01\x00\x00\x00\x01\x00\x01t\x00\x00\x00\x02xyz": "0 86 0", "\x00\x01\x00\x00\x00\x01\x00\x01t\x00\x00\x00\x03xy": none,
			"\x00\x01\x00\x00\x00\x01\x00\x01t\xff\xff\xff": none, "\x00\x01\x00\x00\x00\x01\xff\xff\xff\xff\xff\xff": none,
			"\x00\x01\x00\x00\x00\x01\x00\x00\xff\xff\xff\xff": both, "\x00\x01\x00\x00\x00\x02\x00\x01t\xff\xff\xff\xff": none,
			"\x00\x01\x00\x00\x00\x01\x00\x09t\xff\xff\xff\xff": none, "\x00\x01\x00\x00\x00\x01\x00\x05t\xff\xff\xff\xff": none,
		} {
			w.loads()
			r := join("g", "")
			r.Protocols[0].Metadata = []byte(metadata)
			id := w.id(w.ask(r, 3))
			w.atOnce(syncs("g", id, 1, id), "0x")
			d := deletesOffset("g")
			d.Topics = append(d.Topics, kmsg.OffsetDeleteRequestTopic{Topic: otherTopic, Partitions: d.Topics[0].Partitions})
			if got := said(w.answers[w.ask(d)]); got != want {
				w.blame("%q: %s, not %s", metadata, got, want)
			}
		}
	}},
	{name: "a static member that votes for another protocol", play: func(w *played) {
		as := func(id, instance string, protocols ...string) *kmsg.JoinGroupRequest {
			r := joinAs("g", id, instance)
			r.Protocols = nil
			for _, p := range protocols {
				r.Protocols = append(r.Protocols, kmsg.JoinGroupRequestProtocol{Name: p})
			}
			return r
		}
		leader := w.id(w.ask(as("", "i1", "range", "sticky")))
		if !strings.HasPrefix(leader, "i1-") {
			w.blame("the id of a static member is %s", leader)
		}
		w.ask(as("", "i2", "range", "sticky"))
		w.ask(as("", "i3", "range", "sticky"))
		w.says(w.ask(as(leader, "i1", "range", "sticky")), "0 gen=2 of 3")
		w.atOnce(syncs("g", leader, 2, leader), "0x")
		w.says(w.ask(as("", "i2", "sticky", "range")), "0 gen=2 of 0")
		w.atOnce(describes("g"), "Stable3")
		w.open(w.ask(as("", "i3", "sticky", "range"))) // static.replaced.vote
		w.atOnce(describes("g"), "PreparingRebalance3")
	}},
	{name: "a member too many in the initial delay", options: Options{InitialDelay: 5 * time.Second, MaxSize: 1}, play: func(w *played) {
		first := w.ask(join("g", ""), 3)
		w.says(w.ask(join("g", ""), 3), "81")
		w.open(first)
		w.advance(6 * time.Second)
		w.says(first, "0 gen=1 of 1")
	}},
	{name: "what records say of time", play: func(w *played) {
		since := func() int64 {
			r := w.writes[len(w.writes)-1].Records[0]
			if r.Metadata == nil || r.Metadata.Version != 3 {
				w.blame("%+v", r)
				return 0
			}
			return r.Metadata.CurrentStateTimestamp
		}
		id := w.id(w.ask(join("g", "")))
		if since() != w.sim.Now().UnixMilli() {
			w.blame("a group that was made at %d", since())
		}
		w.advance(time.Second)
		w.ask(join("g", id))
		w.atOnce(syncs("g", id, 1, id), "0x")
		if since() != w.sim.Now().UnixMilli() {
			w.blame("a group that is Stable since %d", since())
		}
		v := kmsg.NewGroupMetadataValue() // an old record does not say it
		v.Version, v.ProtocolType, v.Generation, v.Protocol, v.Leader = 3, "consumer", 4, kmsg.StringPtr("range"), kmsg.StringPtr("m")
		m := kmsg.NewGroupMetadataValueMember()
		m.MemberID, m.InstanceID, m.SessionTimeoutMillis = "m", kmsg.StringPtr("i"), 10_000
		v.CurrentStateTimestamp, v.Members = -1, append(v.Members, m)
		w.loads(gen.Logged{Key: record.GroupKey("g"), Value: record.GroupValue(&v)})
		w.says(w.ask(joinAs("g", "", "i")), "0 gen=4 of 1")
		if since() != -1 {
			w.blame("a group of which nobody knows since when it is Stable: since %d", since())
		}
	}},
	{name: "a timer that is not armed", play: func(w *played) {
		before := w.sim.Now()
		if w.sim.Fire(core.TimerID{Group: "g", Kind: core.JoinTimer}) || !w.sim.Now().Equal(before) {
			w.blame("it fires")
		}
	}},
	{name: "names that leave no room for more", play: func(w *played) {
		const room = gen.LongestString - 37
		for _, name := range []string{
			strings.Repeat("x", room), strings.Repeat("x", room+1), strings.Repeat("x", gen.LongestString), strings.Repeat("ä", gen.LongestString/2), "x" + strings.Repeat("ä", gen.LongestString/2-1),
			strings.Repeat("x", room-1) + "€", strings.Repeat("x", room-2) + "€", strings.Repeat("x", room-3) + "€", "client", "", strings.Repeat("\x80", gen.LongestString),
		} {
			w.asked++
			w.event(core.Request{Ticket: w.asked, Message: join("g", ""), Version: 9, ClientID: name, ClientHost: "/127.0.0.1"})
			own := name
			for len(own) > room || !utf8.ValidString(own) {
				own = own[:len(own)-1]
			}
			if id := w.id(w.asked); len(id) != len(own)+37 || !strings.HasPrefix(id, own+"-") || !utf8.ValidString(id) {
				w.blame("a name of %d bytes makes an id of %d", len(name), len(id))
			}
		}
		long := strings.Repeat("ä", gen.LongestString/2)
		if m := w.answers[w.ask(describes(long), 6)].(*kmsg.DescribeGroupsResponse); !utf8.ValidString(*m.Groups[0].ErrorMessage) || len(*m.Groups[0].ErrorMessage) > gen.LongestString {
			w.blame("an answer that nobody can read")
		}
	}},
	{name: "heartbeats with names that are as long as may be, and longer", play: func(w *played) {
		fits, long := strings.Repeat("x", gen.LongestString), strings.Repeat("x", gen.LongestString+1)
		for _, r := range []struct {
			group, id string
			instance  *string
			taken     bool
		}{{fits, "m", nil, true}, {"g", fits, nil, true}, {"g", "m", &fits, true}, {long, "m", nil, false}, {"g", long, nil, false}, {"g", "m", &long, false}} {
			req := beats(r.group, r.id, 1)
			req.InstanceID = r.instance
			if t := w.ask(req); r.taken {
				w.says(t, "25")
			} else {
				w.open(t) // nobody can read it
			}
		}
	}},
}

// loads has a coordinator begin anew with a log of these records.
func (w *played) loads(log ...gen.Logged) {
	w.sim.Release()
	w.event(core.LoadBegin{})
	for _, r := range log {
		known, _, err := record.Raw{Key: r.Key, Value: r.Value}.Record()
		if err != nil {
			w.blame("%v", err)
			continue
		}
		w.event(core.Replay{Records: []core.Record{known}})
	}
	w.event(core.LoadEnd{})
}
