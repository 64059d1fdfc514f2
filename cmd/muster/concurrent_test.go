package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
)

// offering is a target that offers what clients of a group need, but for some.
type offering struct {
	target.Target
	release string
	without kmsg.Key
}

func (o offering) Capabilities() target.Capabilities {
	c := target.Capabilities{Release: o.release, Versions: map[int16]target.VersionRange{}}
	for key := range int16(60) {
		if key != int16(o.without) {
			c.Versions[key] = target.VersionRange{Max: 1}
		}
	}
	return c
}

// A verify ends with a campaign on whatever many clients can use at once: on an address without faults, which so few requests could not bring
// about. What cannot have one says why.
func TestVerifyEndsWithACampaign(t *testing.T) {
	const none = kmsg.Key(1000)
	for name, c := range map[string]struct {
		kind     targetKind
		release  string
		as       string
		without  kmsg.Key
		budget   time.Duration // 0: there is no campaign
		profiles string
		lacks    string
	}{
		"an address":           {addressTarget, "", "", none, 40 * time.Second, "java reference scala", ""},
		"an address as 3.9.2":  {addressTarget, "", "3.9.2", none, 40 * time.Second, "3.9.2", ""},
		"without descriptions": {addressTarget, "", "", kmsg.DescribeGroups, 0, "", "does not offer DescribeGroups"},
		"Kafka":                {kafkaTarget, "4.3.1", "", none, 20 * time.Second, "4.3.1", ""},
		"the reference":        {implTCPTarget, "reference", "3.9.2", none, 20 * time.Second, "reference", ""},
		"kfake":                {kfakeTarget, "", "", none, 0, "", ""},
		"the model":            {modelTarget, "", "", none, 0, "", ""},
	} {
		raw := offering{release: c.release, without: c.without}
		opened := &opened{raw, raw}
		if c.as != "" {
			opened.Target = target.As{Target: raw, Release: c.as}
		}
		o, lacks := targetSpec{kind: c.kind}.concurrent(opened, 20*time.Second)
		if !strings.Contains(lacks, c.lacks) || (lacks == "") != (c.lacks == "") || (o == nil) != (c.budget == 0) {
			t.Errorf("%s: %+v, lacks %q", name, o, lacks)
			continue
		}
		if o != nil && (o.Budget != c.budget || !slices.Equal(o.Profiles, strings.Fields(c.profiles)) || o.Faults.Crashes || o.Faults.Pauses) {
			t.Errorf("%s: %v by %v, %+v", name, o.Budget, o.Profiles, o.Faults)
		}
	}
}
