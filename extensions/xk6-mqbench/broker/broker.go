// Package broker is the contract between the generator and the driver of one kind of broker. A driver implements Session, Producer and its system's
// abilities (abilities.go), imports its client library and, of our packages, this one, address and deadline, and passes brokertest.
package broker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Driver makes the session of a run. It checks options and does no I/O.
type Driver func(Options) (Session, error)

// Options is the plan's part about the system under test.
type Options struct {
	// URL of the broker, password included: never print it.
	URL string
	// Listen is the address of this machine at which other clients reach it: there the subscriptions of a system without a server listen. It
	// is "" if all are on this machine; loopback will do.
	Listen string
	// Part of this session in the run.
	Part
	// Driver holds the driver's own options. Unknown fields are an error.
	Driver json.RawMessage
	// Connections is how many connections Open makes, numbered from 0.
	Connections int
	// MessageBytes is the size of the largest payload, MeanBytes the mean.
	MessageBytes, MeanBytes int
	// LimitBytes is the largest payload that the system takes if the run's payloads exceed it on purpose, to measure its answer. A driver then
	// does not refuse them itself, and sets topics up for LimitBytes. 0 if they do not exceed it.
	LimitBytes int
	// Durability is the level for topics: "memory", "os", "interval" or "fsync"; "" means the broker's default. A driver applies it to topics
	// and messages. The rig applies it to the server.
	Durability string
	// Replicas of every topic; 0 means the broker's default.
	Replicas int
	// InFlight is the most messages that are sent and not completed on one connection, for the size of the library's buffers; 0 if unlimited.
	InFlight int64
	// TimeoutNs is how long the library may try to get one message acknowledged, for libraries that give up by themselves. We never send a
	// message a second time.
	TimeoutNs int64
	// Now is the run's clock in nanoseconds.
	Now func() int64
	// OnError takes errors that belong to no message, such as a lost connection. Any goroutine may call it.
	OnError func(error)
}

// Session is a run's connections to one system. Its methods are called from one goroutine unless stated otherwise.
type Session interface {
	// Open makes all connections and returns when they are usable, or with the first error.
	Open(ctx context.Context) error
	// Prepare makes sure that the topics exist and are empty, and refuses a layout that the system cannot have. Called once, after Open.
	//
	// Topics that are Found exist already: Prepare makes, changes and deletes nothing, and fails with MissingTopic if one is missing. The
	// user's topics may hold messages, and others may send to them: consumers start at their end, and nothing of them is ever trimmed or
	// removed. A driver that cannot use them refuses Options with a Run.
	Prepare(ctx context.Context, layout Layout) error
	// Producer returns the sending side of a connection. Called once for each connection.
	Producer(connection int) (Producer, error)
	// Consume makes a subscription of the layout that is of this client. It calls handle for every message that arrives, and returns when the
	// broker has confirmed it: a message sent afterwards must arrive. One goroutine at a time calls handle. Up to deadline.AtOnce goroutines call
	// Consume at the same time, because each waits for the broker. It does not wait for members of a group on other clients: a client is ready
	// before they come. In a run, nothing is sent before the last Consume has returned.
	Consume(ctx context.Context, s Subscription, handle Handler) error
	// Describe returns the system's promises and the library's options. Called after Open, and again after the last Consume and Producer.
	Describe() Description
	// Close ends all connections without waiting for messages in flight. Any goroutine may call it, once.
	Close() error
}

// Part is a session's part in the run.
type Part struct {
	// Run is a name prefix for the objects (groups, durable consumers, queues) that the run's consumers make on the user's topics: the same
	// for all clients, and different for each run. It is empty if the topics are mqbench's.
	Run string
	// Client is this session's number among the Clients of the run; Clients may be 0 if there is no other. Client 0 prepares the topics and
	// subscribes before the others, leaves after them, and removes shared objects (topics, groups).
	Client, Clients int
}

// Found reports whether the topics exist already: they are the user's, or client 0 made them.
func (p Part) Found() bool { return p.Run != "" || p.Client > 0 }

// Named is the name of something that the clients of a run share: on the user's topics, where other runs have theirs, it begins with the run's name.
func (p Part) Named(separator, name string) string {
	if p.Run == "" {
		return name
	}
	return p.Run + separator + name
}

// Layout is everything that the clients of a run send to and consume. All clients get the same one.
type Layout struct {
	// Topics, by Message.Topic.
	Topics []Topic
	// Subscriptions of all clients, each client's in the order in which it makes them.
	Subscriptions []Subscription
}

// Names of the topics.
func (l Layout) Names() []string {
	names := make([]string, len(l.Topics))
	for i, t := range l.Topics {
		names[i] = t.Name
	}
	return names
}

// Members is how many subscriptions a group has on a topic: in all clients, and on the given member's client. It counts at least one.
func (l Layout) Members(member Subscription) (all, here int) {
	for _, s := range l.Subscriptions {
		if s.Topic == member.Topic && s.Group == member.Group {
			all++
			if s.Client == member.Client {
				here++
			}
		}
	}
	return max(1, all), max(1, here)
}

// Rivals returns an error if subscriptions would take each other's messages away where a topic gives each message to one consumer: such a topic
// has one group, or one subscription without a group.
func (l Layout) Rivals() error {
	first := map[string]string{}
	for _, s := range l.Subscriptions {
		if group, taken := first[s.Topic]; taken && (group != s.Group || group == "") {
			return fmt.Errorf("%q has several subscriptions, or groups, and gives each message to one consumer", s.Topic)
		}
		first[s.Topic] = s.Group
	}
	return nil
}

// Topic is the destination of messages: a subject, a Kafka topic, a stream, a queue, an exchange.
type Topic struct {
	Name string
	// Partitions is 1 if the system has none.
	Partitions int
}

// Subscription is one consumer.
type Subscription struct {
	// Client that makes it, and Connection within that client. A round trip is received on the connection that sent it, others on separate ones.
	Client, Connection int
	// Topic is the name of a topic of the layout. With Wildcard it is a pattern, in which "*" matches one word between dots. Only drivers that
	// report Wildcards get patterns.
	Topic    string
	Wildcard bool
	// Group is "" for a subscription that gets every message of the topic. Otherwise the members of the group share the messages: each goes to
	// one member, and the driver acknowledges it after handle has returned. If a consumer dies, its message is therefore delivered again.
	Group string
	// FromStart begins at the topic's first message, even if it was there before, instead of its end. It has no Group. Only drivers that report
	// Replays get it, and perhaps while messages are sent: then it gets these, too.
	FromStart bool
}

// Of returns the names of the topics that the subscription covers.
func (s Subscription) Of(topics []Topic) []string {
	var names []string
	for _, t := range topics {
		if t.Name == s.Topic || s.Wildcard && Matches(s.Topic, t.Name) {
			names = append(names, t.Name)
		}
	}
	return names
}

// Matches reports whether a topic matches a pattern, in which "*" matches one word between dots. It allocates nothing.
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
	// Send hands m over and returns without waiting for the broker. done is called once, from any goroutine (also before Send returns): with the time
	// of the acknowledgement, with an error, or, where the system acknowledges nothing, with ackNs 0 when the library has taken m. Until then m and its
	// payload are the driver's. Send may block only as the library itself pushes back; that time is measured as block. It never retries: a retry would
	// hide what we measure. One goroutine at a time calls Send.
	Send(m *Message, done Done)
}

// RefusedHere is the error of a message that the client library has refused by itself: the system has not seen it.
func RefusedHere(library string, err error) error {
	return fmt.Errorf("the client library (%s) refuses it: %w", library, err)
}

// Nth adds to an error of making connection i, counted from 0, which one it was if it is not the first: then the server has let others in, and
// may have reached a limit. Many servers just end a connection that is too many.
func Nth(i, connections int, err error) error {
	if i == 0 {
		return err
	}
	return fmt.Errorf("connection %d of %d: %w", i+1, connections, err)
}

// ErrUnknown is wrapped by a completion's error if the message may have arrived: it was written, and no acknowledgement will come.
var ErrUnknown = errors.New("no answer, its fate is unknown")

// Done is the completion of a Send. An err means that the message was refused or never left, or that this is unknown (ErrUnknown).
type Done func(m *Message, ackNs int64, err error)

// Settle completes a Send whose answer came at atNs: with that time, or with only an error.
func (d Done) Settle(m *Message, atNs int64, err error) {
	if err != nil {
		atNs = 0
	}
	d(m, atNs, err)
}

// Message is one message on its way to the broker.
type Message struct {
	// Topic is an index into the topics of the layout.
	Topic int
	// Name is that topic.
	Name string
	// Partition to send to, below Topic.Partitions. With -1 the key decides.
	Partition int32
	// Key of the message; nil if it has none. Systems without keys ignore it.
	Key     []byte
	Payload []byte
	// The rest belongs to the generator. Drivers do not touch it.
	Index, Producer, Sequence int64
	OffsetNs, SentNs, LagNs   int64
	BodySum                   uint32
}

// Handler takes one delivery and keeps no reference to it. It returns quickly, unless consumers are to be slow (simulated work) or to
// pause. Then it blocks, and the driver leaves the rest with the broker, up to its prefetch.
type Handler func(Delivery)

// Delivery is one message as the client library handed it over.
type Delivery struct {
	// ReceivedNs is taken when the library hands over the record or batch, before anything else is done with it. A member of a group takes
	// one message after the other: for messages that wait behind slow work it is the time when their turn comes.
	ReceivedNs int64
	Payload    []byte
	// Redelivered is the broker's own flag for a message that it has delivered before.
	Redelivered bool
}

// Description is the part of reports about a system.
type Description struct {
	// Acks is true if the broker answers every Send.
	Acks bool
	// Inline is true if Send itself delivers the message, through our own handler; that time does not belong to the system.
	Inline bool
	// Order that the system promises for one producer's messages to one partition or with one key: "none" or "per-producer".
	Order string
	// GroupOrder is true if the order also holds when several members of a group share the topic.
	GroupOrder bool
	// Wildcards is true if a subscription may be a pattern.
	Wildcards bool
	// Replays is true if a subscription may begin at the topic's first message, because reading takes nothing away.
	Replays bool
	// Stores is true if messages that are sent before the members of a group subscribe wait for them.
	Stores bool
	// RedeliversAfter is how long a member of a group may go without an acknowledgement or a sign of life before the system delivers its
	// messages again. It is 0 if that happens only when the member's connection ends.
	RedeliversAfter time.Duration
	// Library and Server with their versions, such as "nats.go v1.52.0".
	Library string
	Server  string
	// Settings are all options that were set on the library, for people; no secrets. The names in EachMessage are always there.
	Settings map[string]string
}

// EachMessage are the settings that describe a driver's work for each message; "none" if it does nothing. README.md has a table of them.
var EachMessage = []string{
	// Sending: the broker's answer, when bytes leave the client, which messages share a request.
	"confirm", "flush", "batching", "compression",
	// Receiving: when a consumer that gets all messages (round-trip, fan-out, replies) and a member of a group (work-queue, backlog,
	// responders) acknowledge, and how many messages wait in the client.
	"acknowledgeAlone", "acknowledgeInGroup", "prefetch",
}
