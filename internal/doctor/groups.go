package doctor

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/internal/anomaly"
)

// listed is a group as ListGroups shows it.
type listed struct {
	coordinator  int32
	protocolType string
	state        string // empty before Kafka 2.6
	kind         string // empty before Kafka 3.8
	unlisted     bool   // asked for by name and not listed
}

// list asks every broker for the groups that it coordinates. Brokers that do not answer are returned with the reason.
func (c *cluster) list(ctx context.Context) (map[string]listed, map[int32]error) {
	work := map[int32]struct{}{}
	for _, b := range c.brokers {
		work[b] = struct{}{}
	}
	var mu sync.Mutex
	out := map[string]listed{}
	errs := each(work, func(broker int32, _ struct{}) error {
		answer, err := c.ask(ctx, broker, kmsg.NewPtrListGroupsRequest())
		if err != nil {
			return err
		}
		resp := answer.(*kmsg.ListGroupsResponse)
		if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for _, g := range resp.Groups {
			out[g.Group] = listed{coordinator: broker, protocolType: g.ProtocolType, state: g.GroupState, kind: g.GroupType}
		}
		return nil
	})
	return out, errs
}

// coordinators finds the brokers of groups that were asked for and are not listed: they do not exist, or may not be listed.
func (c *cluster) coordinators(ctx context.Context, groups []string) (map[string]int32, map[string]error) {
	found, bad := map[string]int32{}, map[string]error{}
	for _, g := range groups {
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.CoordinatorKeys = []string{g}
		answer, err := c.askAny(ctx, req)
		if err != nil {
			bad[g] = err
			continue
		}
		resp := answer.(*kmsg.FindCoordinatorResponse)
		code, node := resp.ErrorCode, resp.NodeID
		if len(resp.Coordinators) > 0 {
			code, node = resp.Coordinators[0].ErrorCode, resp.Coordinators[0].NodeID
		}
		if err := kerr.ErrorForCode(code); err != nil {
			bad[g] = err
			continue
		}
		found[g] = node
	}
	return found, bad
}

// described is a group as DescribeGroups shows it.
type described struct {
	state        anomaly.State
	protocolType string
	members      []anomaly.Member
	err          error // Kafka's error for this group
}

// describeBatch is how many groups go into one request: 200 groups of 5 members answer in some 500 KB.
const describeBatch = 200

// describe asks the coordinators about groups.
func (c *cluster) describe(ctx context.Context, groups map[string]int32) (map[string]described, map[int32]error) {
	work := map[int32][]string{}
	for g, broker := range groups {
		work[broker] = append(work[broker], g)
	}
	var mu sync.Mutex
	out := make(map[string]described, len(groups))
	errs := each(work, func(broker int32, all []string) error {
		slices.Sort(all)
		for part := range slices.Chunk(all, describeBatch) {
			req := kmsg.NewPtrDescribeGroupsRequest()
			req.Groups = part
			answer, err := c.ask(ctx, broker, req)
			if err != nil {
				return err
			}
			mu.Lock()
			for _, g := range answer.(*kmsg.DescribeGroupsResponse).Groups {
				out[g.Group] = understand(g)
			}
			mu.Unlock()
		}
		return nil
	})
	return out, errs
}

func understand(g kmsg.DescribeGroupsResponseGroup) described {
	d := described{state: anomaly.State(g.State), protocolType: g.ProtocolType}
	if g.ErrorCode == kerr.GroupIDNotFound.Code {
		d.state = anomaly.Dead // as older versions say it
		return d
	}
	if err := kerr.ErrorForCode(g.ErrorCode); err != nil {
		d.err = err
		return d
	}
	d.members = make([]anomaly.Member, len(g.Members))
	for i, m := range g.Members {
		d.members[i] = anomaly.Member{ID: m.MemberID, Client: m.ClientID, Host: m.ClientHost}
		if m.InstanceID != nil {
			d.members[i].Instance = *m.InstanceID
		}
		if d.state == anomaly.Stable { // in other states brokers may leave it out
			d.members[i].Assignment = anomaly.AssignmentGiven
			if len(m.MemberAssignment) == 0 {
				d.members[i].Assignment = anomaly.AssignmentMissing
			}
		}
	}
	return d
}

// judged says why a group is not judged; empty where it is.
func (l listed) notJudged() string {
	switch {
	case l.kind != "" && l.kind != "classic" && l.kind != "Classic":
		return l.kind + " group"
	case l.protocolType == "share":
		return "share group"
	}
	switch anomaly.State(l.state) {
	case "", anomaly.Empty, anomaly.PreparingRebalance, anomaly.CompletingRebalance, anomaly.Stable, anomaly.Dead:
		return ""
	}
	return fmt.Sprintf("group of another protocol (state %s)", l.state)
}
