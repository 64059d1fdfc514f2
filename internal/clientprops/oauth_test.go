package clientprops

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const bearing = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"

// login is the JAAS entry of OAUTHBEARER with options.
func login(options string) string {
	return "sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required " + options + ";\n"
}

// said is what a client says at first to prove who it is: the token, and what comes after it.
func said(t *testing.T, text string) (token, rest string, err error) {
	t.Helper()
	c, err := Parse([]byte(bearing + text))
	if err != nil {
		return "", "", err
	}
	_, first, err := c.SASL.Authenticate(t.Context(), "127.0.0.1:9092")
	if err != nil {
		return "", "", err
	}
	words := strings.Split(string(first), "\x01")
	if len(words) < 3 || words[0] != "n,," {
		t.Fatalf("%q", first)
	}
	return strings.TrimPrefix(words[1], "auth=Bearer "), strings.Join(words[2:], " "), nil
}

// TestUnsecured makes tokens of claims.
func TestUnsecured(t *testing.T) {
	token, rest, err := said(t, login(`unsecuredLoginStringClaim_sub="alice" unsecuredLoginNumberClaim_n="1.5" unsecuredLoginListClaim_groups="|a|b" unsecuredLoginExtension_traceId="7" unsecuredLoginLifetimeSeconds="60"`))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 || parts[2] != "" || strings.TrimSpace(rest) != "traceId=7" {
		t.Fatalf("%q %q", token, rest)
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	var claims struct {
		Sub      string
		N        float64
		Groups   []string
		Iat, Exp float64
	}
	if err := json.Unmarshal(body, &claims); err != nil {
		t.Fatal(err)
	}
	if claims.Sub != "alice" || claims.N != 1.5 || strings.Join(claims.Groups, " ") != "a b" || claims.Exp-claims.Iat != 60 {
		t.Errorf("%s", body)
	}
}

// TestTokens gets tokens from a file and from an endpoint, one for many connections while it lasts, and is refused without showing secrets.
func TestTokens(t *testing.T) {
	given, expires := 0, 3600
	idp := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, secret, ok := r.BasicAuth()
		if !ok || id != "me" || secret != "geheim" || r.PostFormValue("grant_type") != "client_credentials" || r.PostFormValue("scope") != "kafka" {
			http.Error(w, `{"error":"invalid_client","hint":"geheim"}`, http.StatusUnauthorized)
			return
		}
		given++
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "token-" + string(rune('0'+given)), "expires_in": expires})
	}))
	defer idp.Close()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("from-a-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	from := func(url string) string {
		return "sasl.login.callback.handler.class=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler\nsasl.oauthbearer.token.endpoint.url=" + url + "\n"
	}
	const me = `clientId="me" clientSecret="geheim" scope="kafka"`
	for name, c := range map[string]struct{ text, token, err string }{
		"file":               {from("file://"+file) + login(""), "from-a-file", ""},
		"no file":            {from("file:///does/not/exist") + login(""), "", "no such file"},
		"endpoint":           {from(idp.URL) + login(me), "token-1", ""},
		"settings":           {from(idp.URL) + "sasl.oauthbearer.client.credentials.client.id=me\nsasl.oauthbearer.client.credentials.client.secret=geheim\nsasl.oauthbearer.scope=kafka\n" + login(""), "token-1", ""},
		"wrong secret":       {from(idp.URL) + login(`clientId="me" clientSecret="geheimer" scope="kafka"`), "", "answers 401"},
		"no secret":          {from(idp.URL) + login(`clientId="me"`), "", "lacks clientId or clientSecret"},
		"no endpoint":        {from("") + login(me), "", "token.endpoint.url is missing"},
		"other scheme":       {from("ftp://x") + login(me), "", "http, https or file"},
		"other handler":      {"sasl.login.callback.handler.class=com.example.Handler\n" + login(me), "", "com.example.Handler is not supported"},
		"no principal":       {login(`unsecuredLoginStringClaim_name="alice"`), "", "unsecuredLoginStringClaim_sub"},
		"no number":          {login(`unsecuredLoginStringClaim_sub="a" unsecuredLoginNumberClaim_n="many"`), "", "no number"},
		"no time":            {login(`unsecuredLoginStringClaim_sub="a" unsecuredLoginLifetimeSeconds="0"`), "", "no number of seconds"},
		"another's claim":    {login(`unsecuredLoginStringClaim_user="a" unsecuredLoginPrincipalClaimName="user"`), "", ""},
		"nobody at all":      {from("http://127.0.0.1:1") + login(me), "", "connection refused"},
		"no token in answer": {from(idp.URL+"/") + login(`clientId="me" clientSecret="geheim" scope="other"`), "", "answers 401"},
	} {
		given = 0
		token, _, err := said(t, c.text)
		switch {
		case c.err == "" && err != nil, c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: error %v, want %q", name, err, c.err)
		case c.token != "" && token != c.token:
			t.Errorf("%s: token %q, want %q", name, token, c.token)
		}
		if err != nil && strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: the error shows the secret: %v", name, err)
		}
	}

	for lasts, want := range map[int]int{3600: 1, 0: 3} {
		given, expires = 0, lasts
		c, err := Parse([]byte(bearing + from(idp.URL) + login(me)))
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, _, err := c.SASL.Authenticate(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		}
		if given != want {
			t.Errorf("a token that lasts %d s was asked for %d times, want %d", lasts, given, want)
		}
	}
}
