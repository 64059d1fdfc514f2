package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// line is something that is measured.
type line struct {
	name, what string
	unit       string
	each       string // the requests that it sends
	lower      bool   // the lower, the better
	measure    func(ctx context.Context, addr string, d time.Duration) (result, error)
}

// result is a number in the line's unit, how many requests it took, and what is to be done when it has been taken down; after may be nil.
type result struct {
	value    float64
	requests int64
	after    func() error
}

const (
	perSecond = "1/s"
	millis    = "ms"
)

var lines = []line{
	{"heartbeat 64x16", "Heartbeat of the only member of a Stable group; 64 connections, a group each, 16 requests on their way on each", perSecond, "Heartbeat", false, pumped(64, 16, func(m *member) kmsg.Request { return beatOf(m.group, m.id, m.generation) })},
	{"heartbeat 16x1", "the same with 16 connections that wait for each answer", perSecond, "Heartbeat", false, pumped(16, 1, func(m *member) kmsg.Request { return beatOf(m.group, m.id, m.generation) })},
	{"commit 16x1", "OffsetCommit of one partition by the member of a Stable group; 16 connections, a group each, that wait for each answer", perSecond, "OffsetCommit", false, pumped(16, 1, func(m *member) kmsg.Request { return commitOf(m.group, m.id, m.generation) })},
	{"fetch 16x1", "OffsetFetch of one partition that has an offset; 16 connections, a group each, that wait for each answer", perSecond, "OffsetFetch", false, pumped(16, 1, func(m *member) kmsg.Request { return fetchOf(m.group) })},
	{"rebalances of 50", "one group of 50 members, a connection each, that all join with a changed subscription and then sync", perSecond, "JoinGroup, SyncGroup", false, rebalances},
	{"groups created", "JoinGroup (version 3) that makes a group and is answered with its first generation; 16 connections that wait for each answer", perSecond, "JoinGroup", false, created},
	{"lifetimes", "a group from its first JoinGroup to DeleteGroups: the member id, JoinGroup, SyncGroup, Heartbeat, OffsetCommit, LeaveGroup, DeleteGroups; 16 connections that wait for each answer", perSecond, "seven kinds", false, lifetimes},
	{"p99 at 500/s", "the 99th percentile of how long a Heartbeat takes, asked by a process of its own on 4 connections, every 2 ms on each, while 500 other groups, each of one member with a connection of its own, rebalance once a second each", millis, "", true, beside(500)},
	{"p99 flat out", "the same while these groups rebalance as often as they can", millis, "", true, beside(0)},
}

var names atomic.Int64

// name is one that no group has had.
func name() string { return fmt.Sprintf("bench-%d-%d", time.Now().UnixNano(), names.Add(1)) }

// timed lets work go on on all connections until the time is over, and counts what it says it has done.
func timed(addr string, conns int, d time.Duration, work func(c *conn, stop <-chan struct{}) (done, requests int, err error)) (result, error) {
	all, err := dialAll(addr, conns)
	if err != nil {
		return result{}, err
	}
	defer closeAll(all)
	var group sync.WaitGroup
	var done, requests atomic.Int64
	errs := make([]error, conns)
	stop := make(chan struct{})
	begun := time.Now()
	for i, c := range all {
		_ = c.SetDeadline(begun.Add(d + patience))
		group.Go(func() {
			n, r, err := work(c, stop)
			done.Add(int64(n))
			requests.Add(int64(r))
			errs[i] = err
		})
	}
	time.Sleep(d)
	close(stop)
	group.Wait()
	return result{value: float64(done.Load()) / time.Since(begun).Seconds(), requests: requests.Load()}, errors.Join(errs...)
}

// pumped is one request again and again.
func pumped(conns, depth int, request func(*member) kmsg.Request) func(context.Context, string, time.Duration) (result, error) {
	return func(_ context.Context, addr string, d time.Duration) (result, error) {
		members, err := enterAll(addr, conns)
		if err != nil {
			return result{}, err
		}
		for _, m := range members {
			if _, err := must[*kmsg.OffsetCommitResponse](m.conn, commitOf(m.group, m.id, m.generation)); err != nil {
				return result{}, err
			}
		}
		next := make(chan *member, conns)
		for _, m := range members {
			next <- m
		}
		r, err := timed(addr, conns, d, func(c *conn, stop <-chan struct{}) (int, int, error) {
			n, err := c.pump(request(<-next), depth, stop, good)
			return n, n, err
		})
		r.after = func() error { return quitAll(members) }
		return r, err
	}
}

// enterAll makes groups of one member, each with its connection.
func enterAll(addr string, n int) (members []*member, err error) {
	for range n {
		c, err := dial(addr)
		if err != nil {
			return members, err
		}
		m, err := enter(c, name())
		if err != nil {
			return members, errors.Join(err, c.Close())
		}
		members = append(members, m)
	}
	return members, nil
}

func quitAll(members []*member) (err error) {
	for _, m := range members {
		err = errors.Join(err, m.quit(), m.conn.Close())
	}
	return err
}

func created(_ context.Context, addr string, d time.Duration) (result, error) {
	var mu sync.Mutex
	var made []*member
	r, err := timed(addr, 16, d, func(c *conn, stop <-chan struct{}) (n, _ int, err error) {
		var mine []*member
		for ; ; n++ {
			select {
			case <-stop:
				mu.Lock()
				made = append(made, mine...)
				mu.Unlock()
				return n, n, nil
			default:
			}
			m := &member{group: name()}
			resp, err := must[*kmsg.JoinGroupResponse](c, joinOf(m.group, "", oneJoinVersion, 0))
			if err != nil {
				return n, n, err
			}
			m.id = resp.MemberID
			mine = append(mine, m)
		}
	})
	r.after = func() error { return sweep(addr, made) }
	return r, err
}

// sweep ends groups, so that what comes next does not suffer from them.
func sweep(addr string, members []*member) error {
	c, err := dial(addr)
	if err != nil {
		return err
	}
	defer c.Close()
	for len(members) > 0 {
		n := min(len(members), 500)
		var groups []string
		for _, m := range members[:n] {
			m.conn = c
			if _, err := must[*kmsg.LeaveGroupResponse](c, leaveOf(m.group, m.id)); err != nil {
				return err
			}
			groups = append(groups, m.group)
		}
		if _, err := must[*kmsg.DeleteGroupsResponse](c, deleteOf(groups...)); err != nil {
			return err
		}
		members = members[n:]
	}
	return nil
}

func lifetimes(_ context.Context, addr string, d time.Duration) (result, error) {
	return timed(addr, 16, d, func(c *conn, stop <-chan struct{}) (n, requests int, err error) {
		for ; ; n++ {
			select {
			case <-stop:
				return n, 7 * n, nil
			default:
			}
			m, err := enter(c, name())
			if err != nil {
				return n, 7 * n, err
			}
			if _, err := must[*kmsg.HeartbeatResponse](c, beatOf(m.group, m.id, m.generation)); err != nil {
				return n, 7 * n, err
			}
			if _, err := must[*kmsg.OffsetCommitResponse](c, commitOf(m.group, m.id, m.generation)); err != nil {
				return n, 7 * n, err
			}
			if err := m.quit(); err != nil {
				return n, 7 * n, err
			}
		}
	})
}
