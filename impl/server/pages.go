package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/impl/core"
	"github.com/muster-kafka/muster/impl/groupstats"
)

// groupPage is a group as /groups shows it.
type groupPage struct {
	Group        string       `json:"group"`
	Coordinator  int32        `json:"coordinator"` // node
	Partition    int32        `json:"partition"`   // of __consumer_offsets
	State        string       `json:"state"`
	ProtocolType string       `json:"protocolType"`
	Protocol     string       `json:"protocol"` // while the group is Stable
	Generation   int32        `json:"generation"`
	Rebalances   int64        `json:"rebalances"`    // that have begun since this process was started
	Since        *time.Time   `json:"since"`         // of the last transition; null where there has been none since then
	LastReason   string       `json:"lastRebalance"` // why the last rebalance began
	Members      []memberPage `json:"members"`
}

// memberPage is a member of a group.
type memberPage struct {
	ID         string             `json:"id"`
	Instance   *string            `json:"instance"` // null of a dynamic member
	Client     string             `json:"client"`
	Host       string             `json:"host"`
	Assignment map[string][]int32 `json:"assignment"` // null where it is not a consumer's
}

// pages are what the admin address serves besides metrics.
func (c *Cluster) pages() []page {
	return []page{
		{"/groups", "each group with its coordinator, state and members, as JSON; /groups?group=NAME tells of one", func(w http.ResponseWriter, r *http.Request) {
			only := r.URL.Query().Get("group")
			groups, err := c.groups(only)
			switch {
			case err != nil:
				write(w, http.StatusServiceUnavailable, map[string]any{"error": err.Error()})
			case only != "" && len(groups) == 0: // a slip of the name should not look like a group without members
				write(w, http.StatusNotFound, map[string]any{"error": fmt.Sprintf("there is no group %q; /groups lists those that there are", only)})
			default:
				write(w, http.StatusOK, map[string]any{"groups": groups})
			}
		}},
		{"/faults", "the faults that were asked for, and how often each has happened, as JSON", func(w http.ResponseWriter, _ *http.Request) {
			write(w, http.StatusOK, map[string]any{"faults": c.options.Faults.Status()})
		}},
	}
}

func write(w http.ResponseWriter, status int, page any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(page)
}

// groups asks the coordinators as a client would; only one group where a name is given.
func (c *Cluster) groups(only string) ([]groupPage, error) {
	pages := []groupPage{}
	for p, l := range c.shards {
		node := l.leader.Load()
		list := kmsg.NewPtrListGroupsRequest()
		resp, err := l.ask(node, core.Request{Message: list, Version: 5}, nil)
		if err != nil {
			return nil, err
		}
		if code := resp.(*kmsg.ListGroupsResponse).ErrorCode; code != core.None {
			if only == "" || partitionOf(only, len(c.shards)) == int32(p) {
				return nil, fmt.Errorf("the groups of partition %d are being loaded by node %d; ask again", p, node)
			}
			continue
		}
		describe := kmsg.NewPtrDescribeGroupsRequest()
		for _, g := range resp.(*kmsg.ListGroupsResponse).Groups {
			if only == "" || g.Group == only {
				describe.Groups = append(describe.Groups, g.Group)
			}
		}
		if len(describe.Groups) == 0 {
			continue
		}
		if resp, err = l.ask(node, core.Request{Message: describe, Version: 5}, nil); err != nil {
			return nil, err
		}
		for _, g := range resp.(*kmsg.DescribeGroupsResponse).Groups {
			stats, _ := c.stats.Group(g.Group)
			l.do(func() {
				var v core.View
				l.core.View(g.Group, &v)
				stats.Generation = v.Generation
			})
			pages = append(pages, pageOf(g, node, int32(p), stats))
		}
	}
	return pages, nil
}

func pageOf(g kmsg.DescribeGroupsResponseGroup, node, partition int32, s groupstats.Group) groupPage {
	out := groupPage{
		Group: g.Group, Coordinator: node, Partition: partition, State: g.State, ProtocolType: g.ProtocolType, Protocol: g.Protocol,
		Generation: s.Generation, Rebalances: s.Rebalances, LastReason: string(s.Last.Reason), Members: []memberPage{},
	}
	if !s.Since.IsZero() {
		out.Since = &s.Since
	}
	for _, m := range g.Members {
		page := memberPage{ID: m.MemberID, Instance: m.InstanceID, Client: m.ClientID, Host: m.ClientHost}
		assignment := kmsg.NewConsumerMemberAssignment()
		if g.ProtocolType == "consumer" && assignment.ReadFrom(m.MemberAssignment) == nil {
			page.Assignment = map[string][]int32{}
			for _, t := range assignment.Topics {
				page.Assignment[t.Topic] = append(page.Assignment[t.Topic], t.Partitions...)
			}
		}
		out.Members = append(out.Members, page)
	}
	return out
}
