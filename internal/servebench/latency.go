package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// others is how many groups rebalance beside the one whose heartbeats are timed.
const others = 500

// beside times heartbeats while other groups rebalance, so often in a second all together, or as often as they can.
func beside(perSecond int) func(context.Context, string, time.Duration) (result, error) {
	return func(ctx context.Context, addr string, d time.Duration) (result, error) {
		members, err := enterAll(addr, others)
		if err != nil {
			return result{}, err
		}
		stop := make(chan struct{})
		var group sync.WaitGroup
		errs := make([]error, len(members))
		done := make([]int64, len(members))
		for i, m := range members {
			group.Go(func() { done[i], errs[i] = m.again(perSecond, i, stop) })
		}
		p99, err := probe(ctx, addr, d)
		close(stop)
		group.Wait()
		if err := errors.Join(append(errs, err)...); err != nil {
			return result{}, err
		}
		var requests int64
		for _, n := range done {
			requests += 2 * n
		}
		if want := int64(float64(2*perSecond) * d.Seconds() * 0.8); requests < want {
			return result{}, fmt.Errorf("%w: %d requests of the groups beside in %v, %d were to be sent", errWrong, requests, d, want)
		}
		return result{p99, requests, func() error { return quitAll(members) }}, nil
	}
}

// again rebalances until stop: once in as many seconds as it takes for all to have so many a second, or all the time. The i-th begins
// at its own time.
func (m *member) again(perSecond, i int, stop <-chan struct{}) (done int64, err error) {
	if perSecond == 0 {
		for {
			select {
			case <-stop:
				return done, nil
			default:
			}
			if err := m.rebalance(); err != nil {
				return done, err
			}
			done++
		}
	}
	every := others * time.Second / time.Duration(perSecond)
	turn := time.NewTimer(every * time.Duration(i) / others)
	defer turn.Stop()
	for {
		select {
		case <-stop:
			return done, nil
		case <-turn.C:
		}
		turn.Reset(every)
		if err := m.rebalance(); err != nil {
			return done, err
		}
		done++
	}
}

// probeCommand makes this program time heartbeats. It is a process of its own, so that the system and not the busy client decides when it reads its answer.
const probeCommand = "probe"

const (
	probeConns = 4
	probePause = 2 * time.Millisecond
	probeLeast = 50 // heartbeats on each connection, however long they take: fewer have no 99th percentile
)

func probe(ctx context.Context, addr string, d time.Duration) (p99 float64, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, self, probeCommand, addr, d.String())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	text, err := bufio.NewReader(out).ReadBytes('\n')
	if err := errors.Join(cmd.Wait(), err); err != nil {
		return 0, fmt.Errorf("timing heartbeats in a process of its own: %w", err)
	}
	return p99, json.Unmarshal(text, &p99)
}

// timeBeats writes the 99th percentile of how long heartbeats take, in milliseconds.
func timeBeats(out io.Writer, addr string, d time.Duration) error {
	members, err := enterAll(addr, probeConns)
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	took := make([][]time.Duration, len(members))
	errs := make([]error, len(members))
	end := time.Now().Add(d)
	for i, m := range members {
		group.Go(func() {
			req := beatOf(m.group, m.id, m.generation)
			for begun := time.Now(); begun.Before(end) || len(took[i]) < probeLeast; begun = time.Now() {
				if _, err := must[*kmsg.HeartbeatResponse](m.conn, req); err != nil {
					errs[i] = err
					return
				}
				took[i] = append(took[i], time.Since(begun))
				time.Sleep(probePause)
			}
		})
	}
	group.Wait()
	if err := errors.Join(errors.Join(errs...), quitAll(members)); err != nil {
		return err
	}
	all := slices.Concat(took...)
	slices.Sort(all)
	_, err = fmt.Fprintln(out, float64(all[len(all)*99/100])/float64(time.Millisecond))
	return err
}
