package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// crowd is how many members the one large group has.
const crowd = 50

// rebalances lets one group rebalance again and again. One goroutine drives all members, so that nothing is measured of how they would wait for each other.
func rebalances(_ context.Context, addr string, d time.Duration) (r result, err error) {
	conns, err := dialAll(addr, crowd)
	if err != nil {
		return r, err
	}
	defer closeAll(conns)
	group, ids := name(), make([]string, crowd)
	first, err := enter(conns[0], group)
	if err != nil {
		return r, err
	}
	ids[0] = first.id
	for i, c := range conns[1:] {
		resp, err := c.ask(joinOf(group, "", joinVersion, 0))
		if err != nil {
			return r, err
		}
		j := resp.(*kmsg.JoinGroupResponse)
		if ids[i+1] = j.MemberID; j.ErrorCode != kerr.MemberIDRequired.Code {
			return r, fmt.Errorf("%w: the first JoinGroup has %w", errWrong, kerr.ErrorForCode(j.ErrorCode))
		}
	}
	defer func() { err = errors.Join(err, disband(conns, group, ids)) }()
	if err := together(conns, group, ids, 0, func() error { return gathered(addr, group) }); err != nil {
		return r, err
	}
	begun, done := time.Now(), 0
	for time.Since(begun) < d {
		done++
		if err := together(conns, group, ids, uint32(done), nil); err != nil {
			return r, err
		}
	}
	return result{value: float64(done) / time.Since(begun).Seconds(), requests: int64(2 * crowd * done)}, nil
}

// gathered waits until all but the first have come to the group, which lets the rebalance wait for that one.
func gathered(addr, group string) error {
	c, err := dial(addr)
	if err != nil {
		return err
	}
	defer c.Close()
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		req := kmsg.NewPtrDescribeGroupsRequest()
		req.Version, req.Groups = 5, []string{group}
		resp, err := c.ask(req)
		if err != nil {
			return err
		}
		if g := resp.(*kmsg.DescribeGroupsResponse).Groups; len(g) == 1 && len(g[0].Members) == crowd {
			return nil
		}
		if time.Since(begun) > patience {
			return fmt.Errorf("%w: %d members have not come together within %v", errWrong, crowd, patience)
		}
	}
}

// together is one rebalance: all join, the first one last, and all sync, the leader first.
func together(conns []*conn, group string, ids []string, mark uint32, before func() error) error {
	for i := range conns {
		next := (i + 1) % len(conns)
		if next == 0 && before != nil {
			if err := before(); err != nil {
				return err
			}
		}
		if err := conns[next].send(joinOf(group, ids[next], joinVersion, mark)); err != nil {
			return err
		}
	}
	var generation int32
	leader := -1
	for i, c := range conns {
		resp, err := c.read(&kmsg.JoinGroupRequest{Version: joinVersion})
		if err == nil {
			err = good(resp)
		}
		if err != nil {
			return err
		}
		j := resp.(*kmsg.JoinGroupResponse)
		if i > 0 && j.Generation != generation {
			return fmt.Errorf("%w: generations %d and %d", errWrong, generation, j.Generation)
		}
		if generation = j.Generation; j.LeaderID == j.MemberID {
			leader = i
			if len(j.Members) != crowd {
				return fmt.Errorf("%w: %d of %d members have joined", errWrong, len(j.Members), crowd)
			}
		}
	}
	if leader < 0 {
		return fmt.Errorf("%w: nobody leads", errWrong)
	}
	if err := conns[leader].send(syncOf(group, ids[leader], generation, ids...)); err != nil {
		return err
	}
	for i, c := range conns {
		if i == leader {
			continue
		}
		if err := c.send(syncOf(group, ids[i], generation)); err != nil {
			return err
		}
	}
	for _, c := range conns {
		resp, err := c.read(&kmsg.SyncGroupRequest{Version: syncVersion})
		if err == nil {
			err = good(resp)
		}
		if err != nil {
			return err
		}
		if len(resp.(*kmsg.SyncGroupResponse).MemberAssignment) == 0 {
			return fmt.Errorf("%w: nothing is assigned", errWrong)
		}
	}
	return nil
}

func (c *conn) send(req kmsg.Request) error {
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err := c.Write(frame(req))
	return err
}

func disband(conns []*conn, group string, ids []string) error {
	for i, c := range conns {
		if _, err := must[*kmsg.LeaveGroupResponse](c, leaveOf(group, ids[i])); err != nil {
			return err
		}
	}
	_, err := must[*kmsg.DeleteGroupsResponse](conns[0], deleteOf(group))
	return err
}
