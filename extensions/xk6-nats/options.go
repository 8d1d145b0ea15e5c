package nats

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"
)

// options are the driver's own, as runner/brokers/nats/options.ts writes them. Secrets come by environment variables.
type options struct {
	// Mode is "core" or "jetstream"; "": core.
	Mode string `json:"mode"`
	// TLS, if not nil, encrypts connections, whatever the URL's scheme.
	TLS *tlsOptions `json:"tls"`
	// Auth names the environment variables that hold the secret: "user", "token" or "creds"; "": none but the URL.
	Auth string `json:"auth"`

	// The rest is of JetStream.

	// Storage is "memory" or "file"; "": as the durability says, else file.
	Storage string `json:"storage"`
	// Publish is "async" or "sync"; "": async.
	Publish string `json:"publish"`
	// Consumer is "pull", "push" or "ordered"; "": pull for groups, ordered without.
	Consumer string `json:"consumer"`
	// Dedup gives every message an id.
	Dedup bool `json:"dedup"`
	// MaxAckPending and Prefetch; 0: the defaults below, fewer for large messages.
	MaxAckPending int `json:"maxAckPending"`
	Prefetch      int `json:"prefetch"`
	// AckWaitNs; 0: the default below.
	AckWaitNs int64 `json:"ackWaitNs"`
}

type tlsOptions struct {
	CA         string `json:"ca"`
	Cert       string `json:"cert"`
	Key        string `json:"key"`
	ServerName string `json:"serverName"`
	Insecure   bool   `json:"insecure"`
}

// The server's and the library's own defaults, said aloud.
const (
	defaultMaxAckPending = 1000
	defaultPrefetch      = 500
	defaultAckWait       = 30 * time.Second
	// bufferBytes bounds what waits in the library for one consumer: it throws away what goes beyond 64 MB.
	bufferBytes = 32 << 20
)

func (o *options) check() error {
	for _, one := range []struct {
		name, value string
		known       []string
	}{
		{"mode", o.Mode, []string{"core", "jetstream"}},
		{"auth", o.Auth, []string{"user", "token", "creds"}},
		{"storage", o.Storage, []string{"memory", "file"}},
		{"publish", o.Publish, []string{"async", "sync"}},
		{"consumer", o.Consumer, []string{"pull", "push", "ordered"}},
	} {
		if err := oneOf(one.name, one.value, one.known); err != nil {
			return err
		}
	}
	if o.MaxAckPending < 0 || o.Prefetch < 0 || o.AckWaitNs < 0 {
		return errors.New("maxAckPending, prefetch and ackWaitNs cannot be negative")
	}
	return nil
}

// secret reads what Auth names.
func (o *options) secret() ([]nats.Option, error) {
	read := func(name string) (string, error) {
		value := os.Getenv(name)
		if value == "" {
			return "", fmt.Errorf("auth: %s needs the environment variable %s, which is not set", o.Auth, name)
		}
		return value, nil
	}
	switch o.Auth {
	case "user":
		user, err := read("NATS_USER")
		if err != nil {
			return nil, err
		}
		password, err := read("NATS_PASSWORD")
		if err != nil {
			return nil, err
		}
		return []nats.Option{nats.UserInfo(user, password)}, nil
	case "token":
		token, err := read("NATS_TOKEN")
		if err != nil {
			return nil, err
		}
		return []nats.Option{nats.Token(token)}, nil
	case "creds":
		file, err := read("NATS_CREDS")
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(file); err != nil {
			return nil, errors.New("auth: creds: the file that NATS_CREDS names cannot be read")
		}
		return []nats.Option{nats.UserCredentials(file)}, nil
	}
	return nil, nil
}

// secure makes the configuration of TLS; nil: as the URL's scheme says.
func (t *tlsOptions) secure() (*tls.Config, error) {
	if t == nil {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName, InsecureSkipVerify: t.Insecure}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("tls: read ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls: there is no certificate in %s", t.CA)
		}
	}
	if (t.Cert == "") != (t.Key == "") {
		return nil, errors.New("tls: cert and key belong together")
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

// --- internal ---

func oneOf(name, value string, known []string) error {
	if value == "" {
		return nil
	}
	for _, one := range known {
		if value == one {
			return nil
		}
	}
	return fmt.Errorf("%s: %q is none of %v", name, value, known)
}

// atMost is as many messages of that size as fit into a consumer's buffer, one at least, n at most.
func atMost(n, messageBytes int) int { return max(1, min(n, bufferBytes/max(1, messageBytes))) }
