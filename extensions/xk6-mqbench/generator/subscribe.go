package generator

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/books"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/deadline"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/draw"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/pacer"
)

// subscription is what a consumer asks for, and what it does with a delivery. Its handler is made on its own client alone.
type subscription struct {
	broker.Subscription
	handler func() (broker.Handler, error)
}

// subscribe makes the subscriptions of this client, several at once: each waits for the broker.
func (g *Generator) subscribe(ctx context.Context, all []subscription) error {
	type own struct {
		broker.Subscription
		handle broker.Handler
	}
	var here []own
	for _, one := range all {
		if one.Client != g.share.index {
			continue
		}
		handle, err := one.handler()
		if err != nil {
			return err
		}
		here = append(here, own{one.Subscription, handle})
	}
	return deadline.Each(ctx, here, func(ctx context.Context, one own) error {
		return g.session.Consume(ctx, one.Subscription, one.handle)
	})
}

// consumer is what the members of a group do besides receiving messages: they pause, and they work. It is shared by all of them and has
// no state, and its waits end when the run does. Where a message is handled within its send call, as on noop, it does neither,
// because the pacer would have to wait.
type consumer struct {
	g      *Generator
	source draw.Source
}

func newConsumer(g *Generator) *consumer {
	return &consumer{g: g, source: draw.New(g.plan.Message.Seed, draw.Work)}
}

// pause blocks while consumers take nothing, and returns when the message was taken. A message that the library handed over during the
// pause counts as taken at the end of the pause. Times are ns since T0.
func (c *consumer) pause(atNs int64) int64 {
	b := c.g.plan.Backlog
	if b == nil || c.g.facts.Inline {
		return atNs
	}
	if nowNs := c.g.clock.Now() - c.g.t0; nowNs >= b.PauseNs && nowNs < b.ResumeNs {
		c.sleep(b.ResumeNs - nowNs)
	}
	return c.takenAt(atNs)
}

// work takes as long as the plan says for message i.
func (c *consumer) work(i int64) {
	if w := c.g.plan.Work; w == nil || w.MeanNs == 0 || c.g.facts.Inline {
		return
	}
	c.sleep(c.workNs(i))
}

// replier is the sending side of a connection of responders.
type replier struct {
	mu  sync.Mutex
	out broker.Producer
}

// respond is the handler of a responder: it sends every request of a topic back, unchanged, on the topic of the replies.
func (g *Generator) respond(connection, topic int) (broker.Handler, error) {
	r, err := g.replier(connection)
	if err != nil {
		return nil, err
	}
	to := len(g.plan.Topics) + topic
	name := g.plan.ReplyTopics[topic]
	shard := g.receipts(connection)
	done := g.replied
	return func(d broker.Delivery) {
		e, i, what := g.identify(d.Payload)
		if what == foreign {
			g.books.Foreign.Add(1)
			return
		}
		if !shard.Enter() {
			return
		}
		if d.Redelivered {
			g.books.Redelivered(i, e.Intended)
		}
		// A request of another size, or that nobody can name, gets no reply. The requester notices other damage.
		whole := len(d.Payload) == g.plan.Message.Bytes && i != books.NoMessage
		if !whole {
			g.books.Corrupted(i, e.Intended)
		}
		shard.Leave()
		if !whole {
			return
		}
		g.consumer.work(i)
		m := g.messages.Get().(*broker.Message)
		copy(m.Payload, d.Payload)
		m.Index, m.Sequence, m.Topic, m.Name = i, int64(e.Sequence), to, name
		g.route(m)
		r.mu.Lock()
		r.out.Send(m, done)
		r.mu.Unlock()
	}, nil
}

// --- internal ---

// subscriptions of the pattern on all clients.
func (g *Generator) subscriptions() ([]subscription, error) {
	switch g.plan.Pattern {
	case roundTrip:
		return g.subscribeOwn(g.plan.Topics), nil
	case requestReply:
		return append(g.subscribeGroup(respondersGroup, g.respond), g.subscribeOwn(g.plan.ReplyTopics)...), nil
	case fanOut:
		return g.subscribeAll(), nil
	case workQueue, backlog:
		return g.subscribeGroup(workersGroup, func(connection, _ int) (broker.Handler, error) { return g.receive(connection, 0), nil }), nil
	}
	return nil, nil
}

// subscribeOwn subscribes to topic t on the connection that sends to it, t mod C.
func (g *Generator) subscribeOwn(topics []string) (wanted []subscription) {
	for t, topic := range topics {
		connection := g.share.connection(t)
		wanted = append(wanted, subscription{
			broker.Subscription{Client: t % g.share.connections % g.share.count, Connection: connection, Topic: topic},
			func() (broker.Handler, error) { return g.receive(connection, 0), nil },
		})
	}
	return wanted
}

// subscribeGroup makes the members of a group. handler returns the handler of a member's subscription to a topic.
func (g *Generator) subscribeGroup(group string, handler func(connection, topic int) (broker.Handler, error)) (wanted []subscription) {
	for _, pair := range g.plan.pairs() {
		client, connection := g.share.consumer(pair.member)
		wanted = append(wanted, subscription{
			broker.Subscription{Client: client, Connection: connection, Topic: g.plan.Topics[pair.topic], Group: group},
			func() (broker.Handler, error) { return handler(connection, pair.topic) },
		})
	}
	return wanted
}

// subscribeAll subscribes every subscriber to every message, and makes the bystanders.
func (g *Generator) subscribeAll() (wanted []subscription) {
	topics := g.plan.Topics
	if g.plan.Wildcard {
		topics = []string{g.plan.topicPrefix() + "*"}
	}
	for subscriber := range g.plan.Subscriptions {
		client, connection := g.share.consumer(subscriber)
		for _, topic := range topics {
			wanted = append(wanted, subscription{
				broker.Subscription{Client: client, Connection: connection, Topic: topic, Wildcard: g.plan.Wildcard},
				func() (broker.Handler, error) { return g.receive(connection, subscriber), nil },
			})
		}
	}
	for n := range g.plan.Bystanders {
		client, connection := g.share.consumer(n)
		wanted = append(wanted, subscription{
			broker.Subscription{Client: client, Connection: connection, Topic: g.plan.bystander(n)},
			func() (broker.Handler, error) { return func(broker.Delivery) { g.books.Foreign.Add(1) }, nil },
		})
	}
	return wanted
}

// takenAt is when a message was taken that the library handed over at the given time.
func (c *consumer) takenAt(atNs int64) int64 {
	if b := c.g.plan.Backlog; atNs >= b.PauseNs && atNs < b.ResumeNs {
		return b.ResumeNs
	}
	return atNs
}

// workNs of message i is the same in every run of the plan and for every delivery.
func (c *consumer) workNs(i int64) int64 {
	w := c.g.plan.Work
	if w.Distribution == "exponential" {
		return int64(c.source.Exponential(i) * float64(w.MeanNs))
	}
	return w.MeanNs
}

// exactNs is the last part of a sleep. The kernel times it, because Go's timers are up to 1 ms late.
const exactNs = int64(2 * time.Millisecond)

// sleep ends early when the run does.
func (c *consumer) sleep(ns int64) {
	g := c.g
	endNs := g.clock.Now() + ns
	if long := ns - exactNs; long > 0 {
		timer := time.NewTimer(time.Duration(long))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-g.ending:
			return
		}
	}
	select {
	case <-g.ending:
	default:
		pacer.Sleep(g.clock.Now, endNs)
	}
}

// replier of a connection. All responders there share one, since only one goroutine at a time may send.
func (g *Generator) replier(connection int) (*replier, error) {
	if r := g.repliers[connection]; r != nil {
		return r, nil
	}
	out, err := g.session.Producer(connection)
	if err != nil {
		return nil, err
	}
	g.repliers[connection] = &replier{out: out}
	return g.repliers[connection], nil
}

// replied is the completion of a reply. If the reply failed, the request counts as lost: the system had accepted it.
func (g *Generator) replied(m *broker.Message, _ int64, err error) {
	if err != nil {
		g.errors.Note(fmt.Errorf("reply: %w", err))
		return // as in done: the library may still write this payload
	}
	g.messages.Put(m)
}
