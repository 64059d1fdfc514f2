package model

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/model/classic"
)

// Default is the release that the target "model" is judged as; Reference is the one whose behaviour "model:reference" has where no
// quirk is concerned.
const (
	Default   = "4.3.1"
	Reference = "4.4.0"
)

// oldest is the first release whose classic protocol the model describes (the sync timer came with it).
var oldest = release{2, 8, 1}

type release [3]int

func parseRelease(s string) (r release, err error) {
	parts := strings.Split(s, ".")
	if len(parts) != 3 {
		return r, fmt.Errorf("release %q is not of the form 4.3.1", s)
	}
	for i, p := range parts {
		if r[i], err = strconv.Atoi(p); err != nil || r[i] < 0 {
			return r, fmt.Errorf("release %q is not of the form 4.3.1", s)
		}
	}
	if !r.atLeast(oldest) {
		return r, fmt.Errorf("release %s is older than %d.%d.%d, the first that the model describes", s, oldest[0], oldest[1], oldest[2])
	}
	return r, nil
}

func (r release) atLeast(o release) bool {
	for i := range r {
		if r[i] != o[i] {
			return r[i] > o[i]
		}
	}
	return true
}

// profile: Kafka 4 has the Java coordinator, Kafka up to 3.9 the Scala one by default.
func (r release) profile() classic.Profile {
	if r[0] >= 4 {
		return classic.Java
	}
	return classic.Scala
}

// versions are the API versions of the release, less those that the model does not know (topic ids; offsets in ZooKeeper).
func (r release) versions() map[int16]target.VersionRange {
	since := func(old, new int16, first release) int16 {
		if r.atLeast(first) {
			return new
		}
		return old
	}
	kafka4 := release{4, 0, 0}
	v := map[kmsg.Key]target.VersionRange{
		kmsg.JoinGroup:       {Max: since(7, 9, release{3, 2, 0})},
		kmsg.SyncGroup:       {Max: 5},
		kmsg.Heartbeat:       {Max: 4},
		kmsg.LeaveGroup:      {Max: since(4, 5, release{3, 2, 0})},
		kmsg.OffsetCommit:    {Min: since(1, 2, kafka4), Max: since(8, 9, release{3, 7, 0})},
		kmsg.OffsetFetch:     {Min: 1, Max: max(since(7, 8, release{3, 0, 0}), since(7, 9, release{3, 7, 0}))},
		kmsg.DescribeGroups:  {Max: since(5, 6, kafka4)},
		kmsg.ListGroups:      {Max: since(4, 5, release{3, 8, 0})},
		kmsg.DeleteGroups:    {Max: 2},
		kmsg.FindCoordinator: {Max: max(since(3, 4, release{3, 0, 0}), since(3, 5, release{3, 8, 0}), since(3, 6, release{3, 9, 0}))},
	}
	if r == kafka4 { // 4.0.0 alone had dropped the first two
		v[kmsg.JoinGroup] = target.VersionRange{Min: 2, Max: 9}
	}
	all := map[int16]target.VersionRange{}
	for k, r := range v {
		all[int16(k)] = r
	}
	return all
}
