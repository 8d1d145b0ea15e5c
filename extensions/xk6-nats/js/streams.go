package js

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/grafana/sobek"
	"github.com/nats-io/nats.go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

// setUpStream adds the stream, or updates one of that name. Keys are the server's; storage and discard may also be its words.
func (c *client) setUpStream(args []sobek.Value) (script.Wait, error) {
	given, is := script.Argument(args, 0).(*sobek.Object)
	if !is {
		return nil, errors.New("it needs a configuration: { name: 'orders', subjects: ['orders.>'] }")
	}
	var config nats.StreamConfig
	err := c.readStream(given, &config)
	return c.asks("", fmt.Sprintf("stream %q", config.Name), func(ctx nats.ContextOpt) (script.Result, error) {
		_, err := c.connection.stream.AddStream(&config, ctx)
		if errors.Is(err, nats.ErrStreamNameAlreadyInUse) {
			_, err = c.connection.stream.UpdateStream(&config, ctx)
		}
		return nil, err
	}), err
}

func (c *client) deleteStream(args []sobek.Value) (script.Wait, error) {
	given := script.Argument(args, 0)
	if given == nil {
		return nil, errors.New("it needs the name of a stream")
	}
	name := given.String() // it may be a script's own function, which runs on the VU's goroutine
	return c.asks("", fmt.Sprintf("stream %q", name), func(ctx nats.ContextOpt) (script.Result, error) {
		return nil, c.connection.stream.DeleteStream(name, ctx)
	}), nil
}

// store publishes to a stream, and waits until it is acknowledged.
func (c *client) store(m *nats.Msg) script.Wait {
	return c.asks(acknowledged, to(m), func(ctx nats.ContextOpt) (script.Result, error) {
		ack, err := c.connection.stream.PublishMsg(m, ctx)
		return func() sobek.Value {
			c.counted(m)
			return c.acknowledgement(ack)
		}, err
	})
}

func (c *client) acknowledgement(ack *nats.PubAck) sobek.Value {
	return c.vu.Runtime().ToValue(map[string]any{"stream": ack.Stream, "sequence": ack.Sequence, "duplicate": ack.Duplicate})
}

// streamWords are the values of keys that the public module's scripts give as numbers, in the Go library's order.
var streamWords = map[string][]string{
	"storage":     {"file", "memory"},
	"discard":     {"old", "new"},
	"retention":   {"limits", "interest", "workqueue"},
	"compression": {"none", "s2"},
}

// --- internal ---

// readStream takes the server's keys, which are also the keys of nats.StreamConfig's JSON.
func (c *client) readStream(from *sobek.Object, into *nats.StreamConfig) error {
	text, err := script.JSON(from)
	if err != nil {
		return err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return errors.New("it needs an object: { name: 'orders', subjects: ['orders.>'] }")
	}
	for key, words := range streamWords {
		if at, is := fields[key].(float64); is && (at < 0 || int(at) >= len(words)) {
			return fmt.Errorf("%s cannot be %g", key, at)
		} else if is {
			fields[key] = words[int(at)]
		}
	}
	text, _ = json.Marshal(fields) // it came from JSON
	return c.module.test.Read(c.vu, "nats: jetStreamSetup", text, into)
}
