package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"slices"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// find looks for the user's topics, which are queues or exchanges. It refuses a queue that would not give this run exactly its messages.
func (s *session) find(ctx context.Context, w *wire, layout broker.Layout) (isQueue map[string]bool, err error) {
	if s.Run == "" {
		return nil, nil
	}
	isQueue = map[string]bool{}
	for _, name := range layout.Names() {
		var is amqp.Queue
		queue, err := w.has(ctx, name, func(on *amqp.Channel, name string) (err error) {
			is, err = on.QueueDeclarePassive(name, true, false, false, false, nil)
			return err
		})
		exchange := false
		if err == nil && !queue {
			exchange, err = w.has(ctx, name, func(on *amqp.Channel, name string) error {
				return on.ExchangeDeclarePassive(name, direct, true, false, false, false, nil)
			})
		}
		isQueue[name] = queue
		consumed := slices.ContainsFunc(layout.Subscriptions, func(to broker.Subscription) bool { return to.Topic == name })
		switch {
		case err != nil:
			return nil, fmt.Errorf("look up topic %q: %w", name, err)
		case !queue && !exchange:
			return nil, broker.MissingTopic(name, "there is no queue and no exchange of this name")
		case !queue || !consumed || s.Client > 0:
		case is.Messages > 0:
			return nil, fmt.Errorf("the queue %q holds %d messages, which consumers of this run would take away; empty it first, or name an exchange", name, is.Messages)
		case is.Consumers > 0:
			return nil, fmt.Errorf("the queue %q has %d consumers already, which take messages away from this run; stop them, or name an exchange", name, is.Consumers)
		}
	}
	own := slices.DeleteFunc(slices.Clone(layout.Subscriptions), func(to broker.Subscription) bool { return !isQueue[to.Topic] })
	if err := (broker.Layout{Subscriptions: own}).Rivals(); err != nil {
		return nil, fmt.Errorf("%w; name an exchange if each of several consumers is to get all messages", err)
	}
	return isQueue, nil
}

// --- internal ---

// has asks for something by its name. The broker answers no by closing the channel.
func (w *wire) has(ctx context.Context, name string, ask func(*amqp.Channel, string) error) (bool, error) {
	err := w.declare(ctx, []string{name}, ask)
	var answer *amqp.Error
	if errors.As(err, &answer) && answer.Code == amqp.NotFound {
		return false, nil
	}
	return err == nil, err
}
