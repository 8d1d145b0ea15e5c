package js

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
)

// access is how a client reaches the brokers.
type access struct {
	Brokers []string `json:"brokers"`
	Address string   `json:"address"`
	Sasl    login    `json:"sasl"`
	TLS     security `json:"tls"`
}

type login struct {
	Username  string `json:"username"`
	Password  string `json:"password"`
	Algorithm string `json:"algorithm"`
}

type security struct {
	Enable     bool   `json:"enableTls"`
	Insecure   bool   `json:"insecureSkipTlsVerify"`
	MinVersion string `json:"minVersion"`
	Cert       string `json:"clientCertPem"`
	Key        string `json:"clientKeyPem"`
	CA         string `json:"serverCaPem"`
}

func (a *access) options() ([]kgo.Opt, error) {
	brokers := a.Brokers
	if a.Address != "" {
		brokers = append(brokers, a.Address)
	}
	if len(brokers) == 0 {
		return nil, errors.New("it needs brokers: ['localhost:9092']")
	}
	options := []kgo.Opt{
		kgo.SeedBrokers(brokers...), kgo.ClientID("k6"), kgo.DialTimeout(dialTimeout), kgo.RequestTimeoutOverhead(requestTimeout),
		kgo.RetryTimeout(requestTimeout), kgo.MetadataMinAge(100 * time.Millisecond), kgo.MetadataMaxAge(5 * time.Second), kgo.DisableClientMetrics(),
	}
	switch algorithm := a.Sasl.Algorithm; algorithm {
	case "", "none":
	case "sasl_plain", "sasl_ssl":
		options = append(options, kgo.SASL(plain.Auth{User: a.Sasl.Username, Pass: a.Sasl.Password}.AsMechanism()))
	case "sasl_scram_sha256":
		options = append(options, kgo.SASL(scram.Auth{User: a.Sasl.Username, Pass: a.Sasl.Password}.AsSha256Mechanism()))
	case "sasl_scram_sha512":
		options = append(options, kgo.SASL(scram.Auth{User: a.Sasl.Username, Pass: a.Sasl.Password}.AsSha512Mechanism()))
	default:
		return nil, fmt.Errorf("sasl: %s is not built in; use SASL_PLAIN, SASL_SCRAM_SHA256 or SASL_SCRAM_SHA512", algorithm)
	}
	config, err := a.TLS.config(a.Sasl.Algorithm == "sasl_ssl")
	if err != nil {
		return nil, err
	}
	if config != nil {
		options = append(options, kgo.DialTLSConfig(config))
	}
	return options, nil
}

var versions = map[string]uint16{"": tls.VersionTLS12, "tlsv1.0": tls.VersionTLS10, "tlsv1.1": tls.VersionTLS11, "tlsv1.2": tls.VersionTLS12, "tlsv1.3": tls.VersionTLS13}

func (s security) config(on bool) (*tls.Config, error) {
	config, err := address.TLS{On: s.Enable || on, CA: s.CA, Cert: s.Cert, Key: s.Key, Insecure: s.Insecure}.ConfigFrom(pemOf)
	if err != nil || config == nil {
		return nil, err
	}
	least, known := versions[s.MinVersion]
	if !known {
		return nil, fmt.Errorf("tls: minVersion %q is none of TLS_1_0 to TLS_1_3", s.MinVersion)
	}
	config.MinVersion = least
	return config, nil
}

// pemOf a file, or the text itself, as LoadJKS gives it.
func pemOf(given string) ([]byte, error) {
	if strings.Contains(given, "-----BEGIN ") {
		return []byte(given), nil
	}
	return os.ReadFile(given)
}
