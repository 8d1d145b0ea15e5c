package generator

import (
	"context"
	"slices"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
)

// subscription is what a consumer asks for, and what it does with a delivery.
type subscription struct {
	broker.Subscription
	handle broker.Handler
}

// subscribe makes the subscriptions of the pattern, several at once: each waits for the broker.
func (g *Generator) subscribe(ctx context.Context) error {
	wanted, err := g.subscriptions()
	if err != nil {
		return err
	}
	return deadline.Each(ctx, broker.ConsumesAtOnce(g.session), len(wanted), func(ctx context.Context, i int) error {
		return g.session.Consume(ctx, wanted[i].Subscription, wanted[i].handle)
	})
}

// --- internal ---

// subscriptions of the pattern on this client.
func (g *Generator) subscriptions() ([]subscription, error) {
	switch g.plan.Pattern {
	case roundTrip:
		return g.subscribeOwn(g.plan.Topics), nil
	case requestReply:
		responders, err := g.subscribeGroup(respondersGroup, g.respond)
		return append(responders, g.subscribeOwn(g.plan.ReplyTopics)...), err
	case fanOut:
		return g.subscribeAll()
	case workQueue, backlog:
		return g.subscribeGroup(workersGroup, func(connection, _ int) (broker.Handler, error) {
			return g.receive(connection, 0), nil
		})
	}
	return nil, nil
}

// subscribeOwn subscribes to topic t on the connection that sends to it, t mod C, if that is here.
func (g *Generator) subscribeOwn(topics []string) (wanted []subscription) {
	for t, topic := range topics {
		if !g.share.sends(t) {
			continue
		}
		connection := g.share.connection(t)
		wanted = append(wanted, subscription{
			broker.Subscription{Connection: connection, Topic: topic, Members: 1}, g.receive(connection, 0),
		})
	}
	return wanted
}

// subscribeGroup makes the members of a group. handler returns the handler of a member's subscription to a topic.
func (g *Generator) subscribeGroup(group string, handler func(connection, topic int) (broker.Handler, error)) (wanted []subscription, err error) {
	all := g.plan.pairs()
	here := slices.DeleteFunc(slices.Clone(all), func(p pair) bool {
		_, here := g.share.consumer(p.member)
		return !here
	})
	for _, pair := range here {
		connection, _ := g.share.consumer(pair.member)
		handle, err := handler(connection, pair.topic)
		if err != nil {
			return nil, err
		}
		wanted = append(wanted, subscription{broker.Subscription{
			Connection: connection, Topic: g.plan.Topics[pair.topic], Group: group,
			Members: membersOn(pair.topic, all), Here: membersOn(pair.topic, here),
		}, handle})
	}
	return wanted, nil
}

// subscribeAll subscribes every subscriber to every message, and makes the bystanders.
func (g *Generator) subscribeAll() (wanted []subscription, err error) {
	topics := g.plan.Topics
	if g.plan.Wildcard {
		pattern, err := g.plan.topicPattern()
		if err != nil {
			return nil, err
		}
		topics = []string{pattern}
	}
	for subscriber := range g.plan.Subscriptions {
		connection, here := g.share.consumer(subscriber)
		if !here {
			continue
		}
		for _, topic := range topics {
			wanted = append(wanted, subscription{
				broker.Subscription{Connection: connection, Topic: topic, Wildcard: g.plan.Wildcard, Members: 1},
				g.receive(connection, subscriber),
			})
		}
	}
	for n := range g.plan.Bystanders {
		connection, here := g.share.consumer(n)
		if !here {
			continue
		}
		wanted = append(wanted, subscription{
			broker.Subscription{Connection: connection, Topic: g.plan.bystander(n), Members: 1},
			func(broker.Delivery) { g.books.Foreign.Add(1) },
		})
	}
	return wanted, nil
}
