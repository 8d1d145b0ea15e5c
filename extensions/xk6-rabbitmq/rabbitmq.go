// Package rabbitmq is the driver for RabbitMQ over AMQP 0.9.1; streams are in package stream.
//
// A topic is a routing key. Each subscription without a group has its own queue, bound to the key; a group shares one queue. Topics without
// subscriptions get a queue, too, which stores their messages.
package rabbitmq

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
	"github.com/mqbench/mqbench/extensions/xk6-rabbitmq/stream"
)

// New makes a session.
func New(o broker.Options) (broker.Session, error) {
	s := &session{
		Base: broker.NewBase("rabbitmq", o), Throttle: broker.NewThrottle(o.Now), consumers: make([]*link, o.Connections), first: new(amqp.Connection),
	}
	var err error
	if s.driverOptions, err = decode(o); err == nil && s.Queue == ofStream {
		return stream.New(o, max(1, s.SubEntrySize), s.Acknowledge, s.TLS)
	}
	if err == nil {
		s.urls, err = addresses(o.URL, &s.TLS)
	}
	if err == nil {
		s.tls, err = s.TLS.Config()
	}
	return s, broker.Wrap("rabbitmq", err)
}

type session struct {
	*broker.Base
	broker.DropsNothing // a lost connection counts as that
	*broker.Throttle
	driverOptions
	urls []string
	tls  *tls.Config
	// Both are by connection; consumers are nil where this client has none.
	publishers, consumers []*link
	layout                broker.Layout
	topology              atomic.Pointer[topology]
	// own are queues of subscriptions that outlive their connection.
	own broker.List[string]

	// first is the connection that tells the server's version, and what was negotiated.
	first  *amqp.Connection
	server string
	// version of classic queues; 0 means the broker's default.
	version int
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
	w, err := s.publishers[0].wired()
	if err == nil {
		s.first = w.Connection
		s.server, _ = w.Properties["version"].(string)
		s.version, err = versionFor(s.Queue, s.Durability, s.server)
	}
	return broker.Wrap("rabbitmq", err)
}

// Prepare makes exchanges, the queues that consumers share, and connections to consume. Old queues of the same name are deleted.
func (s *session) Prepare(ctx context.Context, layout broker.Layout) error {
	w, err := s.publishers[0].wired()
	var isQueue map[string]bool
	if err == nil {
		isQueue, err = s.find(ctx, w, layout)
	}
	if err != nil {
		return fmt.Errorf("rabbitmq: %w", err)
	}
	t := s.lay(layout, isQueue)
	s.layout = layout
	s.topology.Store(t)
	if !s.Found() {
		err = w.declare(ctx, layout.Names(), deleteQueue)
	}
	if err == nil {
		err = t.declare(ctx, w)
	}
	for _, to := range layout.Subscriptions {
		if err == nil && to.Client == s.Client && s.consumers[to.Connection] == nil {
			s.consumers[to.Connection], err = s.connect(ctx, to.Connection, true)
			err = broker.Wrap("connect", err)
		}
	}
	return broker.Wrap("rabbitmq: prepare topics", explain(err))
}

// Remove deletes queues and exchanges over a separate connection: the broker may block connections that have published.
func (s *session) Remove(ctx context.Context) error {
	s.Quiet()
	w, err := s.dial(ctx, 0, "mqbench-remove")
	if err == nil {
		defer w.Close()
		queues, exchanges := s.own.All(), []string(nil)
		if t := s.topology.Load(); t != nil && s.Client == 0 {
			queues, exchanges = append(queues, slices.Collect(maps.Keys(t.queues))...), t.exchanges
		}
		err = errors.Join(w.declare(ctx, queues, deleteQueue), w.declare(ctx, exchanges, deleteExchange))
	}
	return broker.Wrap("rabbitmq: remove queues and exchanges", err)
}

func (s *session) Describe() broker.Description {
	var set broker.Settings[struct{}]
	set.Print(map[string]any{
		"connections": fmt.Sprint(s.Connections, " to publish; those with consumers have a second one for them"),
		"channels":    "1 to publish for each connection, 1 for each subscription", "queue": s.Queue, "durable": s.durable(),
		"exchange": cmp.Or(s.Exchange, "direct; topic where a subscription is a pattern"), "deliveryMode": deliveryModes[*s.Persistent], "mandatory": false,
		"acknowledgeAlone":   acknowledges[broker.AcknowledgeOf(s.Acknowledge, "")],
		"acknowledgeInGroup": acknowledges[broker.AcknowledgeOf(s.Acknowledge, "g")],
		"prefetch":           s.prefetchText(), "heartbeat": s.first.Config.Heartbeat, "frameMaxBytes": s.first.Config.FrameSize, "channelMax": s.first.Config.ChannelMax, "dialTimeout": dialTimeout,
		"reconnect":       "after " + reconnectDelay.String() + ", unlimited; sends meanwhile fail",
		"libraryRecovery": "off", "tls": s.tls != nil, "flush": "each message, as the library does", "batching": "none", "compression": "none",
		"confirm": map[bool]string{true: "each message", false: "none"}[s.Confirms], "unconfirmedLimit": "none",
	})
	if s.Run != "" {
		set.Set("exchange", "your own; a topic that is a queue: the default one")
		set.Set("queueExpires", unusedAfter.String()+" (groups and subscribers on exchanges)")
	}
	if erlang := s.first.Properties["platform"]; erlang != nil {
		set.Set("erlang", erlang)
	}
	if s.version > 0 && s.MessageBytes < embeddedBytes {
		set.Set("queueVersion", s.version)
	} else if s.version > 0 {
		set.Set("queueVersion", fmt.Sprint(s.version, "; flushes before a confirm if the server's queue_index_embed_msgs_below is not above the message"))
	}
	if s.Replicas > 0 {
		set.Set("replicas", s.Replicas)
	}
	return broker.Description{
		Acks: s.Confirms, Order: "per-producer", Wildcards: (s.Exchange == "" || s.Exchange == pattern) && s.Run == "", Stores: true, Settings: set.Printed,
		Library: "amqp091-go " + broker.LibraryVersion("github.com/rabbitmq/amqp091-go"), Server: "RabbitMQ " + s.server,
	}
}

// prefetchText is the limit of the consumers that acknowledge, by the option, or by the existing ones.
func (s *session) prefetchText() string {
	automatic := map[bool]bool{}
	if s.Acknowledge != "" {
		automatic[s.Acknowledge == broker.Automatic] = true
	}
	for _, to := range s.layout.Subscriptions {
		automatic[broker.AcknowledgeOf(s.Acknowledge, to.Group) == broker.Automatic] = true
	}
	limit := strconv.Itoa(s.Prefetch) + " not acknowledged"
	switch {
	case s.Prefetch == 0:
		return "no limit"
	case automatic[true] == automatic[false]:
		return limit + "; no limit where nothing is"
	case automatic[true]:
		return "no limit, as nothing is acknowledged"
	}
	return limit
}

// acknowledges describes the consumers' acknowledgements.
var acknowledges = map[string]string{
	broker.Automatic: "none", broker.PerMessage: "each message",
	broker.PerBatch:    "those that the library holds together, at most half of the prefetch",
	broker.PerInterval: "every " + broker.AcknowledgeInterval.String() + ", or half of the prefetch",
}

// Held is how many messages the library has read and not handed over.
func (s *session) Held() (held int64, known bool) {
	for _, w := range wires(s.consumers) {
		held += w.raw.held()
	}
	return held, true
}

func (s *session) Close() error {
	s.End()
	deadline.AtMost(3*closeGrace, deadline.Steps(wires(slices.Concat(s.publishers, s.consumers)), (*wire).Close)...)
	return nil
}

// --- internal ---

// embeddedBytes is the size from which a classic queue of version 2 keeps messages in a store that is flushed, by default.
const embeddedBytes = 4096
