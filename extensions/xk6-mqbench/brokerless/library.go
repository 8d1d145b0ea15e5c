// Package brokerless is the common part of drivers without a server: how senders find subscriptions, and the forwarder that can take a broker's place.
package brokerless

import (
	"context"
	"errors"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// Mode is the kind of sockets that a run uses.
type Mode string

const (
	// PushPull: a message goes to one receiver, in turn.
	PushPull Mode = "push-pull"
	// PubSub: a message goes to all subscribers.
	PubSub Mode = "pub-sub"
	// ReqRep: a request goes to one responder, and the reply comes back on the same connection.
	ReqRep Mode = "req-rep"
)

// Message is a message as sockets take it and hand it over.
type Message struct {
	// Topic, in PubSub.
	Topic string
	// Path is the route back to the sender in ReqRep, in the library's form.
	Path    [][]byte
	Payload []byte
}

// Library is a library's sockets. Its methods may be called from any goroutine.
type Library interface {
	// Version of the library, for people: "mangos v3.4.2 (pure Go)".
	Version() string
	// Listen opens a socket that receives at the address, "tcp://127.0.0.1:0" or "ipc:///tmp/x", until Close; at is where senders reach it. One goroutine
	// at a time calls take, and the library is held up as long as it takes. prefix: of the topics, in PubSub.
	Listen(mode Mode, prefix, address string, take func(Message)) (socket In, at string, err error)
	// Sender makes a socket that sends, without a connection. reply gets replies, in ReqRep, from any goroutine. b counts and reports lost connections.
	Sender(mode Mode, reply func(Message), b *broker.Base) (Out, error)
}

// In is a socket that receives.
type In interface {
	// Reply sends a message back along its Path. One goroutine at a time calls it.
	Reply(m Message) error
	Close() error
}

// Out is a socket that sends.
type Out interface {
	// Connect returns when later messages whose topics begin with prefix reach that socket; from then on a lost connection is replaced.
	Connect(ctx context.Context, address, prefix string) error
	// Disconnect ends that connection, whether it is up or not.
	Disconnect(address string)
	// Send hands the message to one connection in turn, in PubSub to all that want it. The payload belongs to the caller when it returns. It
	// blocks as the library does, Close ends that. One goroutine at a time calls it.
	Send(m Message) error
	Close() error
}

// ErrNotConnected is Send's error where no receiver is connected: the message has not left.
var ErrNotConnected = errors.New("no receiver is connected")

// Options are common to all such drivers; runner/brokers/brokerless.ts writes them. Drivers embed them.
type Options struct {
	Mode      Mode   `json:"mode" known:"push-pull pub-sub req-rep"`
	Transport string `json:"transport" known:"tcp ipc"`
}

// Defaults of Options.
var Defaults = Options{Mode: PushPull, Transport: "tcp"}
