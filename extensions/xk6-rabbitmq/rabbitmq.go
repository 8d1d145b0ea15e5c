// Package rabbitmq is the driver for RabbitMQ over AMQP 0.9.1: classic, quorum and transient queues, publisher confirms,
// consumers with acknowledgements as the option says.
//
// A topic is a routing key. Each subscription without a group has a queue of its own, bound to the key; a group shares one queue. Topics
// without subscriptions get a queue, too, so that messages to them are stored.
package rabbitmq

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// New makes a session.
func New(o broker.Options) (broker.Session, error) {
	d := defaults
	if err := o.Decode(&d); err != nil {
		return nil, fmt.Errorf("rabbitmq: %w", err)
	}
	chosen, err := choose(o, d)
	if err != nil {
		return nil, fmt.Errorf("rabbitmq: %w", err)
	}
	urls, err := addresses(o.URL)
	if err != nil {
		return nil, fmt.Errorf("rabbitmq: %w", err)
	}
	secure, err := d.TLS.Config()
	if err != nil {
		return nil, fmt.Errorf("rabbitmq: %w", err)
	}
	s := &session{Base: broker.NewBase("rabbitmq", o), Throttle: broker.NewThrottle(o.Now), chosen: chosen, urls: urls, tls: secure}
	s.topology = newTopology(chosen, &s.Part)
	return s, nil
}

type session struct {
	*broker.Base
	*broker.Throttle
	chosen   choices
	urls     []string
	tls      *tls.Config
	links    []*link
	topology *topology

	// Negotiated with the first connection.
	server, erlang     string
	frameMax, channels int
	heartbeat          time.Duration
	// binding is held for reading while a subscription gets its queue, and for writing while the exchange changes; choosing while it
	// chooses one.
	binding   sync.RWMutex
	choosing  sync.Mutex
	storeOnce sync.Once
	storeErr  error
}

var (
	_ broker.Session            = (*session)(nil)
	_ broker.Remover            = (*session)(nil)
	_ broker.Dropper            = (*session)(nil)
	_ broker.Holder             = (*session)(nil)
	_ broker.ConcurrentConsumer = (*session)(nil)
	_ broker.Producer           = (*producer)(nil)
	_ broker.Throttler          = (*session)(nil)
)

func (s *session) Open(ctx context.Context) error {
	for i := range s.Connections {
		l := s.link(i)
		if err := l.open(ctx); err != nil {
			return fmt.Errorf("rabbitmq: connect: %w", broker.Nth(i, s.Connections, err))
		}
		s.links = append(s.links, l)
	}
	w, is := s.links[0].Now()
	if !is {
		return fmt.Errorf("rabbitmq: connect: %w", errHungUp)
	}
	return broker.Wrap("rabbitmq", s.introduce(w))
}

// Prepare makes the exchange. Queues are made with their consumers; old queues of the same name are deleted with their messages.
func (s *session) Prepare(ctx context.Context, layout broker.Layout) error {
	names := layout.Names()
	if s.Found() {
		return broker.Wrap("rabbitmq", s.find(ctx, names))
	}
	s.topology.name(names)
	err := all(ctx, s.links[0], names, (*channel).deleteQueue)
	if err == nil {
		err = s.admin(ctx, s.links[0], s.topology.declareExchanges)
	}
	return broker.Wrap("rabbitmq: prepare topics", err)
}

// Remove deletes queues and exchanges over a connection of its own: the broker may block connections that have published.
func (s *session) Remove(ctx context.Context) error {
	s.Quiet()
	err := s.alone(ctx, func(l *link) error {
		queues, exchanges := s.topology.made()
		return errors.Join(all(ctx, l, queues, (*channel).deleteQueue), all(ctx, l, exchanges, (*channel).deleteExchange))
	})
	return broker.Wrap("rabbitmq: remove queues and exchanges", err)
}

// Producer returns the sending side of a connection. The first call makes queues for topics without a subscription.
func (s *session) Producer(connection int) (broker.Producer, error) {
	s.storeOnce.Do(func() {
		queues := s.topology.unread()
		ctx, cancel := context.WithTimeout(context.Background(), storeTimeout+time.Duration(len(queues))*storeTimeoutEach)
		defer cancel()
		s.storeErr = all(ctx, s.links[0], queues, s.topology.declareQueue)
	})
	if s.storeErr != nil {
		return nil, fmt.Errorf("rabbitmq: declare queues: %w", explain(s.storeErr))
	}
	return newProducer(s, s.links[connection]), nil
}

func (s *session) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	if err := s.consume(ctx, to, handle); err != nil {
		return fmt.Errorf("rabbitmq: consume %q: %w", to.Topic, explain(err))
	}
	return nil
}

func (s *session) ConsumesAtOnce() int { return atOnce }

func (s *session) Describe() broker.Description {
	c := s.chosen
	kind := c.exchange
	if kind == "" {
		kind = "direct; topic where a subscription is a pattern"
	}
	durable := strconv.FormatBool(c.queue != transient)
	d := broker.Description{
		Acks:      c.confirms,
		Order:     "per-producer",
		Wildcards: (c.exchange == "" || c.exchange == pattern) && s.Run == "",
		Stores:    true,
		Library:   "amqp091-go " + broker.LibraryVersion("github.com/rabbitmq/amqp091-go"),
		Server:    "RabbitMQ " + s.server,
		Settings: map[string]string{
			"connections":        strconv.Itoa(s.Connections) + " to publish; those with consumers have a second one for them",
			"channels":           "1 to publish for each connection, 1 for each subscription",
			"queue":              c.queue,
			"durable":            durable,
			"exchange":           kind,
			"confirm":            map[bool]string{true: "each message", false: "none"}[c.confirms],
			"deliveryMode":       strconv.Itoa(int(c.deliveryMode())),
			"mandatory":          "false",
			"acknowledgeAlone":   acknowledges[broker.AcknowledgeOf(c.acknowledge, "")],
			"acknowledgeInGroup": acknowledges[broker.AcknowledgeOf(c.acknowledge, "g")],
			"prefetch":           s.prefetchText(),
			"heartbeat":          s.heartbeat.String(),
			"frameMaxBytes":      strconv.Itoa(s.frameMax),
			"channelMax":         strconv.Itoa(s.channels),
			"dialTimeout":        dialTimeout.String(),
			"reconnect":          "after " + reconnectDelay.String() + ", unlimited; sends meanwhile fail",
			"libraryRecovery":    "off",
			"tls":                strconv.FormatBool(s.secure()),
			"flush":              "each message, as the library does",
			"batching":           "none",
			"compression":        "none",
			"unconfirmedLimit":   "none",
		},
	}
	if s.Run != "" {
		d.Settings["exchange"] = "your own; a topic that is a queue: the default one"
		d.Settings["queueExpires"] = unusedAfter.String() + " (groups and subscribers on exchanges)"
	}
	if s.erlang != "" {
		d.Settings["erlang"] = s.erlang
	}
	if c.version > 0 {
		d.Settings["queueVersion"] = strconv.Itoa(c.version)
		if s.MessageBytes >= embeddedBytes {
			d.Settings["queueVersion"] += "; flushes before a confirm if the server's queue_index_embed_msgs_below is not above the message"
		}
	}
	if c.replicas > 0 {
		d.Settings["replicas"] = strconv.Itoa(c.replicas)
	}
	return d
}

// prefetchText is the limit of the consumers, as far as is known who acknowledges: by the option, or by those that there are.
func (s *session) prefetchText() string {
	c, automatic := s.chosen, map[bool]bool{}
	if c.acknowledge != "" {
		automatic[c.acknowledge == broker.Automatic] = true
	}
	for _, l := range s.links {
		l.mu.Lock()
		for _, sub := range l.subscriptions {
			automatic[sub.acknowledge == broker.Automatic] = true
		}
		l.mu.Unlock()
	}
	limit := strconv.Itoa(c.prefetch) + " not acknowledged"
	switch {
	case c.prefetch == 0:
		return "no limit"
	case automatic[true] == automatic[false]:
		return limit + "; no limit where nothing is"
	case automatic[true]:
		return "no limit, as nothing is acknowledged"
	}
	return limit
}

// acknowledges says what consumers send.
var acknowledges = map[string]string{
	broker.Automatic: "none", broker.PerMessage: "each message",
	broker.PerBatch:    "those that the library holds together, at most half of the prefetch",
	broker.PerInterval: "every " + broker.AcknowledgeInterval.String() + ", or half of the prefetch",
}

// Dropped is 0: the library drops nothing on a working connection, and a lost connection counts as that.
func (s *session) Dropped() int64 { return 0 }

// Held is what the library has read and not handed over. Nobody can count what is encrypted.
func (s *session) Held() (held int64, known bool) {
	for _, l := range s.links {
		if w, is := l.Now(); is {
			if made := w.receiving.Load(); made != nil {
				held += made.raw.held()
			}
		}
	}
	return held, !s.secure()
}

func (s *session) Close() error {
	s.End()
	var all sync.WaitGroup
	for _, l := range s.links {
		all.Go(l.close)
	}
	all.Wait()
	return nil
}

// --- internal ---

// storeTimeout and storeTimeoutEach, for each queue, limit the declaration of queues that nobody consumes.
const (
	storeTimeout     = 30 * time.Second
	storeTimeoutEach = 100 * time.Millisecond
)

// embeddedBytes: unless the server is configured otherwise, messages of this size or more are kept outside of a classic queue of version 2,
// in a store that is flushed.
const embeddedBytes = 4096

// introduce records what the first connection learned about the server.
func (s *session) introduce(w *wire) error {
	properties, config := w.sending.Properties, w.sending.Config
	s.server, _ = properties["version"].(string)
	s.erlang, _ = properties["platform"].(string)
	s.frameMax, s.channels, s.heartbeat = config.FrameSize, int(config.ChannelMax), config.Heartbeat
	version, err := s.chosen.versionFor(s.server)
	s.chosen.version, s.topology.chosen.version = version, version
	return err
}
