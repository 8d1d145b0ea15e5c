package nats

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
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
	// unusedAfter is how long a consumer of ours may go without a request before the server removes it.
	unusedAfter = 5 * time.Minute
)

// consumer is one that this session has made on a stream or shares with other clients.
type consumer struct {
	stream string
	// name on the server; nil for a group's, whose members share the consumer.
	name func() string
	stop func()
}

// Consume makes a consumer of the stream: one durable consumer for all members of a group, and one for each subscription without a group.
func (s *jetStreamSession) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	at := s.streams[to.Topic]
	if s.Run != "" && at.takenAway {
		return fmt.Errorf("nats: consume %q: reading takes messages out of its stream %s (retention workqueue), which is yours; use one with retention limits", to.Topic, at.stream)
	}
	consume := s.acknowledging
	if s.kind(to.Group) == "ordered" {
		consume = s.ordered
	}
	one, err := consume(ctx, to, at, handle)
	if err == nil {
		one.stream = at.stream
		s.consumers.Add(one)
		err = s.flush(ctx, to.Connection)
	}
	return broker.Wrap(fmt.Sprintf("nats: consume %q", to.Topic), err)
}

// deliveries is a dialer whose sockets count the messages of streams: the library does not report how many it keeps in its channels.
type deliveries struct {
	nats.CustomDialer
	// read is how many the library has read, taken how many it has handed over.
	read, taken atomic.Int64
	// uncertain is true if a connection or a consumer was replaced. Its waiting messages are gone, and their number is unknown.
	uncertain atomic.Bool
}

// counted is a socket of the library. end has the last bytes that were read: a mark may have begun there.
type counted struct {
	net.Conn
	of  *deliveries
	end []byte
}

// mark begins the subject of a message's acknowledgement, which comes with every message of a stream, and else in a payload at most.
var mark = []byte(" $JS.ACK.")

func (d *deliveries) Dial(network, address string) (net.Conn, error) {
	conn, err := d.CustomDialer.Dial(network, address)
	if err != nil {
		return nil, err
	}
	return &counted{Conn: conn, of: d}, nil
}

func (c *counted) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	c.count(into[:n])
	return n, err
}

// --- internal ---

// kind of consumer for subscriptions of a group, or without one.
func (s *jetStreamSession) kind(group string) string {
	if group != "" {
		return cmp.Or(s.own.Consumer, "pull")
	}
	return cmp.Or(s.own.Consumer, "ordered")
}

// acknowledging makes a pull or push consumer. It has a name also without a group, so a repeated request does not make a second one.
func (s *jetStreamSession) acknowledging(ctx context.Context, to broker.Subscription, at location, handle broker.Handler) (consumer, error) {
	js, group := s.js[to.Connection], s.groupName(to.Group)
	config := jetstream.ConsumerConfig{
		Name:          cmp.Or(group, nuid.Next()),
		Durable:       group,
		DeliverPolicy: jetstream.DeliverAllPolicy,
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       time.Duration(s.own.AckWaitNs),
		MaxDeliver:    -1,
		MaxAckPending: s.own.MaxAckPending,
	}
	if group == "" || s.Run != "" {
		config.InactiveThreshold = unusedAfter
	}
	if s.Found() && to.FromStart {
		config.FilterSubject = at.filter
	} else if s.Found() {
		state, err := s.state(ctx, to.Connection, at)
		if err != nil {
			return consumer{}, err
		}
		config.DeliverPolicy, config.OptStartSeq, config.FilterSubject = jetstream.DeliverByStartSequencePolicy, state.LastSeq+1, at.filter
	}
	var reading jetstream.ConsumeContext
	var err error
	if s.kind(group) == "pull" {
		var made jetstream.Consumer
		if made, err = create(ctx, s, js.CreateConsumer, js.Consumer, at.stream, config); err == nil {
			reading, err = made.Consume(s.acknowledged(handle), s.pullOptions(s.troubled)...)
		}
	} else {
		if group == "" {
			config.DeliverSubject, config.IdleHeartbeat, config.FlowControl = s.all[to.Connection].NewInbox(), idleHeartbeat, true
		} else {
			// The same for all members on all clients. The server has no heartbeats for groups.
			config.DeliverSubject, config.DeliverGroup = "_mqbench."+streamName(to.Topic)+"."+group, group
		}
		var made jetstream.PushConsumer
		if made, err = create(ctx, s, js.CreatePushConsumer, js.PushConsumer, at.stream, config); err == nil {
			reading, err = made.Consume(s.acknowledged(handle), jetstream.ConsumeErrHandler(s.troubled))
		}
	}
	if err != nil {
		return consumer{}, err
	}
	if group != "" {
		return consumer{stop: reading.Stop}, nil
	}
	return consumer{name: func() string { return config.Name }, stop: reading.Stop}, nil
}

// create makes a consumer, or returns the existing one with that name: another client has made it for the group, or an answer was lost.
func create[C any](
	ctx context.Context, s *jetStreamSession, make func(context.Context, string, jetstream.ConsumerConfig) (C, error), look func(context.Context, string, string) (C, error),
	stream string, config jetstream.ConsumerConfig,
) (made C, err error) {
	err = s.patiently(ctx, func(ctx context.Context) (err error) {
		made, err = make(ctx, stream, config)
		if errors.Is(err, jetstream.ErrConsumerExists) { // it starts elsewhere
			made, err = look(ctx, stream, config.Name)
		}
		return err
	})
	return made, err
}

// acknowledged hands over and then acknowledges. If a consumer dies, its message is therefore delivered again.
func (s *jetStreamSession) acknowledged(handle broker.Handler) jetstream.MessageHandler {
	return func(m jetstream.Msg) {
		delivery := broker.Delivery{ReceivedNs: s.Now(), Payload: m.Data()}
		s.deliveries.taken.Add(1)
		if metadata, err := m.Metadata(); err == nil {
			delivery.Redelivered = metadata.NumDelivered > 1
		}
		handle(delivery)
		// Without a connection the message is delivered again and counted then.
		_ = m.Ack()
	}
}

func (s *jetStreamSession) pullOptions(troubled func(jetstream.ConsumeContext, error)) []jetstream.PullConsumeOpt {
	return []jetstream.PullConsumeOpt{
		jetstream.PullMaxMessages(s.own.Prefetch), jetstream.PullExpiry(pullExpiry), jetstream.PullHeartbeat(idleHeartbeat), jetstream.ConsumeErrHandler(troubled),
	}
}

// troubled reports errors between deliveries. The library goes on by itself.
func (s *jetStreamSession) troubled(_ jetstream.ConsumeContext, err error) { s.Report("consumer", err) }

// count goes through the bytes read, which may end anywhere.
func (c *counted) count(b []byte) {
	seam := append(c.end, b[:min(len(b), len(mark)-1)]...)
	c.of.read.Add(int64(bytes.Count(seam, mark) + bytes.Count(b, mark)))
	if len(b) < len(mark)-1 {
		b = seam
	}
	c.end = append(c.end[:0], b[max(0, len(b)-len(mark)+1):]...)
}
