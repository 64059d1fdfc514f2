package core_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/sim"
)

// FuzzRequests feeds random bytes as requests, of every API and version, to one coordinator, with time passing and writes failing in
// between. Nothing may panic, be answered twice, wait for nothing, or leave a group that contradicts itself.
func FuzzRequests(f *testing.F) {
	for _, seed := range seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ids := 0
		s := sim.New(1, core.Settings{
			MinSessionTimeout: time.Nanosecond, MaxSize: 3, CleanupInterval: time.Hour, OffsetsRetention: time.Hour,
			TopicName:   func(id [16]byte) (string, bool) { return "t", id[0] == 0 },
			TopicID:     func(name string) ([16]byte, bool) { return [16]byte{}, name == "t" },
			NewMemberID: func(string) string { ids++; return fmt.Sprint("m", ids) },
			Report: func(err error) {
				if _, failed := err.(*core.WriteError); !failed { //nolint:errorlint // never wrapped
					t.Error(err)
				}
			},
		})
		answered := map[core.Ticket]bool{}
		loading := false
		for ticket := core.Ticket(1); len(data) >= 4; ticket++ {
			op, key, version, n := data[0], data[1], data[2], int(data[3])
			body := data[4:min(4+n, len(data))]
			data = data[4+len(body):]
			switch op % 16 {
			case 0:
				s.Advance(time.Duration(n) * time.Second)
			case 8:
				s.Step(core.Marker{Producer: core.Producer{ID: int64(n / 2)}, Commit: n%2 == 0})
			case 9:
				s.Step([]core.Event{core.TopicsDeleted{Topics: []string{"t"}}, core.Cleanup{}}[n%2])
			case 10:
				s.Unload()
				loading = false
			case 11:
				s.BeginLoad()
				loading = true
			case 12:
				if loading {
					if err := s.EndLoad(); err != nil {
						t.Fatal(err)
					}
				}
				loading = false
			case 1:
				s.FailWrites([]int16{core.None, core.RequestTimedOut, core.NotEnoughReplicas, core.None}[n%4])
			case 2:
				s.HoldWrites(n%2 == 0)
			case 3:
				s.EndWrite([]int16{core.None, core.RequestTimedOut, core.MessageTooLarge}[n%3])
			default:
				if req := decode(key, version, body); req != nil {
					verified := int16(0)
					if op%16 == 15 {
						verified = 48
					}
					s.Step(core.Request{Ticket: ticket, Message: req, Version: req.GetVersion(), ClientID: "c", Verified: verified})
				}
			}
			for _, a := range s.Drain().Answers {
				if answered[a.Ticket] {
					t.Fatalf("ticket %d answered twice", a.Ticket)
				}
				answered[a.Ticket] = true
				read := kmsg.ResponseForKey(a.Message.Key())
				read.SetVersion(a.Message.GetVersion())
				if err := read.ReadFrom(a.Message.AppendTo(nil)); err != nil {
					t.Fatalf("%T v%d cannot be read: %v", a.Message, a.Message.GetVersion(), err)
				}
			}
			if err := s.Core().CheckInvariants(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

var fuzzKeys = func() (keys []kmsg.Key) {
	for key := range core.Versions() {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}()

func decode(key, version byte, body []byte) kmsg.Request {
	k := fuzzKeys[int(key)%len(fuzzKeys)]
	r := core.Versions()[k]
	req := kmsg.RequestForKey(int16(k))
	req.SetVersion(r.Min + int16(version)%(r.Max-r.Min+1))
	if req.ReadFrom(body) != nil {
		return nil
	}
	return req
}

// seeds are short lives of groups, so that the fuzzer starts from requests that mean something.
func seeds() [][]byte {
	encode := func(op byte, n int, req kmsg.Request, version int16) []byte {
		if req == nil {
			return []byte{op, 0, 0, byte(n)}
		}
		req.SetVersion(version)
		body := req.AppendTo(nil)
		k := kmsg.Key(req.Key())
		return append([]byte{op, byte(slices.Index(fuzzKeys, k)), byte(version - core.Versions()[k].Min), byte(len(body))}, body...)
	}
	remove := kmsg.NewPtrDeleteGroupsRequest()
	remove.Groups = []string{"g"}
	wait := func(n int) []byte { return encode(0, n, nil, 0) }
	do := func(op byte, n int) []byte { return encode(op, n, nil, 0) }
	stable := kmsg.NewPtrOffsetFetchRequest()
	stable.RequireStable, stable.Groups = true, []kmsg.OffsetFetchRequestGroup{{Group: "g"}}
	static := slices.Concat(encode(4, 0, staticReq("g", "", "i"), 9), encode(4, 0, syncReq("g", "m1", 1, "m1=a"), 5))
	return [][]byte{
		slices.Concat(static, encode(4, 0, staticReq("g", "", "i"), 9), do(1, 1), encode(4, 0, staticReq("g", "", "i"), 8), do(1, 0), encode(4, 0, staticReq("g", "", "j"), 5), wait(200)),
		slices.Concat(static, do(2, 0), encode(4, 0, staticReq("g", "", "i"), 9), encode(4, 0, staticReq("g", "", "i"), 9), do(3, 1), do(3, 0), do(10, 0), do(11, 0), do(12, 0)),
		slices.Concat(encode(4, 0, txnReq("g", "", -1, 1, "t", 5), 3), encode(15, 0, txnReq("g", "", -1, 1, "t", 5), 4), encode(4, 0, stable, 9), do(8, 2), encode(4, 0, stable, 9),
			encode(4, 0, offsetDeleteReq("g", "t"), 0), do(9, 0), do(9, 1), do(11, 0), encode(4, 0, stable, 9), do(12, 0)),
		slices.Concat(encode(4, 0, joinReq("g", ""), 9), encode(4, 0, joinReq("g", "m1"), 9), encode(4, 0, syncReq("g", "m1", 1, "m1=a"), 5),
			encode(4, 0, commitReq("g", "m1", 1, "t", 5), 9), wait(5), encode(4, 0, leaveReq("g", "m1"), 5), encode(4, 0, remove, 2)),
		slices.Concat(encode(4, 0, joinReq("g", ""), 3), encode(4, 0, joinReq("g", ""), 3), wait(10), wait(30), encode(4, 0, joinReq("g", "m2"), 3)),
		slices.Concat(encode(2, 0, nil, 0), encode(4, 0, commitReq("g", "", -1, "t", 5), 9), encode(4, 0, remove, 2), encode(4, 0, joinReq("g", ""), 3),
			encode(3, 0, nil, 0), encode(3, 1, nil, 0), encode(3, 0, nil, 0)),
	}
}
