package nats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

const (
	// pullExpiry is how long the server keeps a request for messages, idleHeartbeat how often it says that it is there.
	pullExpiry    = 30 * time.Second
	idleHeartbeat = 5 * time.Second
	// unusedAfter: the server removes a consumer of our own that nobody asks any more.
	unusedAfter = 5 * time.Minute
)

// Consume makes a consumer of the stream. A group is one durable consumer that its members share; without a group each
// subscription has its own.
func (s *jetStreamSession) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	if to.Wildcard {
		return errors.New("nats: JetStream: a consumer reads one stream, and every topic is a stream of its own: no wildcards")
	}
	consume := map[string]func(context.Context, broker.Subscription, broker.Handler) (jetstream.ConsumeContext, error){
		"ordered": s.ordered, "push": s.push, "pull": s.pull,
	}[s.kind(to.Group)]
	consuming, err := consume(ctx, to, handle)
	if err != nil {
		return fmt.Errorf("nats: consume %q: %w", to.Topic, err)
	}
	s.consuming = append(s.consuming, consuming)
	return s.flush(ctx, to.Connection)
}

// --- internal ---

// kind of consumer that subscriptions of a group, or of none, get.
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
	if s.own.AckWaitNs > 0 {
		return time.Duration(s.own.AckWaitNs)
	}
	return defaultAckWait
}

func (s *jetStreamSession) maxAckPending() int {
	if s.own.MaxAckPending > 0 {
		return s.own.MaxAckPending
	}
	return atMost(defaultMaxAckPending, s.MessageBytes)
}

func (s *jetStreamSession) prefetch() int {
	if s.own.Prefetch > 0 {
		return s.own.Prefetch
	}
	return atMost(defaultPrefetch, s.MessageBytes)
}

// consumer is the configuration of one that acknowledges.
func (s *jetStreamSession) consumer(to broker.Subscription) jetstream.ConsumerConfig {
	config := jetstream.ConsumerConfig{
		Durable:       to.Group,
		DeliverPolicy: jetstream.DeliverAllPolicy,
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       s.ackWait(),
		MaxDeliver:    -1,
		MaxAckPending: s.maxAckPending(),
	}
	if to.Group == "" {
		config.InactiveThreshold = unusedAfter
	}
	return config
}

func (s *jetStreamSession) ordered(ctx context.Context, to broker.Subscription, handle broker.Handler) (jetstream.ConsumeContext, error) {
	if to.Group != "" {
		return nil, errors.New("an ordered consumer cannot be shared by a group")
	}
	consumer, err := s.js[to.Connection].OrderedConsumer(ctx, streamName(to.Topic), jetstream.OrderedConsumerConfig{
		DeliverPolicy:     jetstream.DeliverAllPolicy,
		InactiveThreshold: unusedAfter,
		MaxResetAttempts:  -1,
	})
	if err != nil {
		return nil, err
	}
	now := s.Now
	return consumer.Consume(func(m jetstream.Msg) {
		handle(broker.Delivery{ReceivedNs: now(), Payload: m.Data()})
	}, s.pullOptions()...)
}

func (s *jetStreamSession) pull(ctx context.Context, to broker.Subscription, handle broker.Handler) (jetstream.ConsumeContext, error) {
	consumer, err := s.js[to.Connection].CreateOrUpdateConsumer(ctx, streamName(to.Topic), s.consumer(to))
	if err != nil {
		return nil, err
	}
	return consumer.Consume(s.acknowledged(handle), s.pullOptions()...)
}

func (s *jetStreamSession) push(ctx context.Context, to broker.Subscription, handle broker.Handler) (jetstream.ConsumeContext, error) {
	config := s.consumer(to)
	if to.Group == "" {
		config.DeliverSubject = s.all[to.Connection].NewInbox()
		config.IdleHeartbeat = idleHeartbeat
		config.FlowControl = true
	} else {
		// The same for all members, in whatever process they are. The server has no heartbeats for groups.
		config.DeliverSubject = "_mqbench." + streamName(to.Topic) + "." + to.Group
		config.DeliverGroup = to.Group
	}
	consumer, err := s.js[to.Connection].CreateOrUpdatePushConsumer(ctx, streamName(to.Topic), config)
	if err != nil {
		return nil, err
	}
	return consumer.Consume(s.acknowledged(handle), jetstream.ConsumeErrHandler(s.report))
}

// acknowledged hands over and then acknowledges: a message whose consumer dies is delivered again.
func (s *jetStreamSession) acknowledged(handle broker.Handler) jetstream.MessageHandler {
	now := s.Now
	return func(m jetstream.Msg) {
		delivery := broker.Delivery{ReceivedNs: now(), Payload: m.Data()}
		if metadata, err := m.Metadata(); err == nil {
			delivery.Redelivered = metadata.NumDelivered > 1
		}
		handle(delivery)
		// Without a connection it is delivered again, and counted then.
		_ = m.Ack()
	}
}

func (s *jetStreamSession) pullOptions() []jetstream.PullConsumeOpt {
	return []jetstream.PullConsumeOpt{
		jetstream.PullMaxMessages(s.prefetch()),
		jetstream.PullExpiry(pullExpiry),
		jetstream.PullHeartbeat(idleHeartbeat),
		jetstream.ConsumeErrHandler(s.report),
	}
}

// report tells of what goes wrong between deliveries; the library goes on by itself.
func (s *jetStreamSession) report(_ jetstream.ConsumeContext, err error) {
	if err != nil && !s.over.Load() && !s.closing.Load() && s.OnError != nil {
		s.OnError(fmt.Errorf("nats: consumer: %w", err))
	}
}
