package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/server"
)

// get asks the admin address for a page.
func get(t *testing.T, c *server.Cluster, path string) (status int, text string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + c.AdminAddr() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// The pages of the admin address tell of groups, before and after their coordinator moves, and of faults.
func TestPages(t *testing.T) {
	c, _ := startCluster(t, nodes(2), withFaults(t, "delay the reply of the 1st SyncGroup by 1ms\ndrop the reply of the 9th Heartbeat"), func(o *server.ClusterOptions) { o.Admin = "127.0.0.1:0" })
	g := groupOn(t, c, 1, 0)
	conn := dialTo(t, c.Addrs()[1])
	leader := ask(t, conn, joinReq(g, ""), 3).(*kmsg.JoinGroupResponse).MemberID
	sync := syncReq(g, leader, 1)
	assignment := kmsg.NewConsumerMemberAssignment()
	assignment.Topics = []kmsg.ConsumerMemberAssignmentTopic{{Topic: "t", Partitions: []int32{0, 2}}}
	sync.GroupAssignment[0].MemberAssignment = assignment.AppendTo(nil)
	ask(t, conn, sync, 5)
	commitOffset(t, dialTo(t, c.Addrs()[0]), groupOn(t, c, 0, 0), 1)

	type page struct {
		Groups []struct {
			Group, State, Protocol, LastRebalance string
			Coordinator, Partition, Generation    int32
			Rebalances                            int
			Since                                 *time.Time
			Members                               []struct {
				ID, Client, Host string
				Assignment       map[string][]int32
			}
		}
	}
	look := func(path string, want int) (p page) {
		t.Helper()
		status, text := get(t, c, path)
		if err := json.Unmarshal([]byte(text), &p); status != http.StatusOK || err != nil || len(p.Groups) != want {
			t.Fatalf("%s: status %d, %v, want %d groups in\n%s", path, status, err, want, text)
		}
		return p
	}
	look("/groups", 2)
	_, partition := c.Coordinator(g)
	for node := int32(1); node >= 0; node-- {
		got := look("/groups?group="+g, 1).Groups[0]
		m := got.Members[0]
		if got.Group != g || got.State != "Stable" || got.Protocol != "range" || got.Generation != 1 || got.Coordinator != node || got.Partition != partition || got.Since == nil ||
			m.ID != leader || m.Client != "client" || m.Host != "/127.0.0.1" || len(m.Assignment["t"]) != 2 {
			t.Errorf("on node %d: %+v", node, got)
		}
		if _, text := get(t, c, "/metrics"); !strings.Contains(text, `muster_group_state{group="`+g+`",state="Stable"} 1`) {
			t.Errorf("on node %d the metrics do not know the group:\n%s", node, text)
		}
		if err := c.Move(g, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Move(g, 1, time.Hour); err != nil {
		t.Fatal(err)
	}
	if status, text := get(t, c, "/groups"); status != http.StatusServiceUnavailable || !strings.Contains(wrong(t, text), "being loaded by node 1") {
		t.Errorf("while loading: %d %s", status, text)
	}
	if status, text := get(t, c, "/groups?group="+groupOn(t, c, 0, 7)); status != http.StatusNotFound || !strings.Contains(wrong(t, text), `there is no group "`) {
		t.Errorf("no such group: %d %s", status, text)
	}
	if status, text := get(t, c, "/faults"); status != http.StatusOK || !strings.Contains(text, `"happened": 1`) || !strings.Contains(text, `"fault": "drop the reply of the 9th Heartbeat"`) {
		t.Errorf("faults: %d %s", status, text)
	}
	for path, want := range map[string]string{"/": "200 This is", "/nope": "404 There is no page", "/groups/": "404 There is no page"} {
		status, text := get(t, c, path)
		if !strings.HasPrefix(fmt.Sprint(status, " ", text), want) {
			t.Errorf("%s: %d %s", path, status, text)
		}
		for _, p := range []string{"/metrics", "/groups", "/groups?group=NAME", "/faults"} {
			if !strings.Contains(text, p) {
				t.Errorf("%s does not tell of %s:\n%s", path, p, text)
			}
		}
	}
}

// wrong is what a page says is wrong.
func wrong(t *testing.T, text string) string {
	t.Helper()
	var page struct{ Error string }
	if err := json.Unmarshal([]byte(text), &page); err != nil {
		t.Errorf("%v:\n%s", err, text)
	}
	return page.Error
}
