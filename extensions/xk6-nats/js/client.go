package js

import (
	"context"
	"errors"
	"fmt"
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
	connection    *connection
	closed        bool
	subscriptions []*nats.Subscription
}

func (c *client) read(from sobek.Value) error {
	object, is := from.(*sobek.Object)
	if !is {
		return errors.New("new Nats needs a configuration: new Nats({ servers: ['nats://localhost:4222'] })")
	}
	if err := c.module.test.Options(c.vu, "nats: new Nats", object, &c.configuration); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	if len(c.configuration.Servers) == 0 {
		c.configuration.Servers = []string{nats.DefaultURL}
	}
	return nil
}

func (c *client) methods(on *sobek.Object) {
	nothing := func() sobek.Value { return c.acknowledgement(&nats.PubAck{}) }
	// publish(subject, text), publishWithHeaders(subject, text, headers), publishMsg(message), and the same for streams.
	for suffix, read := range map[string]func([]sobek.Value) (*nats.Msg, error){"": c.message, "WithHeaders": c.message, "Msg": c.whole} {
		c.calls(on, "publish"+suffix, "publish", func(args []sobek.Value) (sobek.Value, error) {
			m, err := read(args)
			return nil, c.publish(m, err)
		})
		c.waits(on, "jetStreamPublish"+suffix, false, nothing, func(args []sobek.Value) (script.Wait, error) {
			m, err := read(args)
			return c.store(m), err
		})
	}
	for name, stream := range map[string]bool{"subscribe": false, "jetStreamSubscribe": true} {
		c.calls(on, name, name, func(args []sobek.Value) (sobek.Value, error) { return c.subscribe(args, stream) })
	}
	c.waits(on, "request", false, func() sobek.Value { return c.toScript(&nats.Msg{}) }, c.request)
	c.waits(on, "jetStreamSetup", true, nil, c.setUpStream)
	c.waits(on, "jetStreamDelete", true, nil, c.deleteStream)
	script.Method(c.vu, on, "close", func([]sobek.Value) (sobek.Value, error) { return nil, c.close() })
}

// --- internal ---

// calls adds a method that does not wait; its errors begin with the name of a call.
func (c *client) calls(on *sobek.Object, method, name string, call func([]sobek.Value) (sobek.Value, error)) {
	script.Method(c.vu, on, method, func(args []sobek.Value) (value sobek.Value, err error) {
		if err = c.enter(); err == nil {
			value, err = call(args)
		}
		if err != nil {
			return nil, c.fails(name, err)
		}
		return value, nil
	})
}

// waits adds a method, and its form that returns a promise. At the script's top a call that changes the server is made once in the test.
func (c *client) waits(on *sobek.Object, name string, changes bool, nothing script.Result, call script.Call) {
	script.Waits(c.vu, on, name, c.inbox, c.fails, func(args []sobek.Value) (script.Wait, error) {
		if err := c.enter(); err != nil {
			return nil, err
		}
		wait, err := call(args)
		switch {
		case err != nil:
			return nil, err
		case changes && c.vu.State() == nil:
			return c.module.test.Once(name, c.configuration.key(), args, c.runs, nats.ErrStreamNotFound, func(ctx context.Context) (_ script.Result, err error) {
				if c.connection, err = c.module.connect(c.configuration); err != nil {
					return nil, err
				}
				return wait(ctx)
			})
		case !c.runs:
			return func(context.Context) (script.Result, error) { return nothing, nil }, nil
		}
		return wait, nil
	})
}

func (c *client) enter() error {
	if c.closed {
		return errors.New("the client is closed")
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

// because explains the library's error about `of`.
func (c *client) because(of string, err error) error {
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		err = errors.New("nobody is subscribed there")
	case errors.Is(err, nats.ErrNoStreamResponse):
		err = errors.New("no stream has this subject")
	case errors.Is(err, nats.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("no answer within %s", answerTimeout)
	case errors.Is(err, nats.ErrReconnectBufExceeded):
		err = fmt.Errorf("the connection to %s is lost, and no more messages are kept for it", c.connection.servers)
	}
	return fmt.Errorf("%s: %w", of, err)
}

// tags of the VU's present work; nil in the init context.
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
	if err != nil || !c.runs {
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
	m, err := c.message(args)
	return c.asks(asked, to(m), func(ctx nats.ContextOpt) (script.Result, error) {
		reply, err := c.connection.RequestMsgWithContext(ctx, m)
		return func() sobek.Value { return c.toScript(reply) }, err
	}), err
}

// asks waits for the server's answer; a trend has how long that takes, "" none.
func (c *client) asks(trend, of string, ask func(nats.ContextOpt) (script.Result, error)) script.Wait {
	tags := c.tags()
	return func(ctx context.Context) (script.Result, error) {
		ctx, cancel := context.WithTimeout(ctx, answerTimeout)
		defer cancel()
		began := time.Now()
		result, err := ask(nats.Context(ctx))
		if err != nil {
			return nil, c.because(of, err)
		}
		if tags != nil && trend != "" {
			c.module.test.Metrics.Add(trend, tags, metrics.D(time.Since(began)))
		}
		return result, nil
	}
}

func (c *client) close() error {
	if c.closed || !c.runs {
		return nil
	}
	c.closed = true
	for _, one := range c.subscriptions {
		_ = one.Unsubscribe()
	}
	// The connection is others' too, and ends with the test.
	err := c.connection.FlushTimeout(answerTimeout)
	if err == nil {
		return nil
	}
	if !c.connection.IsConnected() {
		err = fmt.Errorf("messages may not have left: the connection to %s is lost", c.connection.servers)
	}
	return c.fails("close", err)
}

func to(m *nats.Msg) string { return fmt.Sprintf("to %q", m.Subject) }
