package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muster-kafka/muster/internal/kafka"
)

// identity is a self-signed certificate of 127.0.0.1 with its key, each on one line, as a properties file has them.
type identity struct{ chain, key string }

func newIdentity(t *testing.T) identity {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "muster test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	line := func(kind string, der []byte) string {
		return strings.ReplaceAll(strings.TrimSpace(string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))), "\n", " ")
	}
	return identity{line("CERTIFICATE", der), line("PRIVATE KEY", pkcs8)}
}

// TestKafkaSecured judges a real broker that wants a certificate of its clients, and then a token (SASL_SSL, ssl.client.auth=required, OAUTHBEARER),
// and is refused without either.
func TestKafkaSecured(t *testing.T) {
	if os.Getenv("MUSTER_NIGHTLY") == "" {
		t.Skip("starts a broker of its own; MUSTER_NIGHTLY=1 runs it, and what properties say is tried on a fake cluster always")
	}
	needKafka(t)
	t.Parallel()
	broker, client, stranger := newIdentity(t), newIdentity(t), newIdentity(t)
	const module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
	settings := map[string]string{
		"sasl.enabled.mechanisms":                            "OAUTHBEARER",
		kafka.SecuredPrefix + "oauthbearer.sasl.jaas.config": module + ` unsecuredLoginStringClaim_sub="broker";`,
	}
	for name, value := range map[string]string{
		"client.auth": "required", "keystore.type": "PEM", "keystore.certificate.chain": broker.chain, "keystore.key": broker.key,
		"truststore.type": "PEM", "truststore.certificates": client.chain,
	} {
		settings[kafka.SecuredPrefix+"ssl."+name] = value
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	b, err := kafka.Start(ctx, kafka.Options{Version: "4.3.1", Secured: "SASL_SSL", Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Stop(context.WithoutCancel(ctx))

	properties := func(own identity, sub string) string {
		text := "security.protocol=SASL_SSL\nssl.truststore.type=PEM\nssl.truststore.certificates=" + broker.chain +
			"\nssl.keystore.type=PEM\nssl.keystore.certificate.chain=" + own.chain + "\nssl.keystore.key=" + own.key +
			"\nsasl.mechanism=OAUTHBEARER\nsasl.jaas.config=" + module + " " + sub + ";\n"
		file := filepath.Join(t.TempDir(), "client.properties")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const alice = `unsecuredLoginStringClaim_sub="alice"`
	run := func(config string) ended {
		return muster(t, time.Minute, "run", "commit-fetch", "heartbeat-refused", "--target", b.SecuredAddr, "--config", config)
	}
	run(properties(client, alice)).expect(t, 0, "verdict: pass", "2 run, 0 skipped")
	muster(t, time.Minute, "doctor", b.SecuredAddr, "--config", properties(client, alice)).expect(t, 0)
	run(properties(stranger, alice)).expect(t, 3, "verdict: unavailable")
	bare := filepath.Join(t.TempDir(), "client.properties")
	text, err := os.ReadFile(properties(client, alice))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bare, []byte(strings.Replace(string(text), "SASL_SSL", "SSL", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	run(bare).expect(t, 3, "verdict: unavailable") // no token
}
