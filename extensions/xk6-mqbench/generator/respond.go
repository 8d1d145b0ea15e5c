package generator

import (
	"fmt"
	"sync"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/books"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
)

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
		m.Index, m.Topic, m.Name = i, to, name
		g.route(m, i/int64(g.plan.Producers))
		r.mu.Lock()
		r.out.Send(m, done)
		r.mu.Unlock()
	}, nil
}

// --- internal ---

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
