package nats

import (
	"errors"
	"fmt"
	"os"

	"github.com/nats-io/nats.go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// options are the driver's own, as runner/brokers/nats/options.ts writes them. Secrets come from environment variables.
type options struct {
	// Mode is "core" or "jetstream".
	Mode string      `json:"mode"`
	TLS  address.TLS `json:"tls"`
	// Auth names the way to log in, whose secret is in environment variables: "user", "token" or "creds"; "" uses the URL alone.
	Auth string `json:"auth"`
	jetStreamOptions
}

func (o *options) Check() error {
	err := broker.Choose(
		broker.Choice{Name: "mode", Value: o.Mode, Known: []string{"core", "jetstream"}},
		broker.Choice{Name: "auth", Value: o.Auth, Known: []string{"", "user", "token", "creds"}},
	)
	if err != nil {
		return err
	}
	return o.jetStreamOptions.Check()
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
