package js

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/grafana/sobek"
	"github.com/nats-io/nats.go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/script"
)

func (c *client) jetStream(on *sobek.Object) {
	nothing := func() sobek.Value { return c.acknowledgement(&nats.PubAck{}) }
	c.changes(on, "jetStreamSetup", c.setUpStream)
	c.changes(on, "jetStreamDelete", c.deleteStream)
	c.waits(on, "jetStreamPublish", nothing, func(args []sobek.Value) (script.Wait, error) {
		m, err := c.message(args, nil)
		return c.store(m), err
	})
	c.waits(on, "jetStreamPublishWithHeaders", nothing, func(args []sobek.Value) (script.Wait, error) {
		m, err := c.message(args, script.Argument(args, 2))
		return c.store(m), err
	})
	c.waits(on, "jetStreamPublishMsg", nothing, func(args []sobek.Value) (script.Wait, error) {
		m, err := c.whole(args)
		return c.store(m), err
	})
}

// --- internal ---

// setUpStream adds the stream, or updates one of that name. Keys are the server's; storage and discard may also be its words.
func (c *client) setUpStream(args []sobek.Value) (script.Wait, error) {
	given, is := script.Argument(args, 0).(*sobek.Object)
	if !is {
		return nil, errors.New("it needs a configuration: { name: 'orders', subjects: ['orders.>'] }")
	}
	var config nats.StreamConfig
	if err := c.readStream(given, &config); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (script.Result, error) {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		_, err := c.connection.stream.AddStream(&config, nats.Context(ctx))
		if errors.Is(err, nats.ErrStreamNameAlreadyInUse) {
			_, err = c.connection.stream.UpdateStream(&config, nats.Context(ctx))
		}
		return nil, c.because(fmt.Sprintf("stream %q", config.Name), err)
	}, nil
}

func (c *client) deleteStream(args []sobek.Value) (script.Wait, error) {
	name := script.Argument(args, 0)
	if name == nil {
		return nil, errors.New("it needs the name of a stream")
	}
	return func(ctx context.Context) (script.Result, error) {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		return nil, c.because(fmt.Sprintf("stream %q", name), c.connection.stream.DeleteStream(name.String(), nats.Context(ctx)))
	}, nil
}

// store publishes to a stream, and waits until it is acknowledged.
func (c *client) store(m *nats.Msg) script.Wait {
	tags := c.tags()
	return func(ctx context.Context) (script.Result, error) {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		began := time.Now()
		ack, err := c.connection.stream.PublishMsg(m, nats.Context(ctx))
		if err != nil {
			return nil, c.because(to(m), err)
		}
		took := time.Since(began)
		return func() sobek.Value {
			if tags != nil {
				c.module.test.Metrics.Took(acknowledged, tags, took)
			}
			c.counted(m)
			return c.acknowledgement(ack)
		}, nil
	}
}

// acknowledgement is one as a script gets it.
func (c *client) acknowledgement(ack *nats.PubAck) sobek.Value {
	return c.vu.Runtime().ToValue(map[string]any{"stream": ack.Stream, "sequence": ack.Sequence, "duplicate": ack.Duplicate})
}

// readStream takes the server's keys, as nats.StreamConfig's JSON has them; numbers where that has words are as the Go library counts them.
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
		at, is := fields[key].(float64)
		if is && (at < 0 || int(at) >= len(words)) {
			return fmt.Errorf("%s cannot be %g", key, at)
		} else if is {
			fields[key] = words[int(at)]
		}
	}
	if text, err = json.Marshal(fields); err != nil {
		return err
	}
	return c.module.test.Read(c.vu, "nats: jetStreamSetup", text, into)
}

// streamWords are the values of keys that the public module's scripts give as numbers.
var streamWords = map[string][]string{
	"storage":     {"file", "memory"},
	"discard":     {"old", "new"},
	"retention":   {"limits", "interest", "workqueue"},
	"compression": {"none", "s2"},
}
