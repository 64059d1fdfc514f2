package model

import (
	"fmt"
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

type release [3]int

// parseRelease reads the name of a profile of the model: "4.3.1", or "3.9.2+java".
func parseRelease(s string) (r release, err error) {
	number, _, _ := strings.Cut(s, "+")
	if _, err := fmt.Sscanf(number, "%d.%d.%d", &r[0], &r[1], &r[2]); err != nil {
		return r, fmt.Errorf("release %q is not of the form 4.3.1: %w", s, err)
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

// step is a newest version and the first release that has it.
type step struct {
	max   int16
	since release
}

// newest are the newest versions of each API that both model and scenarios speak; those of 2.4 first. Requests that name topics by id, and
// those about offsets in ZooKeeper, are left out.
var newest = map[kmsg.Key][]step{
	kmsg.JoinGroup:       {{max: 6}, {7, release{2, 5, 0}}, {9, release{3, 2, 0}}},
	kmsg.SyncGroup:       {{max: 4}, {5, release{2, 5, 0}}},
	kmsg.Heartbeat:       {{max: 4}},
	kmsg.LeaveGroup:      {{max: 4}, {5, release{3, 2, 0}}},
	kmsg.OffsetCommit:    {{max: 8}, {9, release{3, 7, 0}}},
	kmsg.OffsetFetch:     {{max: 6}, {7, release{2, 5, 0}}, {8, release{3, 0, 0}}, {9, release{3, 7, 0}}},
	kmsg.OffsetDelete:    {{max: 0}},
	kmsg.DescribeGroups:  {{max: 5}, {6, release{4, 0, 0}}},
	kmsg.ListGroups:      {{max: 3}, {4, release{2, 6, 0}}, {5, release{3, 8, 0}}},
	kmsg.DeleteGroups:    {{max: 2}},
	kmsg.FindCoordinator: {{max: 3}, {4, release{3, 0, 0}}, {5, release{3, 8, 0}}, {6, release{3, 9, 0}}},
	kmsg.TxnOffsetCommit: {{max: 2}, {3, release{2, 5, 0}}, {4, release{3, 8, 0}}, {5, release{4, 0, 0}}},
	kmsg.InitProducerID:  {{max: 2}, {3, release{2, 5, 0}}, {4, release{2, 7, 0}}, {5, release{3, 8, 0}}},
	kmsg.AddOffsetsToTxn: {{max: 1}, {2, release{2, 7, 0}}, {3, release{2, 8, 0}}, {4, release{3, 8, 0}}},
	kmsg.EndTxn:          {{max: 1}, {2, release{2, 7, 0}}, {3, release{2, 8, 0}}, {4, release{3, 8, 0}}, {5, release{4, 0, 0}}},
}

// versions are the API versions of the release.
func (r release) versions() map[int16]target.VersionRange {
	all := map[int16]target.VersionRange{}
	for k, steps := range newest {
		v := target.VersionRange{}
		for _, s := range steps {
			if r.atLeast(s.since) {
				v.Max = s.max
			}
		}
		switch {
		case k == kmsg.OffsetCommit && r.atLeast(release{4, 0, 0}):
			v.Min = 2
		case k == kmsg.OffsetCommit, k == kmsg.OffsetFetch:
			v.Min = 1
		case k == kmsg.JoinGroup && r == release{4, 0, 0}: // which alone had dropped the first two
			v.Min = 2
		}
		all[int16(k)] = v
	}
	return all
}

// coordinator is the profile of the model that a target's name asks for, what it is judged as, and its API versions.
func coordinator(which string) (p classic.Profile, judged string, versions map[int16]target.VersionRange, err error) {
	if which == "reference" {
		r, err := parseRelease(Reference)
		return classic.Reference, which, r.versions(), err
	}
	if p, err = classic.ProfileFor(which); err != nil {
		return p, "", nil, err
	}
	r, err := parseRelease(p.Name)
	return p, p.Name, r.versions(), err
}
