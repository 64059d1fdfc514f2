package classic

import (
	"reflect"
	"testing"
)

func TestProfiles(t *testing.T) {
	exact, switched := Scala, Java
	exact.ListStatesExact, switched.ConfigOperations = true, false
	for name, want := range map[string]struct {
		profile Profile
		defects []DefectID
	}{
		"4.4": {Java, nil}, "4.3.1": {Java, nil}, "4.1.2": {Java, []DefectID{DefectCommitErased}},
		"4.0.0": {Java, []DefectID{DefectCleanupPending, DefectFetchOldErrors, DefectDeletedLog, DefectCommitErased}},
		"3.9":   {Scala, nil}, "3.9.0": {Scala, []DefectID{DefectTxnCompletion, DefectFetchOldErrors}},
		"3.6":        {exact, []DefectID{DefectTxnUnverified, DefectMetadataUnstable, DefectTxnCompletion, DefectTxnMetadataErases, DefectFetchOldErrors}},
		"3.9.1+java": {switched, []DefectID{DefectCleanupPending, DefectFetchOldErrors, DefectDeletedLog, DefectCommitErased}},
	} {
		got, err := ProfileFor(name)
		if err != nil {
			t.Fatal(err)
		}
		wanted := want.profile
		wanted.Name = got.Name
		for _, d := range want.defects {
			wanted.Defects |= 1 << d
		}
		if got != wanted {
			t.Errorf("%s: %+v\nwant %+v", name, got, wanted)
		}
	}
	for _, name := range []string{"", "4", "4.5", "2.3.1", "4.x.1", "3.8+java", "5.0.0", "4.3.1.1"} {
		if p, err := ProfileFor(name); err == nil {
			t.Errorf("%q is %+v", name, p)
		}
	}
	for minor, patch := range lastPatch {
		p, err := ProfileFor(release{minor[0], minor[1], patch}.String())
		if err != nil || p.Name == "" {
			t.Errorf("%v: %v", minor, err)
		}
	}
}

// Every point of Profile is a variation, and no contract rule has one.
func TestVariations(t *testing.T) {
	named := map[string]bool{}
	for _, v := range Variations() {
		if v.Rule.Rule().Class == Contract || v.Releases == "" || named[v.Name] {
			t.Errorf("variation %+v", v)
		}
		named[v.Name] = true
		var p Profile
		*v.field(&p) = true
		if !reflect.ValueOf(p).FieldByName(v.Name).Bool() || !v.On(p) {
			t.Errorf("%s is not the field of its name", v.Name)
		}
	}
	for i, p := 0, reflect.TypeFor[Profile](); i < p.NumField(); i++ {
		if f := p.Field(i); f.Type.Kind() == reflect.Bool && !named[f.Name] {
			t.Errorf("%s is no variation", f.Name)
		}
	}
}

func TestDefects(t *testing.T) {
	for _, d := range Defects() {
		if d.Releases == "" || d.Issue == "" && d.ID != DefectDeletedLoading || d.What == "" || d.Rule.Rule().Class == Quirk {
			t.Errorf("defect %+v", d)
		}
	}
	// KAFKA-10134 and KAFKA-12890, at their edges.
	for name, want := range map[string][2]bool{"2.6.0": {true, true}, "2.6.1": {false, true}, "2.8.0": {false, true}, "2.8.1": {}, "3.0.0": {}} {
		p, err := ProfileFor(name)
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, Config{Profile: p}).completing(1)
		code := "caller 0"
		if want[0] {
			code = "caller 27"
		}
		w.do(beat(0)).want(code)
		if renewed := len(w.timers) > 0; renewed == want[0] || w.s.SyncTimer == want[1] {
			t.Errorf("%s: timers %v, state %+v", name, w.timers, w.s)
		}
	}
}

// KAFKA-9752 and KAFKA-14009, at their edges: a newcomer whose session does not begin when its join completes, and a member that joins
// again and keeps the timeouts that it had.
func TestDefectsOfTimeouts(t *testing.T) {
	for name, want := range map[string]struct{ stuck, keeps bool }{
		"2.4.1": {true, true}, "2.5.0": {false, true}, "3.3.1": {false, true}, "3.3.2": {}, "4.0.0": {},
	} {
		p, err := ProfileFor(name)
		if err != nil {
			t.Fatal(err)
		}
		session := SessionOfSlot
		if want.stuck {
			session = NewMemberTimeout
		}
		w := newWorld(t, Config{Profile: p}).do(joinOld(listX)).phase(CompletingRebalance).timer(SessionTimer, 0, session)
		w.do(sync(0, 1)).phase(Stable).do(beat(0)).timer(SessionTimer, 0, SessionOfSlot)
		w.do(join(known(0), listX)).phase(CompletingRebalance).timer(SessionTimer, 0, SessionOfSlot)
		if keeps := w.last.Updated != 0; keeps != want.keeps {
			t.Errorf("%s: a member that joins again keeps its timeouts: %v", name, keeps)
		}
	}
}
