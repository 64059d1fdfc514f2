package differ_test

import (
	"context"
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/muster-kafka/muster/conformance/target"
)

// mortal is a coordinator that ends for good when it is asked to join without a protocol.
type mortal struct {
	target.Target
	t     *testing.T
	dead  bool
	lives int
}

func (m *mortal) Dead() (string, bool) { return "panic: no protocol\n\nand more", m.dead }

func (m *mortal) Revive(context.Context) error {
	if m.dead {
		m.Target, m.dead = impl(m.t), false
		m.lives++
	}
	return nil
}

func (m *mortal) Dial(ctx context.Context, id string) (target.Conn, error) {
	if m.dead {
		return nil, errors.New("nobody is there")
	}
	conn, err := m.Target.Dial(ctx, id)
	return mortalConn{conn, m}, err
}

type mortalConn struct {
	target.Conn
	m *mortal
}

func (c mortalConn) Send(req kmsg.Request, version int16) *target.Call {
	if join, ok := req.(*kmsg.JoinGroupRequest); ok && len(join.Protocols) == 0 {
		c.m.dead = true
	}
	if !c.m.dead {
		return c.Conn.Send(req, version)
	}
	call := target.NewCall(req, version, c.m.Clock().Now())
	call.Finish(nil, target.ErrClosed, c.m.Clock().Now())
	return call
}

// A target that ends is started anew, the request that ended it is found, and the run goes on without it.
func TestFindsWhatKills(t *testing.T) {
	m := &mortal{Target: impl(t), t: t}
	rep := run(t, impl(t), m, 150)
	if len(rep.Classes) != 1 || rep.Counts.Deaths == 0 {
		t.Fatal(told(rep))
	}
	c := rep.Classes[0]
	if !c.Dies || c.Verb != "join" || len(c.Sequence.Lines) > 2 || c.Words == "" || c.Known != "" {
		t.Errorf("%+v\n%s", c, told(rep))
	}
	if rep.Counts.Deaths > 3 {
		t.Errorf("it was killed %d times: what kills should be spared", rep.Counts.Deaths)
	}
}
