package linearize

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// listed is a history in which each of so many groups is asked for by each of so many ListGroups, and exists in none but the first.
func listed(groups, lists int) *book {
	b := newBook("reference")
	b.Header.Groups = nil
	for n := range groups {
		b.Header.Groups = append(b.Header.Groups, fmt.Sprintf("g%d", n))
	}
	list := func(client string, from, to int, state string) {
		r, resp := kmsg.NewPtrListGroupsRequest(), kmsg.NewPtrListGroupsResponse()
		if state != "" {
			resp.Groups = []kmsg.ListGroupsResponseGroup{{Group: "g0", ProtocolType: "consumer"}}
		}
		c := b.call(client, from, to, r, resp)
		c.Groups = b.Header.Groups
	}
	for n := range lists {
		list(fmt.Sprint("lister", n%3), 2*n, 2*n+1, "")
	}
	b.join("a", 2*lists, 2*lists+1, "", refusedJoin(79, "A"))
	for i := range b.Calls {
		if b.Calls[i].Key == int16(kmsg.JoinGroup) {
			r := kmsg.NewPtrJoinGroupRequest()
			req, _ := b.Calls[i].DecodeRequest()
			*r = *req.(*kmsg.JoinGroupRequest)
			r.Group = "g0"
			b.Calls[i].Request, b.Calls[i].Groups = r.AppendTo(nil), []string{"g0"}
		}
	}
	return b
}

// A request over all groups is one in each: what is judged of all together is bounded, and what is left out is said.
func TestManyGroups(t *testing.T) {
	b := listed(200, 200)
	v, err := Check(t.Context(), &b.History, Limits{})
	if err != nil || v.Result != Legal || len(v.Groups) != 200 || v.Groups[7].Calls != 200 {
		t.Fatalf("%v %q %v, %d groups", v.Result, v.Reason, err, len(v.Groups))
	}
	v, err = Check(t.Context(), &b.History, Limits{all: 30_000})
	if err != nil || v.Result != Unknown || !strings.Contains(v.Reason, "only the first 150 operations were judged, 5") {
		t.Errorf("%v %q %v", v.Result, v.Reason, err)
	}
	for _, g := range v.Groups {
		if g.Operations > 150 {
			t.Errorf("%d operations of %s were judged", g.Operations, g.Group)
		}
	}
	wrong := listed(20, 3) // one that says that a group is there which nobody has made
	resp := kmsg.NewPtrListGroupsResponse()
	resp.Groups = []kmsg.ListGroupsResponseGroup{{Group: "g7", ProtocolType: "consumer"}}
	wrong.Calls[1].Response = resp.AppendTo(nil)
	if v, err := Check(t.Context(), &wrong.History, Limits{}); err != nil || v.Result != Illegal {
		t.Errorf("a group that nobody has made: %v %q %v", v.Result, v.Reason, err)
	}
}

// BenchmarkManyGroups judges the histories of few bytes that take the longest.
func BenchmarkManyGroups(b *testing.B) {
	for _, n := range []int{1000, 4000} {
		h := &listed(n, n).History
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := Check(b.Context(), h, Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
