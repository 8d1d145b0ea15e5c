package rabbitmq

import (
	"errors"
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

type producer struct {
	*link
	topology *topology
	mode     uint8
	// unconfirmed is by topic: the library's own listeners (NotifyPublish) return confirmations in the order of publishing. One slow queue
	// would then make all others look slow. A queue confirms in order.
	unconfirmed []*broker.Unanswered[pending]
}

type pending struct {
	confirmation *amqp.DeferredConfirmation
	wire         *wire
}

func (s *session) Producer(connection int) (broker.Producer, error) {
	return &producer{
		link: s.publishers[connection], mode: deliveryModes[*s.Persistent], topology: s.topology.Load(),
		unconfirmed: make([]*broker.Unanswered[pending], len(s.layout.Topics)),
	}, nil
}

// Send publishes and flushes. It blocks while the broker does not read (its flow control). Without confirms that is all. If the connection is lost
// before a message was confirmed, its fate is unknown.
func (p *producer) Send(m *broker.Message, done broker.Done) {
	w, is := p.Now()
	if !is {
		done(m, 0, errPublish)
		return
	}
	exchange, key := p.topology.route(m.Name)
	confirmation, err := w.publish.PublishWithDeferredConfirm(exchange, key, false, false, amqp.Publishing{DeliveryMode: p.mode, Body: m.Payload})
	switch {
	case err != nil:
		// The channel is closed, or the last bytes did not leave, and the broker ignores incomplete messages. The link reports why.
		done(m, 0, errPublish)
	case confirmation == nil:
		done(m, 0, nil)
	default:
		if p.unconfirmed[m.Topic] == nil {
			p.unconfirmed[m.Topic] = broker.NewUnanswered(p.session.Base, p.confirmed)
		}
		p.unconfirmed[m.Topic].Add(m, done, pending{confirmation, w})
	}
}

// --- internal ---

var deliveryModes = map[bool]uint8{true: amqp.Persistent, false: amqp.Transient}

var (
	errPublish = errors.New("rabbitmq: publish: not connected")
	errRefused = errors.New("rabbitmq: publish: the broker refused the message (nack)")
	errUnknown = fmt.Errorf("rabbitmq: connection lost: %w", broker.ErrUnknown)
)

func (p *producer) confirmed(of pending) error {
	acked, err := of.confirmation.WaitContext(p.session.Over)
	switch {
	case acked:
		return nil
	case err != nil:
		return errUnknown
	case of.wire.publish.IsClosed():
		// Subtle: when a channel is closed the library reports everything that was pending as refused.
		<-of.wire.Done()
		return of.wire.unconfirmed()
	default:
		return errRefused
	}
}
