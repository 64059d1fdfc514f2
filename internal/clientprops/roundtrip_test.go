package clientprops

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// authority is a self-signed certificate that also serves a listener.
type authority struct {
	certPEM, keyPEM string
	pair            tls.Certificate
}

// newCA makes one for the given names; none means 127.0.0.1.
func newCA(t *testing.T, names ...string) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "muster test"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		DNSNames:              names,
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	if len(names) == 0 {
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	a := authority{
		certPEM: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		keyPEM:  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})),
	}
	if a.pair, err = tls.X509KeyPair([]byte(a.certPEM), []byte(a.keyPEM)); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestRoundTrip talks to a fake cluster as a file says, and is refused where the file is wrong.
func TestRoundTrip(t *testing.T) {
	ca, other, named := newCA(t), newCA(t), newCA(t, "elsewhere.example")
	jaas := func(module, pass string) string {
		return fmt.Sprintf("sasl.jaas.config=org.apache.kafka.common.security.%s required username=\"admin\" password=\"%s\";\n", module, pass)
	}
	trust := func(a authority) string {
		return "ssl.truststore.type=PEM\nssl.truststore.certificates=" + strings.ReplaceAll(strings.TrimSpace(a.certPEM), "\n", "\\n\\\n  ") + "\n"
	}
	own := func(a authority) string {
		oneLine := func(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", " ") }
		return "ssl.keystore.type=PEM\nssl.keystore.certificate.chain=" + oneLine(a.certPEM) + "\nssl.keystore.key=" + oneLine(a.keyPEM) + "\n"
	}
	for name, c := range map[string]struct {
		server  []kfake.Opt
		text    string
		refused string
	}{
		"TLS":                      {server: []kfake.Opt{kfake.TLS(serverTLS(ca))}, text: "security.protocol=SSL\n" + trust(ca)},
		"TLS, not trusted":         {server: []kfake.Opt{kfake.TLS(serverTLS(ca))}, text: "security.protocol=SSL\n" + trust(other), refused: "unknown authority"},
		"TLS, other name":          {server: []kfake.Opt{kfake.TLS(serverTLS(named))}, text: "security.protocol=SSL\n" + trust(named), refused: "127.0.0.1"},
		"TLS, any name":            {server: []kfake.Opt{kfake.TLS(serverTLS(named))}, text: "security.protocol=SSL\nssl.endpoint.identification.algorithm=\n" + trust(named)},
		"any name, no trust":       {server: []kfake.Opt{kfake.TLS(serverTLS(named))}, text: "security.protocol=SSL\nssl.endpoint.identification.algorithm=\n" + trust(other), refused: "unknown authority"},
		"a certificate of its own": {server: []kfake.Opt{kfake.TLS(mutual(ca, other))}, text: "security.protocol=SSL\n" + trust(ca) + own(other)},
		"another's certificate":    {server: []kfake.Opt{kfake.TLS(mutual(ca, other))}, text: "security.protocol=SSL\n" + trust(ca) + own(named), refused: "tls: "},
		"no certificate":           {server: []kfake.Opt{kfake.TLS(mutual(ca, other))}, text: "security.protocol=SSL\n" + trust(ca), refused: "tls: "},
		"PLAIN": {
			server: []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("PLAIN", "admin", "s3cret")},
			text:   "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n" + jaas("plain.PlainLoginModule", "s3cret"),
		},
		"PLAIN, wrong password": {
			server:  []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("PLAIN", "admin", "s3cret")},
			text:    "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n" + jaas("plain.PlainLoginModule", "wrong"),
			refused: "EOF", // all that kfake says
		},
		"SCRAM over TLS": {
			server: []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", "admin", "s3cret"), kfake.TLS(serverTLS(ca))},
			text:   "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n" + trust(ca) + jaas("scram.ScramLoginModule", "s3cret"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, err := kfake.NewCluster(append(c.server, kfake.NumBrokers(1))...)
			if err != nil {
				t.Fatal(err)
			}
			defer cluster.Close()
			cfg, err := Parse([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if len(cfg.Warnings) > 0 {
				t.Errorf("warnings: %q", cfg.Warnings)
			}
			cl, err := kgo.NewClient(append(cfg.KgoOpts(), kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.RequestRetries(0), kgo.RetryTimeout(2*time.Second))...)
			if err != nil {
				t.Fatal(err)
			}
			defer cl.Close()
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			err = cl.Ping(ctx)
			switch {
			case c.refused == "" && err != nil:
				t.Fatalf("refused: %v", err)
			case c.refused != "" && err == nil:
				t.Fatal("accepted, want a refusal")
			case c.refused != "" && !strings.Contains(err.Error(), c.refused):
				t.Fatalf("refused with %v, want %q", err, c.refused)
			}
		})
	}
}

// mutual is a server that wants a certificate of its clients (ssl.client.auth=required).
func mutual(a, clients authority) *tls.Config {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(clients.certPEM))
	return &tls.Config{Certificates: []tls.Certificate{a.pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
}

func serverTLS(a authority) *tls.Config { return &tls.Config{Certificates: []tls.Certificate{a.pair}} }
