// Package nats is the driver for core NATS: publish and subscribe on subjects, nothing stored, nothing acknowledged.
package nats

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// Every option of the library that decides a number is set here, and printed by Describe: the library's own
// defaults drop messages silently (500 000 pending) or keep them for later (8 MB reconnect buffer).
const (
	connectTimeout    = 5 * time.Second
	reconnectWait     = 100 * time.Millisecond
	pingInterval      = 20 * time.Second
	flusherTimeout    = time.Minute
	writeBufferBytes  = 32 * 1024
	pendingBytesLimit = 1 << 30
)

// New makes a session. The driver has no options of its own yet.
func New(o broker.Options) (broker.Session, error) {
	if err := o.Decode(&struct{}{}); err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	if o.URL == "" {
		return nil, errors.New("nats: there is no URL of a server")
	}
	return &session{options: o}, nil
}

var errNotConnected = errors.New("nats: publish: not connected")

type session struct {
	options     broker.Options
	connections []*nats.Conn
	topics      []string
	closing     atomic.Bool
	dropped     atomic.Int64
	// subscriptions is complete before the run starts and only read afterwards.
	subscriptions []*nats.Subscription
}

type producer struct {
	connection *nats.Conn
}

var (
	_ broker.Session  = (*session)(nil)
	_ broker.Producer = (*producer)(nil)
)

func (s *session) Open(context.Context) error {
	for i := range s.options.Connections {
		connection, err := s.connect(i)
		if err != nil {
			return fmt.Errorf("nats: connect: %w", err)
		}
		s.connections = append(s.connections, connection)
	}
	if limit := s.connections[0].MaxPayload(); int64(s.options.MessageBytes) > limit {
		return fmt.Errorf("nats: messages of %d bytes are above the server's max_payload of %d", s.options.MessageBytes, limit)
	}
	return nil
}

// Prepare has nothing to make: a subject exists by being used, and core NATS keeps nothing of earlier runs.
func (s *session) Prepare(_ context.Context, topics []string) error {
	s.topics = topics
	return nil
}

func (s *session) Producer(connection int) (broker.Producer, error) {
	return &producer{connection: s.connections[connection]}, nil
}

func (s *session) Consume(ctx context.Context, connection int, topic string, handle broker.Handler) error {
	now := s.options.Now
	c := s.connections[connection]
	subscription, err := c.Subscribe(topic, func(m *nats.Msg) {
		handle(broker.Delivery{ReceivedNs: now(), Payload: m.Data})
	})
	if err != nil {
		return fmt.Errorf("nats: subscribe to %q: %w", topic, err)
	}
	if err := subscription.SetPendingLimits(-1, pendingBytesLimit); err != nil {
		return fmt.Errorf("nats: set pending limits of %q: %w", topic, err)
	}
	s.subscriptions = append(s.subscriptions, subscription)
	// The server handles a connection's commands in order: the answer to a ping after SUB confirms it.
	if err := c.FlushWithContext(ctx); err != nil {
		return fmt.Errorf("nats: subscribe to %q: no answer: %w", topic, err)
	}
	return nil
}

func (s *session) Describe() broker.Description {
	return broker.Description{
		Order:   "per-producer",
		Library: "nats.go v" + nats.Version,
		Server:  "nats-server " + s.connections[0].ConnectedServerVersion(),
		Settings: map[string]string{
			"connections":          strconv.Itoa(s.options.Connections),
			"noEcho":               "false",
			"pendingMessagesLimit": "none",
			"pendingBytesLimit":    strconv.Itoa(pendingBytesLimit),
			"reconnectBufferBytes": "0 (a publish without connection fails)",
			"reconnectWait":        reconnectWait.String(),
			"maxReconnects":        "unlimited",
			"pingInterval":         pingInterval.String(),
			"flusherTimeout":       flusherTimeout.String(),
			"writeBufferBytes":     strconv.Itoa(writeBufferBytes),
			"compression":          "false",
		},
	}
}

func (s *session) Dropped() int64 {
	var dropped int64
	for _, subscription := range s.subscriptions {
		if n, err := subscription.Dropped(); err == nil {
			dropped += int64(n)
		}
	}
	// A closed subscription does not tell any more; what was dropped stays dropped.
	for {
		known := s.dropped.Load()
		if dropped <= known {
			return known
		}
		if s.dropped.CompareAndSwap(known, dropped) {
			return dropped
		}
	}
}

func (s *session) Close() error {
	s.closing.Store(true)
	s.Dropped()
	for _, c := range s.connections {
		c.Close()
	}
	return nil
}

// Send publishes and reports at once: core NATS acknowledges nothing.
func (p *producer) Send(m *broker.Message, done broker.Done) {
	err := p.connection.Publish(m.Name, m.Payload)
	switch {
	case err == nil:
		done(m, 0, nil)
	case errors.Is(err, nats.ErrReconnectBufExceeded):
		// The library's words for it are of a buffer, which we have taken away.
		done(m, 0, errNotConnected)
	default:
		done(m, 0, fmt.Errorf("nats: publish: %w", err))
	}
}

// --- internal ---

func (s *session) connect(i int) (*nats.Conn, error) {
	report := func(what string, err error) {
		if err != nil && !s.closing.Load() && s.options.OnError != nil {
			s.options.OnError(fmt.Errorf("nats: %s: %w", what, err))
		}
	}
	return nats.Connect(s.options.URL,
		nats.Name("mqbench-"+strconv.Itoa(i)),
		nats.Timeout(connectTimeout),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectWait),
		nats.ReconnectJitter(0, 0),
		nats.ReconnectBufSize(-1),
		nats.PingInterval(pingInterval),
		nats.FlusherTimeout(flusherTimeout),
		nats.WriteBufferSize(writeBufferBytes),
		nats.Compression(false),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { report("connection lost", err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { report("asynchronous error", err) }),
	)
}
