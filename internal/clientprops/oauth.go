package clientprops

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"

	"github.com/muster-kafka/muster/internal/input"
)

// OAUTHBEARER has its token, as with Kafka's own tools, from one of three places:
//
//   - from nobody: without a token endpoint the token is made here, unsigned, out of the claims in sasl.jaas.config. Brokers take it that are there to try things out.
//   - from a file, where sasl.oauthbearer.token.endpoint.url begins with file:; it is read again for each connection.
//   - from the token endpoint of an identity provider, for a client id and its secret (OAuth's client credentials).

const (
	endpointKey = "sasl.oauthbearer.token.endpoint.url"
	handlerKey  = "sasl.login.callback.handler.class"
	handler     = "OAuthBearerLoginCallbackHandler"
	unsigned    = "OAuthBearerUnsecuredLoginCallbackHandler"
)

// readOAuth reads the settings of OAUTHBEARER, with the options of its JAAS entry.
func readOAuth(s *settings, options map[string]string) (sasl.Mechanism, error) {
	endpoint, class := s.get(endpointKey), s.get(handlerKey)
	switch {
	case class != "" && !strings.HasSuffix(class, "."+handler) && !strings.HasSuffix(class, "."+unsigned):
		return nil, fmt.Errorf("%s=%s is not supported here; use %s, or leave it out", handlerKey, class, handler)
	case strings.HasSuffix(class, "."+handler) && endpoint == "":
		return nil, fmt.Errorf("%s is missing: it says where tokens come from, as an http, https or file URL", endpointKey)
	case endpoint == "":
		return unsecured(options)
	case class == "":
		s.warnings = append(s.warnings, fmt.Sprintf("%s is not set, without which Kafka's own tools do not use %s; it is used here", handlerKey, endpointKey))
	}
	from, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s is no URL", endpointKey)
	case from.Scheme == "file":
		return bearer(func(ctx context.Context) (string, time.Duration, error) {
			text, err := input.Read(ctx, from.Path, input.Text)
			if err != nil {
				return "", 0, fmt.Errorf("%s: %w", endpointKey, err)
			}
			return strings.TrimSpace(string(text)), 0, nil
		}, extensions(options, "extension_")), nil
	case from.Scheme != "https" && from.Scheme != "http":
		return nil, fmt.Errorf("%s begins with %q; it is an http, https or file URL", endpointKey, from.Scheme)
	}
	first := func(values ...string) string {
		for _, v := range values {
			if v != "" {
				return v
			}
		}
		return ""
	}
	c := credentials{
		endpoint: from.String(),
		id:       first(s.get("sasl.oauthbearer.client.credentials.client.id"), options["clientId"]),
		secret:   first(s.get("sasl.oauthbearer.client.credentials.client.secret"), options["clientSecret"]),
		scope:    first(s.get("sasl.oauthbearer.scope"), options["scope"]),
	}
	if c.id == "" || c.secret == "" {
		return nil, errors.New("sasl.jaas.config lacks clientId or clientSecret, for which the token endpoint gives a token")
	}
	return bearer(c.fetch, extensions(options, "extension_")), nil
}

// bearer is the mechanism with tokens from somewhere. A token is used again until most of its time is over; 0 is no time.
func bearer(fetch func(context.Context) (token string, lasts time.Duration, err error), extensions map[string]string) sasl.Mechanism {
	var mu sync.Mutex
	var token string
	var until time.Time
	return oauth.Oauth(func(ctx context.Context) (oauth.Auth, error) {
		mu.Lock()
		defer mu.Unlock()
		if token == "" || !time.Now().Before(until) {
			fresh, lasts, err := fetch(ctx)
			if err != nil {
				return oauth.Auth{}, err
			}
			token, until = fresh, time.Now().Add(lasts*4/5)
		}
		return oauth.Auth{Token: token, Extensions: extensions}, nil
	})
}

// extensions are the SASL extensions among the options of a JAAS entry.
func extensions(options map[string]string, prefix string) map[string]string {
	all := map[string]string{}
	for name, value := range options {
		if name, ok := strings.CutPrefix(name, prefix); ok {
			all[name] = value
		}
	}
	return all
}

// unsecured makes tokens of claims, as Kafka's OAuthBearerUnsecuredLoginCallbackHandler does.
func unsecured(options map[string]string) (sasl.Mechanism, error) {
	or := func(name, other string) string {
		if v := options[name]; v != "" {
			return v
		}
		return other
	}
	claims := map[string]any{}
	for name, value := range options {
		if claim, ok := strings.CutPrefix(name, "unsecuredLoginStringClaim_"); ok {
			claims[claim] = value
		}
		if claim, ok := strings.CutPrefix(name, "unsecuredLoginNumberClaim_"); ok {
			number, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return nil, fmt.Errorf("sasl.jaas.config: %s is no number", name)
			}
			claims[claim] = number
		}
		if claim, ok := strings.CutPrefix(name, "unsecuredLoginListClaim_"); ok && value != "" { // its first character stands between the elements
			claims[claim] = strings.Split(value[1:], value[:1])
		}
	}
	if principal := or("unsecuredLoginPrincipalClaimName", "sub"); claims[principal] == nil {
		return nil, fmt.Errorf("sasl.jaas.config lacks unsecuredLoginStringClaim_%s, the principal of a token that is made here; where an identity provider gives tokens set %s", principal, endpointKey)
	}
	seconds, err := strconv.ParseInt(or("unsecuredLoginLifetimeSeconds", "3600"), 10, 32)
	if err != nil || seconds <= 0 {
		return nil, errors.New("sasl.jaas.config: unsecuredLoginLifetimeSeconds is no number of seconds")
	}
	lasts := time.Duration(seconds) * time.Second
	return bearer(func(context.Context) (string, time.Duration, error) {
		now := time.Now()
		claims["iat"], claims["exp"] = float64(now.Unix()), float64(now.Add(lasts).Unix())
		body, err := json.Marshal(claims)
		if err != nil {
			return "", 0, err
		}
		part := base64.RawURLEncoding.EncodeToString
		return part([]byte(`{"alg":"none"}`)) + "." + part(body) + ".", lasts, nil
	}, extensions(options, "unsecuredLoginExtension_")), nil
}

// credentials are what a token endpoint gives a token for.
type credentials struct{ endpoint, id, secret, scope string }

// fetch asks the endpoint. Errors show neither the secret nor what the endpoint says, which may hold a token.
func (c credentials) fetch(ctx context.Context) (string, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	form := url.Values{"grant_type": {"client_credentials"}}
	if c.scope != "" {
		form.Set("scope", c.scope)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return "", 0, fmt.Errorf("%s: %w", endpointKey, err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(url.QueryEscape(c.id), url.QueryEscape(c.secret)) // RFC 6749 §2.3.1
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", 0, fmt.Errorf("%s: %w", endpointKey, err)
	}
	defer resp.Body.Close()
	var answer struct {
		Token   string  `json:"access_token"`
		Expires float64 `json:"expires_in"`
	}
	const most = 1 << 20
	err = json.NewDecoder(io.LimitReader(resp.Body, most)).Decode(&answer)
	switch {
	case resp.StatusCode != http.StatusOK:
		return "", 0, fmt.Errorf("%s answers %s: see whether it knows the client id and its secret", endpointKey, resp.Status)
	case err != nil || answer.Token == "":
		return "", 0, fmt.Errorf("%s gives no access_token", endpointKey)
	}
	return answer.Token, time.Duration(answer.Expires * float64(time.Second)), nil
}
