package differ

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
)

// spice is a request with input that no client has reason to send: empty, null, twice, negative, huge.
func (d *drawer) spice(c asks) string {
	who := func() string { return d.joined[d.rand.IntN(len(d.joined))] }
	a, b := who(), who()
	pick := func(of ...string) string { return of[d.rand.IntN(len(of))] }
	any := func(key kmsg.Key) string {
		v := c.versions[key]
		return fmt.Sprintf("v=%d", int(v.Min)+d.rand.IntN(int(v.Max-v.Min)+1))
	}
	kinds := []func() string{
		func() string {
			if c.own && d.rand.IntN(9) == 0 {
				return "join " + a + " x=1 x=2" // it makes a group of Kafka stand still for good
			}
			return "join " + a + pick(" -empty", " type=none", " range=\"\"", " session=below-min", " session=above-max", " rebalance=0s", " member=stranger", " type=other") +
				pick("", " "+any(kmsg.JoinGroup)) + pick("", "", " -again")
		},
		func() string {
			return "sync " + a + pick(" "+a+"=1 "+a+"=2", " stranger=x", " none=x", " "+a+"=\"\"", " type=none", " protocol=none", " protocol=other", " gen=2147483647", " gen=-1", " member=none", " type=other") +
				pick("", " "+any(kmsg.SyncGroup)) + pick("", " -again")
		},
		func() string {
			return "heartbeat " + a + pick(" gen=none", " gen=2147483647", " gen=+1", " gen=0", " member=none", " member=stranger", " member="+b, " static=nosuch", " static=empty", " static=own") +
				pick("", " "+any(kmsg.Heartbeat))
		},
		func() string {
			return "leave " + a + pick(" member=none", " member=stranger", " static=nosuch", " static=empty", " static=own") + pick("", " "+any(kmsg.LeaveGroup))
		},
		func() string {
			return "leave-batch" + pick("", " none", " stranger stranger", " none@nosuch", " "+a+" "+a, " none@"+pick("a", "b"), " stranger "+a, " "+a+"@nosuch")
		},
		func() string { return "describe group=" + pick("none", "nosuch") + " " + any(kmsg.DescribeGroups) },
		func() string { return "describe" + pick(" -operations", "") + " " + any(kmsg.DescribeGroups) },
		func() string {
			return "delete " + pick("group", "group group", "nosuch", "nosuch group", "none") + " " + any(kmsg.DeleteGroups)
		},
		func() string {
			return "list" + pick(" states=Stable", " states=nosuch", " states=empty,Empty", " states=stable", " states=EMPTY", " states=preparingRebalance", " types=Classic", " types=classic", " types=nosuch", " types=consumer", "") + " " + any(kmsg.ListGroups)
		},
		func() string {
			return "find-coordinator " + pick("group", "none", "nosuch") + " " + any(kmsg.FindCoordinator)
		},
	}
	if c.topics {
		kinds = append(
			kinds, func() string {
				return "commit " + pick(a, a, "-") + pick(" t/0=-1", " t/0=-2", " t/0=5:null", " t/9=5", " t/0=9223372036854775807", " t/0=1 t/0=2", " t/0=3:x*4097", " nosuch/0=1", " nosuch/0=1 t/1=1", "") +
					pick("", " gen=none", " gen=+1", " member=none", " gen=none member=none", " gen=0", " member=stranger") + pick("", " "+any(kmsg.OffsetCommit))
			},
			func() string {
				return "fetch " + pick("-", a) + pick(" t/0", " t/9", " nosuch/0", " t/0 t/0", " -all", " t/0 -stable", " t/0 t/1 -stable", " t/0 group=nosuch", " -all group=nosuch") + pick("", " "+any(kmsg.OffsetFetch))
			},
		)
		if c.features[target.OffsetDelete] {
			kinds = append(kinds, func() string {
				return "offset-delete" + pick("", " t/0", " t/9", " nosuch/0", " t/0 t/0", " t/0 group=nosuch")
			})
		}
	}
	if p := d.producing(); p != "" {
		kinds = append(kinds, func() string {
			return "txn-commit " + p + pick(" t/0=7", " t/1=8", " t/0=3:x*4097", " t/0=9 nosuch/0=1") + pick(" as="+a, " as="+a+" gen=none", " as="+a+" member=none", " as="+a+" gen=+1", " gen=1", " member=stranger", " member="+a, "")
		})
	}
	for range 8 {
		if n := d.rand.IntN(len(kinds)); d.tastes>>n&1 == 1 {
			return kinds[n]()
		}
	}
	return kinds[d.rand.IntN(len(kinds))]()
}

// producing is a producer that is in a transaction for the group of the sequence, or "".
func (d *drawer) producing() (name string) {
	for _, l := range d.lines {
		words := strings.Fields(l)
		switch {
		case words[0] == "txn-begin" && !strings.Contains(l, "group="):
			name = words[1]
		case words[0] == "txn-end" && words[1] == name, words[0] == "txn-begin" && words[1] == name:
			name = ""
		}
	}
	return name
}
