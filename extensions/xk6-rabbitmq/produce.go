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
	session  *session
	link     *link
	topology *topology
	mode     uint8
	// waiters is by topic.
	waiters []*waiter
}

func newProducer(s *session, l *link) *producer {
	return &producer{session: s, link: l, mode: s.deliveryMode(), topology: s.topology.Load(), waiters: make([]*waiter, len(s.layout.Topics))}
}

// Send publishes and flushes. It blocks while the broker does not read (its flow control). Without confirms that is all.
//
// If the connection is lost before a message was confirmed, the message may have arrived. It is then reported as unknown, neither
// acknowledged nor failed.
func (p *producer) Send(m *broker.Message, done broker.Done) {
	w, is := p.link.Now()
	if !is {
		done(m, 0, errPublish)
		return
	}
	exchange, key := p.topology.route(m.Name)
	confirmation, err := w.publish.PublishWithDeferredConfirm(exchange, key, false, false, amqp.Publishing{
		DeliveryMode: p.mode, Body: m.Payload,
	})
	switch {
	case errors.Is(err, amqp.ErrClosed):
		done(m, 0, errPublish)
	case err != nil:
		// The last bytes did not leave, and the broker ignores incomplete messages.
		done(m, 0, fmt.Errorf("rabbitmq: publish: %w", address.Cause(err)))
	case confirmation == nil:
		done(m, 0, nil)
	default:
		p.waiter(m.Topic).add(pending{m, done, confirmation, w.publish, w})
	}
}

// --- internal ---

var (
	errPublish = errors.New("rabbitmq: publish: not connected")
	errRefused = errors.New("rabbitmq: publish: the broker refused the message (nack)")
	errUnknown = fmt.Errorf("rabbitmq: connection lost: %w", broker.ErrUnknown)
)

func (s *session) deliveryMode() uint8 {
	if *s.Persistent {
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
// The library's own listeners (NotifyPublish) return confirmations in the order of publishing, so that one slow queue would make all
// others look slow. A queue confirms in order, so with one waiter for each queue no queue waits for another.
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
	wire         *wire
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
				// Subtle: when a channel is closed the library reports everything that was pending as refused.
				<-p.wire.lost
				p.done(p.message, 0, p.wire.unconfirmed)
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

// conclude completes the messages whose confirmation will not come.
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
