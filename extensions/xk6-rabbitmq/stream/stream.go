// Package stream is the driver for RabbitMQ's streams over their own protocol, with a client of our own. The official one for Go holds
// Send and Close for as long as the broker is frozen, takes no dialer, so Kill cannot reach its sockets, and completes no message that is
// being written when the connection is lost.
package stream

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

const (
	// queueBytes and queueMost limit the messages that wait to be written on a connection if the plan sets no inFlight.
	queueBytes = 64 << 20
	queueMost  = 65536
	// mostNumbered is how many publishers or consumers a connection can number.
	mostNumbered = 256
)

// New makes a session with the settings of the package above.
func New(o broker.Options, subEntrySize int, acknowledge string, option address.TLS) (broker.Session, error) {
	s := &session{
		Base: broker.NewBase("rabbitmq", o), subEntrySize: subEntrySize, acknowledge: acknowledge, consumers: make([]*link, o.Connections),
		queueLength: cmp.Or(int(o.InFlight), min(queueMost, max(64, queueBytes/max(o.MessageBytes, 1)))),
	}
	var err error
	s.at, s.tls, err = address.ParseSecure(o.URL, option,
		address.Scheme{Name: "rabbitmq-stream", Port: "5552"}, address.Scheme{Name: "rabbitmq-stream+tls", Port: "5551"})
	return s, broker.Wrap("rabbitmq", err)
}

type session struct {
	*broker.Base
	broker.DropsNothing
	// subEntrySize is the most waiting messages that share an entry; with 1 none do.
	subEntrySize int
	// acknowledge is when a group's member stores its offset.
	acknowledge string
	at          address.Address
	tls         *tls.Config
	queueLength int
	// Both are by connection; consumers are nil where this client has none.
	publishers, consumers []*link
	topics                broker.List[string]
}

var (
	_ broker.Remover = (*session)(nil)
	_ broker.Holder  = (*session)(nil)
)

func (s *session) Open(ctx context.Context) error {
	for i := range s.Connections {
		l, err := s.connect(ctx, i, false)
		if err != nil {
			return fmt.Errorf("rabbitmq: connect: %w", broker.Nth(i, s.Connections, err))
		}
		s.publishers = append(s.publishers, l)
	}
	return nil
}

// Prepare makes streams, and connections to consume. Old streams of the same name are deleted.
func (s *session) Prepare(ctx context.Context, layout broker.Layout) error {
	names := layout.Names()
	if len(names) > mostNumbered {
		return fmt.Errorf("rabbitmq: a connection publishes to at most %d streams; these are %d topics", mostNumbered, len(names))
	}
	for _, to := range layout.Subscriptions {
		if members, _ := layout.Members(to); to.Group != "" && members > 1 {
			return fmt.Errorf("rabbitmq: consume %q: each consumer of a stream gets every message, so %d cannot share one; use another queue", to.Topic, members)
		}
	}
	w, err := s.publishers[0].wired()
	if err == nil && !s.Found() {
		err = deadline.Each(ctx, names, w.makeEmpty)
	}
	for _, name := range names {
		s.topics.Add(name)
	}
	for _, l := range s.publishers {
		if err == nil {
			w, err = l.wired()
		}
		if err == nil {
			err = w.declare(ctx, names)
		}
	}
	for _, to := range layout.Subscriptions {
		// A catch-up is another client than its subscriptions say: one that finds the topics.
		if here := to.Client == s.Client || to.FromStart; err == nil && here && s.consumers[to.Connection] == nil {
			s.consumers[to.Connection], err = s.connect(ctx, to.Connection, true)
		}
	}
	return broker.Wrap("rabbitmq: prepare topics", err)
}

// Remove deletes the streams with all that they store. On the user's streams a group's offset stays: the protocol cannot remove it.
func (s *session) Remove(ctx context.Context) error {
	s.Quiet()
	if s.Found() {
		return nil
	}
	w, err := s.dial(ctx, 0) // the others may be lost
	if err == nil {
		defer w.End(nil)
		err = deadline.Each(ctx, s.topics.All(), w.delete)
	}
	return broker.Wrap("rabbitmq: remove streams", address.Cause(err))
}

func (s *session) Producer(connection int) (broker.Producer, error) {
	return producer{s.publishers[connection]}, nil
}

func (s *session) Describe() broker.Description {
	d := broker.Description{
		Acks: true, Order: "per-producer", Stores: true, Replays: true, Library: "mqbench's client of the stream protocol", Server: "RabbitMQ",
	}
	var set broker.Settings[struct{}]
	set.Print(map[string]any{
		"connections": fmt.Sprint(s.Connections, " to publish; those with consumers have a second one for them"), "queue": "stream",
		"confirm": "each message: most replicas have written it, none has flushed", "flush": "what waits, at once", "compression": "none",
		"batching":         fmt.Sprintf("what waits, at most %d messages or a frame; in an entry at most %d", batchMost, s.subEntrySize),
		"acknowledgeAlone": "none", "acknowledgeInGroup": acknowledges[broker.AcknowledgeOf(s.acknowledge, "g")],
		"prefetch": fmt.Sprint(credits, " chunks"), "heartbeat": heartbeatEvery, "dialTimeout": dialTimeout, "sendQueue": s.queueLength,
		"reconnect": "after " + reconnectDelay.String() + ", unlimited; sends meanwhile fail", "tls": s.tls != nil,
	})
	if len(s.publishers) > 0 {
		if w, err := s.publishers[0].wired(); err == nil {
			d.Server += " " + w.version
			set.Set("frameMaxBytes", w.frameMax)
		}
	}
	d.Settings = set.Printed
	return d
}

// Held is how many messages have arrived in chunks and wait for their turn.
func (s *session) Held() (held int64, known bool) {
	for _, l := range s.consumers {
		if l != nil {
			if w, is := l.Now(); is {
				held += w.held.Load()
			}
		}
	}
	return held, true
}

// Close ends all sockets: they end with the session.
func (s *session) Close() error {
	s.End()
	return nil
}

// --- internal ---

var acknowledges = map[string]string{
	broker.Automatic: "none", broker.PerMessage: "each message, by storing its offset", broker.PerBatch: "each chunk, by storing its offset",
}

func (l *link) wired() (*wire, error) {
	w, is := l.Now()
	if !is {
		return nil, errors.New("not connected")
	}
	return w, nil
}

func (w *wire) makeEmpty(ctx context.Context, name string) error {
	err := w.delete(ctx, name)
	if err == nil {
		_, err = w.ask(ctx, create, append(text(nil, name), 0, 0, 0, 0)) // no arguments
	}
	return broker.Wrap(fmt.Sprintf("create stream %q", name), err)
}

func (w *wire) delete(ctx context.Context, name string) error {
	_, err := w.ask(ctx, remove, text(nil, name))
	if errors.Is(err, missing) {
		return nil
	}
	return err
}
