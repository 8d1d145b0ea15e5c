package generator

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mqbench/mqbench/extensions/xk6-mqbench/broker"
	"github.com/mqbench/mqbench/extensions/xk6-mqbench/recorder"
)

// share is one client's part of a run. Connection c of producers, with its producers, is on client c mod count, consumer connection k on client k mod
// count. All clients walk the same schedule. In the session, connections are numbered again, the producers' first.
type share struct {
	index, count int
	// producers is the number on all clients; own lists this client's, ascending; below is how many producers have a smaller number.
	producers int64
	own       []int64
	below     []int64
	// The connections and consumerConnections of all clients.
	connections, consumerConnections int
	// residents are those of the group's members that stay for the whole run; the others have their own sessions.
	residents, members int
}

func (p *Plan) share() *share {
	s := &share{
		index: p.Client.Index, count: p.Client.Count, producers: int64(p.Producers),
		connections: p.Connections, consumerConnections: p.ConsumerConnections, below: make([]int64, p.Producers+1),
	}
	s.residents, s.members = p.members()
	if p.Pattern == catchUp { // others send
		s.connections = 0
		return s
	}
	for producer := range p.Producers {
		s.below[producer] = int64(len(s.own))
		if producer%s.connections%s.count == s.index {
			s.own = append(s.own, int64(producer))
		}
	}
	s.below[p.Producers] = int64(len(s.own))
	return s
}

// producing is how many connections of producers are here, consuming how many of consumers.
func (s *share) producing() int { return s.part(s.connections, s.index) }
func (s *share) consuming() int { return s.part(s.consumerConnections, s.index) }

func (s *share) connection(producer int) int { return producer % s.connections / s.count }

// consumer returns the client of consumer k (or of the subscriber or bystander with that number), and the connection of its session.
func (s *share) consumer(k int) (client, connection int) {
	c := k % s.consumerConnections
	client = c % s.count
	return client, s.part(s.connections, client) + c/s.count
}

// member is consumer for a member of a group: one with its own session is a client of its own.
func (s *share) member(m int) (client, connection int) {
	if m >= s.residents {
		return s.count + m, 0
	}
	return s.consumer(m)
}

// before is how many messages below i are sent here.
func (s *share) before(i int64) int64 {
	return i/s.producers*int64(len(s.own)) + s.below[i%s.producers]
}

// from starts a walk over the messages that are sent here, from i on. There must be some.
func (s *share) from(i int64) steps {
	k, n := s.before(i), int64(len(s.own))
	return steps{own: s.own, producers: s.producers, seq: k / n, at: int(k % n)}
}

// steps walks over messages. A step costs the same, however many messages it skips.
type steps struct {
	own       []int64
	producers int64
	// seq is the sequence of the current message, own[at] its producer.
	seq int64
	at  int
}

func (w *steps) i() int64 { return w.seq*w.producers + w.own[w.at] }

func (w *steps) producer() int64 { return w.own[w.at] }

func (w *steps) next() {
	if w.at++; w.at == len(w.own) {
		w.at = 0
		w.seq++
	}
}

// crosses reports whether clients receive other clients' messages (acrossClients() of runner/model/plan.ts).
func (p *Plan) crosses() bool {
	return p.Pattern == catchUp || p.Client.Count > 1 && (p.Pattern == fanOut || p.Pattern == workQueue || p.Pattern == backlog)
}

func (p *Plan) checkClients() error {
	n := p.Client.Count
	switch {
	case n < 1 || p.Client.Index < 0 || p.Client.Index >= n:
		return fmt.Errorf("client %d of %d does not exist", p.Client.Index, n)
	case n == 1:
		return nil
	case p.closed():
		return fmt.Errorf("a closed load has one client, got %d", n)
	case n > max(p.Connections, p.ConsumerConnections):
		return fmt.Errorf("%d clients share %d connections of producers and %d of consumers, so the last client has none",
			n, p.Connections, p.ConsumerConnections)
	case p.Pattern == roundTrip || p.Pattern == requestReply:
		for producer := range p.Producers {
			if sent, received := producer%p.Connections%n, producer%len(p.Topics)%p.Connections%n; sent != received {
				return fmt.Errorf("%d clients: producer %d is on client %d and its topic is received on client %d; use as many topics as connections, or a multiple",
					n, producer, sent, received)
			}
		}
	}
	return nil
}

// Shards keep goroutines that record at the same time from waiting for each other: the pacer has one for itself; senders of a closed
// load, acknowledgements and receipts have one per connection, as far as the processors go.

func (g *Generator) sendShards() int {
	n := 1
	if g.closed {
		n = min(max(1, g.share.producing()), runtime.NumCPU())
	}
	return n
}

func (g *Generator) receiptShards() int {
	return min(max(g.share.producing(), g.share.consuming()), 2*runtime.NumCPU())
}

func (g *Generator) receipts(connection int) *recorder.Shard {
	return g.recorder.Shard(g.sendShards() + connection%g.receiptShards())
}

const (
	workersGroup    = "workers"
	respondersGroup = "responders"
)

// shared reports whether several members of a group are on one topic.
func (p *Plan) shared() bool { return p.grouped() && p.Consumers > len(p.Topics) }

// showsOrder reports whether one process receives all messages of a producer and stream, in an order that depends on the system.
func (p *Plan) showsOrder(groupOrder bool) bool {
	return p.receives() && p.Pattern != connect && p.orderFits() && (!p.shared() || groupOrder) && !(p.grouped() && p.crosses())
}

// allTopics are the plan's topics, reply topics and bystanders' topics, in the order of broker.Message.Topic. Each connection of the pattern connect makes its own.
func (p *Plan) allTopics() (topics []broker.Topic) {
	if p.Pattern == connect {
		return nil
	}
	for _, name := range slices.Concat(p.Topics, p.ReplyTopics) {
		topics = append(topics, broker.Topic{Name: name, Partitions: p.Partitions})
	}
	for n := range p.Bystanders {
		topics = append(topics, broker.Topic{Name: p.bystander(n), Partitions: 1})
	}
	return topics
}

// bystander is the name of a topic to which nothing is sent.
func (p *Plan) bystander(n int) string {
	return fmt.Sprintf("%sbystander%d", p.topicPrefix(), n)
}

// topicPrefix is all but the last word of every topic.
func (p *Plan) topicPrefix() string { return p.Topics[0][:strings.LastIndexByte(p.Topics[0], '.')+1] }

// SetUpTimeout limits connecting, making topics and subscribing (setUpMs in runner/model/plan.ts).
func (p *Plan) SetUpTimeout() time.Duration {
	return 30*time.Second + time.Duration(p.made())*100*time.Millisecond
}

// leaveTimeout limits the removal of this run's objects from the broker and the closing of connections.
func (p *Plan) leaveTimeout() time.Duration {
	return 5*time.Second + time.Duration(p.made()+p.Hold)*10*time.Millisecond
}

// made is how many connections, partitions and subscriptions a run has at most.
func (p *Plan) made() int {
	partitions := 0
	for _, t := range p.allTopics() {
		partitions += t.Partitions
	}
	subscriptions := max(p.Consumers, len(p.Topics)) + len(p.ReplyTopics) + p.Subscriptions*len(p.Topics) + p.Bystanders
	return p.Connections + p.ConsumerConnections + partitions + subscriptions
}

// --- internal ---

// part is how many of n connections are on a client.
func (s *share) part(n, client int) int { return (n - client + s.count - 1) / s.count }
