// Package broker is the contract between the generator and the driver of one kind of broker. A driver implements Session and
// Producer, and of the abilities (abilities.go) those that its system has. It imports its client library and, of ours, this
// package and what stands beside it for drivers (address, deadline). It passes brokertest.
package broker

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
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
	// Durability is the level that topics are to have: "memory", "os", "interval" or "fsync"; "": the broker's own. A driver
	// applies what belongs to a topic or a message; what belongs to the server is the rig's.
	Durability string
	// Replicas of every topic; 0: the broker's own.
	Replicas int
	// InFlight is the most messages that are sent and not completed on one connection, so that the library's buffers can hold
	// them; 0: no bound.
	InFlight int64
	// TimeoutNs is how long the library may try to get one message acknowledged. Libraries that give up by themselves are told
	// this; it never means that a message is sent a second time by us.
	TimeoutNs int64
	// Now is the run's clock in nanoseconds.
	Now func() int64
	// OnError takes errors that belong to no message (a connection lost). Any goroutine may call it.
	OnError func(error)
}

// Session is a run's connections to one system: what every driver has. Its methods are called from one goroutine, except where
// they say so.
type Session interface {
	// Open makes all connections and returns when they are usable, or with the first error.
	Open(ctx context.Context) error
	// Prepare makes the topics exist and empty. Called once, after Open.
	Prepare(ctx context.Context, topics []Topic) error
	// Producer returns the sending side of a connection. Called once for each connection.
	Producer(connection int) (Producer, error)
	// Consume calls handle for every message that arrives on the subscription, and returns when the broker has
	// confirmed it: a message sent afterwards must arrive. One goroutine at a time calls handle.
	Consume(ctx context.Context, s Subscription, handle Handler) error
	// Describe says what the system promises and what the library was told. Called after Open, and again after the last Consume
	// and Producer: settings may then be more.
	Describe() Description
	// Close ends all connections without waiting for messages in flight. Any goroutine may call it, once.
	Close() error
}

// Topic is what messages are sent to: a subject, a Kafka topic, a stream, a queue, an exchange.
type Topic struct {
	Name string
	// Partitions is 1 where the system has none.
	Partitions int
}

// Subscription is one consumer.
type Subscription struct {
	// Connection by its number. A round trip is received on the connection that sent; other consumers have connections of
	// their own.
	Connection int
	// Topic is the name of a topic of Prepare; with Wildcard it is a pattern over them, in which "*" stands for one word
	// between dots. Only drivers that say Wildcards are asked for that.
	Topic    string
	Wildcard bool
	// Group: "": this subscription gets every message of the topic. Otherwise the members of the group share them, each
	// message goes to one, and the broker is told of each (acknowledged) after handle has returned, so that a message
	// whose consumer dies is delivered again.
	Group string
	// Members is how many subscriptions of the group there will be on this topic, this one included, in all clients of the run; 1
	// without a group.
	Members int
	// Here is how many of those this session makes; the others are on the other clients of a Shared run. A session must not wait
	// for members that are not its own: its client is ready first, and the others come after it.
	Here int
}

// Of gives the names of the topics that the subscription means.
func (s Subscription) Of(topics []Topic) []string {
	var names []string
	for _, t := range topics {
		if t.Name == s.Topic || s.Wildcard && Matches(s.Topic, t.Name) {
			names = append(names, t.Name)
		}
	}
	return names
}

// Matches reports whether a topic falls under a pattern, in which "*" stands for one word between dots. It allocates nothing.
func Matches(pattern, topic string) bool {
	for more := true; more; {
		var want, have string
		var another bool
		want, pattern, more = strings.Cut(pattern, ".")
		if have, topic, another = strings.Cut(topic, "."); more != another || want != "*" && want != have {
			return false
		}
	}
	return true
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

// ErrUnknown is what a completion's error wraps when the message may have arrived or not: the connection was lost, or the
// library gave up, after it had been written and before its acknowledgement.
var ErrUnknown = errors.New("no answer, its fate is unknown")

// Done is the completion of a Send. err non-nil: the message was refused, or never left; or nobody knows (ErrUnknown).
type Done func(m *Message, ackNs int64, err error)

// Message is one message on its way to the broker.
type Message struct {
	// Topic is an index into the topics of Prepare.
	Topic int
	// Name is that topic.
	Name string
	// Partition to send to, below Topic.Partitions; -1: the key decides.
	Partition int32
	// Key of the message; nil: none. Systems without keys leave it aside.
	Key     []byte
	Payload []byte
	// Index, SentNs and LagNs belong to the generator; drivers leave them alone.
	Index  int64
	SentNs int64
	LagNs  int64
}

// Handler takes one delivery and keeps nothing of it. It returns quickly, except where consumers are to be slow (simulated
// work) or to pause: it then blocks, and the driver leaves the rest with the broker, up to its prefetch.
type Handler func(Delivery)

// Delivery is one message as the client library handed it over.
type Delivery struct {
	// ReceivedNs is taken when the library hands over the record or batch, before anything else is done with it. A member of a
	// group takes one message after the other: of those that wait behind slow work, when it is their turn.
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
	// Order that the system promises of one producer's messages to one partition, or with one key: "none" or "per-producer".
	Order string
	// GroupOrder: it holds also where several members of a group share the topic.
	GroupOrder bool
	// Wildcards: a subscription may be a pattern.
	Wildcards bool
	// Stores: messages sent while nobody is subscribed wait for the members of a group.
	Stores bool
	// RedeliversAfter is how long a member of a group may take to acknowledge a message, or to show a sign of life, before the
	// system hands it out again; 0: it does so only when the member's connection ends.
	RedeliversAfter time.Duration
	// Library and Server with their versions: "nats.go v1.52.0".
	Library string
	Server  string
	// Settings is every option that was set on the library, for people; no secrets.
	Settings map[string]string
}
