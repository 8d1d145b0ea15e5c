package rabbitmq

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// subscription is one consumer. It lives as long as the session, on one channel after another.
type subscription struct {
	session *session
	queue   *queue
	// acknowledge is when; several acknowledges once for so many messages at the latest.
	acknowledge string
	several     int
	handle      broker.Handler
	// busy: the handler may still have an earlier channel's last delivery when a new channel's first one comes.
	busy sync.Mutex
}

func (s *session) consume(ctx context.Context, to broker.Subscription, handle broker.Handler) error {
	l := s.links[to.Connection]
	w, is := l.Now()
	if !is {
		return errNotConnected
	}
	if to.Wildcard {
		if err := s.allowPatterns(ctx); err != nil {
			return err
		}
	}
	s.binding.RLock()
	defer s.binding.RUnlock()
	q, err := s.queueFor(ctx, to, l)
	if err != nil {
		return err
	}
	sub := &subscription{session: s, queue: q, handle: handle, acknowledge: broker.AcknowledgeOf(s.chosen.acknowledge, to.Group), several: 1}
	if sub.acknowledge == broker.PerBatch || sub.acknowledge == broker.PerInterval {
		// With more the broker, which sends no more than the prefetch, would wait for us.
		sub.several = max(1, cmp.Or(s.chosen.prefetch, defaults.Prefetch)/2)
	}
	l.mu.Lock()
	l.subscriptions = append(l.subscriptions, sub)
	l.mu.Unlock()
	return within(ctx, func() error { return sub.start(w) })
}

// queueFor chooses the queue of a subscription, one subscription at a time.
func (s *session) queueFor(ctx context.Context, to broker.Subscription, on *link) (*queue, error) {
	s.choosing.Lock()
	defer s.choosing.Unlock()
	if err := s.free(ctx, to); err != nil {
		return nil, err
	}
	if to.Group == "" {
		if err := s.unstore(ctx, to.Topic); err != nil {
			return nil, err
		}
	}
	return s.topology.subscribe(to, on), nil
}

// start consumes on a wire. It returns when the broker has confirmed it.
func (sub *subscription) start(w *wire) error {
	s := sub.session
	consumer, err := w.consumer()
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	on, err := consumer.Channel()
	if err != nil {
		return fmt.Errorf("open a channel: %w", err)
	}
	shut := on.NotifyClose(make(chan *amqp.Error, 1))
	if sub.queue.exclusive {
		// The broker may not have noticed yet that the queue's earlier owner is gone.
		sub.queue.label = s.topology.named(sub.queue.topic) + ":" + rand.Text()[:8]
	}
	if err := s.topology.declareQueue(&channel{on}, sub.queue); err != nil {
		return err
	}
	if err := on.Qos(s.chosen.prefetch, 0, false); err != nil {
		return fmt.Errorf("set prefetch: %w", err)
	}
	deliveries, err := on.Consume(sub.queue.label, "", sub.acknowledge == broker.Automatic, false, false, false, nil)
	if err != nil {
		return err
	}
	go func() {
		sub.take(consumer.raw, deliveries)
		select {
		case err := <-shut:
			w.fail(cause(err))
		default:
			w.fail(fmt.Errorf("the broker cancelled the consumer of %q", sub.queue.label))
		}
	}()
	return nil
}

// --- internal ---

// take handles what arrives, until the channel is closed.
func (sub *subscription) take(raw *incoming, arriving <-chan amqp.Delivery) {
	now := sub.session.Now
	var due <-chan time.Time
	if sub.several > 1 {
		ticker := time.NewTicker(broker.AcknowledgeInterval)
		defer ticker.Stop()
		due = ticker.C
	}
	// last of so many messages that were handled and not acknowledged.
	var last amqp.Delivery
	for handled := 0; ; {
		select {
		case d, open := <-arriving:
			if !open {
				return
			}
			at := now()
			raw.taken.Add(1)
			sub.busy.Lock()
			sub.handle(broker.Delivery{ReceivedNs: at, Payload: d.Body, Redelivered: d.Redelivered})
			sub.busy.Unlock()
			if sub.acknowledge == broker.Automatic {
				continue
			}
			last = d
			handled++
			// A batch is over when the library holds no more of the connection, if that can be counted.
			if handled < sub.several && (sub.acknowledge == broker.PerInterval || sub.session.secure() || raw.held() > 0) {
				continue
			}
		case <-due:
			if handled == 0 {
				continue
			}
		}
		// An error means that the connection is gone; the broker delivers the messages again.
		_ = last.Ack(handled > 1)
		handled = 0
	}
}

// unstore deletes the queues that nobody would read: a subscription without a group has a queue of its own.
func (s *session) unstore(ctx context.Context, topic string) error {
	queues := s.topology.unstore(topic)
	if len(queues) == 0 {
		return nil
	}
	return s.admin(ctx, s.links[0], func(on *channel) error {
		for _, q := range queues {
			if err := on.deleteQueue(q.label); err != nil {
				return err
			}
		}
		return nil
	})
}

// allowPatterns changes to a topic exchange and moves the queues that are bound already.
func (s *session) allowPatterns(ctx context.Context) error {
	s.binding.Lock()
	defer s.binding.Unlock()
	queues, err := s.topology.allowPatterns()
	if err != nil {
		return err
	}
	if err := s.admin(ctx, s.links[0], s.topology.declareExchanges); err != nil {
		return err
	}
	for _, q := range queues {
		if err := s.asOwner(ctx, q, func(on *channel) error { return s.topology.bind(on, q) }); err != nil {
			return err
		}
	}
	return nil
}
