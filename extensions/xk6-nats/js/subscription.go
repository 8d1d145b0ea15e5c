package js

import (
	"errors"
	"fmt"

	"github.com/grafana/sobek"
	"github.com/nats-io/nats.go"
	"go.k6.io/k6/v2/js/common"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

// subscribe reads (subject, handler); when it returns, the server has the subscription. The handler runs on the VU's event loop.
func (c *client) subscribe(args []sobek.Value, stream bool) (sobek.Value, error) {
	subject, err := subjectOf(script.Argument(args, 0))
	if err != nil {
		return nil, err
	}
	handler, is := sobek.AssertFunction(script.Argument(args, 1))
	if !is {
		return nil, fmt.Errorf("%q: it needs a handler: subscribe('orders', (msg) => { ... })", subject)
	}
	var made *nats.Subscription
	object := c.vu.Runtime().NewObject()
	script.Method(c.vu, object, "close", func([]sobek.Value) (sobek.Value, error) {
		// Also after the client's close, and while k6 only looks at the script.
		if err := made.Unsubscribe(); err != nil && !errors.Is(err, nats.ErrBadSubscription) && !errors.Is(err, nats.ErrConnectionClosed) {
			return nil, c.fails("close", err)
		}
		return nil, nil
	})
	if !c.runs {
		return object, nil
	}
	c.listen()
	take := func(m *nats.Msg) { c.take(handler, m) }
	if stream {
		made, err = c.connection.stream.Subscribe(subject, take)
	} else {
		made, err = c.connection.Subscribe(subject, take)
	}
	if err == nil {
		err = c.connection.FlushTimeout(answerTimeout)
	}
	if err != nil {
		return nil, c.because(fmt.Sprintf("%q", subject), err)
	}
	c.subscriptions = append(c.subscriptions, made)
	return object, nil
}

// message reads (subject, text, headers).
func (c *client) message(args []sobek.Value) (*nats.Msg, error) {
	return c.messageOf(script.Argument(args, 0), script.Argument(args, 1), script.Argument(args, 2))
}

// whole reads { topic, data, raw, header }; raw wins over data.
func (c *client) whole(args []sobek.Value) (*nats.Msg, error) {
	given, is := script.Argument(args, 0).(*sobek.Object)
	if !is {
		return &nats.Msg{}, errors.New("it needs a message: { topic: 'orders', data: 'text' }")
	}
	body := given.Get("raw")
	if common.IsNullish(body) {
		body = given.Get("data")
	}
	return c.messageOf(given.Get("topic"), body, given.Get("header"))
}

func (c *client) toScript(m *nats.Msg) *sobek.Object {
	rt := c.vu.Runtime()
	header := map[string]string{}
	for name := range m.Header {
		header[name] = m.Header.Get(name)
	}
	object := rt.NewObject()
	for name, value := range map[string]any{
		"topic": m.Subject, "data": string(m.Data), "raw": script.Uint8Array(rt, m.Data), "header": header, "reply": m.Reply,
	} {
		_ = object.Set(name, value) // a plain object takes any property
	}
	c.calls(object, "respond", "respond", func(args []sobek.Value) (sobek.Value, error) {
		if m.Reply == "" {
			return nil, errors.New("nobody asked: the message has no reply subject")
		}
		answer, err := c.messageOf(rt.ToValue(m.Reply), script.Argument(args, 0), script.Argument(args, 1))
		return nil, c.publish(answer, err)
	})
	return object
}

// --- internal ---

// take puts a message before the VU. The library calls it, one message of a subscription at a time.
func (c *client) take(handler sobek.Callable, m *nats.Msg) {
	full := c.inbox.put(func() error {
		c.count(received, 1)
		c.count(receivedBytes, len(m.Data))
		_, err := handler(sobek.Undefined(), c.toScript(m))
		return err
	})
	if full {
		c.module.full.Do(func() {
			script.Logger(c.vu).Warnf("nats: %d messages wait for a VU; further ones are dropped, and counted as %s", inboxLimit, dropped)
		})
	}
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

func subjectOf(v sobek.Value) (string, error) {
	if common.IsNullish(v) || v.String() == "" {
		return "", errors.New("it needs a subject: publish('orders', 'text')")
	}
	return v.String(), nil
}

// messageOf reads a message; a header's name is written as the script has it.
func (c *client) messageOf(subject, body, headers sobek.Value) (m *nats.Msg, err error) {
	m = &nats.Msg{}
	if m.Subject, err = subjectOf(subject); err != nil {
		return m, err
	}
	for name, text := range script.Texts(headers) {
		if m.Header == nil {
			m.Header = nats.Header{}
		}
		m.Header[name] = []string{text}
	}
	m.Data, err = script.Bytes(c.vu.Runtime(), "the message", body)
	return m, err
}
