package clientprops

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
)

func readTLS(s *settings) (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if list := s.get("ssl.enabled.protocols"); list != "" {
		if err := setVersions(cfg, list); err != nil {
			return nil, err
		}
	}
	_ = s.get("ssl.protocol") // the context's name in Java; what is used is decided by ssl.enabled.protocols
	roots, err := readTruststore(s)
	if err != nil {
		return nil, err
	}
	cfg.RootCAs = roots
	cert, err := readKeystore(s)
	if err != nil {
		return nil, err
	}
	if cert != nil {
		cfg.Certificates = []tls.Certificate{*cert}
	}
	const names = "ssl.endpoint.identification.algorithm"
	switch algorithm := strings.ToLower(s.get(names)); {
	case algorithm == "https" || !s.has(names):
	case algorithm == "":
		trustAnyName(cfg)
	default:
		return nil, fmt.Errorf("%s=%s is unknown: leave it out to check the host's name, or set it empty to not", names, algorithm)
	}
	return cfg, nil
}

// trustAnyName keeps the check of the chain and drops that of the name, which crypto/tls only knows how to do together.
func trustAnyName(cfg *tls.Config) {
	roots := cfg.RootCAs
	cfg.InsecureSkipVerify = true // the verification is the one below
	cfg.VerifyConnection = func(st tls.ConnectionState) error {
		opts := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
		for _, c := range st.PeerCertificates[1:] {
			opts.Intermediates.AddCert(c)
		}
		_, err := st.PeerCertificates[0].Verify(opts)
		return err
	}
}

func setVersions(cfg *tls.Config, list string) error {
	known := map[string]uint16{"TLSv1.2": tls.VersionTLS12, "TLSv1.3": tls.VersionTLS13}
	cfg.MinVersion, cfg.MaxVersion = 0, 0
	for name := range strings.SplitSeq(list, ",") {
		v, ok := known[strings.TrimSpace(name)]
		if !ok {
			return fmt.Errorf("ssl.enabled.protocols: %s is not supported here; use TLSv1.2, TLSv1.3", strings.TrimSpace(name))
		}
		if cfg.MinVersion == 0 || v < cfg.MinVersion {
			cfg.MinVersion = v
		}
		cfg.MaxVersion = max(cfg.MaxVersion, v)
	}
	return nil
}

// readTruststore returns the certificates to trust; nil means those of the system.
func readTruststore(s *settings) (*x509.CertPool, error) {
	text, what, err := readStore(s, "ssl.truststore", "ssl.truststore.certificates",
		"keytool -list -rfc -keystore STORE -storepass PASSWORD > truststore.pem")
	if err != nil || text == "" {
		return nil, err
	}
	pool := x509.NewCertPool()
	found := 0
	for _, b := range pemBlocks(text) {
		if b.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(b.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s: a certificate cannot be read: %w", what, err)
		}
		pool.AddCert(cert)
		found++
	}
	if found == 0 {
		return nil, fmt.Errorf("%s holds no certificate in PEM", what)
	}
	return pool, nil
}

// readKeystore returns our own certificate with its key; nil if there is none.
func readKeystore(s *settings) (*tls.Certificate, error) {
	text, what, err := readStore(s, "ssl.keystore", "ssl.keystore.certificate.chain",
		"openssl pkcs12 -in STORE -nodes -out keystore.pem (a JKS first becomes PKCS12 with: keytool -importkeystore -srckeystore STORE -destkeystore store.p12 -deststoretype PKCS12)")
	if err != nil {
		return nil, err
	}
	key := s.get("ssl.keystore.key")
	_ = s.get("ssl.key.password")
	if text == "" && key == "" {
		return nil, nil
	}
	if key != "" {
		text += "\n" + key
	}
	var cert tls.Certificate
	var chain, private []byte
	for _, b := range pemBlocks(text) {
		switch {
		case b.Type == "CERTIFICATE":
			chain = append(chain, pem.EncodeToMemory(b)...)
		case b.Type == "ENCRYPTED PRIVATE KEY":
			return nil, errors.New("the private key of the keystore is encrypted, which is not supported here: decrypt it with: openssl pkey -in KEY.pem -out PLAIN.pem")
		case strings.HasSuffix(b.Type, "PRIVATE KEY"):
			private = pem.EncodeToMemory(b)
		}
	}
	if len(chain) == 0 || len(private) == 0 {
		return nil, fmt.Errorf("%s must hold a certificate and its private key in PEM", what)
	}
	if cert, err = tls.X509KeyPair(chain, private); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return &cert, nil
}

// readStore returns the PEM text of a store: from a setting of its own, or from the file that its location names.
func readStore(s *settings, store, inline, convert string) (text, what string, err error) {
	kind := strings.ToUpper(s.get(store + ".type"))
	location := s.get(store + ".location")
	text = s.get(inline)
	_ = s.get(store + ".password") // a PEM store has none
	switch {
	case text != "" && location != "":
		return "", "", fmt.Errorf("%s and %s.location are both set: keep one", inline, store)
	case text != "":
		return text, inline, nil
	case location == "":
		return "", store + ".location", nil
	}
	what = store + ".location=" + location
	raw, err := os.ReadFile(location)
	if err != nil {
		return "", "", fmt.Errorf("%s.location: %w", store, err)
	}
	convert = strings.ReplaceAll(convert, "STORE", location)
	isPEM := strings.Contains(string(raw), "-----BEGIN ")
	switch {
	case kind != "" && kind != "PEM":
		return "", "", fmt.Errorf("%s.type=%s is not supported here, only PEM: convert the store with: %s; then set %s.type=PEM", store, kind, convert, store)
	case !isPEM:
		return "", "", fmt.Errorf("%s is not in PEM (%s is only supported so): convert the store with: %s; then set %s.type=PEM", what, store, convert, store)
	case kind == "":
		s.warnings = append(s.warnings, fmt.Sprintf("%s.type is not set, which means JKS to Kafka; the file is PEM and is read so", store))
	}
	return string(raw), what, nil
}

var pemShape = regexp.MustCompile(`-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END ([A-Z0-9 ]+)-----`)

// pemBlocks finds PEM blocks as Kafka does, whatever the blanks in them: in a properties file they are often on one line.
func pemBlocks(text string) []*pem.Block {
	var out []*pem.Block
	for _, m := range pemShape.FindAllStringSubmatch(text, -1) {
		body, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(m[2]), ""))
		if err != nil || m[1] != m[3] {
			continue
		}
		out = append(out, &pem.Block{Type: m[1], Bytes: body})
	}
	return out
}
