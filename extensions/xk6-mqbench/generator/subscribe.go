package generator

import (
	"context"
	"slices"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

// subscribe makes the subscriptions of the pattern.
func (g *Generator) subscribe(ctx context.Context) error {
	switch g.plan.Pattern {
	case roundTrip:
		return g.subscribeOwn(ctx, g.plan.Topics)
	case requestReply:
		if err := g.subscribeGroup(ctx, respondersGroup, g.respond); err != nil {
			return err
		}
		return g.subscribeOwn(ctx, g.plan.ReplyTopics)
	case fanOut:
		return g.subscribeAll(ctx)
	case workQueue, backlog:
		return g.subscribeGroup(ctx, workersGroup, func(connection, _ int) (broker.Handler, error) {
			return g.receive(connection, 0), nil
		})
	}
	return nil
}

// --- internal ---

// subscribeOwn subscribes to topic t on the connection that sends to it, t mod C, if that is here.
func (g *Generator) subscribeOwn(ctx context.Context, topics []string) error {
	for t, topic := range topics {
		if !g.share.sends(t) {
			continue
		}
		connection := g.share.connection(t)
		s := broker.Subscription{Connection: connection, Topic: topic, Members: 1}
		if err := g.session.Consume(ctx, s, g.receive(connection, 0)); err != nil {
			return err
		}
	}
	return nil
}

// subscribeGroup makes the members of a group. handler returns the handler of a member's subscription to a topic.
func (g *Generator) subscribeGroup(ctx context.Context, group string, handler func(connection, topic int) (broker.Handler, error)) error {
	all := g.plan.pairs()
	here := slices.DeleteFunc(slices.Clone(all), func(p pair) bool {
		_, here := g.share.consumer(p.member)
		return !here
	})
	for _, pair := range here {
		connection, _ := g.share.consumer(pair.member)
		handle, err := handler(connection, pair.topic)
		if err != nil {
			return err
		}
		s := broker.Subscription{
			Connection: connection, Topic: g.plan.Topics[pair.topic], Group: group,
			Members: membersOn(pair.topic, all), Here: membersOn(pair.topic, here),
		}
		if err := g.session.Consume(ctx, s, handle); err != nil {
			return err
		}
	}
	return nil
}

// subscribeAll subscribes every subscriber to every message, and makes the bystanders.
func (g *Generator) subscribeAll(ctx context.Context) error {
	topics := g.plan.Topics
	if g.plan.Wildcard {
		pattern, err := g.plan.topicPattern()
		if err != nil {
			return err
		}
		topics = []string{pattern}
	}
	for subscriber := range g.plan.Subscriptions {
		connection, here := g.share.consumer(subscriber)
		if !here {
			continue
		}
		for _, topic := range topics {
			s := broker.Subscription{Connection: connection, Topic: topic, Wildcard: g.plan.Wildcard, Members: 1}
			if err := g.session.Consume(ctx, s, g.receive(connection, subscriber)); err != nil {
				return err
			}
		}
	}
	for n := range g.plan.Bystanders {
		connection, here := g.share.consumer(n)
		if !here {
			continue
		}
		s := broker.Subscription{Connection: connection, Topic: g.plan.bystander(n), Members: 1}
		if err := g.session.Consume(ctx, s, func(broker.Delivery) { g.books.Foreign.Add(1) }); err != nil {
			return err
		}
	}
	return nil
}
