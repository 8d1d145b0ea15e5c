package nats

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/clock"
)

// connects opens a session with one connection and closes it; it returns what went wrong.
func connects(t *testing.T, url, options string) error {
	t.Helper()
	session, err := New(broker.Options{
		URL: url, Driver: json.RawMessage(options), Connections: 1, MessageBytes: 100, Now: clock.New().Now,
	})
	if err != nil {
		return err
	}
	err = session.Open(t.Context())
	_ = session.Close()
	return err
}

func TestATokenComesFromTheEnvironment(t *testing.T) {
	s := start(t, func(o *server.Options) { o.Authorization = "t0k3n" })
	t.Setenv("NATS_TOKEN", "t0k3n")
	if err := connects(t, s.ClientURL(), `{"auth": "token"}`); err != nil {
		t.Errorf("with the token: %v", err)
	}
	if err := connects(t, s.ClientURL(), `{}`); err == nil {
		t.Error("without auth the token is used all the same")
	}
	t.Setenv("NATS_TOKEN", "wr0ng")
	if err := connects(t, s.ClientURL(), `{"auth": "token"}`); err == nil || strings.Contains(err.Error(), "wr0ng") {
		t.Errorf("with a wrong token: %v; want an error without it", err)
	}
}

func TestUserAndPasswordComeFromTheEnvironment(t *testing.T) {
	s := start(t, func(o *server.Options) { o.Username, o.Password = "bench", "s3cr3t" })
	t.Setenv("NATS_USER", "bench")
	t.Setenv("NATS_PASSWORD", "s3cr3t")
	if err := connects(t, s.ClientURL(), `{"auth": "user"}`); err != nil {
		t.Errorf("with user and password: %v", err)
	}
}

func TestCredentialsComeFromTheFileThatTheEnvironmentNames(t *testing.T) {
	operator, account, user := key(t, nkeys.CreateOperator), key(t, nkeys.CreateAccount), key(t, nkeys.CreateUser)
	accountClaims := jwt.NewAccountClaims(public(t, account))
	accountToken, err := accountClaims.Encode(operator)
	if err != nil {
		t.Fatal(err)
	}
	userToken, err := jwt.NewUserClaims(public(t, user)).Encode(account)
	if err != nil {
		t.Fatal(err)
	}
	resolver := &server.MemAccResolver{}
	if err := resolver.Store(public(t, account), accountToken); err != nil {
		t.Fatal(err)
	}
	s := start(t, func(o *server.Options) {
		o.TrustedKeys = []string{public(t, operator)}
		o.AccountResolver = resolver
	})
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	creds, err := jwt.FormatUserConfig(userToken, seed)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "bench.creds")
	if err := os.WriteFile(file, creds, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NATS_CREDS", file)
	if err := connects(t, s.ClientURL(), `{"auth": "creds"}`); err != nil {
		t.Errorf("with credentials: %v", err)
	}
	if err := connects(t, s.ClientURL(), `{}`); err == nil {
		t.Error("without auth the credentials are used all the same")
	}
}

func TestASecretThatIsMissingIsNamed(t *testing.T) {
	for auth, name := range map[string]string{"user": "NATS_USER", "token": "NATS_TOKEN", "creds": "NATS_CREDS"} {
		t.Setenv(name, "")
		err := connects(t, "nats://127.0.0.1:1", fmt.Sprintf(`{"auth": %q}`, auth))
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("auth %s: %v; want a sentence that names %s", auth, err, name)
		}
	}
}

func TestTLS(t *testing.T) {
	ca, certificate := certificates(t)
	config, err := server.GenTLSConfig(&server.TLSConfigOpts{CertFile: certificate.cert, KeyFile: certificate.key, CaFile: ca, Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, func(o *server.Options) { o.TLSConfig, o.TLSTimeout = config, 5 })
	for _, one := range []struct {
		name, options, complaint string
	}{
		{"both certificates", `{"tls": {"ca": %[1]q, "cert": %[2]q, "key": %[3]q}}`, ""},
		{"any certificate of the server", `{"tls": {"insecure": true, "cert": %[2]q, "key": %[3]q}}`, ""},
		{"another name", `{"tls": {"ca": %[1]q, "cert": %[2]q, "key": %[3]q, "serverName": "other"}}`, "other"},
		{"no trust", `{"tls": {"cert": %[2]q, "key": %[3]q}}`, "certificate"},
		{"a certificate without its key", `{"tls": {"cert": %[2]q}}`, "cert and key belong together"},
		{"a file that holds none", `{"tls": {"ca": %[3]q}}`, "holds no certificate in PEM"},
	} {
		t.Run(one.name, func(t *testing.T) {
			options := strings.NewReplacer("%[1]q", quoted(ca), "%[2]q", quoted(certificate.cert), "%[3]q", quoted(certificate.key)).Replace(one.options)
			err := connects(t, s.ClientURL(), options)
			switch {
			case one.complaint == "" && err != nil:
				t.Errorf("%v; want a connection", err)
			case one.complaint != "" && (err == nil || !strings.Contains(err.Error(), one.complaint)):
				t.Errorf("%v; want an error with %q", err, one.complaint)
			}
		})
	}
}

// --- internal ---

func quoted(text string) string { return fmt.Sprintf("%q", text) }

func key(t *testing.T, make func() (nkeys.KeyPair, error)) nkeys.KeyPair {
	t.Helper()
	pair, err := make()
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func public(t *testing.T, pair nkeys.KeyPair) string {
	t.Helper()
	text, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

type files struct{ cert, key string }

// certificates makes an authority, and a certificate of it for 127.0.0.1 that server and client use.
func certificates(t *testing.T) (ca string, leaf files) {
	t.Helper()
	folder := t.TempDir()
	make := func(name string, template, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey, files) {
		own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if parent == nil {
			parent, parentKey = template, own
		}
		der, err := x509.CreateCertificate(rand.Reader, template, parent, &own.PublicKey, parentKey)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		pkcs8, err := x509.MarshalPKCS8PrivateKey(own)
		if err != nil {
			t.Fatal(err)
		}
		at := files{filepath.Join(folder, name+".pem"), filepath.Join(folder, name+".key")}
		for file, block := range map[string]*pem.Block{at.cert: {Type: "CERTIFICATE", Bytes: der}, at.key: {Type: "PRIVATE KEY", Bytes: pkcs8}} {
			if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return parsed, own, at
	}
	valid := x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	authority := valid
	authority.Subject = pkix.Name{CommonName: "authority"}
	authority.IsCA, authority.BasicConstraintsValid, authority.KeyUsage = true, true, x509.KeyUsageCertSign
	root, rootKey, rootFiles := make("ca", &authority, nil, nil)
	end := valid
	end.Subject = pkix.Name{CommonName: "end"}
	end.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	end.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	_, _, leaf = make("end", &end, root, rootKey)
	if _, err := tls.LoadX509KeyPair(leaf.cert, leaf.key); err != nil {
		t.Fatal(err)
	}
	return rootFiles.cert, leaf
}
