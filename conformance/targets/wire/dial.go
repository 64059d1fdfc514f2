package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"
)

// dialer opens links, secured as the options say.
type dialer struct {
	addr, host string // of the seed
	tls        *tls.Config
	sasl       sasl.Mechanism
	timeout    time.Duration
	nulls      bool // see Options.Nulls

	through func(addr string) (string, error) // see Target.Divert; nil: nothing stands between
}

// netDial opens the TCP or TLS connection alone; an empty address means the seed.
func (d dialer) netDial(ctx context.Context, addr string) (net.Conn, error) {
	host := d.host
	if addr == "" {
		addr = d.addr
	} else if h, _, err := net.SplitHostPort(addr); err == nil {
		host = h
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	if d.through != nil {
		var err error
		if addr, err = d.through(addr); err != nil {
			return nil, err
		}
	}
	var nd net.Dialer
	conn, err := nd.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrUnreachable, err)
	}
	if d.tls == nil {
		return conn, nil
	}
	cfg := d.tls.Clone()
	if cfg.ServerName == "" {
		cfg.ServerName = host
	}
	secure := tls.Client(conn, cfg)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, tlsError(addr, err)
	}
	return secure, nil
}

func tlsError(addr string, err error) error {
	var record tls.RecordHeaderError
	if errors.As(err, &record) {
		return fmt.Errorf("%w: %s does not speak TLS: set security.protocol to PLAINTEXT or SASL_PLAINTEXT (%v)", ErrAuth, addr, err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %s does not answer a TLS handshake: does it speak TLS? (%w)", ErrAuth, addr, err)
	}
	return fmt.Errorf("%w: the TLS handshake with %s failed (%w)", ErrAuth, addr, err)
}

// dial opens a link and authenticates it.
func (d dialer) dial(ctx context.Context, addr, clientID string) (*link, error) {
	conn, err := d.netDial(ctx, addr)
	if err != nil {
		return nil, err
	}
	l := newLink(conn, clientID, d.nulls)
	if d.sasl == nil {
		return l, nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	if addr == "" {
		addr = d.addr
	}
	if err := authenticate(ctx, l, d.sasl, addr); err != nil {
		_ = l.close()
		return nil, fmt.Errorf("%w (%s: %w)", ErrAuth, d.sasl.Name(), err)
	}
	return l, nil
}

// authenticate drives the mechanism through SaslHandshake and SaslAuthenticate.
func authenticate(ctx context.Context, l *link, mech sasl.Mechanism, addr string) error {
	hs := kmsg.NewPtrSASLHandshakeRequest()
	hs.Mechanism = mech.Name()
	resp, err := l.roundTrip(ctx, hs, 1)
	if err != nil {
		return err
	}
	shake := resp.(*kmsg.SASLHandshakeResponse)
	if err := kerr.ErrorForCode(shake.ErrorCode); err != nil {
		return fmt.Errorf("%w; it offers %v", err, shake.SupportedMechanisms)
	}
	session, msg, err := mech.Authenticate(ctx, addr)
	if err != nil {
		return err
	}
	for done := false; !done; {
		req := kmsg.NewPtrSASLAuthenticateRequest()
		req.SASLAuthBytes = msg
		resp, err := l.roundTrip(ctx, req, 1)
		if err != nil {
			return err
		}
		auth := resp.(*kmsg.SASLAuthenticateResponse)
		if err := kerr.ErrorForCode(auth.ErrorCode); err != nil {
			if auth.ErrorMessage != nil {
				return fmt.Errorf("%w: %s", err, *auth.ErrorMessage)
			}
			return err
		}
		if done, msg, err = session.Challenge(auth.SASLAuthBytes); err != nil {
			return err
		}
	}
	return nil
}
