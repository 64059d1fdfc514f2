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
			MinSessionTimeout: time.Nanosecond,
			NewMemberID:       func(string) string { ids++; return fmt.Sprint("m", ids) },
			Report: func(err error) {
				if _, failed := err.(*core.WriteError); !failed { //nolint:errorlint // never wrapped
					t.Error(err)
				}
			},
		})
		answered := map[core.Ticket]bool{}
		for ticket := core.Ticket(1); len(data) >= 4; ticket++ {
			op, key, version, n := data[0], data[1], data[2], int(data[3])
			body := data[4:min(4+n, len(data))]
			data = data[4+len(body):]
			switch op % 8 {
			case 0:
				s.Advance(time.Duration(n) * time.Second)
			case 1:
				s.FailWrites(int16(n % 3 * int(core.NotEnoughReplicas)))
			case 2:
				s.HoldWrites(n%2 == 0)
			case 3:
				s.EndWrite(int16(n % 3 * int(core.RequestTimedOut)))
			default:
				if req := decode(key, version, body); req != nil {
					s.Step(core.Request{Ticket: ticket, Message: req, Version: req.GetVersion(), ClientID: "c"})
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
	return [][]byte{
		slices.Concat(encode(4, 0, joinReq("g", ""), 9), encode(4, 0, joinReq("g", "m1"), 9), encode(4, 0, syncReq("g", "m1", 1, "m1=a"), 5),
			encode(4, 0, commitReq("g", "m1", 1, "t", 5), 9), wait(5), encode(4, 0, leaveReq("g", "m1"), 5), encode(4, 0, remove, 2)),
		slices.Concat(encode(4, 0, joinReq("g", ""), 3), encode(4, 0, joinReq("g", ""), 3), wait(10), wait(30), encode(4, 0, joinReq("g", "m2"), 3)),
		slices.Concat(encode(2, 0, nil, 0), encode(4, 0, commitReq("g", "", -1, "t", 5), 9), encode(4, 0, remove, 2), encode(4, 0, joinReq("g", ""), 3),
			encode(3, 0, nil, 0), encode(3, 1, nil, 0), encode(3, 0, nil, 0)),
	}
}
