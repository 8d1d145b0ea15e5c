package generator

import (
	"fmt"
	"sync"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/books"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/draw"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/pacer"
)

// subscription is a consumer's request, and its handler for deliveries on its own client.
type subscription struct {
	broker.Subscription
	handle broker.Handler
}

// The members of a group do more than receive messages: they pause, and they work. These waits end when the run does. Where a message is
// handled within its send call, as on noop, they do neither, because the pacer would have to wait.

// pause blocks while consumers take nothing, and returns when the message was taken. A message that the library handed over during the
// pause counts as taken at the end of the pause. Times are ns since T0.
func (g *Generator) pause(atNs int64, pauses []Backlog) int64 {
	if g.facts.Inline {
		return atNs
	}
	for _, b := range pauses {
		if nowNs := g.clock.Now() - g.t0; nowNs >= b.PauseNs && nowNs < b.ResumeNs {
			g.sleep(b.ResumeNs - nowNs)
		}
		if atNs >= b.PauseNs && atNs < b.ResumeNs {
			atNs = b.ResumeNs
		}
	}
	return atNs
}

// work takes as long as the plan has for message i.
func (g *Generator) work(i int64) {
	if w := g.plan.Work; w != nil && w.MeanNs > 0 && !g.facts.Inline {
		g.sleep(g.plan.workNs(i))
	}
}

// replier is the sending side of a connection of responders. They share it, since only one goroutine at a time may send.
type replier struct {
	mu  sync.Mutex
	out broker.Producer
}

// makeRepliers opens this client's repliers, on the connections after the producers'.
func (g *Generator) makeRepliers() (err error) {
	if g.plan.Pattern != requestReply {
		return nil
	}
	g.repliers = make([]replier, g.share.consuming())
	for k := range g.repliers {
		if g.repliers[k].out, err = g.session.Producer(g.share.producing() + k); err != nil {
			return err
		}
	}
	return nil
}

// respond is the handler of a responder: it sends every request of a topic back, unchanged, on the topic of the replies.
func (g *Generator) respond(connection, topic int) broker.Handler {
	to, name := len(g.plan.Topics)+topic, g.plan.ReplyTopics[topic]
	shard, done := g.receipts(connection), g.replied
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
		// A request of another size, or without a valid number, gets no reply. The requester notices other damage.
		whole := i != books.NoMessage && len(d.Payload) == g.sizes.Of(i)
		if !whole {
			g.books.Corrupted(i, e.Intended)
		}
		shard.Leave()
		if !whole {
			return
		}
		g.work(i)
		m := g.take(i)
		copy(m.Payload, d.Payload)
		m.Sequence, m.Topic, m.Name = int64(e.Sequence), to, name
		g.route(m)
		r := &g.repliers[connection-g.share.producing()]
		r.mu.Lock()
		r.out.Send(m, done)
		r.mu.Unlock()
	}
}

// --- internal ---

// subscriptions of the pattern on all clients.
func (g *Generator) subscriptions() (all []subscription) {
	add := func(client int, s broker.Subscription, handle broker.Handler) {
		s.Client = client
		all = append(all, subscription{s, handle})
	}
	// Topic t is received on the connection that sends to it, t mod C.
	own := func(topics []string) {
		for t, topic := range topics {
			c := g.share.connection(t)
			add(t%g.share.connections%g.share.count, broker.Subscription{Connection: c, Topic: topic}, g.receive(c, 0))
		}
	}
	group := func(name string, handler func(member, connection, topic int) broker.Handler) {
		// Every member and every topic has at least one subscription. Members that join come behind.
		members, topics := g.plan.Consumers, len(g.plan.Topics)
		each := max(members, topics)
		for k := range each + g.share.members - members {
			m := k % members
			if k >= each {
				m = members + k - each
			}
			client, c := g.share.member(m)
			add(client, broker.Subscription{Connection: c, Topic: g.plan.Topics[k%topics], Group: name}, handler(m, c, k%topics))
		}
	}
	switch g.plan.Pattern {
	case roundTrip:
		own(g.plan.Topics)
	case requestReply:
		group(respondersGroup, func(_, connection, topic int) broker.Handler { return g.respond(connection, topic) })
		own(g.plan.ReplyTopics)
	case catchUp:
		for t, topic := range g.plan.Topics {
			client, c := g.share.consumer(t)
			add(client, broker.Subscription{Connection: c, Topic: topic, FromStart: true}, g.receive(c, 0))
		}
	case workQueue, backlog:
		group(workersGroup, func(member, _, _ int) broker.Handler {
			return g.receive(g.share.producing()+member, 0, g.pausesOf(member)...)
		})
	case fanOut: // every subscriber gets every message, and bystanders none
		topics := g.plan.Topics
		if g.plan.Wildcard {
			topics = []string{g.plan.topicPrefix() + "*"}
		}
		for subscriber := range g.plan.Subscriptions {
			client, c := g.share.consumer(subscriber)
			for _, topic := range topics {
				add(client, broker.Subscription{Connection: c, Topic: topic, Wildcard: g.plan.Wildcard}, g.receive(c, subscriber))
			}
		}
		for n := range g.plan.Bystanders {
			client, c := g.share.consumer(n)
			add(client, broker.Subscription{Connection: c, Topic: g.plan.bystander(n)}, func(broker.Delivery) { g.books.Foreign.Add(1) })
		}
	}
	return all
}

// workNs of message i is the same in every run of the plan and for every delivery.
func (p *Plan) workNs(i int64) int64 {
	if p.Work.Distribution == "exponential" {
		return int64(draw.New(p.Message.Seed, draw.Work).Exponential(i) * float64(p.Work.MeanNs))
	}
	return p.Work.MeanNs
}

// exactNs is the last part of a sleep. The kernel times it, because Go's timers are up to 1 ms late.
const exactNs = int64(2 * time.Millisecond)

// sleep ends early when the run does.
func (g *Generator) sleep(ns int64) {
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
	if !happened(g.ending) {
		pacer.Sleep(g.clock.Now, endNs)
	}
}

// replied is the completion of a reply. If the reply failed, the request counts as lost: the system had accepted it.
func (g *Generator) replied(m *broker.Message, _ int64, err error) {
	if err != nil {
		g.errors.Note(fmt.Errorf("reply: %w", err))
		return // as in done: the library may still write this payload
	}
	g.put(m)
}
