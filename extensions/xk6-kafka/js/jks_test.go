package js

import (
	"crypto/tls"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestKeyStoresOfJavaAreReadAsTheKeytoolWritesThem(t *testing.T) {
	folder := t.TempDir()
	keytool(t, folder, "-genkeypair", "-alias", "localhost", "-keyalg", "EC", "-dname", "CN=client", "-storetype", "JKS", "-keystore", "store.jks", "-keypass", "0ther-pass")
	keytool(t, folder, "-exportcert", "-rfc", "-alias", "localhost", "-keystore", "store.jks", "-file", "ca.pem")
	keytool(t, folder, "-importcert", "-noprompt", "-alias", "CaRoot", "-file", "ca.pem", "-keystore", "store.jks")
	keytool(t, folder, "-genkeypair", "-alias", "localhost", "-keyalg", "EC", "-dname", "CN=client", "-storetype", "PKCS12", "-keystore", "store.p12")
	whole := store{Path: filepath.Join(folder, "store.jks"), Password: "s3cr3t-pass", KeyAlias: "localhost", KeyPassword: "0ther-pass", CAAlias: "caroot"}

	got := map[string]any{}
	if err := whole.load(func(name string, value any) { got[name] = value }); err != nil {
		t.Fatal(err)
	}
	chain := got["clientCertsPem"].([]string)
	if len(chain) != 1 || got["serverCaPem"] != chain[0] {
		t.Errorf("a chain of %d, and the CA %v; want one certificate that is its own authority", len(chain), got["serverCaPem"])
	}
	if _, err := tls.X509KeyPair([]byte(chain[0]), []byte(got["clientKeyPem"].(string))); err != nil {
		t.Errorf("certificate and key: %v", err)
	}

	for want, change := range map[string]func(*store){
		"no such file":               func(s *store) { s.Path += "x" },
		"is not in the format JKS":   func(s *store) { s.Path = filepath.Join(folder, "store.p12") },
		"is the password right?":     func(s *store) { s.Password = "wr0ng" },
		"it has caroot, localhost":   func(s *store) { s.CAAlias = "nobody" },
		`"caroot": wrong entry type`: func(s *store) { s.KeyAlias = "caroot" },
		`"localhost": `:              func(s *store) { s.KeyPassword = "wr0ng" },
	} {
		wrong := whole
		change(&wrong)
		err := wrong.load(func(string, any) {})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "wr0ng") {
			t.Errorf("%v; want %q, and no password", err, want)
		}
	}
}

func keytool(t *testing.T, folder string, args ...string) {
	t.Helper()
	run := exec.Command("keytool", append(args, "-storepass", "s3cr3t-pass")...)
	run.Dir = folder
	if said, err := run.CombinedOutput(); err != nil {
		t.Fatalf("keytool %v: %v\n%s", args, err, said)
	}
}
