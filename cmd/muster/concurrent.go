package main

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/checker/campaign"
)

// concurrent is the campaign that ends a verify on a target which many clients can use at once; nil where there is none. Where it is the target
// that cannot have one, it says what it lacks.
//
// On an address nothing is done to connections: so few requests a second may be sent there that most kinds of fault would not happen in time,
// and it takes twice as long. Of impl a campaign is a judge of its own, and kfake, which is known to fail, may not live through one.
func (s targetSpec) concurrent(o *opened, budget time.Duration) (c *campaign.Options, lacks string) {
	caps := o.Capabilities()
	switch s.kind {
	case implTCPTarget, kafkaTarget:
		caps = o.raw.Capabilities() // --as is for the scenarios, here as on impl
		c = &campaign.Options{Budget: budget, Faults: campaign.Faults{Connections: campaign.Possible(o.raw).Connections}}
	case addressTarget:
		c = &campaign.Options{Budget: 2 * budget}
	default:
		return nil, ""
	}
	for _, key := range []kmsg.Key{kmsg.JoinGroup, kmsg.SyncGroup, kmsg.Heartbeat, kmsg.LeaveGroup, kmsg.OffsetCommit, kmsg.OffsetFetch, kmsg.DescribeGroups} {
		if _, offered := caps.Versions[int16(key)]; !offered {
			return nil, fmt.Sprintf("the target does not offer %s", key.Name())
		}
	}
	c.Profiles = campaign.ProfilesFor(caps.Release)
	return c, ""
}
