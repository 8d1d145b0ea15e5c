package js

import (
	"errors"

	"github.com/grafana/sobek"
	"github.com/nats-io/nats.go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

// message reads (subject, text) and headers.
func (c *client) message(args []sobek.Value, headers sobek.Value) (*nats.Msg, error) {
	subject, err := subjectOf(script.Argument(args, 0))
	if err != nil {
		return nil, err
	}
	m := &nats.Msg{Subject: subject, Header: headerOf(headers)}
	m.Data, err = script.Bytes(c.vu.Runtime(), "the message", script.Argument(args, 1))
	return m, err
}

// whole reads { topic, data, raw, header }; raw wins over data.
func (c *client) whole(args []sobek.Value) (*nats.Msg, error) {
	given, is := script.Argument(args, 0).(*sobek.Object)
	if !is {
		return nil, errors.New("it needs a message: { topic: 'orders', data: 'text' }")
	}
	body := given.Get("raw")
	if body == nil || sobek.IsUndefined(body) || sobek.IsNull(body) {
		body = given.Get("data")
	}
	topic := given.Get("topic")
	if topic == nil {
		topic = sobek.Undefined()
	}
	if body == nil {
		body = sobek.Undefined()
	}
	return c.message([]sobek.Value{topic, body}, given.Get("header"))
}

// toScript is a message as a handler gets it.
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
		if err := object.Set(name, value); err != nil {
			panic(err) // a plain object takes any property
		}
	}
	script.Method(c.vu, object, "respond", c.named("respond", func(args []sobek.Value) (sobek.Value, error) {
		if m.Reply == "" {
			return nil, errors.New("nobody asked: the message has no reply subject")
		}
		answer := &nats.Msg{Subject: m.Reply, Header: headerOf(script.Argument(args, 1))}
		var err error
		answer.Data, err = script.Bytes(rt, "the message", script.Argument(args, 0))
		return nil, c.publish(answer, err)
	}))
	return object
}

// --- internal ---

func subjectOf(v sobek.Value) (string, error) {
	if v == nil || v.String() == "" {
		return "", errors.New("it needs a subject: publish('orders', 'text')")
	}
	return v.String(), nil
}

// headerOf is an object of texts; a name is written as the script has it.
func headerOf(v sobek.Value) nats.Header {
	texts := script.Texts(v)
	if len(texts) == 0 {
		return nil
	}
	header := nats.Header{}
	for name, text := range texts {
		header[name] = []string{text}
	}
	return header
}
