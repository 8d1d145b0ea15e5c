package js

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/grafana/sobek"
	"github.com/nats-io/nats.go"
	"go.k6.io/k6/v2/metrics"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

// client is one `new Nats` of a VU.
type client struct {
	*instance
	configuration Configuration
	// connection is nil while k6 only looks at the script: then nothing is done.
	connection    *connection
	closed        bool
	subscriptions []*nats.Subscription
}

var errClosed = errors.New("the client is closed")

func (c *client) methods(on *sobek.Object) {
	script.Method(c.vu, on, "publish", c.named("publish", func(args []sobek.Value) (sobek.Value, error) {
		m, err := c.message(args, nil)
		return nil, c.publish(m, err)
	}))
	script.Method(c.vu, on, "publishWithHeaders", c.named("publish", func(args []sobek.Value) (sobek.Value, error) {
		m, err := c.message(args, script.Argument(args, 2))
		return nil, c.publish(m, err)
	}))
	script.Method(c.vu, on, "publishMsg", c.named("publish", func(args []sobek.Value) (sobek.Value, error) {
		m, err := c.whole(args)
		return nil, c.publish(m, err)
	}))
	script.Method(c.vu, on, "subscribe", c.named("subscribe", func(args []sobek.Value) (sobek.Value, error) {
		return c.subscribe(args, func(subject string, take nats.MsgHandler) (*nats.Subscription, error) {
			return c.connection.Subscribe(subject, take)
		})
	}))
	script.Method(c.vu, on, "jetStreamSubscribe", c.named("jetStreamSubscribe", func(args []sobek.Value) (sobek.Value, error) {
		return c.subscribe(args, func(subject string, take nats.MsgHandler) (*nats.Subscription, error) {
			return c.connection.stream.Subscribe(subject, take)
		})
	}))
	script.Method(c.vu, on, "close", func([]sobek.Value) (sobek.Value, error) { return nil, c.close() })
	c.waits(on, "request", func() sobek.Value { return c.toScript(&nats.Msg{}) }, c.request)
	c.jetStream(on)
}

const (
	connectTimeout = 5 * time.Second
	requestTimeout = 5 * time.Second
	flushTimeout   = 5 * time.Second
	reconnectWait  = 100 * time.Millisecond
)

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
	if one.stream, err = one.JetStream(nats.MaxWait(requestTimeout)); err != nil {
		return nil, err
	}
	m.shared[own.key()] = one
	m.test.AtEnd(func() {
		_ = one.FlushTimeout(flushTimeout)
		one.Close()
	})
	return one, nil
}

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

// --- internal ---

// waits adds a method and its form that returns a promise. While k6 only looks at the script it returns nothing.
func (c *client) waits(on *sobek.Object, name string, nothing script.Result, call script.Call) {
	script.Waits(c.vu, on, name, script.Around{Awaited: c.inbox, Fails: c.fails}, func(args []sobek.Value) (script.Wait, error) {
		if err := c.enter(); err != nil {
			return nil, err
		}
		wait, err := call(args)
		if c.connection == nil {
			wait = func(context.Context) (script.Result, error) { return nothing, nil }
		}
		return wait, err
	})
}

// changes adds a method that changes something on the server; at the script's top it does so once in the test.
func (c *client) changes(on *sobek.Object, name string, call script.Call) {
	script.Waits(c.vu, on, name, script.Around{Awaited: c.inbox, Fails: c.fails}, func(args []sobek.Value) (script.Wait, error) {
		if err := c.enter(); err != nil {
			return nil, err
		}
		wait, err := call(args)
		if err != nil || c.runs && c.vu.State() != nil {
			return wait, err
		}
		return c.module.test.Once(name, c.configuration.key(), args, c.runs, nats.ErrStreamNotFound, func(ctx context.Context) (_ script.Result, err error) {
			if c.connection, err = c.module.connect(c.configuration); err != nil {
				return nil, err
			}
			return wait(ctx)
		})
	})
}

// named puts the name of a call in front of its error, and counts it.
func (c *client) named(name string, call func([]sobek.Value) (sobek.Value, error)) func([]sobek.Value) (sobek.Value, error) {
	return func(args []sobek.Value) (sobek.Value, error) {
		err := c.enter()
		var value sobek.Value
		if err == nil {
			value, err = call(args)
		}
		if err != nil {
			return nil, c.fails(name, err)
		}
		return value, nil
	}
}

// enter is called first by each method.
func (c *client) enter() error {
	if c.closed {
		return errClosed
	}
	if state := c.vu.State(); state != nil {
		c.module.test.Metrics.Meet(state, nil)
		c.inbox.enter()
	}
	return nil
}

// fails words an error for the script, and counts it.
func (c *client) fails(name string, err error) error {
	c.count(failed, 1)
	return failedBy(name, err)
}

func failedBy(name string, err error) error {
	return fmt.Errorf("nats: %s: %w", name, address.Cause(err))
}

// because says what the library's error means; of is what it is about.
func (c *client) because(of string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, nats.ErrNoResponders):
		err = errors.New("nobody is subscribed there")
	case errors.Is(err, nats.ErrNoStreamResponse):
		err = errors.New("no stream has this subject")
	case errors.Is(err, nats.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("no answer within %s", requestTimeout)
	case errors.Is(err, nats.ErrReconnectBufExceeded):
		err = fmt.Errorf("the connection to %s is lost, and no more messages are kept for it", c.connection.servers)
	}
	return fmt.Errorf("%s: %w", of, err)
}

// tags of what the VU does now; nil in the init context.
func (c *client) tags() *metrics.TagSet {
	if state := c.vu.State(); state != nil {
		return script.Tags(state)
	}
	return nil
}

func (c *client) count(name string, n int) {
	if tags := c.tags(); tags != nil {
		c.module.test.Metrics.Add(name, tags, float64(n))
	}
}

func (c *client) publish(m *nats.Msg, err error) error {
	if err != nil || c.connection == nil {
		return err
	}
	if err := c.connection.PublishMsg(m); err != nil {
		return c.because(to(m), err)
	}
	c.counted(m)
	return nil
}

func (c *client) counted(m *nats.Msg) {
	c.count(published, 1)
	c.count(publishedBytes, len(m.Data))
}

func (c *client) request(args []sobek.Value) (script.Wait, error) {
	m, err := c.message(args, script.Argument(args, 2))
	if err != nil {
		return nil, err
	}
	tags := c.tags()
	return func(ctx context.Context) (script.Result, error) {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		began := time.Now()
		reply, err := c.connection.RequestMsgWithContext(ctx, m)
		if err != nil {
			return nil, c.because(to(m), err)
		}
		if tags != nil {
			c.module.test.Metrics.Took(asked, tags, time.Since(began))
		}
		return func() sobek.Value { return c.toScript(reply) }, nil
	}, nil
}

func (c *client) close() error {
	if c.closed || c.connection == nil {
		return nil
	}
	c.closed = true
	for _, one := range c.subscriptions {
		_ = one.Unsubscribe()
	}
	// The connection is others' too, and ends with the test.
	if err := c.connection.FlushTimeout(flushTimeout); err != nil && !c.connection.IsConnected() {
		return c.fails("close", fmt.Errorf("messages may not have left: the connection to %s is lost", c.connection.servers))
	} else if err != nil {
		return c.fails("close", err)
	}
	return nil
}

func to(m *nats.Msg) string { return fmt.Sprintf("to %q", m.Subject) }
