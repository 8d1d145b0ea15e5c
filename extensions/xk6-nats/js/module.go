// Package js is k6/x/nats, for authors of k6 scripts: the public module's class Nats, on k6's event loop.
package js

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/grafana/sobek"
	"github.com/nats-io/nats.go"
	"go.k6.io/k6/v2/js/common"
	"go.k6.io/k6/v2/js/modules"
	"go.k6.io/k6/v2/metrics"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

// Names of the metrics: counters, and trends in milliseconds.
const (
	published      = "nats_publish_count"
	publishedBytes = "nats_publish_bytes"
	received       = "nats_message_count"
	receivedBytes  = "nats_message_bytes"
	dropped        = "nats_dropped_count"
	failed         = "nats_error_count"
	asked          = "nats_request_seconds"
	acknowledged   = "nats_ack_seconds"
)

const (
	// answerTimeout is for connections, requests, and messages that are still to leave.
	answerTimeout = 5 * time.Second
	reconnectWait = 100 * time.Millisecond
)

// Module is k6/x/nats: the state that all VUs of a process share.
type Module struct {
	test script.Test
	mu   sync.Mutex
	// shared has a connection for each configuration.
	shared map[string]*connection
	// Warnings that a test gives once.
	warned, full sync.Once
}

// New makes the module of this process.
func New() *Module { return &Module{shared: map[string]*connection{}} }

// NewModuleInstance makes the module of one VU: class Nats, and sleep, during which handlers run.
func (m *Module) NewModuleInstance(vu modules.VU) modules.Instance {
	i := &instance{module: m, vu: vu, runs: m.test.Join(vu), inbox: &inbox{vu: vu}}
	err := errors.Join(
		m.test.Metrics.Declare(vu, metrics.Counter, published, publishedBytes, received, receivedBytes, dropped, failed),
		m.test.Metrics.Declare(vu, metrics.Trend, asked, acknowledged))
	if err == nil && i.runs {
		err = m.test.Begin(failedBy)
	}
	if err != nil {
		common.Throw(vu.Runtime(), err)
	}
	named := map[string]any{"Nats": i.newNats, "sleep": i.sleep}
	i.exports = modules.Exports{Default: named, Named: named}
	return i
}

type instance struct {
	module *Module
	vu     modules.VU
	// runs: this is a VU, not k6's look at the script, which connects to nothing.
	runs    bool
	inbox   *inbox
	exports modules.Exports
	// listens: it has subscriptions.
	listens bool
}

// Exports is asked for at each use of an imported name.
func (i *instance) Exports() modules.Exports { return i.exports }

// connection is shared by the VUs of a process whose configuration is the same.
type connection struct {
	*nats.Conn
	stream nats.JetStreamContext
	// servers, for messages, without passwords.
	servers string
}

// connect returns the connection of a configuration, which it makes for the first VU. It lasts until the test ends.
func (m *Module) connect(own Configuration) (*connection, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if one := m.shared[own.key()]; one != nil {
		return one, nil
	}
	options, err := own.options()
	if err != nil {
		return nil, err
	}
	one := &connection{servers: address.MaskedText(strings.Join(own.Servers, ", "))}
	one.Conn, err = nats.Connect(strings.Join(own.Servers, ","), options...)
	if errors.Is(err, nats.ErrNoServers) {
		err = errors.New("no server answers there; is it running?")
	}
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", one.servers, address.Cause(err))
	}
	if one.stream, err = one.JetStream(nats.MaxWait(answerTimeout)); err != nil {
		return nil, err
	}
	m.shared[own.key()] = one
	m.test.AtEnd(func() {
		_ = one.FlushTimeout(answerTimeout)
		one.Close()
	})
	return one, nil
}

// Configuration is the argument of a script's `new Nats`. Servers, unsafe and token are the public module's.
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

// key is the same for configurations that share a connection.
func (c *Configuration) key() string { return fmt.Sprintf("%#v", *c) }

func (c *Configuration) options() ([]nats.Option, error) {
	options := []nats.Option{
		nats.Name("k6"), nats.Timeout(answerTimeout), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait),
		nats.ReconnectJitter(0, 0), nats.NoCallbacksAfterClientClose(), nats.Token(c.Token), nats.UserInfo(c.User, c.Password),
	}
	if c.Creds != "" {
		options = append(options, nats.UserCredentials(c.Creds))
	}
	// Without tls, unsafe is for servers that ask for TLS; scripts also write it for other servers.
	security := c.TLS
	security.On, security.Insecure = c.TLS.On || c.Unsafe, c.TLS.Insecure || c.Unsafe
	config, err := security.Config()
	return append(options, func(o *nats.Options) error {
		o.TLSConfig, o.Secure = config, c.TLS.On
		return nil
	}), err
}

// --- internal ---

// sleep returns a promise: k6's own sleep stops the event loop, on which handlers run.
func (i *instance) sleep(seconds float64) (sobek.Value, error) {
	if i.vu.State() == nil {
		return nil, errors.New("nats: sleep cannot be called in the init context")
	}
	i.inbox.enter()
	promise, resolve, _ := i.vu.Runtime().NewPromise()
	script.Await(i.vu, i.inbox, func(ctx context.Context) func() error {
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(seconds * float64(time.Second))):
		}
		return func() error { return resolve(sobek.Undefined()) }
	})
	return i.vu.Runtime().ToValue(promise), nil
}

func (i *instance) newNats(call sobek.ConstructorCall) *sobek.Object {
	made := &client{instance: i}
	err := made.read(call.Argument(0))
	if err == nil && i.runs {
		made.connection, err = i.module.connect(made.configuration)
	}
	if err != nil {
		common.Throw(i.vu.Runtime(), fmt.Errorf("nats: %w", err))
	}
	made.methods(call.This)
	return nil
}
