package rabbitmq

import (
	"context"
	"fmt"
	"strconv"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

var _ broker.Dialer = (*session)(nil)

func (s *session) Dial(ctx context.Context, n int64) (broker.Connection, error) {
	w, err := s.dial(ctx, int(n), "mqbench-connection-"+strconv.FormatInt(n, 10))
	if err != nil {
		return nil, fmt.Errorf("rabbitmq: connect: %w", err)
	}
	return w, nil
}

// Greet uses the usual queue of a client for itself: exclusive, named by the server, reached by the default exchange.
func (w *wire) Greet(ctx context.Context, m *broker.Message, handle broker.Handler) error {
	return broker.Wrap("rabbitmq", within(ctx, func() error {
		on, err := w.Channel()
		if err != nil {
			return fmt.Errorf("open a channel: %w", err)
		}
		queue, err := on.QueueDeclare("", false, true, true, false, nil)
		if err != nil {
			return fmt.Errorf("declare a queue: %w", err)
		}
		deliveries, err := on.Consume(queue.Name, "", true, true, false, false, nil)
		if err != nil {
			return fmt.Errorf("consume: %w", err)
		}
		go func() {
			for d := range deliveries {
				handle(broker.Delivery{ReceivedNs: w.now(), Payload: d.Body, Redelivered: d.Redelivered})
			}
		}()
		return on.PublishWithContext(ctx, "", queue.Name, false, false, amqp.Publishing{DeliveryMode: amqp.Transient, Body: m.Payload})
	}))
}

func (w *wire) Gone() bool { return w.IsClosed() }
