package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// address is where brokers are and how to be let in. Its errors never quote the URL: it may hold a password.
type address struct {
	seeds    []string
	user     string
	password string
	tls      bool
}

// parseAddress reads kafka://user:password@host:9092,host:9092; kafkas:// is with TLS. net/url refuses several hosts.
func parseAddress(text string) (address, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || (scheme != "kafka" && scheme != "kafkas") {
		return address{}, errors.New("kafka: the URL must begin with kafka:// or kafkas://")
	}
	a := address{tls: scheme == "kafkas"}
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		user, password, _ := strings.Cut(rest[:at], ":")
		rest = rest[at+1:]
		var err, err2 error
		a.user, err = url.PathUnescape(user)
		a.password, err2 = url.PathUnescape(password)
		if err != nil || err2 != nil {
			return address{}, errors.New("kafka: the URL's user or password has a % that is no escape: write it as %25")
		}
	}
	hosts, extra, _ := strings.Cut(rest, "/")
	if extra != "" || strings.ContainsAny(hosts, "?#") {
		return address{}, errors.New("kafka: the URL must end after its hosts and ports")
	}
	for host := range strings.SplitSeq(hosts, ",") {
		if host == "" {
			return address{}, errors.New("kafka: the URL names no host, or an empty one between commas")
		}
		a.seeds = append(a.seeds, host)
	}
	return a, nil
}

// connect returns how clients reach the brokers, and the same for people, without secrets.
func (a address) connect(o options) ([]kgo.Opt, map[string]string, error) {
	opts := []kgo.Opt{kgo.SeedBrokers(a.seeds...)}
	settings := map[string]string{"tls": "false", "sasl": "none"}
	t, err := o.tls()
	if err != nil {
		return nil, nil, err
	}
	if t == nil && a.tls {
		t = &tlsOptions{}
	}
	if t != nil {
		config, err := t.config()
		if err != nil {
			return nil, nil, err
		}
		opts = append(opts, kgo.DialTLSConfig(config))
		settings["tls"] = "true"
		if t.Insecure {
			settings["tls"] = "true (any certificate is trusted)"
		}
	}
	if a.user != "" {
		mechanism, err := a.mechanism(o.Sasl)
		if err != nil {
			return nil, nil, err
		}
		opts = append(opts, kgo.SASL(mechanism))
		settings["sasl"] = o.Sasl
	}
	return opts, settings, nil
}

// --- internal ---

func (a address) mechanism(name string) (sasl.Mechanism, error) {
	switch name {
	case "plain":
		return plain.Auth{User: a.user, Pass: a.password}.AsMechanism(), nil
	case "scram-sha-256":
		return scram.Auth{User: a.user, Pass: a.password}.AsSha256Mechanism(), nil
	case "scram-sha-512":
		return scram.Auth{User: a.user, Pass: a.password}.AsSha512Mechanism(), nil
	}
	return nil, fmt.Errorf("driver options: sasl %q is none of plain, scram-sha-256, scram-sha-512", name)
}

func (t tlsOptions) config() (*tls.Config, error) {
	config := &tls.Config{ServerName: t.ServerName, InsecureSkipVerify: t.Insecure} //nolint:gosec // asked for, and printed
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("tls: read ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls: ca %s holds no certificate in PEM", t.CA)
		}
	}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("tls: load cert and key: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
