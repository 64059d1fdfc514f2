package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// TestSecure joins over TLS and SASL on the actors' own connections, and meets refusals of each kind.
func TestSecure(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate, which is for 127.0.0.1
	defer web.Close()
	serverTLS := &tls.Config{Certificates: web.TLS.Certificates}
	pool := x509.NewCertPool()
	pool.AddCert(web.Certificate())
	clientTLS := &tls.Config{RootCAs: pool}

	user := func(pass string) sasl.Mechanism { return plain.Auth{User: "admin", Pass: pass}.AsMechanism() }
	scram256 := scram.Auth{User: "admin", Pass: "s3cret"}.AsSha256Mechanism()
	enable := func(method string) []kfake.Opt {
		return []kfake.Opt{kfake.EnableSASL(), kfake.Superuser(method, "admin", "s3cret")}
	}
	for name, c := range map[string]struct {
		server []kfake.Opt
		tls    *tls.Config
		sasl   sasl.Mechanism
		kind   error
	}{
		"TLS":            {server: []kfake.Opt{kfake.TLS(serverTLS)}, tls: clientTLS},
		"PLAIN":          {server: enable("PLAIN"), sasl: user("s3cret")},
		"SCRAM over TLS": {server: append(enable("SCRAM-SHA-256"), kfake.TLS(serverTLS)), tls: clientTLS, sasl: scram256},

		"no TLS where it is wanted":  {server: []kfake.Opt{kfake.TLS(serverTLS)}, kind: ErrNotKafka},
		"TLS where there is none":    {tls: clientTLS, kind: ErrAuth},
		"not trusted":                {server: []kfake.Opt{kfake.TLS(serverTLS)}, tls: &tls.Config{}, kind: ErrAuth},
		"wrong password":             {server: enable("PLAIN"), sasl: user("wrong"), kind: ErrAuth},
		"other mechanism":            {server: enable("PLAIN"), sasl: scram256, kind: ErrAuth},
		"no SASL where it is wanted": {server: enable("PLAIN"), kind: ErrAuth},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := newFake(t, c.server...)
			opts := Options{Addr: cluster.ListenAddrs()[0], TLS: c.tls, SASL: c.sasl, Timeout: time.Second, Own: true}
			if c.kind != nil {
				tg, err := Open(context.Background(), opts)
				if err == nil {
					_ = tg.Close()
				}
				if !errors.Is(err, c.kind) {
					t.Errorf("error %v\nwant %v", err, c.kind)
				}
				return
			}
			tg := open(t, opts)
			join(t, dial(t, tg, "A"), tg.caps.Prefix+"g")
		})
	}
}
