package conformance

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
)

// api is a request type: how scenarios call it and the newest version that they speak. Later versions of OffsetCommit
// and OffsetFetch name topics by id.
type api struct {
	verb string
	key  kmsg.Key
	pin  int16 // newest version by default
	max  int16 // newest version that v=N may ask for
}

var apis = map[string]api{
	"join":             {"join", kmsg.JoinGroup, 9, 9},
	"sync":             {"sync", kmsg.SyncGroup, 5, 5},
	"heartbeat":        {"heartbeat", kmsg.Heartbeat, 4, 4},
	"leave":            {"leave", kmsg.LeaveGroup, 5, 5},
	"commit":           {"commit", kmsg.OffsetCommit, 9, 9},
	"fetch":            {"fetch", kmsg.OffsetFetch, 9, 9},
	"describe":         {"describe", kmsg.DescribeGroups, 5, 6},
	"list":             {"list", kmsg.ListGroups, 5, 5},
	"delete":           {"delete", kmsg.DeleteGroups, 2, 2},
	"offset-delete":    {"offset-delete", kmsg.OffsetDelete, 0, 0},
	"txn-init":         {"txn-init", kmsg.InitProducerID, 4, 5},
	"txn-begin":        {"txn-begin", kmsg.AddOffsetsToTxn, 3, 4},
	"txn-commit":       {"txn-commit", kmsg.TxnOffsetCommit, 3, 5},
	"txn-end":          {"txn-end", kmsg.EndTxn, 3, 5},
	"find-coordinator": {"find-coordinator", kmsg.FindCoordinator, 6, 6},
}

// skipError ends a scenario that the target cannot be asked.
type skipError struct {
	reason string
	lacks  Lack
}

func (e *skipError) Error() string { return e.reason }

func skipf(format string, args ...any) *skipError {
	return &skipError{reason: fmt.Sprintf(format, args...)}
}

// why is the reason; empty without one.
func (e *skipError) why() string {
	if e == nil {
		return ""
	}
	return e.reason
}

// usable is the newest of the offered versions of an API that the target can be spoken to in.
func usable(caps target.Capabilities, key kmsg.Key, offered target.VersionRange) int16 {
	if newest, ok := caps.Newest[int16(key)]; ok {
		return min(offered.Max, newest)
	}
	return offered.Max
}

// pick returns the version to send: the one asked for, else the newest that both sides speak.
func pick(caps target.Capabilities, verb string, asked int16) (int16, error) {
	a := apis[verb]
	offered, ok := caps.Versions[int16(a.key)]
	if !ok && len(caps.Versions) > 0 {
		return 0, skipf("the target does not offer %s: only on targets that do", a.key.Name())
	}
	if !ok {
		offered = target.VersionRange{Min: 0, Max: a.max}
	}
	if asked >= 0 {
		if !offered.Has(asked) {
			return 0, offers(a.key, asked, offered)
		}
		return asked, nil
	}
	v := min(a.pin, usable(caps, a.key, offered))
	if v < offered.Min {
		return 0, skipf("the target offers %s %d to %d, and scenarios speak at most %d: only on targets that offer that", a.key.Name(), offered.Min, offered.Max, a.pin)
	}
	return v, nil
}

// tooOld is why a command cannot be sent in the version that was chosen for it.
func tooOld(caps target.Capabilities, verb string, needed, chosen int16, lacks string) error {
	key := apis[verb].key
	if offered, told := caps.Versions[int16(key)]; told && usable(caps, key, offered) < needed {
		offered.Max = usable(caps, key, offered)
		return offers(key, needed, offered)
	}
	return skipf("%s %d, which the scenario asks for, %s: leave the version out", key.Name(), chosen, lacks)
}
