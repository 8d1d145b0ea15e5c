package nats

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/brokertest"
)

func TestSecretsComeFromTheEnvironmentOrTheURLAndAreNotInErrors(t *testing.T) {
	token := func(o *server.Options) { o.Authorization = "t0k3n" }
	user := func(o *server.Options) { o.Username, o.Password = "bench", "s3cr3t" }
	creds, withCreds := credentials(t)
	for _, c := range []struct {
		server         func(*server.Options)
		login, options string
		env            string
		fails          bool
	}{
		{token, "", `{"auth": "token"}`, "NATS_TOKEN=t0k3n", false},
		{token, "", `{}`, "NATS_TOKEN=t0k3n", true},
		{token, "", `{"auth": "token"}`, "NATS_TOKEN=wr0ng", true},
		{user, "", `{"auth": "user"}`, "NATS_USER=bench NATS_PASSWORD=s3cr3t", false},
		{user, "bench:s3cr3t@", `{}`, "", false},
		{user, "bench:wr0ng@", `{}`, "", true},
		{withCreds, "", `{"auth": "creds"}`, "NATS_CREDS=" + creds, false},
		{withCreds, "", `{}`, "NATS_CREDS=" + creds, true},
	} {
		t.Run(c.options+" "+c.login+c.env, func(t *testing.T) {
			for pair := range strings.FieldsSeq(c.env) {
				name, value, _ := strings.Cut(pair, "=")
				t.Setenv(name, value)
			}
			url := strings.Replace(start(t, c.server).ClientURL(), "nats://", "nats://"+c.login, 1)
			if _, err := opens(t, url, c.options, nil); (err != nil) != c.fails || err != nil && strings.Contains(err.Error(), "wr0ng") {
				t.Errorf("%v; fails: %t, and without a secret", err, c.fails)
			}
		})
	}
}

func TestASecretThatIsMissingIsNamed(t *testing.T) {
	for auth, name := range map[string]string{"user": "NATS_USER", "token": "NATS_TOKEN", "creds": "NATS_CREDS"} {
		t.Setenv(name, "")
		_, err := opens(t, "nats://127.0.0.1:1", fmt.Sprintf(`{"auth": %q}`, auth), nil)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("auth %s: %v; want a sentence that names %s", auth, err, name)
		}
	}
}

func TestTLS(t *testing.T) {
	cert, key := brokertest.Certificate(t, t.TempDir())
	config := must(server.GenTLSConfig(&server.TLSConfigOpts{CertFile: cert, KeyFile: key, CaFile: cert, Verify: true}))(t)
	s := start(t, func(o *server.Options) { o.TLSConfig, o.TLSTimeout = config, 5 })
	for _, c := range []struct{ name, options, complaint string }{
		{"both certificates", `{"tls": {"ca": "CERT", "cert": "CERT", "key": "KEY"}}`, ""},
		{"any certificate of the server", `{"tls": {"insecure": true, "cert": "CERT", "key": "KEY"}}`, ""},
		{"another name", `{"tls": {"ca": "CERT", "cert": "CERT", "key": "KEY", "serverName": "other"}}`, "other"},
		{"no trust", `{"tls": {"cert": "CERT", "key": "KEY"}}`, "certificate"},
		{"a file that holds none", `{"tls": {"ca": "KEY"}}`, "holds no certificate in PEM"},
	} {
		_, err := opens(t, s.ClientURL(), strings.NewReplacer("CERT", cert, "KEY", key).Replace(c.options), nil)
		if (err != nil) != (c.complaint != "") || err != nil && !strings.Contains(err.Error(), c.complaint) {
			t.Errorf("%s: %v; want %q", c.name, err, c.complaint)
		}
	}
}

// --- internal ---

// credentials are a file, and the server options that accept it.
func credentials(t *testing.T) (file string, takes func(*server.Options)) {
	t.Helper()
	var public [3]string
	var pairs [3]nkeys.KeyPair
	for i, create := range []func() (nkeys.KeyPair, error){nkeys.CreateOperator, nkeys.CreateAccount, nkeys.CreateUser} {
		pairs[i] = must(create())(t)
		public[i] = must(pairs[i].PublicKey())(t)
	}
	resolver := &server.MemAccResolver{}
	account := must(jwt.NewAccountClaims(public[1]).Encode(pairs[0]))(t)
	if err := resolver.Store(public[1], account); err != nil {
		t.Fatal(err)
	}
	user := must(jwt.NewUserClaims(public[2]).Encode(pairs[1]))(t)
	text := must(jwt.FormatUserConfig(user, must(pairs[2].Seed())(t)))(t)
	file = filepath.Join(t.TempDir(), "bench.creds")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file, func(o *server.Options) { o.TrustedKeys, o.AccountResolver = public[:1], resolver }
}
