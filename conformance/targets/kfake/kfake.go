// Package kfake is the target kfake: franz-go's in-process fake of a Kafka cluster, spoken to over TCP on the loopback interface
// as any other broker would be.
package kfake

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/muster-kafka/muster/conformance/targets/wire"
)

// minSession is the smallest session timeout allowed, as on the harness's Kafka brokers.
const minSession = 10 * time.Millisecond

// Target is a fake of ours.
type Target struct {
	*wire.Target
	cluster *kfake.Cluster
}

// newCluster starts a cluster of one broker. It has no initial rebalance delay, whatever its settings say.
func newCluster(port int, more ...kfake.Opt) (*kfake.Cluster, error) {
	return kfake.NewCluster(append([]kfake.Opt{
		kfake.NumBrokers(1),
		kfake.Ports(port), // on the loopback address
		kfake.GroupMinSessionTimeout(minSession),
		kfake.BrokerConfigs(map[string]string{
			"group.min.session.timeout.ms":     fmt.Sprint(minSession.Milliseconds()),
			"group.initial.rebalance.delay.ms": "0",
		}),
	}, more...)...)
}

// Open starts a cluster of one broker in this process.
func Open(ctx context.Context) (*Target, error) {
	cluster, err := newCluster(0)
	if err != nil {
		return nil, fmt.Errorf("starting kfake: %w", err)
	}
	w, err := wire.Open(ctx, wire.Options{Addr: cluster.ListenAddrs()[0], Name: "kfake", Own: true, Profile: "default"})
	if err != nil {
		cluster.Close()
		return nil, err
	}
	return &Target{Target: w, cluster: cluster}, nil
}

// Close ends the cluster.
func (t *Target) Close() error {
	t.Abandon()
	t.cluster.Close()
	return nil
}
