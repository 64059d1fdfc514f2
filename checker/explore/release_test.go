package explore

import (
	"context"
	"slices"
	"testing"

	"github.com/muster-kafka/muster/model/classic"
)

// The specification of an old release breaks the rules of its defects and no others; that of a release without defects breaks none.
func TestDefectsOfReleases(t *testing.T) {
	// With the group its pending offsets go, which other rules speak of too.
	pending := []classic.RuleID{classic.OffsetsSurviveMembers, classic.ExpirySimple, classic.ExpiryEmpty}
	// A LeaveGroup that fails at one entry says nothing of the others.
	batch := []classic.RuleID{classic.LeaveMember, classic.LeaveSingleVersion, classic.LeaveInstance}
	// That there is no sync timer shows only with members that heartbeat on, which nobody here is bound to; the others need a limit, two
	// protocols, lengths of timeouts, and offsets with their metadata, which are followed beside the specification (checker/observe).
	hidden := map[classic.DefectID]bool{
		classic.DefectNoSyncTimer: true, classic.DefectPendingMaxSize: true, classic.DefectRefusedInstance: true, classic.DefectRefusedPending: true,
		classic.DefectReplacedVote: true, classic.DefectRejoinedTimeouts: true, classic.DefectMetadataUnstable: true,
	}
	for release, extra := range map[string][]classic.RuleID{
		"2.4.1": batch, "2.6.0": batch, "2.8.0": batch, "3.1.0": nil, "3.4": nil, "4.0.0": pending, "3.9+java": pending, "4.2": nil,
	} {
		t.Run(release, func(t *testing.T) {
			profile, err := classic.ProfileFor(release)
			if err != nil {
				t.Fatal(err)
			}
			g := Group{
				Name: release, Profile: profile, Members: 2, Lists: []string{"a"}, Subscriptions: true, Static: true, Offsets: true, Removal: true,
			}
			r := Run(context.Background(), g.Name, g.Machine, Options{Workers: 2})
			if !r.Complete {
				t.Fatal(r)
			}
			broken := map[string]bool{}
			for _, v := range r.Violations {
				broken[v.Rule] = true
			}
			for _, d := range classic.Defects() {
				if !profile.Defects.Has(d.ID) || !d.Modelled {
					continue
				}
				if !broken[d.Rule.String()] && !hidden[d.ID] {
					t.Errorf("%s does not break %v (%s)", release, d.Rule, d.Issue)
				}
				delete(broken, d.Rule.String())
			}
			for _, rule := range extra {
				delete(broken, rule.String())
			}
			for rule := range broken {
				i := slices.IndexFunc(r.Violations, func(v Violation) bool { return v.Rule == rule })
				t.Errorf("%s breaks what is none of its defects:\n%s", release, r.Violations[i])
			}
		})
	}
}
