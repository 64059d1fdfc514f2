package clientprops

import (
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

func readSASL(s *settings) (sasl.Mechanism, error) {
	mechanism := strings.ToUpper(s.get("sasl.mechanism"))
	const supported = "use PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER"
	switch mechanism {
	case "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER":
	case "":
		return nil, fmt.Errorf("sasl.mechanism is missing, which means GSSAPI to Kafka and is not supported here; %s", supported)
	default:
		return nil, fmt.Errorf("sasl.mechanism=%s is not supported here; %s", mechanism, supported)
	}
	text := s.get("sasl.jaas.config")
	if text == "" {
		return nil, errors.New("sasl.jaas.config is missing: it holds the username and the password, or the claims of a token")
	}
	module, options, err := parseJAAS(text)
	if err != nil {
		return nil, fmt.Errorf("sasl.jaas.config: %w", err)
	}
	want := "ScramLoginModule"
	switch mechanism {
	case "PLAIN":
		want = "PlainLoginModule"
	case "OAUTHBEARER":
		want = "OAuthBearerLoginModule"
	}
	if !strings.HasSuffix(module, want) {
		return nil, fmt.Errorf("sasl.jaas.config names %s, but sasl.mechanism=%s needs the class %s", module, mechanism, want)
	}
	if mechanism == "OAUTHBEARER" {
		return readOAuth(s, options)
	}
	user, pass := options["username"], options["password"]
	if user == "" || pass == "" {
		return nil, errors.New("sasl.jaas.config lacks username or password")
	}
	switch mechanism {
	case "PLAIN":
		return plain.Auth{User: user, Pass: pass}.AsMechanism(), nil
	case "SCRAM-SHA-256":
		return scram.Auth{User: user, Pass: pass, IsToken: options["tokenauth"] == "true"}.AsSha256Mechanism(), nil
	}
	return scram.Auth{User: user, Pass: pass, IsToken: options["tokenauth"] == "true"}.AsSha512Mechanism(), nil
}

// parseJAAS reads one entry: the module's class, a control flag, options as name=value, and a semicolon. Values may stand in single
// or double quotes, with a backslash before a character that is meant as it is. Errors never show the values.
func parseJAAS(text string) (module string, options map[string]string, err error) {
	words, err := jaasWords(text)
	if err != nil {
		return "", nil, err
	}
	const shape = `wanted: MODULE required username="USER" password="PASSWORD";`
	if len(words) < 3 || words[len(words)-1] != ";" {
		return "", nil, fmt.Errorf("it is not complete or lacks the semicolon at its end; %s", shape)
	}
	module, flag, rest := words[0], words[1], words[2:len(words)-1]
	switch strings.ToLower(flag) {
	case "required", "requisite", "sufficient", "optional":
	default:
		return "", nil, fmt.Errorf("there is no control flag (required) after the module; %s", shape)
	}
	options = map[string]string{}
	for ; len(rest) > 0; rest = rest[3:] {
		if len(rest) < 3 || rest[1] != "=" || rest[0] == ";" || rest[2] == ";" {
			return "", nil, fmt.Errorf("an option is not NAME=VALUE, or more than one entry is given; %s", shape)
		}
		options[rest[0]] = rest[2]
	}
	return module, options, nil
}

func jaasWords(text string) ([]string, error) {
	var words []string
	r := []rune(text)
	for i := 0; i < len(r); {
		switch c := r[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case c == '=' || c == ';':
			words = append(words, string(c))
			i++
		case c == '"' || c == '\'':
			word, next, ok := jaasQuoted(r, i)
			if !ok {
				return nil, errors.New("a quote is not closed")
			}
			words = append(words, word)
			i = next
		default:
			start := i
			for i < len(r) && !strings.ContainsRune(" \t\r\n=;\"'", r[i]) {
				i++
			}
			words = append(words, string(r[start:i]))
		}
	}
	return words, nil
}

// jaasQuoted reads a quoted word that begins at i, and returns where the text goes on.
func jaasQuoted(r []rune, i int) (word string, next int, ok bool) {
	quote := r[i]
	var sb strings.Builder
	for i++; i < len(r); i++ {
		switch {
		case r[i] == '\\' && i+1 < len(r):
			i++
			sb.WriteRune(r[i])
		case r[i] == quote:
			return sb.String(), i + 1, true
		default:
			sb.WriteRune(r[i])
		}
	}
	return "", i, false
}
