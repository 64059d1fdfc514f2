package wire

import (
	"context"
	"net"

	"github.com/twmb/franz-go/pkg/sasl"
)

// Clients is how other clients than a judge's actors reach the target: an address to begin at, a function that dials, encrypted where the
// target is, and how to log in, or nil. The connections are not diverted. Of a single broker all addresses are the one given, whatever it
// advertises.
func (t *Target) Clients() (addr string, dial func(ctx context.Context, network, addr string) (net.Conn, error), auth sasl.Mechanism) {
	return t.opts.Addr, func(ctx context.Context, _, addr string) (net.Conn, error) {
		if !t.table.many() {
			addr = ""
		}
		return t.dialer.netDial(ctx, addr)
	}, t.opts.SASL
}
