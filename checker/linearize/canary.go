package linearize

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
)

// canary measures how far the machine, the network and the target fall behind: it sleeps a little, asks about a group of its own that
// never exists, and takes what both take longer than the sleep. A timer that is late by as much proves nothing.
type canary struct {
	target target.Target
	group  string

	worst, total time.Duration // read after watch has returned
}

const (
	canaryPause = 10 * time.Millisecond
	// stallFrom is the lateness from which on a round counts as stalled; below it is ordinary scheduling.
	stallFrom = 50 * time.Millisecond
	// maxStalled is the share of a run that may be stalled before nothing can be said.
	maxStalled = 0.2
)

func (c *canary) watch(ctx context.Context) error {
	conn, err := c.target.Dial(ctx, "canary")
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("canary cannot connect to %s: %w", c.target.Name(), err)
	}
	defer conn.Close()
	clock := c.target.Clock()
	version := c.target.Capabilities().Versions[int16(kmsg.DescribeGroups)].Max
	for ctx.Err() == nil {
		began := clock.Now()
		if clock.Sleep(ctx, canaryPause) != nil {
			return nil
		}
		req := kmsg.NewPtrDescribeGroupsRequest()
		req.Groups = []string{c.group}
		answered := clock.Await(ctx, conn.Send(req, min(version, 5)), 10*time.Second)
		c.saw(clock.Now().Sub(began) - canaryPause)
		if !answered {
			if ctx.Err() == nil {
				return fmt.Errorf("canary: %s does not answer DescribeGroups", c.target.Name())
			}
			return nil
		}
	}
	return nil
}

func (c *canary) saw(late time.Duration) {
	if late < stallFrom {
		return
	}
	c.worst = max(c.worst, late)
	c.total += late
}
