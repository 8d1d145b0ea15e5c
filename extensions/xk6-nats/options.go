package nats

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"os"

	"github.com/nats-io/nats.go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

//go:embed defaults.json
var defaultsText []byte

var defaults = broker.Defaults[options](defaultsText)

// options are the driver's own, as runner/brokers/nats/index.ts writes them. Secrets come from environment variables.
type options struct {
	// Mode is "core" or "jetstream".
	Mode string      `json:"mode" known:"core jetstream"`
	TLS  address.TLS `json:"tls"`
	// Auth names the way to log in, whose secret is in environment variables: "user", "token" or "creds"; "" uses the URL alone.
	Auth string `json:"auth" known:"user token creds"`
	jetStreamOptions
}

// secrets are the environment variables of each way to log in.
var secrets = map[string][]string{"user": {"NATS_USER", "NATS_PASSWORD"}, "token": {"NATS_TOKEN"}, "creds": {"NATS_CREDS"}}

// secret reads the variables of Auth.
func (o *options) secret() (nats.Option, error) {
	var values []string
	for _, name := range secrets[o.Auth] {
		value := os.Getenv(name)
		if value == "" {
			return nil, fmt.Errorf("auth: %s needs the environment variable %s, which is not set", o.Auth, name)
		}
		values = append(values, value)
	}
	switch o.Auth {
	case "user":
		return nats.UserInfo(values[0], values[1]), nil
	case "token":
		return nats.Token(values[0]), nil
	case "creds":
		if _, err := os.Stat(values[0]); err != nil {
			return nil, errors.New("auth: cannot read the file that NATS_CREDS names")
		}
		return nats.UserCredentials(values[0]), nil
	}
	return func(*nats.Options) error { return nil }, nil
}

// jetStreamOptions are the options of mode jetstream only.
type jetStreamOptions struct {
	// Storage is "memory" or "file"; "" follows the durability, else file.
	Storage string `json:"storage" known:"memory file"`
	// Publish is "async" or "sync".
	Publish string `json:"publish" known:"async sync"`
	// Consumer is "pull", "push" or "ordered"; "" is pull for groups and ordered without.
	Consumer string `json:"consumer" known:"pull push ordered"`
	// Dedup gives every message an id.
	Dedup bool `json:"dedup"`
	// MaxAckPending and Prefetch; 0 is the default, fewer for large messages.
	MaxAckPending int   `json:"maxAckPending"`
	Prefetch      int   `json:"prefetch"`
	AckWaitNs     int64 `json:"ackWaitNs"`
}

// bufferBytes limits what waits in the library for one consumer: it throws away what exceeds 64 MB.
const bufferBytes = 32 << 20

// --- internal ---

// atMost is what is written, else how many messages of that size fit into a consumer's buffer: at least one, at most n.
func atMost(written, n, messageBytes int) int {
	return cmp.Or(written, max(1, min(n, bufferBytes/max(1, messageBytes))))
}
