package core_test

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
)

// describe.unknown, describe.unknown.code.
func TestDescribeUnknown(t *testing.T) {
	r := newRig(t)
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups, req.IncludeAuthorizedOperations = []string{"g"}, true
	for version := int16(0); version <= 6; version++ {
		d := answer[*kmsg.DescribeGroupsResponse](r, r.send(req, version)).Groups[0]
		if d.State != "Dead" || d.Group != "g" || len(d.Members) > 0 {
			t.Errorf("v%d: %+v", version, d)
		}
		if version == 6 && (d.ErrorCode != core.GroupIDNotFound || *d.ErrorMessage != "Group g not found." || d.AuthorizedOperations != -2147483648) {
			t.Errorf("v6: %+v", d)
		}
		if version < 6 && (d.ErrorCode != 0 || d.ErrorMessage != nil) {
			t.Errorf("v%d: %+v", version, d)
		}
		if ops := d.AuthorizedOperations; version >= 3 && version < 6 && ops != 3400 || version < 3 && ops != -2147483648 {
			t.Errorf("v%d: authorized operations %d", version, ops)
		}
	}
}

// describe.state, describe.members, describe.rebalancing.assignment (C69).
func TestDescribe(t *testing.T) {
	r := newRig(t)
	pending := r.id("g")
	r.leave("g", pending)
	ids, gen := r.generation("g", 2)
	r.id("g") // never listed
	check := func(state, protocol, metadata, assignment string) {
		t.Helper()
		d := r.describe("g")
		if d.State != state || d.Protocol != protocol || d.ProtocolType != "consumer" || len(d.Members) != 2 || d.AuthorizedOperations != -2147483648 {
			t.Errorf("%+v", d)
			return
		}
		m := d.Members[1]
		if m.MemberID != ids[1] || m.ClientID != "c" || m.ClientHost != "/10.0.0.1" || m.InstanceID != nil ||
			string(m.ProtocolMetadata) != metadata || string(m.MemberAssignment) != assignment {
			t.Errorf("%s: %+v", state, m)
		}
	}
	check("CompletingRebalance", "", "", "")
	r.sync("g", ids[0], gen, ids[1]+"=a1")
	check("Stable", "range", "range", "a1")
	r.sync("g", ids[1], gen)
	first := r.join("g", ids[0])
	check("PreparingRebalance", "", "", "a1")
	r.join("g", ids[1])
	r.wantParked("with a pending id", first)
	r.advance(session) // the pending id goes
	check("CompletingRebalance", "", "", "a1")
	r.join("g", ids[1], "range=new") // aborted: the assignment is gone
	check("PreparingRebalance", "", "", "")
}

// list.state, list.filters.
func TestList(t *testing.T) {
	r := newRig(t)
	r.stable("stable", 1)
	r.commit("simple", "", -1, 1)
	list := func(version int16, states, types []string) (names []string, first kmsg.ListGroupsResponseGroup) {
		req := kmsg.NewPtrListGroupsRequest()
		req.StatesFilter, req.TypesFilter = states, types
		got := answer[*kmsg.ListGroupsResponse](r, r.send(req, version))
		if got.ErrorCode != 0 {
			t.Errorf("error %d", got.ErrorCode)
		}
		for _, g := range got.Groups {
			names = append(names, g.Group)
		}
		if len(got.Groups) > 0 {
			first = got.Groups[len(got.Groups)-1]
		}
		return names, first
	}
	for version := int16(0); version <= 5; version++ {
		names, g := list(version, nil, nil)
		if len(names) != 2 || g.Group != "stable" || g.ProtocolType != "consumer" {
			t.Errorf("v%d: %v %+v", version, names, g)
		}
		if (g.GroupState == "Stable") != (version >= 4) || (g.GroupType == "classic") != (version >= 5) {
			t.Errorf("v%d: %+v", version, g)
		}
	}
	for _, test := range []struct {
		states, types []string
		want          int
	}{
		{[]string{"stable"}, nil, 1},
		{[]string{" STABLE "}, nil, 1},
		{[]string{"Empty", "Stable"}, nil, 2},
		{[]string{"nosuch"}, nil, 0},
		{nil, []string{"Classic"}, 2},
		{nil, []string{"consumer"}, 0},
		{nil, []string{"nosuch"}, 0},
		{[]string{"Stable"}, []string{"consumer"}, 0},
		{[]string{"Stable"}, []string{"consumer", "classic"}, 1},
	} {
		if names, _ := list(5, test.states, test.types); len(names) != test.want {
			t.Errorf("states %q types %q: %v, want %d", test.states, test.types, names, test.want)
		}
	}
}

// delete.empty, delete.non-empty, delete.unknown (C72, C73).
func TestDelete(t *testing.T) {
	r := newRig(t)
	ids, _ := r.stable("g", 1)
	r.commit("g", ids[0], 1, 5)
	r.stable("busy", 1)
	r.leave("g", ids[0])
	pending := r.id("g")
	r.records()
	got := r.remove("g", "busy", "nosuch", "g")
	want := []int16{0, core.NonEmptyGroup, core.GroupIDNotFound}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, code := range want {
		if got[i].ErrorCode != code {
			t.Errorf("%s: error %d, want %d", got[i].Group, got[i].ErrorCode, code)
		}
	}
	if recs := r.records(); len(recs) != 2 || recs[0] != "g t/0 gone" || recs[1] != "g gone" {
		t.Errorf("written: %v", recs)
	}
	if r.fetch("g") != -1 || r.describe("g").State != "Dead" {
		t.Error("something is left of the group")
	}
	if got := r.joined(r.join("g", pending)); got.ErrorCode != core.UnknownMemberID {
		t.Errorf("the pending id: %+v", got)
	}
	if _, gen := r.stable("g", 1); gen != 1 {
		t.Errorf("a new group begins with generation %d", gen)
	}
}

// §2.0.2: the empty group id is one for offsets and tools (C9).
func TestEmptyGroupID(t *testing.T) {
	r := newRig(t)
	if code := r.commit("", "", -1, 5); code != 0 || r.fetch("") != 5 || r.describe("").State != "Empty" || r.remove("")[0].ErrorCode != 0 {
		t.Errorf("commit %d", code)
	}
}

// find-coordinator.group, find-coordinator.batch (§2.1).
func TestFindCoordinator(t *testing.T) {
	r := newRig(t)
	for version := int16(0); version <= 6; version++ {
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.CoordinatorKey, req.CoordinatorKeys = "g", []string{"g", ""}
		for _, keyType := range []int8{0, 1, 2, 77} {
			if req.CoordinatorType = keyType; version == 0 && keyType != 0 {
				continue
			}
			got := answer[*kmsg.FindCoordinatorResponse](r, r.send(req, version))
			code, node, host, port := got.ErrorCode, got.NodeID, got.Host, got.Port
			if version >= 4 {
				if len(got.Coordinators) != 2 || got.Coordinators[1].Key != "" {
					t.Fatalf("v%d: %+v", version, got)
				}
				c := got.Coordinators[0]
				code, node, host, port = c.ErrorCode, c.NodeID, c.Host, c.Port
			}
			switch {
			case keyType == 0 && (code != 0 || node != 7 || host != "h" || port != 9):
				t.Errorf("v%d: %+v", version, got)
			case keyType != 0 && (code != core.InvalidRequest || node != -1 || host != "" || port != -1):
				t.Errorf("v%d type %d: %+v", version, keyType, got)
			}
			if named := got.ErrorMessage != nil && *got.ErrorMessage == "NONE"; keyType == 0 && named != (version >= 1 && version <= 3) {
				t.Errorf("v%d: message %v", version, got.ErrorMessage)
			}
		}
	}
}

// join.reply.error (C81): the protocol name of a refusal is empty up to version 6, null from 7.
func TestJoinErrorVersions(t *testing.T) {
	r := newRig(t)
	for version := int16(0); version <= 9; version++ {
		got := r.joined(r.send(joinReq("g", "q"), version))
		if got.ErrorCode != core.UnknownMemberID || (got.Protocol == nil) != (version >= 7) || got.Protocol != nil && *got.Protocol != "" {
			t.Errorf("v%d: %+v", version, got)
		}
		if read := kmsg.NewPtrJoinGroupResponse(); true {
			read.SetVersion(version)
			if err := read.ReadFrom(got.AppendTo(nil)); err != nil || read.ErrorCode != got.ErrorCode {
				t.Errorf("v%d cannot be read: %v", version, err)
			}
		}
	}
}
