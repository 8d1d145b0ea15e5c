package address

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// TLS is the option of that name: true, false, or an object of the fields below. Drivers decode it with their own options.
type TLS struct {
	// On encrypts connections, whatever the URL's scheme.
	On         bool   `json:"-"`
	CA         string `json:"ca"`
	Cert       string `json:"cert"`
	Key        string `json:"key"`
	ServerName string `json:"serverName"`
	Insecure   bool   `json:"insecure"`
}

// UnmarshalJSON refuses unknown fields, as broker.Options.Decode does for the options around it.
func (t *TLS) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case "null", "false":
		return nil
	case "true":
		t.On = true
		return nil
	}
	type fields TLS
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode((*fields)(t)); err != nil {
		return fmt.Errorf("tls: %w", err)
	}
	t.On = true
	return nil
}

// Scheme begins a URL; Port is for its hosts without one.
type Scheme struct{ Name, Port string }

// ParseSecure reads a URL of one of two schemes, as Parse does. The secure one switches the option on, which makes the configuration: nil
// without TLS.
func ParseSecure(text string, option TLS, plain, secure Scheme) (Address, *tls.Config, error) {
	scheme, _, _ := strings.Cut(text, "://")
	port := plain.Port
	if scheme == secure.Name {
		port, option.On = secure.Port, true
	}
	at, err := Parse(text, port, plain.Name, secure.Name)
	if err != nil {
		return Address{}, nil, err
	}
	config, err := option.Config()
	return at, config, err
}

// Config is for client libraries; nil without TLS.
func (t TLS) Config() (*tls.Config, error) { return t.ConfigFrom(os.ReadFile) }

// ConfigFrom is Config where CA, Cert and Key name what read gives, in PEM.
func (t TLS) ConfigFrom(read func(name string) ([]byte, error)) (*tls.Config, error) {
	if !t.On {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName, InsecureSkipVerify: t.Insecure} //nolint:gosec // asked for, and printed
	if t.CA != "" {
		pem, err := read(t.CA)
		if err != nil {
			return nil, fmt.Errorf("tls: read ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls: ca %s holds no certificate in PEM", t.CA)
		}
	}
	if (t.Cert == "") != (t.Key == "") {
		return nil, errors.New("tls: cert and key belong together; one of them is missing")
	}
	if t.Cert != "" {
		cert, err := read(t.Cert)
		key, keyErr := read(t.Key)
		if err := errors.Join(err, keyErr); err != nil {
			return nil, fmt.Errorf("tls: read cert and key: %w", err)
		}
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("tls: load cert and key: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
