// Package clientprops reads Java's client.properties, the file that Kafka's own tools take with --command-config, so that a person
// who can already reach a cluster with those need not learn another way: TLS from PEM stores with a certificate of
// one's own, SASL PLAIN, SCRAM and OAUTHBEARER.
package clientprops

import (
	"context"
	"crypto/tls"
	"fmt"
	"slices"
	"strings"

	"github.com/magiconair/properties"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"

	"github.com/muster-kafka/muster/internal/input"
)

// Config is what a file says about how to talk to a cluster.
type Config struct {
	TLS  *tls.Config    // nil: plaintext
	SASL sasl.Mechanism // nil: no authentication

	// Bootstrap are the servers that the file names; the command line's address counts, not these.
	Bootstrap []string

	// Warnings name settings that are there and have no effect here.
	Warnings []string
}

// KgoOpts are the settings as options of a franz-go client.
func (c *Config) KgoOpts() []kgo.Opt {
	var opts []kgo.Opt
	if c.TLS != nil {
		opts = append(opts, kgo.DialTLSConfig(c.TLS.Clone()))
	}
	if c.SASL != nil {
		opts = append(opts, kgo.SASL(c.SASL))
	}
	return opts
}

// Read reads a file. Errors name the file, the setting, and what to do.
func Read(path string) (*Config, error) {
	text, err := input.Read(context.Background(), path, input.Text)
	if err != nil {
		return nil, fmt.Errorf("reading client properties: %w", err)
	}
	c, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// Parse reads the text of a file, as Java does: in ISO 8859-1, with nothing expanded.
func Parse(text []byte) (*Config, error) {
	loader := properties.Loader{Encoding: properties.ISO_8859_1, DisableExpansion: true}
	p, err := loader.LoadBytes(text)
	if err != nil {
		return nil, fmt.Errorf("no Java properties: %w", err)
	}
	s := &settings{values: p.Map(), used: map[string]bool{}}
	c := &Config{}
	if list := s.get("bootstrap.servers"); list != "" {
		for addr := range strings.SplitSeq(list, ",") {
			c.Bootstrap = append(c.Bootstrap, strings.TrimSpace(addr))
		}
	}
	protocol := strings.ToUpper(s.get("security.protocol"))
	if protocol == "" {
		protocol = "PLAINTEXT"
	}
	known := []string{"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"}
	if !slices.Contains(known, protocol) {
		return nil, fmt.Errorf("security.protocol=%s is unknown; use one of %s", protocol, strings.Join(known, ", "))
	}
	if strings.HasSuffix(protocol, "SSL") {
		if c.TLS, err = readTLS(s); err != nil {
			return nil, err
		}
	}
	if strings.HasPrefix(protocol, "SASL") {
		if c.SASL, err = readSASL(s); err != nil {
			return nil, err
		}
	}
	c.Warnings = append(s.warnings, s.unused()...)
	return c, nil
}

// settings are the properties of a file, and which of them had an effect.
type settings struct {
	values   map[string]string
	used     map[string]bool
	warnings []string
}

// get returns a value without the blanks at its end, which Java's properties keep and its configuration strips.
func (s *settings) get(key string) string {
	s.used[key] = true
	return strings.TrimSpace(s.values[key])
}

// has tells a setting that is empty on purpose from one that is not there.
func (s *settings) has(key string) bool {
	_, ok := s.values[key]
	return ok
}

func (s *settings) unused() []string {
	var out []string
	for key := range s.values {
		if !s.used[key] {
			out = append(out, key+" has no effect here")
		}
	}
	slices.Sort(out)
	return out
}
