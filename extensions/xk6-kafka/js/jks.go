package js

import (
	"bytes"
	"cmp"
	"encoding/pem"
	"fmt"
	"os"
	"strings"

	"github.com/grafana/sobek"
	"github.com/pavlo-v-chernykh/keystore-go/v4"
	"go.k6.io/k6/v2/js/common"
)

// jksBegins is how files of Java's own format begin. PKCS #12, which keytool makes unless told otherwise, is another one.
var jksBegins = []byte{0xfe, 0xed, 0xfe, 0xed}

// store is a key store of Java, and what of it a client needs.
type store struct {
	Path        string `json:"path"`
	Password    string `json:"password"`
	CertAlias   string `json:"clientCertAlias"`
	KeyAlias    string `json:"clientKeyAlias"`
	KeyPassword string `json:"clientKeyPassword"`
	CAAlias     string `json:"serverCaAlias"`
}

// loadJKS gives what `tls` of a configuration takes: clientCertsPem, clientKeyPem and serverCaPem, as texts. No file is written.
func (i *instance) loadJKS(c sobek.FunctionCall) sobek.Value {
	rt := i.vu.Runtime()
	var s store
	found := rt.NewObject()
	err := i.options("LoadJKS", c.Argument(0), &s, "a key store: { path: 'client.jks', password: '...' }")
	if err == nil {
		err = s.load(func(name string, value any) { _ = found.Set(name, value) })
	}
	if err != nil {
		common.Throw(rt, fmt.Errorf("kafka: LoadJKS: %w", err))
	}
	return found
}

// --- internal ---

func (s store) load(give func(name string, value any)) error {
	file, err := os.ReadFile(s.Path)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(file, jksBegins) {
		return fmt.Errorf("%s is not in the format JKS; keytool -importkeystore -deststoretype jks makes such a file", s.Path)
	}
	entries := keystore.New(keystore.WithOrderedAliases())
	if err := entries.Load(bytes.NewReader(file), []byte(s.Password)); err != nil {
		return fmt.Errorf("%s: is the password right? (%w)", s.Path, err)
	}
	absent := func(alias string, err error) error {
		return fmt.Errorf("%s: %q: %w; it has %s", s.Path, alias, err, strings.Join(entries.Aliases(), ", "))
	}
	if s.CAAlias != "" {
		ca, err := entries.GetTrustedCertificateEntry(s.CAAlias)
		if err != nil {
			return absent(s.CAAlias, err)
		}
		give("serverCaPem", inPEM("CERTIFICATE", ca.Certificate.Content))
	}
	alias := cmp.Or(s.KeyAlias, s.CertAlias)
	if alias == "" {
		return nil
	}
	own, err := entries.GetPrivateKeyEntry(alias, []byte(cmp.Or(s.KeyPassword, s.Password)))
	if err != nil {
		return absent(alias, err)
	}
	chain := make([]string, len(own.CertificateChain))
	for at, one := range own.CertificateChain {
		chain[at] = inPEM("CERTIFICATE", one.Content)
	}
	give("clientCertsPem", chain)
	give("clientKeyPem", inPEM("PRIVATE KEY", own.PrivateKey))
	return nil
}

func inPEM(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}
