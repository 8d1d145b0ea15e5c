package nats

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

const (
	// pullExpiry is how long the server keeps a request for messages, idleHeartbeat how often it shows that it is alive. After two missing
	// heartbeats the library asks again, in a cluster another node.
	pullExpiry    = 30 * time.Second
	idleHeartbeat = 2 * time.Second
	// unusedAfter: the server removes a consumer of ours that nobody has asked for that long.
	unusedAfter = 5 * time.Minute
)

// Consume makes a consumer of the stream. A group is one durable consumer that its members share; without a group each
// subscription has its own.
func (s *jetStreamSession) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	if to.Wildcard {
		return errors.New("nats: JetStream: wildcards are not possible, because a consumer reads one stream and every topic is a stream of its own")
	}
	at := s.streams[to.Topic]
	if s.Run != "" && at.takenAway {
		return fmt.Errorf("nats: consume %q: reading takes messages out of its stream %s (retention workqueue), which is yours; use one with retention limits", to.Topic, at.stream)
	}
	consume := map[string]func(context.Context, broker.Subscription, location, broker.Handler) (consumer, error){
		"ordered": s.ordered, "push": s.push, "pull": s.pull,
	}[s.kind(to.Group)]
	var one consumer
	err := s.permitted(ctx, func(ctx context.Context) (err error) {
		one, err = consume(ctx, to, at, handle)
		return err
	})
	if err != nil {
		return fmt.Errorf("nats: consume %q: %w", to.Topic, err)
	}
	one.stream, one.group = at.stream, s.groupName(to.Group)
	s.consumersMu.Lock()
	s.consumers = append(s.consumers, one)
	s.consumersMu.Unlock()
	return s.flush(ctx, to.Connection)
}

// deliveries is a dialer whose sockets count the messages of streams that the library reads from them. The library has them wait in
// channels of its own, and does not say how many there are.
type deliveries struct {
	nats.CustomDialer
	// read is how many the library has read, taken how many it has handed over.
	read, taken atomic.Int64
	// uncertain: a connection or a consumer was replaced. What it held is gone, and nobody knows how much that was.
	uncertain atomic.Bool
}

// counted is a socket of the library. Its fields are for the library's reader alone.
type counted struct {
	net.Conn
	of *deliveries
	// line is the beginning of a line of which the end was not read yet; rest is how much of a message's content is to come.
	line []byte
	rest int
}

func (d *deliveries) Dial(network, address string) (net.Conn, error) {
	conn, err := d.CustomDialer.Dial(network, address)
	if err != nil {
		return nil, err
	}
	return &counted{Conn: conn, of: d}, nil
}

func (c *counted) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	c.scan(into[:n])
	return n, err
}

// --- internal ---

// kind of consumer for subscriptions of a group, or without one.
func (s *jetStreamSession) kind(group string) string {
	switch {
	case s.own.Consumer != "":
		return s.own.Consumer
	case group != "":
		return "pull"
	default:
		return "ordered"
	}
}

func (s *jetStreamSession) ackWait() time.Duration {
	return time.Duration(s.own.AckWaitNs)
}

func (s *jetStreamSession) maxAckPending() int {
	return atMost(s.own.MaxAckPending, defaults.MaxAckPending, s.MessageBytes)
}

func (s *jetStreamSession) prefetch() int {
	return atMost(s.own.Prefetch, defaults.Prefetch, s.MessageBytes)
}

// config of a consumer that acknowledges. On an existing stream it starts with the next message. Without a group it also has a
// name, so a repeated request does not make a second consumer.
func (s *jetStreamSession) config(ctx context.Context, to broker.Subscription, at location) (jetstream.ConsumerConfig, error) {
	group := s.groupName(to.Group)
	config := jetstream.ConsumerConfig{
		Name:          cmp.Or(group, nuid.Next()),
		Durable:       group,
		DeliverPolicy: jetstream.DeliverAllPolicy,
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       s.ackWait(),
		MaxDeliver:    -1,
		MaxAckPending: s.maxAckPending(),
	}
	if to.Group == "" || s.Run != "" {
		config.InactiveThreshold = unusedAfter
	}
	if !s.Found() {
		return config, nil
	}
	state, err := s.state(ctx, to.Connection, at)
	config.DeliverPolicy, config.OptStartSeq, config.FilterSubject = jetstream.DeliverByStartSequencePolicy, state.LastSeq+1, at.filter
	return config, err
}

// shared returns the consumer of a group on an existing stream. Another client may have made it.
func shared[C any](look func() (C, error), create func() (C, error)) (C, error) {
	found, err := look()
	if !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return found, err
	}
	made, err := create()
	if errors.Is(err, jetstream.ErrConsumerExists) { // another client was faster
		return look()
	}
	return made, err
}

func (s *jetStreamSession) pull(ctx context.Context, to broker.Subscription, at location, handle broker.Handler) (consumer, error) {
	js := s.js[to.Connection]
	config, err := s.config(ctx, to, at)
	if err != nil {
		return consumer{}, err
	}
	var made jetstream.Consumer
	err = patiently(ctx, func(ctx context.Context) (err error) {
		if s.Found() && to.Group != "" {
			made, err = shared(
				func() (jetstream.Consumer, error) { return js.Consumer(ctx, at.stream, config.Durable) },
				func() (jetstream.Consumer, error) { return js.CreateConsumer(ctx, at.stream, config) })
		} else {
			made, err = js.CreateOrUpdateConsumer(ctx, at.stream, config)
		}
		return err
	})
	if err != nil {
		return consumer{}, err
	}
	consuming, err := made.Consume(s.acknowledged(handle), s.pullOptions()...)
	if err != nil {
		return consumer{}, err
	}
	return consumer{names: func() []string { return []string{made.CachedInfo().Name} }, stop: consuming.Stop}, nil
}

func (s *jetStreamSession) push(ctx context.Context, to broker.Subscription, at location, handle broker.Handler) (consumer, error) {
	js := s.js[to.Connection]
	config, err := s.config(ctx, to, at)
	if err != nil {
		return consumer{}, err
	}
	if to.Group == "" {
		config.DeliverSubject = s.all[to.Connection].NewInbox()
		config.IdleHeartbeat = idleHeartbeat
		config.FlowControl = true
	} else {
		// The same for all members on all clients. The server has no heartbeats for groups.
		config.DeliverSubject = "_mqbench." + streamName(to.Topic) + "." + config.Durable
		config.DeliverGroup = config.Durable
	}
	var made jetstream.PushConsumer
	err = patiently(ctx, func(ctx context.Context) (err error) {
		if s.Found() && to.Group != "" {
			made, err = shared(
				func() (jetstream.PushConsumer, error) { return js.PushConsumer(ctx, at.stream, config.Durable) },
				func() (jetstream.PushConsumer, error) { return js.CreatePushConsumer(ctx, at.stream, config) })
		} else {
			made, err = js.CreateOrUpdatePushConsumer(ctx, at.stream, config)
		}
		return err
	})
	if err != nil {
		return consumer{}, err
	}
	consuming, err := made.Consume(s.acknowledged(handle), jetstream.ConsumeErrHandler(s.troubled))
	if err != nil {
		return consumer{}, err
	}
	return consumer{names: func() []string { return []string{made.CachedInfo().Name} }, stop: consuming.Stop}, nil
}

// acknowledged hands over and then acknowledges, so that the message of a consumer that dies is delivered again.
func (s *jetStreamSession) acknowledged(handle broker.Handler) jetstream.MessageHandler {
	now := s.Now
	return func(m jetstream.Msg) {
		delivery := broker.Delivery{ReceivedNs: now(), Payload: m.Data()}
		s.deliveries.taken.Add(1)
		if metadata, err := m.Metadata(); err == nil {
			delivery.Redelivered = metadata.NumDelivered > 1
		}
		handle(delivery)
		// Without a connection the message is delivered again and counted then.
		_ = m.Ack()
	}
}

func (s *jetStreamSession) pullOptions() []jetstream.PullConsumeOpt {
	return []jetstream.PullConsumeOpt{
		jetstream.PullMaxMessages(s.prefetch()),
		jetstream.PullExpiry(pullExpiry),
		jetstream.PullHeartbeat(idleHeartbeat),
		jetstream.ConsumeErrHandler(s.troubled),
	}
}

// troubled reports what goes wrong between deliveries. The library goes on by itself.
func (s *jetStreamSession) troubled(_ jetstream.ConsumeContext, err error) {
	if !s.over.Load() {
		s.Report("consumer", err)
	}
}

// scan goes through what was read, which may end anywhere. A message is a line, MSG subject sid [reply] size or HMSG with the size of
// its header before that, and its content. Where the message is from a stream its consumer's answer goes to $JS.ACK.
func (c *counted) scan(b []byte) {
	for len(b) > 0 {
		if c.rest > 0 {
			n := min(c.rest, len(b))
			c.rest -= n
			b = b[n:]
			continue
		}
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			c.line = append(c.line, b...)
			return
		}
		line := b[:end]
		if len(c.line) > 0 {
			c.line = append(c.line, line...)
			line = c.line
		}
		if bytes.HasPrefix(line, []byte("MSG ")) || bytes.HasPrefix(line, []byte("HMSG ")) {
			line = bytes.TrimSpace(line)
			size, _ := strconv.Atoi(string(line[bytes.LastIndexByte(line, ' ')+1:]))
			c.rest = size + len("\r\n")
			if bytes.Contains(line, []byte(" $JS.ACK.")) {
				c.of.read.Add(1)
			}
		}
		c.line, b = c.line[:0], b[end+1:]
	}
}
