package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"slices"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// find looks for topics of the user's own: which of them are queues, the others being exchanges. It refuses a queue that would not give this
// run all of its messages and no others.
func (s *session) find(ctx context.Context, layout broker.Layout) (isQueue map[string]bool, err error) {
	if s.Run == "" {
		return nil, nil
	}
	isQueue = map[string]bool{}
	for _, name := range layout.Names() {
		is, queue, err := s.lookQueue(ctx, name)
		exchange := false
		if err == nil && !queue {
			exchange, err = s.lookExchange(ctx, name)
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

// lookQueue asks for a queue. The broker answers no by closing the channel.
func (s *session) lookQueue(ctx context.Context, name string) (is amqp.Queue, there bool, err error) {
	err = s.publishers[0].declare(ctx, func(on *channel) (err error) {
		is, err = on.QueueDeclarePassive(name, true, false, false, false, nil)
		return err
	})
	return is, err == nil, exceptMissing(err)
}

func (s *session) lookExchange(ctx context.Context, name string) (bool, error) {
	err := s.publishers[0].declare(ctx, func(on *channel) error {
		return on.ExchangeDeclarePassive(name, direct, true, false, false, false, nil)
	})
	return err == nil, exceptMissing(err)
}

func exceptMissing(err error) error {
	var answer *amqp.Error
	if errors.As(err, &answer) && answer.Code == amqp.NotFound {
		return nil
	}
	return err
}
