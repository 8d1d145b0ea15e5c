package rabbitmq

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// subscription is one consumer. It lives as long as the session, on one channel after another.
type subscription struct {
	session *session
	// queue's name. An own queue gets the messages of the topic, or of a pattern over topics.
	queue, topic string
	own          bool
	// acknowledge is when; several is the most messages that one acknowledgement covers.
	acknowledge string
	several     int
	handle      broker.Handler
	// busy: the handler may still have an earlier channel's last delivery when a new channel's first one comes.
	busy sync.Mutex
}

func (s *session) Consume(ctx context.Context, to broker.Subscription, handle broker.Handler) (err error) {
	defer func() { err = broker.Wrap(fmt.Sprintf("rabbitmq: consume %q", to.Topic), explain(err)) }()
	l, t := s.consumers[to.Connection], s.topology.Load()
	w, err := l.wired()
	if err != nil {
		return err
	}
	sub := &subscription{
		session: s, topic: to.Topic, own: to.Group == "" && !t.isQueue[to.Topic], handle: handle,
		acknowledge: broker.AcknowledgeOf(s.Acknowledge, to.Group), several: 1,
	}
	if sub.acknowledge == broker.PerBatch || sub.acknowledge == broker.PerInterval {
		// With more the broker, which sends no more than the prefetch, would wait for us.
		sub.several = max(1, cmp.Or(s.Prefetch, defaults.Prefetch)/2)
	}
	switch {
	case !sub.own:
		sub.queue = t.queueOf(to)
	case s.durable():
		sub.queue = t.nameOwn(to.Topic)
		s.own.Add(sub.queue)
	}
	l.subscriptions.Add(sub)
	return within(ctx, func() error { return sub.start(w) })
}

// start consumes on a wire. It returns when the broker has confirmed it.
func (sub *subscription) start(w *wire) error {
	s, t := sub.session, sub.session.topology.Load()
	on, err := w.Channel()
	if err != nil {
		return fmt.Errorf("open a channel: %w", err)
	}
	shut := on.NotifyClose(make(chan *amqp.Error, 1))
	if sub.own {
		if !s.durable() { // the broker may not have noticed yet that the queue's earlier owner is gone
			sub.queue = t.nameOwn(sub.topic)
		}
		if err := t.declareQueue(on, sub.queue, sub.topic, !s.durable()); err != nil {
			return err
		}
	}
	if err := on.Qos(s.Prefetch, 0, false); err != nil {
		return fmt.Errorf("set prefetch: %w", err)
	}
	deliveries, err := on.Consume(sub.queue, "", sub.acknowledge == broker.Automatic, false, false, false, nil)
	if err != nil {
		return err
	}
	go func() {
		sub.take(w.raw, deliveries)
		select {
		case err := <-shut:
			w.End(cause(err))
		default:
			w.End(fmt.Errorf("the broker cancelled the consumer of %q", sub.queue))
		}
	}()
	return nil
}

// --- internal ---

// take handles deliveries, until the channel is closed.
func (sub *subscription) take(raw *incoming, arriving <-chan amqp.Delivery) {
	now := sub.session.Now
	var due <-chan time.Time
	if sub.several > 1 {
		ticker := time.NewTicker(broker.AcknowledgeInterval)
		defer ticker.Stop()
		due = ticker.C
	}
	// last of the `handled` messages that were not yet acknowledged.
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
			// A batch is over when the library holds no more of the connection.
			if handled < sub.several && (sub.acknowledge == broker.PerInterval || raw.held() > 0) {
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
