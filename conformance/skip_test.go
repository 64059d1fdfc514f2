package conformance

import (
	"regexp"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
)

// nextStep is what a reason to skip has after its colon.
var nextStep = regexp.MustCompile(`: (only (on|where|once) |set |lower |raise |give one |take a |leave )|^slow \(runs with --slow|(offers|spoken to in) \w+ \d+ to \d+, not \d+$`)

// TestSkipsSayWhatNext holds that whatever a target lacks, the reason says in words what would let the scenario run.
func TestSkipsSayWhatNext(t *testing.T) {
	all, err := Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	address := target.Capabilities{MaxGroups: 20, Topics: map[string]string{"t": "x"}, Features: []target.Feature{target.Static}}
	noTopic, delayed, old, bare := address, address, address, address
	noTopic.Topics, delayed.InitialDelay = nil, 3
	old.Versions = map[int16]target.VersionRange{}
	for _, a := range apis {
		old.Versions[int16(a.key)] = target.VersionRange{}
	}
	bare.MaxGroups, bare.Features = 0, nil
	readable := address
	readable.Versions = map[int16]target.VersionRange{int16(kmsg.JoinGroup): {Max: 9}}
	readable.Newest = map[int16]int16{int16(kmsg.JoinGroup): 0}
	told := map[string]bool{}
	for _, caps := range []target.Capabilities{address, noTopic, delayed, old, bare, readable} {
		for _, s := range all {
			if reason := s.skip(caps, false).why(); reason != "" && !told[reason] {
				told[reason] = true
				if !nextStep.MatchString(reason) {
					t.Errorf("%s: %q does not say what would let it run", s.Name, reason)
				}
			}
		}
	}
	if len(told) < 20 {
		t.Errorf("only %d reasons were seen", len(told))
	}
}

// TestStrangersAreSpared holds that an address which offers transactions is not told that it has none.
func TestStrangersAreSpared(t *testing.T) {
	stranger, own := target.Capabilities{MaxGroups: 20}, target.Capabilities{}
	for need, want := range map[string][2]string{
		"txn":           {"needs transactions, and on an address they would leave transactional ids behind, which nobody can remove: " + onOurs, "needs transactions: only on targets that have that, which this one is known not to"},
		"offset-delete": {"needs OffsetDelete, and on an address no second topic is made for it: " + onOurs, "needs OffsetDelete: only on targets that have that, which this one is known not to"},
		"own":           {"needs a target on which nobody else has groups: " + onOurs, ""},
	} {
		if got := [2]string{lacks(need, stranger).why(), lacks(need, own).why()}; got != want {
			t.Errorf("%s: %q, want %q", need, got, want)
		}
	}
}
