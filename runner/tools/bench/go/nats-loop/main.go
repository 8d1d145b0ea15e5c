// Command nats-loop is the loop that one writes with nats.go and no benchmark: it publishes as fast as it goes, with a
// bounded number of messages in flight, and prints how long that took. `npm run bench` sets it beside mqbench; users do not get it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "nats-loop:", err)
		os.Exit(1)
	}
}

// loop is what the command line asks for.
type loop struct {
	messages, warmup, bytes, inFlight int
}

// result is the line on stdout.
type result struct {
	Messages int     `json:"messages"`
	Seconds  float64 `json:"seconds"`
}

func run() error {
	var l loop
	url := flag.String("url", nats.DefaultURL, "the server")
	mode := flag.String("mode", "core", "core: publish and receive on one connection; jetstream: publish asynchronously to a stream in files")
	flag.IntVar(&l.messages, "messages", 1_000_000, "messages that are timed")
	flag.IntVar(&l.warmup, "warmup", 0, "messages before them")
	flag.IntVar(&l.bytes, "bytes", 1024, "size of a message")
	flag.IntVar(&l.inFlight, "in-flight", 1000, "messages that are sent and have not come back, or are not acknowledged")
	flag.Parse()
	connection, err := nats.Connect(*url)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer connection.Close()
	send := map[string]func(*nats.Conn) (func(int) error, error){"core": l.core, "jetstream": l.jetStream}[*mode]
	if send == nil {
		return fmt.Errorf("mode %q is neither core nor jetstream", *mode)
	}
	publish, err := send(connection)
	if err != nil {
		return err
	}
	if err := publish(l.warmup); err != nil {
		return err
	}
	began := time.Now()
	if err := publish(l.messages); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result{l.messages, time.Since(began).Seconds()})
}

// --- internal ---

const subject = "mqbench-nats-loop"

// core gives a function that publishes n messages and receives them.
func (l loop) core(connection *nats.Conn) (func(n int) error, error) {
	flying := make(chan struct{}, l.inFlight)
	if _, err := connection.Subscribe(subject, func(*nats.Msg) { <-flying }); err != nil {
		return nil, fmt.Errorf("subscribe: %w", err)
	}
	if err := connection.Flush(); err != nil {
		return nil, fmt.Errorf("subscribe: %w", err)
	}
	payload := make([]byte, l.bytes)
	return func(n int) error {
		for range n {
			flying <- struct{}{}
			if err := connection.Publish(subject, payload); err != nil {
				return fmt.Errorf("publish: %w", err)
			}
		}
		for range cap(flying) { // when all places are free, all messages are back
			flying <- struct{}{}
		}
		for range cap(flying) {
			<-flying
		}
		return nil
	}, nil
}

// jetStream gives a function that publishes n messages and waits for their acknowledgements.
func (l loop) jetStream(connection *nats.Conn) (func(n int) error, error) {
	var failed atomic.Pointer[error]
	js, err := jetstream.New(connection, jetstream.WithPublishAsyncMaxPending(l.inFlight),
		jetstream.WithPublishAsyncTimeout(30*time.Second), // as mqbench: a loop that waits for ever does not see what is lost
		jetstream.WithPublishAsyncErrHandler(func(_ jetstream.JetStream, _ *nats.Msg, err error) { failed.Store(&err) }))
	if err != nil {
		return nil, fmt.Errorf("open JetStream: %w", err)
	}
	ctx := context.Background()
	_ = js.DeleteStream(ctx, subject) // one that an earlier loop has left
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: subject, Subjects: []string{subject}}); err != nil {
		return nil, fmt.Errorf("create stream: %w", err)
	}
	payload := make([]byte, l.bytes)
	return func(n int) error {
		for range n {
			if _, err := js.PublishAsync(subject, payload, jetstream.WithStallWait(time.Minute)); err != nil {
				return fmt.Errorf("publish: %w", err)
			}
		}
		<-js.PublishAsyncComplete()
		if err := failed.Load(); err != nil {
			return fmt.Errorf("publish: %w", *err)
		}
		return nil
	}, nil
}
