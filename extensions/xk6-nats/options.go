package nats

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"os"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

//go:embed defaults.json
var defaultsText []byte

var defaults = broker.Defaults[options](defaultsText)

// options are the driver's own, as runner/brokers/nats/index.ts describes and writes them. Secrets come from environment variables.
type options struct {
	Mode string      `json:"mode" known:"core jetstream"`
	TLS  address.TLS `json:"tls"`
	// Auth names the way to log in, whose secret is in environment variables: "user", "token" or "creds"; "" uses only the URL.
	Auth    string `json:"auth" known:"user token creds"`
	Publish string `json:"publish" known:"async sync atomic fast"`
	// Batch of atomic and fast: its messages, or after how many the server acknowledges. LingerNs closes a batch that is not full.
	Batch    int   `json:"batch"`
	LingerNs int64 `json:"lingerNs"`
	// Consumer is "pull", "push" or "ordered"; "" is pull for groups and ordered without.
	Consumer      string `json:"consumer" known:"pull push ordered"`
	Dedup         bool   `json:"dedup"`
	MaxAckPending int    `json:"maxAckPending"`
	Prefetch      int    `json:"prefetch"`
	AckWaitNs     int64  `json:"ackWaitNs"`
}

// refuses tells why a stream does not take the batches that are asked for. A server that is too old leaves out what it does not know.
func (o *options) refuses(stream jetstream.StreamConfig) error {
	switch {
	case o.Publish == publishAtomic && !stream.AllowAtomicPublish:
		return errors.New("takes no atomic batches (allow_atomic, nats-server 2.12 or newer)")
	case o.Publish == publishFast && !stream.AllowBatchPublish:
		return errors.New("takes no fast batches (allow_batched, nats-server 2.14 or newer)")
	}
	return nil
}

// bufferBytes limits the messages that wait in the library for one consumer: it throws away everything above 64 MB.
const bufferBytes = 32 << 20

func optionsOf(o broker.Options) (own options, err error) {
	own = defaults
	own.MaxAckPending, own.Prefetch = 0, 0
	err = o.Decode(&own)
	fit := max(1, bufferBytes/max(1, o.MessageBytes))
	own.MaxAckPending = cmp.Or(own.MaxAckPending, min(defaults.MaxAckPending, fit))
	own.Prefetch = cmp.Or(own.Prefetch, min(defaults.Prefetch, fit))
	return own, err
}

// access logs in with the environment's secrets, and encrypts.
func (o *options) access() (all []nats.Option, err error) {
	secret := func(name string) string {
		value := os.Getenv(name)
		if value == "" {
			err = cmp.Or(err, fmt.Errorf("auth: %s needs the environment variable %s, which is not set", o.Auth, name))
		}
		return value
	}
	switch o.Auth {
	case "user":
		all = append(all, nats.UserInfo(secret("NATS_USER"), secret("NATS_PASSWORD")))
	case "token":
		all = append(all, nats.Token(secret("NATS_TOKEN")))
	case "creds":
		file := secret("NATS_CREDS")
		if _, missing := os.Stat(file); err == nil && missing != nil {
			return nil, errors.New("auth: cannot read the file that NATS_CREDS names")
		}
		all = append(all, nats.UserCredentials(file))
	}
	if err != nil {
		return nil, err
	}
	security, err := o.TLS.Config()
	if security != nil {
		all = append(all, nats.Secure(security))
	}
	return all, err
}
