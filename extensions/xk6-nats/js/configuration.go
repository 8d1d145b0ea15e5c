package js

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/grafana/sobek"
	"github.com/nats-io/nats.go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
)

// Configuration is what a script gives `new Nats`. Servers, unsafe and token are the public module's.
type Configuration struct {
	Servers []string `json:"servers"`
	// Unsafe takes any certificate.
	Unsafe   bool        `json:"unsafe"`
	Token    string      `json:"token"`
	User     string      `json:"user"`
	Password string      `json:"password"`
	Creds    string      `json:"creds"`
	TLS      address.TLS `json:"tls"`
}

// configuration reads what a script gives.
func (i *instance) configuration(from sobek.Value) (own Configuration, err error) {
	object, is := from.(*sobek.Object)
	if !is {
		return own, errors.New("new Nats needs a configuration: new Nats({ servers: ['nats://localhost:4222'] })")
	}
	if err := i.module.test.Options(i.vu, "nats: new Nats", object, &own); err != nil {
		return own, fmt.Errorf("configuration: %w", err)
	}
	if len(own.Servers) == 0 {
		own.Servers = []string{nats.DefaultURL}
	}
	return own, nil
}

// key is the same for configurations that share a connection.
func (c *Configuration) key() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // it came from JSON
	}
	return string(text)
}

func (c *Configuration) options() ([]nats.Option, error) {
	options := []nats.Option{
		nats.Name("k6"), nats.Timeout(connectTimeout), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait),
		nats.ReconnectJitter(0, 0), nats.NoCallbacksAfterClientClose(),
	}
	if c.Token != "" {
		options = append(options, nats.Token(c.Token))
	}
	if c.User != "" {
		options = append(options, nats.UserInfo(c.User, c.Password))
	}
	if c.Creds != "" {
		options = append(options, nats.UserCredentials(c.Creds))
	}
	security, err := c.TLS.Config()
	if err != nil {
		return nil, err
	}
	if security != nil {
		options = append(options, nats.Secure(security))
	}
	if c.Unsafe {
		options = append(options, takeAnyCertificate)
	}
	return options, nil
}

// takeAnyCertificate is for servers that ask for TLS; scripts write `unsafe: true` beside others as well.
func takeAnyCertificate(o *nats.Options) error {
	if o.TLSConfig == nil {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	o.TLSConfig.InsecureSkipVerify = true //nolint:gosec // the script asks for it
	return nil
}
