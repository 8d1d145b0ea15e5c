package js

import (
	"errors"
	"fmt"

	"github.com/grafana/sobek"
	"github.com/nats-io/nats.go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

// subscribe reads (subject, handler); when it returns, the server knows of it. The handler runs on the VU's event loop.
func (c *client) subscribe(args []sobek.Value, at func(subject string, take nats.MsgHandler) (*nats.Subscription, error)) (sobek.Value, error) {
	subject, err := subjectOf(script.Argument(args, 0))
	if err != nil {
		return nil, err
	}
	handler, is := sobek.AssertFunction(script.Argument(args, 1))
	if !is {
		return nil, fmt.Errorf("%q: it needs a handler: subscribe('orders', (msg) => { ... })", subject)
	}
	if c.connection == nil {
		return c.handle(nil), nil
	}
	c.listen()
	made, err := at(subject, func(m *nats.Msg) { c.take(handler, m) })
	if err == nil {
		err = c.connection.FlushTimeout(flushTimeout)
	}
	if err != nil {
		return nil, c.because(fmt.Sprintf("%q", subject), err)
	}
	c.subscriptions = append(c.subscriptions, made)
	return c.handle(made), nil
}

// --- internal ---

// handle is what subscribe returns: { close() }.
func (c *client) handle(of *nats.Subscription) *sobek.Object {
	object := c.vu.Runtime().NewObject()
	script.Method(c.vu, object, "close", func([]sobek.Value) (sobek.Value, error) {
		if of == nil {
			return nil, nil
		}
		// Also after the client's close.
		if err := of.Unsubscribe(); err != nil && !errors.Is(err, nats.ErrBadSubscription) && !errors.Is(err, nats.ErrConnectionClosed) {
			return nil, c.fails("close", err)
		}
		return nil, nil
	})
	return object
}

// take puts a message before the VU. The library calls it, one message of a subscription at a time.
func (c *client) take(handler sobek.Callable, m *nats.Msg) {
	_, full := c.inbox.put(func() error {
		c.count(received, 1)
		c.count(receivedBytes, len(m.Data))
		_, err := handler(sobek.Undefined(), c.toScript(m))
		return err
	})
	if !full {
		return
	}
	c.module.full.Do(func() {
		script.Logger(c.vu).Warnf("nats: %d messages wait for a VU; further ones are dropped, and counted as %s", inboxLimit, dropped)
	})
	c.inbox.drops.Add(1)
}

// listen warns, once in a test, of messages that came while the script awaited nothing.
func (c *client) listen() {
	if c.listens {
		return
	}
	c.listens = true
	script.AfterIterations(c.vu, func() {
		if n := c.inbox.drops.Swap(0); n > 0 {
			c.count(dropped, int(n))
		}
		if c.inbox.missed() {
			c.module.warned.Do(func() {
				script.Logger(c.vu).Warn("nats: messages came during an iteration, and no handler could run: handlers run on the VU's event loop, which k6's sleep stops. " +
					"Write import { sleep } from 'k6/x/nats', an async function, and await sleep(1)")
			})
		}
	})
}
