package rabbitmq

import (
	"context"
	"errors"
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// find looks for existing topics: those of client 0 of this run, or the user's own, which are queues or exchanges.
func (s *session) find(ctx context.Context, names []string) error {
	if s.Run == "" {
		return s.findOurs(ctx, names)
	}
	for _, name := range names {
		_, queue, err := s.lookQueue(ctx, name)
		exchange := false
		if err == nil && !queue {
			exchange, err = s.lookExchange(ctx, name)
		}
		switch {
		case err != nil:
			return fmt.Errorf("look up topic %q: %w", name, err)
		case !queue && !exchange:
			return broker.MissingTopic(name, "there is no queue and no exchange of this name")
		}
		s.topology.given(name, queue)
	}
	return nil
}

// free refuses a queue of the user's own that would not give this run all of its messages and no others.
func (s *session) free(ctx context.Context, to broker.Subscription) error {
	if !s.topology.isQueue(to.Topic) {
		return nil
	}
	is, _, err := s.lookQueue(ctx, to.Topic)
	switch here := s.topology.readers(to.Topic); {
	case err != nil:
		return err
	case here > 0 && to.Group == "":
		return errors.New("a queue gives each message to one consumer; name an exchange if each of several consumers is to get all messages")
	case is.Messages > 0 && here == 0:
		return fmt.Errorf("the queue holds %d messages, which consumers of this run would take away; empty it first, or name an exchange", is.Messages)
	case is.Consumers > here && (to.Group == "" || s.Client == 0):
		return fmt.Errorf("the queue has %d consumers already, which take messages away from this run; stop them, or name an exchange", is.Consumers-here)
	}
	return nil
}

// --- internal ---

// findOurs looks for the exchanges that client 0 made before this client started. Its subscribers may have asked for patterns.
func (s *session) findOurs(ctx context.Context, names []string) error {
	s.topology.name(names)
	if s.chosen.exchange == "" {
		patterns, err := s.lookExchange(ctx, s.topology.exchangeOf(pattern).name)
		if err != nil {
			return err
		}
		if patterns {
			s.topology.to.Store(s.topology.exchangeOf(pattern))
		}
	}
	for i, name := range s.topology.exchanges() {
		there, err := s.lookExchange(ctx, name)
		if err != nil {
			return err
		}
		if !there {
			return broker.MissingTopic(names[i], fmt.Sprintf("there is no exchange %q", name))
		}
	}
	return nil
}

// lookQueue asks for a queue. The broker answers no by closing the channel.
func (s *session) lookQueue(ctx context.Context, name string) (is amqp.Queue, there bool, err error) {
	err = s.admin(ctx, s.links[0], func(on *channel) (err error) {
		is, err = on.QueueDeclarePassive(name, true, false, false, false, nil)
		return err
	})
	return is, err == nil, exceptMissing(err)
}

func (s *session) lookExchange(ctx context.Context, name string) (bool, error) {
	err := s.admin(ctx, s.links[0], func(on *channel) error {
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
