package core_test

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// many is how often an element is repeated where there are to be many.
const many = 3000

// The edges of a field of each kind.
var (
	edgeStrings = []string{"", "\xff\xfe\x80", strings.Repeat("x", math.MaxInt16), strings.Repeat("x", math.MaxInt16+1)}
	edgeInts    = []int64{0, -1, math.MinInt64, math.MaxInt64}
	edgeBytes   = [][]byte{nil, {}, {0xff}, bytes.Repeat([]byte{0}, 1<<16)}
)

// eachEdge visits the fields of a message, its first elements included, with all that each may be set to.
func eachEdge(v reflect.Value, path string, visit func(name string, set func())) {
	put := func(name any, value reflect.Value) {
		visit(fmt.Sprintf("%s=%.20v", path, name), func() { v.Set(value) })
	}
	switch v.Kind() {
	case reflect.String:
		for _, s := range edgeStrings {
			put(s, reflect.ValueOf(s))
		}
	case reflect.Bool:
		put("not", reflect.ValueOf(!v.Bool()))
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		for _, i := range edgeInts {
			bits := 64 - v.Type().Bits()
			put(i, reflect.ValueOf(i>>bits).Convert(v.Type()))
		}
	case reflect.Pointer:
		if v.Type().Elem().Kind() == reflect.String {
			put("nil", reflect.Zero(v.Type()))
			for _, s := range edgeStrings {
				put(s, reflect.ValueOf(&s))
			}
		}
	case reflect.Array:
		put("zero", reflect.Zero(v.Type()))
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			for _, b := range edgeBytes {
				put(len(b), reflect.ValueOf(b))
			}
			return
		}
		put("nil", reflect.Zero(v.Type()))
		put("none", reflect.MakeSlice(v.Type(), 0, 0))
		if v.Len() == 0 {
			return
		}
		for _, n := range []int{2, many} {
			visit(fmt.Sprintf("%s=%d", path, n), func() {
				repeated := reflect.MakeSlice(v.Type(), n, n)
				for i := range n {
					repeated.Index(i).Set(v.Index(0))
				}
				v.Set(repeated)
			})
		}
		eachEdge(v.Index(0), path+"[0]", visit)
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; v.Type().Field(i).IsExported() && name != "Version" && name != "UnknownTags" {
				eachEdge(v.Field(i), path+"."+name, visit)
			}
		}
	default:
	}
}

// edges are the variants of a request in which one field is at its edge.
func edges(build func() kmsg.Request, try func(name string, req kmsg.Request)) {
	for at := 0; ; at++ {
		req, n, found := build(), 0, ""
		eachEdge(reflect.ValueOf(req).Elem(), "", func(name string, set func()) {
			if n == at {
				set()
				found = name
			}
			n++
		})
		if found == "" {
			return
		}
		try(found, req)
	}
}

// plausible are requests of a member of group "g" that are good, one for each API.
func plausible(member string, generation int32) map[kmsg.Key]func() kmsg.Request {
	return map[kmsg.Key]func() kmsg.Request{
		kmsg.JoinGroup: func() kmsg.Request {
			req := joinReq("g", member, subscription("t"), "rr")
			req.InstanceID = kmsg.StringPtr("i0")
			return req
		},
		kmsg.SyncGroup: func() kmsg.Request {
			req := syncReq("g", member, generation, member+"=x")
			req.InstanceID = kmsg.StringPtr("i0")
			return req
		},
		kmsg.Heartbeat: func() kmsg.Request {
			req := kmsg.NewPtrHeartbeatRequest()
			req.Group, req.MemberID, req.Generation, req.InstanceID = "g", member, generation, kmsg.StringPtr("i0")
			return req
		},
		kmsg.LeaveGroup: func() kmsg.Request {
			req := leaveReq("g", member)
			req.MemberID, req.Members[0].InstanceID = member, kmsg.StringPtr("i0")
			return req
		},
		kmsg.OffsetCommit: func() kmsg.Request {
			req := commitReq("g", member, generation, "t", 5)
			req.InstanceID, req.RetentionTimeMillis = kmsg.StringPtr("i0"), 1000
			return req
		},
		kmsg.OffsetFetch: func() kmsg.Request {
			req := kmsg.NewPtrOffsetFetchRequest()
			req.Group, req.Topics = "g", []kmsg.OffsetFetchRequestTopic{{Topic: "t", Partitions: []int32{0}}}
			req.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "g", Topics: []kmsg.OffsetFetchRequestGroupTopic{{Topic: "t", Partitions: []int32{0}}}}}
			return req
		},
		kmsg.TxnOffsetCommit: func() kmsg.Request {
			req := txnReq("g", member, generation, 1, "t", 5)
			req.InstanceID = kmsg.StringPtr("i0")
			return req
		},
		kmsg.OffsetDelete: func() kmsg.Request { return offsetDeleteReq("g", "t") },
		kmsg.DescribeGroups: func() kmsg.Request {
			req := kmsg.NewPtrDescribeGroupsRequest()
			req.Groups = []string{"g"}
			return req
		},
		kmsg.ListGroups: func() kmsg.Request {
			req := kmsg.NewPtrListGroupsRequest()
			req.StatesFilter, req.TypesFilter = []string{"Stable"}, []string{"classic"}
			return req
		},
		kmsg.DeleteGroups: func() kmsg.Request {
			req := kmsg.NewPtrDeleteGroupsRequest()
			req.Groups = []string{"g"}
			return req
		},
		kmsg.FindCoordinator: func() kmsg.Request {
			req := kmsg.NewPtrFindCoordinatorRequest()
			req.CoordinatorKey, req.CoordinatorKeys = "g", []string{"g"}
			return req
		},
	}
}

// edgeStates are what group "g" is when a request comes; they return the member and generation that it names.
var edgeStates = map[string]func(r *rig) (string, int32){
	"absent": func(*rig) (string, int32) { return "", -1 },
	"Empty":  func(r *rig) (string, int32) { r.id("g"); r.commit("g", "", -1, 1); return "", -1 },
	"Stable": func(r *rig) (string, int32) { ids, gen := r.staticGroup("g", 2); return ids[0], gen },
	"PreparingRebalance": func(r *rig) (string, int32) {
		ids, gen := r.staticGroup("g", 2)
		r.static("g", "i2")
		return ids[0], gen
	},
	"CompletingRebalance": func(r *rig) (string, int32) {
		ids, gen := r.staticGroup("g", 1)
		r.send(staticReq("g", ids[0], "i0", "range=new"), 9)
		return ids[0], gen + 1
	},
}

// Every API in every version, and in every state of its group, with each field at each of its edges: one answer that can be read, or parked,
// or closed for a string that Kafka cannot read either; nothing is reported, the coordinator does not contradict itself, and other groups
// go on.
func TestEdges(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	sent := 0
	for state, setup := range edgeStates {
		for key, versions := range core.Versions() {
			for version := versions.Min; version <= versions.Max; version++ {
				if state != "Stable" && version != versions.Max {
					continue // what a group's state makes of a field is the same in all versions
				}
				r := newRig(t)
				member, gen := setup(r)
				build := plausible(member, gen)[key]
				if build == nil {
					t.Fatalf("no request of %s", key.Name())
				}
				edges(build, func(name string, req kmsg.Request) {
					sent++
					r.edge(fmt.Sprintf("%s v%d%s in %s", key.Name(), version, name, state), req, version)
					if got := r.describe("g").State; got != state && state != "absent" || len(r.sim.Timers()) > 40 {
						r = newRig(t) // from the beginning
						if m, g := setup(r); m != member || g != gen {
							t.Fatal(m, g)
						}
					}
				})
			}
		}
	}
	t.Logf("%d requests", sent)
}

func (r *rig) edge(what string, req kmsg.Request, version int16) {
	r.Helper()
	ticket := r.send(req, version)
	if r.Failed() {
		r.Fatal(what)
	}
	if reported := r.takeReports(); len(reported) > 0 {
		r.Errorf("%s: reported %v", what, reported)
	}
	resp, reason := r.answers[ticket], r.rejects[ticket]
	switch {
	case reason != "":
		if !strings.Contains(what, "=xxx") || !strings.Contains(reason, "longer than") {
			r.Errorf("%s: closed, %s", what, reason)
		}
		return
	case resp == nil:
		if k := kmsg.Key(req.Key()); k != kmsg.JoinGroup && k != kmsg.SyncGroup {
			r.Errorf("%s: no answer", what)
		}
		return
	}
	if resp.Key() != req.Key() || resp.GetVersion() != version {
		r.Errorf("%s: answered by %T v%d", what, resp, resp.GetVersion())
	}
	read := kmsg.ResponseForKey(resp.Key())
	read.SetVersion(version)
	if err := read.ReadFrom(resp.AppendTo(nil)); err != nil {
		r.Errorf("%s: the answer cannot be read: %v", what, err)
	}
}

// Ids of 32 KB are ids; a member id that is made from one fits into an answer (§1.11).
func TestLongIDs(t *testing.T) {
	r := newRig(t, func(s *core.Settings) {
		s.NewMemberID = func(of string) string { return core.MemberID(of, 1, 2) }
	})
	long := strings.Repeat("g", math.MaxInt16)
	for version := int16(0); version <= 9; version++ {
		got := r.joined(r.sendAs("x"+strings.Repeat("é", 20_000), joinReq(long, ""), version))
		if len(got.MemberID) > math.MaxInt16 || len(got.MemberID) < 32_000 || !strings.HasPrefix(got.MemberID, "xéé") || strings.Contains(got.MemberID, "\xc3-") {
			t.Errorf("v%d: a member id of %d bytes", version, len(got.MemberID))
		}
		r.leave(long, got.MemberID)
		r.remove(long)
	}
	instance := long
	got := r.joined(r.send(staticReq(long, "", instance), 9))
	if got.ErrorCode != 0 || *got.Members[0].InstanceID != instance {
		t.Errorf("error %d", got.ErrorCode)
	}
	r.sync(long, got.MemberID, got.Generation)
	if code := r.committed(r.send(commitReq(long, got.MemberID, got.Generation, "t", 5), 9)); code != 0 {
		t.Errorf("OffsetCommit: %d", code)
	}
	r.failover()
	if r.fetch(long) != 5 || r.describe(long).State != "Stable" {
		t.Error("the log does not have it")
	}
	describe := r.describe(strings.Repeat("x", math.MaxInt16))
	if describe.ErrorCode != core.GroupIDNotFound || len(*describe.ErrorMessage) > math.MaxInt16 {
		t.Errorf("a message of %d bytes", len(*describe.ErrorMessage))
	}
}

// A string that Kafka cannot read closes the connection, wherever it is, and changes nothing.
func TestStringsThatAreTooLong(t *testing.T) {
	long := strings.Repeat("x", math.MaxInt16+1)
	r := newRig(t)
	static := staticReq("g", "", long)
	protocol := joinReq("g", "", "range", long)
	leave := leaveReq("g", "m")
	leave.Members[0].Reason = &long
	for _, req := range []kmsg.Request{joinReq(long, ""), static, protocol, leave, commitReq("g", "", -1, long, 1)} {
		if ticket := r.send(req, req.MaxVersion()-1); r.rejects[ticket] == "" {
			t.Errorf("%T: %.300v", req, r.answers[ticket])
		}
	}
	r.wantState("g", "Dead")
}

// Bytes that are no text are ids as any others: kept, compared and echoed as they came.
func TestBytesAsIDs(t *testing.T) {
	r := newRig(t)
	group, instance := "\xff\x00\xfe", "\x80"
	got := r.joined(r.send(staticReq(group, "", instance, "\xc3=\xff"), 9))
	if *got.Protocol != "\xc3" || *got.Members[0].InstanceID != instance || got.MemberID != instance+"-1" {
		t.Errorf("%+v", got)
	}
	r.wantState("\xff\x00\xfd", "Dead")
	sync := syncReq(group, got.MemberID, 1, got.MemberID+"=\xff")
	sync.Protocol = kmsg.StringPtr("\xc3")
	if s := r.synced(r.send(sync, 5)); string(s.MemberAssignment) != "\xff" {
		t.Errorf("%+v", s)
	}
	r.failover()
	if d := r.describe(group); d.State != "Stable" || d.Members[0].MemberID != got.MemberID {
		t.Errorf("%+v", d)
	}
}

// join.protocol.duplicate and thousands of protocols: each counts once. BenchmarkManyProtocols tells what one takes.
func TestManyProtocols(t *testing.T) {
	r := newRig(t)
	var protocols []string
	for i := range 20_000 {
		protocols = append(protocols, fmt.Sprint("p", i/2))
	}
	a := r.joined(r.send(joinReq("g", "", protocols...), 3)).MemberID
	b := r.send(joinReq("g", "", protocols[10_000:]...), 3)
	got := r.joined(r.join("g", a, protocols...))
	if got.ErrorCode != 0 || *got.Protocol != "p5000" && *got.Protocol != "p0" || r.joined(b).ErrorCode != 0 {
		t.Errorf("%.200v", got)
	}
}

// BenchmarkManyProtocols tells what a protocol takes where a member has few of them and where it has thousands: about as much.
func BenchmarkManyProtocols(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		var protocols []string
		for i := range n {
			protocols = append(protocols, fmt.Sprint("p", i))
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				r := newRig(b)
				r.joined(r.send(joinReq("g", "", protocols...), 3))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/protocol")
		})
	}
}

// Thousands of members: joining, one assignment for all, leaving in one batch.
func TestManyMembers(t *testing.T) {
	r := newRig(t, delayed)
	var tickets []core.Ticket
	for range many {
		r.last++
		r.sim.Step(core.Request{Ticket: r.last, Message: joinReq("g", ""), Version: 3, ClientID: "c"})
		tickets = append(tickets, r.last)
	}
	r.look()
	r.advance(2 * delay)
	leader := r.joined(tickets[0])
	if len(leader.Members) != many {
		t.Fatalf("%d members", len(leader.Members))
	}
	var all []string
	for _, m := range leader.Members {
		all = append(all, m.MemberID)
	}
	assign := make([]string, 0, many)
	for _, id := range all {
		assign = append(assign, id+"=x")
	}
	if s := r.synced(r.sync("g", all[0], 1, assign...)); string(s.MemberAssignment) != "x" {
		t.Errorf("%+v", s)
	}
	got := r.leave("g", append(all, all...)...)
	for i, m := range got.Members {
		if want := map[bool]int16{true: 0, false: core.UnknownMemberID}[i < many]; m.ErrorCode != want {
			t.Fatalf("entry %d: %+v", i, m)
		}
	}
	r.wantState("g", "Empty")
	if len(r.timers()) > 0 {
		t.Errorf("%d timers are left", len(r.timers()))
	}
}

// What clients leave behind is gone when its time is over: ids that were never used, groups that were only asked for.
func TestNothingGrows(t *testing.T) {
	r := newRig(t, cleaning)
	for i := range 200 {
		r.id("g")
		r.id(fmt.Sprint("g", i))
		r.describe(fmt.Sprint("h", i))
		r.beat(fmt.Sprint("h", i), "m", 1)
		r.fetch(fmt.Sprint("h", i))
		r.txn(fmt.Sprint("x", i), int64(i), 1)
		r.mark(int64(i), false)
	}
	r.advance(interval)
	list := answer[*kmsg.ListGroupsResponse](r, r.send(kmsg.NewPtrListGroupsRequest(), 5))
	if len(list.Groups) > 0 || len(r.timers()) != 1 || len(r.logged()) > 0 {
		t.Errorf("%d groups, %d timers, %d records are left", len(list.Groups), len(r.timers()), len(r.logged()))
	}
}
