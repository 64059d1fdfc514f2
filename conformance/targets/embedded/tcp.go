package embedded

import (
	"context"
	"errors"
	"time"

	"github.com/muster-kafka/muster/conformance/target"
	"github.com/muster-kafka/muster/conformance/targets/wire"
	"github.com/muster-kafka/muster/impl/server"
)

// How the coordinator over TCP is driven: as the harness's own brokers are, but it answers faster.
const (
	tcpScale  = 1.0 / 20
	tcpSettle = 20 * time.Millisecond
	tcpSlack  = 100 * time.Millisecond
)

// tcp is a wire target with the server behind it.
type tcp struct {
	*wire.Target
	*writer
	options Options
	server  *server.Server
}

// NewTCP starts the reference coordinator on a free port of the loopback and speaks to it over TCP, as target "impl+tcp".
func NewTCP(ctx context.Context, o Options) (target.Target, error) {
	w := newWriter()
	s, err := server.Start(server.Options{Settings: o.settings(), Topics: topics(), Log: w.log, Report: o.Report, Watch: watching(o.Watch)})
	if err != nil {
		return nil, err
	}
	t, err := wire.Open(ctx, wire.Options{
		Addr: s.Addr(), Name: "impl+tcp", Own: true, Topic: topicName, Release: Release, Profile: o.profile(),
	})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &tcp{t, w, o, s}, nil
}

// Capabilities are those that wire has found, with the times that are known of this server.
func (t *tcp) Capabilities() target.Capabilities {
	c := t.Target.Capabilities()
	c.Scale, c.Settle, c.Slack = tcpScale, tcpSettle, tcpSlack
	return c
}

func (t *tcp) Close() error { return errors.Join(t.Target.Close(), t.server.Close()) }
