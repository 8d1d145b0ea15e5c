//go:build acceptance

package kafka

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

// issuer is an identity provider: it gives tokens that live eight seconds, and publishes the key that signs them.
type issuer struct {
	*httptest.Server
	given atomic.Int64
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	encode := func(v any) string {
		text, _ := json.Marshal(v)
		return base64.RawURLEncoding.EncodeToString(text)
	}
	i := &issuer{}
	routes := http.NewServeMux()
	routes.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		e := big.NewInt(int64(key.E)).Bytes()
		fmt.Fprintf(w, `{"keys": [{"kty": "RSA", "kid": "k", "use": "sig", "alg": "RS256", "n": %q, "e": %q}]}`,
			base64.RawURLEncoding.EncodeToString(key.N.Bytes()), base64.RawURLEncoding.EncodeToString(e))
	})
	routes.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		if id, secret, _ := r.BasicAuth(); id != "bench" || secret != "s3cr3t" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error": "invalid_client"}`)
			return
		}
		i.given.Add(1)
		now := time.Now().Unix() // whole seconds: it lives up to one longer than it says
		text := encode(map[string]string{"alg": "RS256", "kid": "k", "typ": "JWT"}) + "." +
			encode(map[string]any{"sub": "bench", "iss": "idp", "aud": "kafka", "scope": r.FormValue("scope"), "iat": now, "exp": now + 9})
		sum := sha256.Sum256([]byte(text))
		signature, _ := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
		fmt.Fprintf(w, `{"access_token": "%s.%s", "expires_in": 8}`, text, base64.RawURLEncoding.EncodeToString(signature))
	})
	i.Server = httptest.NewServer(routes)
	t.Cleanup(i.Close)
	return i
}

func TestTokensAreRefreshedWhileMessagesGoThrough(t *testing.T) {
	idp := newIssuer(t)
	const safe = "listener.name.safe."
	s := start(t, t.TempDir(), setup{
		settings: map[string]string{
			"listeners":                                              "SAFE://127.0.0.1:{port},PLAINTEXT://127.0.0.1:{other},CONTROLLER://127.0.0.1:{controller}",
			"listener.security.protocol.map":                         "SAFE:SASL_PLAINTEXT,PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
			"inter.broker.listener.name":                             "PLAINTEXT",
			safe + "sasl.enabled.mechanisms":                         "OAUTHBEARER",
			safe + "oauthbearer.connections.max.reauth.ms":           "60000", // the token ends before
			safe + "oauthbearer.sasl.jaas.config":                    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;",
			safe + "oauthbearer.sasl.server.callback.handler.class":  "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler",
			safe + "oauthbearer.sasl.oauthbearer.jwks.endpoint.url":  idp.URL + "/keys",
			safe + "oauthbearer.sasl.oauthbearer.expected.audience":  "kafka",
			safe + "oauthbearer.sasl.oauthbearer.expected.issuer":    "idp",
			safe + "oauthbearer.sasl.oauthbearer.clock.skew.seconds": "0",
		},
		under: []string{"env", "JAVA_TOOL_OPTIONS=-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=" + idp.URL + "/keys"},
	})
	host := strings.TrimPrefix(s.url, "kafka://")
	options := fmt.Appendf(nil, `{"sasl": "oauthbearer", "tokenUrl": %q, "scope": "kafka"}`, idp.URL+"/token")
	a := brokertest.System{Driver: New, URL: "kafka://bench:s3cr3t@" + host, DriverOptions: options}.Traffic(t, "workers")
	a.Arrives()
	first, sent := idp.given.Load(), 0
	for began := time.Now(); time.Since(began) < 20*time.Second; sent++ {
		a.Send()
		time.Sleep(10 * time.Millisecond)
	}
	a.Settles()
	if more := idp.given.Load() - first; more < 2 || more > 3 {
		t.Errorf("%d more tokens within twenty seconds, each lives eight", more)
	}
	if n := *broker.Reconnects(a.Session); a.Failed()+a.Unknown() > 0 || n > 0 {
		t.Errorf("of %d messages %d failed and %d are unknown; %d connections were lost", sent, a.Failed(), a.Unknown(), n)
	}
	if d := fmt.Sprintf("%+v", a.Session.Describe()); strings.Contains(d, "s3cr3t") || !strings.Contains(d, "oauthbearer") {
		t.Errorf("Describe = %s; want the mechanism, and no secret", d)
	}
	refuses(t, broker.Options{URL: "kafka://bench:wr0ng@" + host, Driver: options}, "401 Unauthorized invalid_client")
}
