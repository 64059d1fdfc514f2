package embedded

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/wire"
	"github.com/muster-kafka/muster/impl/server"
	"github.com/muster-kafka/muster/impl/store"
)

// troubled is such a target whose log can be made to fail and to hang: where it is on disk it cannot.
type troubled struct {
	*served
	*writer
}

// served is a wire target with a cluster behind it, as muster serve runs it.
type served struct {
	*wire.Target
	options Options
	cluster *server.Cluster
	disk    *store.Disk // nil where all is in memory
}

// NewServed starts what muster serve runs, one node of it, on a free port of the loopback, and speaks to it over TCP, as target "impl+serve".
func NewServed(ctx context.Context, o Options) (target.Target, error) {
	s := &served{options: o}
	opts := server.ClusterOptions{Settings: o.settings(), Topics: topics(), Report: o.Report}
	var err error
	w := newWriter()
	if opts.Log = w.log; o.Data != "" {
		s.disk, err = store.Open(store.Options{Dir: filepath.Join(o.Data, "groups"), CompactAfter: o.CompactAfter, Report: o.Report})
		if err != nil {
			return nil, err
		}
		opts.Log, opts.Records = s.disk, filepath.Join(o.Data, "kfake")
	}
	if s.cluster, err = server.StartCluster(opts); err != nil {
		return nil, errors.Join(err, s.end())
	}
	if _, err = s.cluster.AwaitLoad(ctx); err != nil {
		return nil, errors.Join(err, s.end())
	}
	s.Target, err = wire.Open(ctx, wire.Options{
		Addr: s.cluster.Addrs()[0], Name: "impl+serve", Own: true, Topic: topicName, Second: otherTopic, Release: Release, Profile: o.profile(),
	})
	if err != nil {
		return nil, errors.Join(err, s.end())
	}
	if o.Data == "" {
		return &troubled{s, w}, nil
	}
	return s, nil
}

func (t *served) end() (err error) {
	if t.cluster != nil {
		err = t.cluster.Close()
	}
	if t.disk != nil {
		err = errors.Join(err, t.disk.Close())
	}
	return err
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

func (t *served) Close() error { return errors.Join(t.Target.Close(), t.end()) }
