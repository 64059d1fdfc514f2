package embedded

import (
	"context"
	"errors"

	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/wire"
	"github.com/muster-kafka/muster/impl/server"
)

// served is a wire target with a cluster behind it, as muster serve runs it.
type served struct {
	*wire.Target
	options Options
	cluster *server.Cluster
}

// NewServed starts what muster serve runs, one node of it, on a free port of the loopback, and speaks to it over TCP, as target "impl+serve".
func NewServed(ctx context.Context, o Options) (target.Target, error) {
	c, err := server.StartCluster(server.ClusterOptions{Settings: o.settings(), Topics: topics(), Report: o.Report})
	if err != nil {
		return nil, err
	}
	t, err := wire.Open(ctx, wire.Options{
		Addr: c.Addrs()[0], Name: "impl+serve", Own: true, Topic: topicName, Second: otherTopic, Release: Release, Profile: o.profile(),
	})
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &served{t, o, c}, nil
}

// Capabilities are those that wire has found, with the times that are known of this server.
func (t *served) Capabilities() target.Capabilities {
	c := t.Target.Capabilities()
	c.Scale, c.Settle, c.Slack = tcpScale, tcpSettle, tcpSlack
	c.Restart = func(ctx context.Context) error {
		return errors.Join(t.Crash(), t.Recover(ctx))
	}
	return c
}

// Crash and Recover are a kill and a start of all that groups have; what is written of them stays.
func (t *served) Crash() error {
	t.cluster.Crash()
	return nil
}

// Recover is the other half of Crash.
func (t *served) Recover(context.Context) error {
	t.cluster.Recover()
	return nil
}

func (t *served) Close() error { return errors.Join(t.Target.Close(), t.cluster.Close()) }
