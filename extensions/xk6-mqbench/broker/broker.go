// Package broker is the contract between the generator and the driver of one kind of broker. A driver imports
// this package and its client library, nothing else of ours, and passes brokertest.
package broker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
)

// Driver makes a session of one run. It checks options and does no I/O.
type Driver func(Options) (Session, error)

// Options is what the plan says of the system under test.
type Options struct {
	// URL of the broker, password included: never print it.
	URL string
	// Driver holds the driver's own options; unknown fields are an error.
	Driver json.RawMessage
	// Connections is how many connections Open makes; they are numbered from 0.
	Connections int
	// MessageBytes is the size of every payload.
	MessageBytes int
	// Now is the run's clock in nanoseconds.
	Now func() int64
	// OnError takes errors that belong to no message (a connection lost). Any goroutine may call it.
	OnError func(error)
}

// Decode reads the driver's own options into a struct; unknown ones are an error.
func (o Options) Decode(into any) error {
	if len(o.Driver) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(o.Driver))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("driver options: %w", err)
	}
	return nil
}

// Session is a run's connections to one system. Its methods are called from one goroutine, except where they say so.
type Session interface {
	// Open makes all connections and returns when they are usable, or with the first error.
	Open(ctx context.Context) error
	// Prepare makes the topics exist and empty. Called once, after Open.
	Prepare(ctx context.Context, topics []string) error
	// Producer returns the sending side of a connection. Called once for each connection.
	Producer(connection int) (Producer, error)
	// Consume calls handle for every message that arrives on topic, and returns when the broker has
	// confirmed the subscription: a message sent afterwards must arrive. One goroutine at a time calls handle.
	Consume(ctx context.Context, connection int, topic string, handle Handler) error
	// Describe says what the system promises and what the library was told. Called after Open.
	Describe() Description
	// Dropped is how many messages the client library itself threw away so far, also after Close. Any goroutine may call it.
	Dropped() int64
	// Close ends all connections without waiting for messages in flight. Any goroutine may call it, once.
	Close() error
}

// Producer hands messages of one connection to the broker's client library.
type Producer interface {
	// Send hands m over and returns without waiting for the broker. done is called once, from any goroutine (also
	// before Send returns): with the time of the acknowledgement, or with an error, or, where the system
	// acknowledges nothing, with ackNs 0 when the library has taken m. m and its payload belong to the driver until
	// then. Send may block only as the library itself pushes back; that time is measured as block. It never
	// retries: a retry would hide what we measure. One goroutine at a time calls Send.
	Send(m *Message, done Done)
}

// Done is the completion of a Send. err non-nil: the message was refused, or never left.
type Done func(m *Message, ackNs int64, err error)

// Message is one message on its way to the broker.
type Message struct {
	// Topic is an index into the topics of Prepare.
	Topic int
	// Name is that topic.
	Name    string
	Payload []byte
	// Index, SentNs and LagNs belong to the generator; drivers leave them alone.
	Index  int64
	SentNs int64
	LagNs  int64
}

// Handler takes one delivery. It returns quickly and keeps nothing of it.
type Handler func(Delivery)

// Delivery is one message as the client library handed it over.
type Delivery struct {
	// ReceivedNs is taken when the library hands over the record or batch, before anything else is done with it.
	ReceivedNs int64
	Payload    []byte
	// Redelivered is the broker's own flag: it has handed this message out before.
	Redelivered bool
}

// Description is what a reader of a report has to know of a system.
type Description struct {
	// Acks: every Send is answered by the broker.
	Acks bool
	// Inline: Send delivers the message itself, through our own handler; that time is not the system's.
	Inline bool
	// Order that the system promises on one topic: "none" or "per-producer".
	Order string
	// Library and Server with their versions: "nats.go v1.52.0".
	Library string
	Server  string
	// Settings is every option that was set on the library, for people; no secrets.
	Settings map[string]string
}
