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
