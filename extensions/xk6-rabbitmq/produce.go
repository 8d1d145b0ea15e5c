package rabbitmq

import (
	"errors"
	"fmt"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/address"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// producer publishes on the channel of one connection.
type producer struct {
	session *session
	link    *link
	mode    uint8
	// waiters is by topic.
	waiters []*waiter
}

func newProducer(s *session, l *link) *producer {
	return &producer{session: s, link: l, mode: s.chosen.deliveryMode(), waiters: make([]*waiter, len(s.topology.topics))}
}

// Send publishes and flushes; it blocks while the broker does not read (its flow control). Without confirms that is all.
//
// A message whose connection is lost before it was confirmed may or may not have arrived, which is neither acknowledged nor
// failed: it is reported as unknown.
func (p *producer) Send(m *broker.Message, done broker.Done) {
	w := p.link.current.Load()
	if w == nil {
		done(m, 0, errPublish)
		return
	}
	exchange, key := p.session.topology.route(m.Name)
	confirmation, err := w.publish.PublishWithDeferredConfirm(exchange, key, false, false, amqp.Publishing{
		DeliveryMode: p.mode, Body: m.Payload,
	})
	switch {
	case errors.Is(err, amqp.ErrClosed):
		done(m, 0, errPublish)
	case err != nil:
		// The last bytes did not leave, and the broker takes no part of a message.
		done(m, 0, fmt.Errorf("rabbitmq: publish: %w", address.Cause(err)))
	case confirmation == nil:
		done(m, 0, nil)
	default:
		p.waiter(m.Topic).add(pending{m, done, confirmation, w.publish})
	}
}

// --- internal ---

var (
	errPublish = errors.New("rabbitmq: publish: not connected")
	errRefused = errors.New("rabbitmq: publish: the broker refused the message (nack)")
	errUnknown = fmt.Errorf("rabbitmq: connection lost: %w", broker.ErrUnknown)
)

func (c choices) deliveryMode() uint8 {
	if c.persistent {
		return amqp.Persistent
	}
	return amqp.Transient
}

func (p *producer) waiter(topic int) *waiter {
	if p.waiters[topic] == nil {
		p.waiters[topic] = &waiter{now: p.session.Now, ended: p.session.Over.Done(), wake: make(chan struct{}, 1)}
		go p.waiters[topic].run()
	}
	return p.waiters[topic]
}

// waiter waits for the confirmations of one topic on one connection.
//
// The library's own listeners (NotifyPublish) put confirmations into the order of publishing, so that one slow queue would
// make all others look slow. A queue confirms in order: with one waiter for each, none waits for another.
type waiter struct {
	now   func() int64
	ended <-chan struct{}
	wake  chan struct{}
	mu    sync.Mutex
	queue []pending
	over  bool
}

type pending struct {
	message      *broker.Message
	done         broker.Done
	confirmation *amqp.DeferredConfirmation
	on           *amqp.Channel
}

func (w *waiter) add(p pending) {
	w.mu.Lock()
	over := w.over
	if !over {
		w.queue = append(w.queue, p)
	}
	w.mu.Unlock()
	if over {
		p.done(p.message, 0, errUnknown)
		return
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run ends with the session.
func (w *waiter) run() {
	var batch []pending
	for {
		w.mu.Lock()
		batch, w.queue = w.queue, batch[:0]
		w.mu.Unlock()
		for i, p := range batch {
			select {
			case <-p.confirmation.Done():
			case <-w.ended:
				w.conclude(batch[i:])
				return
			}
			switch {
			case p.confirmation.Acked():
				p.done(p.message, w.now(), nil)
			case p.on.IsClosed():
				// Subtle: the library calls all that was pending refused when a channel is closed.
				p.done(p.message, 0, errUnknown)
			default:
				p.done(p.message, 0, errRefused)
			}
			batch[i] = pending{}
		}
		if len(batch) > 0 {
			continue
		}
		select {
		case <-w.wake:
		case <-w.ended:
			w.conclude(nil)
			return
		}
	}
}

// conclude reports the messages that nothing more will be heard of.
func (w *waiter) conclude(batch []pending) {
	w.mu.Lock()
	w.over = true
	rest := w.queue
	w.mu.Unlock()
	for _, list := range [][]pending{batch, rest} {
		for _, p := range list {
			p.done(p.message, 0, errUnknown)
		}
	}
}
