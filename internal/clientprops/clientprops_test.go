package clientprops

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	ca := newCA(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pemFile := write("ca.pem", ca.certPEM)
	jksFile := write("store.jks", "\xfe\xed\xfe\xed\x00\x00\x00\x02")
	oneLine := strings.ReplaceAll(strings.TrimSpace(ca.certPEM), "\n", " ")
	const plain = `sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p";` + "\n"
	const scram = `sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="u" password="p";` + "\n"

	for name, c := range map[string]struct {
		text     string
		err      string // part of the error; "" for none
		tls      bool
		sasl     string
		warnings []string
	}{
		"nothing":                {text: ""},
		"plaintext":              {text: "bootstrap.servers=a:1, b:2\nsecurity.protocol=PLAINTEXT\nrequest.timeout.ms=5\n", warnings: []string{"request.timeout.ms has no effect here"}},
		"lower case":             {text: "security.protocol=ssl\n", tls: true},
		"unknown protocol":       {text: "security.protocol=TLS\n", err: "security.protocol=TLS is unknown"},
		"store without protocol": {text: "ssl.truststore.location=x\n", warnings: []string{"ssl.truststore.location has no effect here"}},

		"PEM file":          {text: "security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location=" + pemFile, tls: true},
		"PEM without type":  {text: "security.protocol=SSL\nssl.truststore.location=" + pemFile, tls: true, warnings: []string{"ssl.truststore.type is not set, which means JKS to Kafka; the file is PEM and is read so"}},
		"PEM in the file":   {text: "security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.certificates=" + oneLine, tls: true},
		"both":              {text: "security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.certificates=x\nssl.truststore.location=y", err: "keep one"},
		"JKS":               {text: "security.protocol=SSL\nssl.truststore.location=" + jksFile, err: "keytool -list -rfc -keystore " + jksFile},
		"type JKS":          {text: "security.protocol=SSL\nssl.truststore.type=JKS\nssl.truststore.location=" + pemFile, err: "only PEM"},
		"key store of JKS":  {text: "security.protocol=SSL\nssl.keystore.location=" + jksFile, err: "openssl pkcs12"},
		"no file":           {text: "security.protocol=SSL\nssl.truststore.location=/does/not/exist", err: "no such file"},
		"empty PEM":         {text: "security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.certificates=nothing", err: "no certificate"},
		"certificate alone": {text: "security.protocol=SSL\nssl.keystore.type=PEM\nssl.keystore.location=" + pemFile, err: "private key"},
		"key store": {text: "security.protocol=SSL\nssl.keystore.type=PEM\nssl.keystore.certificate.chain=" + oneLine +
			"\nssl.keystore.key=" + strings.ReplaceAll(strings.TrimSpace(ca.keyPEM), "\n", " "), tls: true},
		"encrypted key": {text: "security.protocol=SSL\nssl.keystore.type=PEM\nssl.keystore.certificate.chain=" + oneLine +
			"\nssl.keystore.key=-----BEGIN ENCRYPTED PRIVATE KEY----- AAAA -----END ENCRYPTED PRIVATE KEY-----", err: "openssl pkey"},
		"old TLS":         {text: "security.protocol=SSL\nssl.enabled.protocols=TLSv1.1", err: "TLSv1.1 is not supported"},
		"strange checker": {text: "security.protocol=SSL\nssl.endpoint.identification.algorithm=LDAPS", err: "ldaps is unknown"},

		"PLAIN":             {text: "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n" + plain, sasl: "PLAIN"},
		"SCRAM-SHA-256":     {text: "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-256\n" + scram, sasl: "SCRAM-SHA-256", tls: true},
		"SCRAM-SHA-512":     {text: "security.protocol=SASL_SSL\nsasl.mechanism=scram-sha-512\n" + scram, sasl: "SCRAM-SHA-512", tls: true},
		"no mechanism":      {text: "security.protocol=SASL_PLAINTEXT\n" + plain, err: "GSSAPI"},
		"unknown mechanism": {text: "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=GSSAPI\n" + plain, err: "SCRAM-SHA-512 or OAUTHBEARER"},
		"module of neither": {text: "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n" + plain, err: "needs the class OAuthBearerLoginModule"},
		"no JAAS":           {text: "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n", err: "sasl.jaas.config is missing"},
		"module of SCRAM":   {text: "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n" + scram, err: "needs the class PlainLoginModule"},
		"module of PLAIN":   {text: "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\n" + plain, err: "needs the class ScramLoginModule"},
		"no password":       {text: "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config=x.PlainLoginModule required username=u;", err: "lacks username or password"},
		"nothing expanded":  {text: "security.protocol=PLAINTEXT\nclient.id=${nope}\n", warnings: []string{"client.id has no effect here"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse([]byte(c.text))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want one with %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if (got.TLS != nil) != c.tls {
				t.Errorf("TLS %v, want %v", got.TLS != nil, c.tls)
			}
			mechanism := ""
			if got.SASL != nil {
				mechanism = got.SASL.Name()
			}
			if mechanism != c.sasl {
				t.Errorf("SASL %q, want %q", mechanism, c.sasl)
			}
			if !slices.Equal(got.Warnings, c.warnings) {
				t.Errorf("warnings %q, want %q", got.Warnings, c.warnings)
			}
		})
	}
}

func TestJAAS(t *testing.T) {
	for text, want := range map[string]string{ // want: the password, or "!" and a part of the error
		`a.PlainLoginModule required username="u" password="p";`:             `p`,
		`a.PlainLoginModule  REQUIRED  username=u  password=p ;`:             `p`,
		`a.PlainLoginModule required username='u' password='p;= "q"';`:       `p;= "q"`,
		`a.PlainLoginModule required username="u" password="a\"b\\c";`:       `a"b\c`,
		`a.PlainLoginModule required username = "u" password = "p" x="y";`:   `p`,
		`a.PlainLoginModule required username="u" password="p"`:              `!semicolon`,
		`a.PlainLoginModule username="u" password="p";`:                      `!control flag`,
		`a.PlainLoginModule required username="u" password="p;`:              `!quote`,
		`a.PlainLoginModule required username password;`:                     `!NAME=VALUE`,
		`a.M required username="u" password="p"; b.N required username="v";`: `!more than one`,
		`;`: `!not complete`,
	} {
		_, options, err := parseJAAS(text)
		if part, bad := strings.CutPrefix(want, "!"); bad {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: error %v, want one with %q", text, err, part)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if options["password"] != want {
			t.Errorf("%s: password %q, want %q", text, options["password"], want)
		}
	}
}

// TestErrorsKeepSecrets looks for the password in the errors of broken files.
func TestErrorsKeepSecrets(t *testing.T) {
	for _, jaas := range []string{
		`x.PlainLoginModule required username="u" password="geheim"`,
		`x.PlainLoginModule required username="u" password="geheim;`,
		`x.PlainLoginModule username="u" password="geheim";`,
		`x.ScramLoginModule required username="u" password="geheim";`,
		`x.PlainLoginModule required username "geheim";`,
	} {
		_, err := Parse([]byte("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config=" + jaas + "\n"))
		if err == nil {
			t.Errorf("%s was accepted", jaas)
		} else if strings.Contains(err.Error(), "geheim") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
}

func TestBootstrap(t *testing.T) {
	c, err := Parse([]byte("bootstrap.servers=a:1, b:2"))
	if err != nil || !slices.Equal(c.Bootstrap, []string{"a:1", "b:2"}) {
		t.Errorf("bootstrap %q, error %v", c.Bootstrap, err)
	}
	if _, err := Read("/does/not/exist.properties"); err == nil || !strings.Contains(err.Error(), "exist.properties") {
		t.Errorf("a missing file gives %v", err)
	}
}
