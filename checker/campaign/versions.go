package campaign

import (
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/model/classic"
)

// instanceJoins is the first version of JoinGroup whose answer has room for the instance ids of the members that a leader is told of.
const instanceJoins = 5

// versions are those that the clients of a group may speak. Beside static members they do not ask to join in a version before instanceJoins where the release cannot
// write the answer to a leader then (DefectOldLeaderStatic): in its place whichever request had completed the join is refused, and members wait for ever. The specification
// knows that it is so, and does not model what comes of it.
func (c *campaign) versions(static bool) map[int16]target.VersionRange {
	join := int16(kmsg.JoinGroup)
	offered, ok := c.caps.Versions[join]
	if !static || !ok || offered.Max < instanceJoins || !slices.ContainsFunc(c.o.Profiles, cannotTellOldLeaders) {
		return c.caps.Versions
	}
	spoken := maps.Clone(c.caps.Versions)
	offered.Min = max(offered.Min, instanceJoins)
	spoken[join] = offered
	return spoken
}

func cannotTellOldLeaders(profile string) bool {
	p, err := classic.ProfileFor(profile)
	return err == nil && p.Defects.Has(classic.DefectOldLeaderStatic)
}
