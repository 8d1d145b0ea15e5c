package js

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/grafana/sobek"
	"github.com/nats-io/nats.go"
	"go.k6.io/k6/v2/js/modules"

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

// inboxLimit is how many messages wait for a VU that does not await; more are dropped, and counted.
const inboxLimit = 65_536

// turnLimit is how many messages are handled before the event loop does other things that are due, promises that are settled among them.
const turnLimit = 100

// inbox has the messages for the handlers of one VU. JavaScript of a VU runs on its event loop alone, and k6's loop turns while a promise is
// awaited: then handlers run. While nothing is awaited messages wait here.
type inbox struct {
	vu modules.VU
	// listening is the context of the VU's scenario, from its first call on: what came before, or to a VU that has no scenario any more, is not
	// for it.
	listening atomic.Pointer[context.Context]
	// drops are not counted yet.
	drops atomic.Int64
	// mu guards what follows.
	mu sync.Mutex
	// awaits counts promises that are awaited; asleep: none was in this iteration.
	awaits  int
	asleep  bool
	waiting []func() error
	// wake takes a function to the event loop, nil while nothing is awaited.
	wake func(func() error)
}

func newInbox(vu modules.VU) *inbox { return &inbox{vu: vu, asleep: true} }

// enter is called by each method within an iteration.
func (b *inbox) enter() {
	if ctx := b.vu.Context(); b.vu.State() != nil {
		b.listening.Store(&ctx)
	}
}

// put takes what is to run on the VU's event loop, from any goroutine; false: it is not wanted, or there are too many.
func (b *inbox) put(handle func() error) (taken, full bool) {
	if ctx := b.listening.Load(); ctx == nil || (*ctx).Err() != nil {
		return false, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) >= inboxLimit {
		return false, true
	}
	b.waiting = append(b.waiting, handle)
	b.turn()
	return true, false
}

// Begin lets handlers run from now on.
func (b *inbox) Begin() {
	b.enter()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.awaits++
	b.asleep = false
	if b.wake == nil {
		b.wake = b.vu.RegisterCallback()
	}
	b.turn()
}

// End undoes Begin. Messages that are there are handled before the promise is settled; the error is a handler's exception.
func (b *inbox) End() error {
	b.mu.Lock()
	there := len(b.waiting)
	b.mu.Unlock()
	err := b.handle(there)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.awaits--
	if b.awaits == 0 && b.wake != nil {
		b.wake(func() error { return nil })
		b.wake = nil
	}
	return err
}

// missed reports whether messages wait for a VU that has not awaited anything since it was asked last; between iterations.
func (b *inbox) missed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	missed := b.asleep && len(b.waiting) > 0
	b.asleep = true
	return missed
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
		if at, is := fields[key].(float64); is && (at < 0 || int(at) >= len(words)) {
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

// turn wakes the event loop if it is asked to, and there is something to handle.
func (b *inbox) turn() {
	if b.wake != nil && len(b.waiting) > 0 {
		wake := b.wake
		b.wake = nil
		wake(b.run)
	}
}

// run handles what waits, and waits for more if something is awaited still. It runs on the VU's goroutine.
func (b *inbox) run() error {
	err := b.handle(turnLimit)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.awaits > 0 && b.wake == nil {
		b.wake = b.vu.RegisterCallback()
		b.turn()
	}
	return err
}

// handle runs handlers of at most so many messages, until nothing waits, one throws, or the iteration is interrupted.
func (b *inbox) handle(most int) error {
	for ctx := b.vu.Context(); most > 0 && ctx.Err() == nil; most-- {
		b.mu.Lock()
		if len(b.waiting) == 0 {
			b.mu.Unlock()
			return nil
		}
		next := b.waiting[0]
		b.waiting = b.waiting[1:]
		b.mu.Unlock()
		if err := next(); err != nil {
			return err
		}
	}
	return nil
}
